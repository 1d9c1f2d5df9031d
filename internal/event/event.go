package event

import (
	"time"

	"github.com/clawai/clawai/policy"
)

// Kind is the type of an event.
type Kind string

// The kinds that the proxy reports.
const (
	Start    Kind = "start"    // a proxy session began: server, command, policy
	Decision Kind = "decision" // a judged message, written before it is forwarded or refused
	Outcome  Kind = "outcome"  // how a judged request ended (Ref names the decision)
	Passed   Kind = "passed"   // a message that no rule governs, forwarded
	Dropped  Kind = "dropped"  // a message that was not forwarded: unreadable, unsolicited, late, withdrawn
	Listed   Kind = "listed"   // a list result, with the names that the server declared
	Policy   Kind = "policy"   // a policy was loaded, reloaded, or a broken one was refused
	Asked    Kind = "asked"    // clawai's own question in the client's form (code "sent"), or the response to it
	Answered Kind = "answered" // a person's answer: the channel and the waiting time
	Muted    Kind = "muted"    // a session asked too often, so no person is asked for a while
	Chatter  Kind = "chatter"  // a line on the server's stdout that is not a frame
	End      Kind = "end"      // the session ended: exit code or signal
)

// The kinds that the log writes by itself.
const (
	Segment  Kind = "segment"  // the first line of every file
	Recovery Kind = "recovery" // a write failed before this line: what it left in the file and what was lost
	Upkeep   Kind = "upkeep"   // an error while closing a crashed session's segment or removing old segments
)

// Event is one record. Empty fields are not written. The writer redacts and escapes
// text from the wire; the caller must not.
type Event struct {
	Record      string // the record id, set by the log: quoted in denials, referred to by Ref
	Kind        Kind
	Time        time.Time // set by the log when zero
	Server      string
	ServerGuess string // a name guessed from the command: for display only
	Invocation  string // "group/invocation" of clawai proxy --listen --invocations
	Client      string // the name that the client gives itself in the message that begins a session
	Direction   string // "client" or "server": the sender of the message
	Method      string
	ID          []byte // the JSON-RPC id token
	Subject     string // the key of the rules that govern the message: tool, resource, ...
	Names       []string
	Args        []byte // JSON; redacted by the writer

	policy.Facts // the facts of a judged message

	Extra   []byte   // JSON: the parts of the params that Names and Args do not contain
	Digest  [32]byte // SHA-256 of the frame's bytes
	Bytes   int      // length of the frame
	Folded  int      // for Dropped and Chatter: the number of events that this record stands for; 0: only one
	Sent    [32]byte // SHA-256 of the altered frame that was sent; zero when it was sent unchanged
	Finds   []string // the findings, "KIND HOW-MANY JSON-POINTER" each, never a value
	Looked  []string // the kinds that were searched in a call or a reply; nil: none was, or only part of it was searched
	Altered []string // the alterations: "redact secret"
	Release string   // for a withheld reply: the name by which a person releases the next answer to the same call

	Policy   string // the decision of the rules alone: allow, deny, prompt
	Decision string // the final decision: allow or deny
	Stage    string // the stage that decided: policy, ask, record, frame, ...
	Code     string // stable machine word of the reason
	Reason   string // one sentence for the owner
	RuleFile string
	RuleLine int
	RuleText string // the rule's description

	Ref      string // the id of the record that this record belongs to
	Channel  string // for Answered: the means by which the person answered
	Answer   string // for Answered: once, session, always, deny, deny always
	By       string // for Answered: who answered, as far as the channel can tell
	Words    string // for Answered: the person's text for the agent
	Waited   time.Duration
	IsError  bool     // for Outcome: error, or a tool result with isError
	Declared []string // for Listed: the declared names or URIs
	Detail   string   // free text of start, end, policy, dropped
}
