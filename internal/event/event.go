package event

import (
	"time"

	"github.com/clawai/clawai/policy"
)

// Kind says what an event reports.
type Kind string

// What the proxy reports.
const (
	Start    Kind = "start"    // a proxy session began: server, command, policy
	Decision Kind = "decision" // a judged message, written before it is forwarded or refused
	Outcome  Kind = "outcome"  // how a judged request ended (Ref names the decision)
	Passed   Kind = "passed"   // a message no rule governs, passed on
	Dropped  Kind = "dropped"  // a message that went nowhere: unreadable, unsolicited, late, withdrawn
	Listed   Kind = "listed"   // a list result with the set the server declared
	Policy   Kind = "policy"   // a policy was loaded, reloaded, or a broken one was refused
	Asked    Kind = "asked"    // a question of ours in the client's own form (code "sent"), or what came back
	Answered Kind = "answered" // a person's answer: by which channel, how long
	Muted    Kind = "muted"    // a session asked too often: for a while nobody is asked
	Chatter  Kind = "chatter"  // a line on the server's stdout that is no frame
	End      Kind = "end"      // the session ended: exit code or signal
)

// What the log writes by itself.
const (
	Segment  Kind = "segment"  // the first line of every file
	Recovery Kind = "recovery" // a write failed before this line: what it left and what was lost
	Upkeep   Kind = "upkeep"   // closing a crashed session's segment, or removing old ones, failed
)

// Event is one record. Empty fields are not written. Text from the wire is
// redacted and escaped by the writer, never by the caller.
type Event struct {
	Record      string // the record id, filled by the log: quoted in denials, named by Ref
	Kind        Kind
	Time        time.Time // filled by the log when zero
	Server      string
	ServerGuess string // a name guessed from the command: for display only
	Invocation  string // "group/invocation" of clawai proxy --listen --invocations
	Direction   string // "client" or "server": who sent the message
	Method      string
	ID          []byte // the JSON-RPC id token
	Subject     string // the rule key that governs it: tool, resource, ...
	Names       []string
	Args        []byte // JSON; redacted by the writer

	policy.Facts // of a judged message

	Extra   []byte   // JSON: what else of its params the sender wants to have across
	Digest  [32]byte // SHA-256 of the frame's bytes
	Bytes   int      // length of the frame
	Folded  int      // of Dropped and Chatter: how many it stands for; 0 for itself
	Sent    [32]byte // SHA-256 of what went on in its place; zero when it went on as it was
	Finds   []string // what it carries, "KIND HOW-MANY JSON-POINTER" each: never a value
	Looked  []string // the kinds that were looked for in what a call carries, or what came back; nil: nothing was, or not in all of it
	Altered []string // what was done to it: "redact secret"

	Policy   string // what the rules alone said: allow, deny, prompt
	Decision string // what was done: allow or deny
	Stage    string // the stage that decided: policy, ask, record, frame, ...
	Code     string // stable machine word of the reason
	Reason   string // one sentence for the owner
	RuleFile string
	RuleLine int
	RuleText string // the rule's description

	Ref      string // the record id this one belongs to
	Channel  string // of Answered
	Answer   string // of Answered: once, session, always, deny, deny always
	By       string // of Answered: who, as far as the channel knows
	Words    string // of Answered: what the person wants the agent to know
	Waited   time.Duration
	IsError  bool     // of Outcome: error, or a tool result with isError
	Declared []string // of Listed: the declared names or URIs
	Detail   string   // free text of start, end, policy, dropped
}
