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
	Outcome  Kind = "outcome"  // the end of a judged request (Ref names the decision)
	Passed   Kind = "passed"   // a forwarded message that no rule governs
	Dropped  Kind = "dropped"  // a message that was not forwarded because it was unreadable, unsolicited, late or withdrawn
	Listed   Kind = "listed"   // a list result, with the names that the server declared
	Policy   Kind = "policy"   // the load or reload of a policy, or the refusal of a policy that cannot be loaded
	Asked    Kind = "asked"    // clawai's own question in the client's form (code "sent"), or the response to it
	Answered Kind = "answered" // a person's answer: the channel and the waiting time
	Muted    Kind = "muted"    // the session asked too often, so no person is asked for a while
	Chatter  Kind = "chatter"  // a line on the server's stdout that is not a frame
	End      Kind = "end"      // the session ended: exit code or signal
)

// The kinds of events that the log itself writes.
const (
	Segment  Kind = "segment"  // the first line of every file
	Recovery Kind = "recovery" // an earlier write failed; the event names the bytes that this write left in the file, and the lost events
	Upkeep   Kind = "upkeep"   // an error while closing a crashed session's segment or removing old segments
)

// Event is one record. Empty fields are not written. The writer of the record redacts and escapes
// texts from messages; the caller must not do so.
type Event struct {
	Record      string // the record id, set by the log; denials quote it and Ref refers to it
	Kind        Kind
	Time        time.Time // time of the event; the log sets a zero time to now
	Server      string
	ServerGuess string // a name guessed from the command: for display only
	Invocation  string // "group/invocation" with clawai proxy --listen --invocations
	Client      string // the client's own name from the message that begins a session
	Direction   string // "client" or "server": the sender of the message
	Method      string
	ID          []byte // the JSON-RPC id token
	Subject     string // the subject of the message: tool, resource, ...
	Names       []string
	Args        []byte // JSON; redacted by the writer

	policy.Facts // the facts of a judged message

	Extra       []byte   // JSON: the parts of the params that Names and Args do not contain
	Traceparent string   // the trace context that the client sent with a request, in the form of IsTraceparent; "" for none
	Digest      [32]byte // SHA-256 of the frame's bytes
	Bytes       int      // length of the frame
	Folded      int      // for Dropped and Chatter: the number of events in this record; 0 means one
	Sent        [32]byte // SHA-256 of the altered frame that was sent; zero when it was sent unchanged
	Finds       []string // the findings, each as "KIND HOW-MANY JSON-POINTER", never with a value
	Looked      []string // the kinds that were searched for in a call or a reply; nil when nothing, or only a part, was searched
	Altered     []string // the alterations, such as "redact secret"
	Release     string   // for a withheld reply: a person can release the next answer to the same call by this name

	Policy   string // the decision of the rules alone: allow, deny, prompt
	Decision string // the final decision: allow or deny
	Stage    string // the stage that decided: policy, ask, record, frame, ...
	Code     string // stable machine word of the reason
	Reason   string // one sentence for the owner: why the stage decided so
	RuleFile string
	RuleLine int
	RuleText string      // the rule's description
	Labels   policy.Seen // the labels of the session that led to a question or a refusal; 0 when none did

	Ref      string // the id of an earlier record, such as the decision of an outcome
	Channel  string // for Answered: the channel that the person used
	Answer   string // for Answered: once, session, always, deny, deny always
	By       string // for Answered: the person, as far as the channel knows
	Words    string // for Answered: the person's text for the agent
	Waited   time.Duration
	IsError  bool     // for Outcome: the reply is an error or a tool result with isError
	Declared []string // for Listed: the declared names or URIs
	Detail   string   // free text for Start, End, Policy, Dropped
}

// WasAsked reports whether a person had to be asked about a judged message: a rule asked, or the labels
// of the session did where the rules alone allow it.
func (ev *Event) WasAsked() bool {
	return ev.Policy == "prompt" || ev.Labels != 0 && ev.Decision == "allow"
}
