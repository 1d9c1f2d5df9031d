package policy

import (
	"github.com/clawai/clawai/policy/reading"
)

// Subject is the kind of a call. A subject has the name of a rule key ("tool", "resource"), and the
// rules with this key judge its calls. No rule judges a call with the zero value, and such a call
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
	Method  string  // the JSON-RPC method, without escapes; builtin.Method for a built-in tool of the client that Server names
	Subject Subject // the rule key that governs the call

	// Names are the texts that the subject's glob is matched against: the tool or prompt name, the
	// URI or URIs, the texts of a sampling request, the message (and URL) of an elicitation, or
	// the method. An allow must match all of them; for a deny or a prompt one match is enough. A
	// call without names is denied.
	Names []string

	// Spelling tells whether the client may have changed the server's spelling of the names.
	Spelling Spelling

	// Args is the JSON object of the arguments of a tool or prompt, exactly as received and
	// already admitted by internal/wire/frame; nil if there is none. For a built-in tool,
	// builtin.CompleteArguments has added arguments.
	Args []byte

	// Extra is a JSON object of the other members of the message's params, as received; nil if
	// there are none. It leaves out the members that the protocol and clients use for themselves
	// (see internal/mcp). No rule looks at Extra; it is shown to people.
	Extra []byte
	// Quiet is a digest of the protocol members that Extra leaves out, without those that belong
	// to a single message, such as its progress token. Digests from different processes cannot be
	// compared.
	Quiet uint64

	Facts

	// Finds are the kinds (FindingKinds) that the detectors found in the arguments of a tool or a
	// prompt, or in the texts of sampling and elicitation. Screened means that the detectors have
	// looked for every kind that the rules name (Policy.Screens). If Screened is false, a
	// condition on finds is a maybe.
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

// Windows is the value of Facts.OS for a server that runs on Windows.
const Windows = "windows"

// IsFolder reports whether Facts.Cwd may hold the text: an absolute path, or one below ~/.
func IsFolder(dir string) bool { return reading.NewBase(dir, "/home/user", false) != nil }
