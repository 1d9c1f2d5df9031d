package policy

import (
	"github.com/clawai/clawai/policy/reading"
)

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
	Method  string  // the JSON-RPC method, decoded; builtin.Method of a tool that the client, Server, brings along
	Subject Subject // which rule key governs it

	// Names is what the subject's glob is matched against: the tool or prompt
	// name, the URI or URIs, the texts of a sampling request, the message (and
	// URL) of an elicitation, or the method. Each is a reading: an allow needs
	// all of them, a deny or prompt any. Empty is denied.
	Names []string

	// Spelling is how far Names are the server's own words.
	Spelling Spelling

	// Args is the JSON object of the arguments of a tool or prompt, exactly as
	// received, already admitted by internal/wire/frame; nil when there is none. To those of a
	// built-in tool builtin.CompleteArguments has added.
	Args []byte

	// Extra is a JSON object of what else the message carries in its params, as
	// received, but for what the protocol and clients put there for themselves
	// (see internal/mcp); nil when there is none. No rule looks at it; people do.
	Extra []byte
	// Quiet is a digest, of this process only, of the rest whose value is more than
	// a mark on one message.
	Quiet uint64

	Facts

	// Finds are the kinds of what was found in the arguments of a tool or a prompt, or in
	// the texts of sampling and elicitation (Kinds). Screened says that all was looked for
	// that rules ask about (Screens); without, each find is a maybe.
	Finds    []string
	Screened bool

	// Session is the id of its session that the client put into the message; "" for none.
	// It lies in the message.
	Session string

	// Malformed, when not empty, says why no rule may allow this call (a name
	// with invisible characters, params of the wrong shape). It is denied.
	Malformed string
}

// RequestTexts gives what a server asks of the client's model or user in words; nil of other calls.
func (c *Call) RequestTexts() []string {
	if c.Subject == SamplingSubject || c.Subject == ElicitationSubject {
		return c.Names
	}
	return nil
}

// Windows is the OS of a Call whose server runs there.
const Windows = "windows"

// IsFolder reports whether a text can be a Call's Cwd.
func IsFolder(dir string) bool { return reading.NewBase(dir, "/home/user", false) != nil }
