package policy

import "time"

// Subject says which rule key governs a call. The zero value governs nothing
// and is denied.
type Subject uint8

// What a rule can be about.
const (
	NoSubject Subject = iota
	ToolSubject
	ResourceSubject
	PromptSubject
	SamplingSubject
	ElicitationSubject
	MethodSubject // a method no other key covers: passed on unless a method rule restricts it
)

// Call is what a policy judges: one request, seen as the rules see it.
type Call struct {
	Server  string  // the server's name as the client's configuration calls it; "" when unknown
	Method  string  // the JSON-RPC method, decoded
	Subject Subject // which rule key governs it

	// Names is what the subject's glob is matched against: the tool or prompt
	// name, the URI or URIs, the texts of a sampling request, the message (and
	// URL) of an elicitation, or the method. Each is a reading: an allow needs
	// all of them, a deny or prompt any. Empty is denied.
	Names []string

	// Args is the JSON object of the arguments of a tool or prompt, exactly as
	// received, already admitted by proxy/frame; nil when there is none.
	Args []byte

	// Extra is a JSON object of what else the message carries in its params, as
	// received, but for what the protocol and clients put there for themselves
	// (see proxy/mcp); nil when there is none. No rule looks at it; people do.
	Extra []byte
	// Quiet is a digest, of this process only, of the rest whose value is more than
	// a mark on one message.
	Quiet uint64

	// At is the time that rules with a when are asked about; zero when it is not
	// known, and then such a rule is a maybe.
	At time.Time

	// Malformed, when not empty, says why no rule may allow this call (a name
	// with invisible characters, params of the wrong shape). It is denied.
	Malformed string
}
