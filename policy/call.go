package policy

import (
	"github.com/clawai/clawai/policy/reading"
)

// Subject is the rule key that governs a call. The zero value governs nothing, and such a call
// is denied.
type Subject uint8

// The subjects that a rule can have.
const (
	NoSubject Subject = iota
	ToolSubject
	ResourceSubject
	PromptSubject
	SamplingSubject
	ElicitationSubject
	MethodSubject // a method that no other key covers: passed on unless a method rule restricts it
)

// Call is the request that a policy judges, as the rules see it.
type Call struct {
	Server  string  // the server's name in the client's configuration; "" if unknown
	Method  string  // the JSON-RPC method, decoded; builtin.Method for a tool that the client named in Server brings along
	Subject Subject // the rule key that governs the call

	// Names are the texts that the subject's glob is matched against: the tool or prompt name,
	// the URI or URIs, the texts of a sampling request, the message (and URL) of an
	// elicitation, or the method. Each text is one reading: an allow needs all of them, a deny
	// or a prompt any. A call without names is denied.
	Names []string

	// Spelling tells how far Names are the server's own words.
	Spelling Spelling

	// Args is the JSON object of the arguments of a tool or prompt, exactly as received and
	// already admitted by internal/wire/frame; nil if there is none. For a built-in tool,
	// builtin.CompleteArguments has added arguments.
	Args []byte

	// Extra is a JSON object of the other members of the message's params, as received, without
	// the members that the protocol and clients use for themselves (see internal/mcp); nil if
	// there are none. No rule looks at Extra; people do.
	Extra []byte
	// Quiet is a digest of the protocol members that Extra leaves out, except for marks on one
	// message. It is comparable only in this process.
	Quiet uint64

	Facts

	// Finds are the kinds of finds in the arguments of a tool or a prompt, or in the texts of
	// sampling and elicitation (Kinds). Screened means that everything that rules ask about
	// (Screens) was looked for. If Screened is false, each find is a maybe.
	Finds    []string
	Screened bool

	// Session is the id of the session that the client put into the message; "" if there is
	// none. The string shares the message's memory.
	Session string

	// Malformed, if not empty, is the reason why no rule may allow this call (a name with
	// invisible characters, params of the wrong shape). The call is denied.
	Malformed string
}

// RequestTexts returns the texts that a server sends to the client's model or user; nil for
// other calls.
func (c *Call) RequestTexts() []string {
	if c.Subject == SamplingSubject || c.Subject == ElicitationSubject {
		return c.Names
	}
	return nil
}

// Windows is the OS of a Call whose server runs on Windows.
const Windows = "windows"

// IsFolder reports whether a text can be a Call's Cwd.
func IsFolder(dir string) bool { return reading.NewBase(dir, "/home/user", false) != nil }
