package gate

import (
	"context"
	"errors"
	"time"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/policy"
)

// Policy is the set of rules. *policy.Policy is the only implementation.
type Policy interface {
	// DecideAll returns the strictest decision over all the calls. It is safe for
	// concurrent use and does not keep the slice.
	DecideAll(cs []policy.Call) policy.Decision
	// Timed reports whether a rule looks at the time of a call (policy.Call.At).
	Timed() bool
	// Labelled reports whether a rule looks at what the session has seen
	// (policy.Call.Seen).
	Labelled() bool
	// Hint returns, for the agent, the folder below which absolute paths would have
	// been allowed; "" for none.
	Hint(cs []policy.Call) string
	// Revision returns a name for this version of the rules, for people; "" means no
	// name.
	Revision() string
	// Screens returns the kinds of findings that rules about calls, replies or list
	// entries ask about. ruled reports whether there are such rules; for calls, it
	// reports whether a rule has the condition `find`.
	Screens(on policy.On) (kinds []string, ruled bool)
	// FindsIn reports whether a rule with the condition `find` may match a call. If
	// not, the gate does not search the arguments of the call.
	FindsIn(c *policy.Call) bool
	// Packs returns the policy's packs: lists of what rules look for in addition to
	// the built-in kinds.
	Packs() []policy.Pack
	// Pin returns how strictly the lists of a server are compared with the approved
	// lists.
	Pin(server string) policy.Pin
	// DecideReply returns the decision of rules about replies, or about list entries,
	// on the reply to calls. It does not keep the slices.
	DecideReply(on policy.On, calls []policy.Call, kinds []string) policy.Decision
	// AlterReply returns every change that a rule may make to the reply to calls, whatever
	// the other rules say of the reply. It does not keep the slices.
	AlterReply(calls []policy.Call, kinds []string) []policy.Alteration
}

// Recorder writes the audit record. Record returns only when every event is in the
// log. After an error none of the exchanges may be forwarded, except plain replies,
// which already were: their events are recorded again later.
type Recorder interface {
	// Record sets each event's record id (ev.Record) and writes the events, in order,
	// in one write. It is safe for concurrent use. It keeps neither the slice nor the
	// events nor what they point to, because that memory is reused.
	Record(events ...*event.Event) error
}

// Limits counts calls against the limits of rules, for all sessions that share it. It
// is safe for concurrent use. *Meter is an implementation in memory.
type Limits interface {
	// Charge counts calls against limits, all of them or none. paid is the earlier
	// charge for the same calls, or nil. A limit that is unchanged is not charged
	// again; every other part of paid is given back. When Charge returns neither a
	// receipt nor an excess, nothing was counted, and the call is denied.
	Charge(now time.Time, paid Receipt, charges []policy.Charge, cs []policy.Call) (Receipt, Excess)
}

// Receipt holds what one exchange has been charged.
type Receipt interface {
	GiveBack() // cancels the charges: the exchange was not forwarded
}

// Excess is a limit that is reached, and the time until there is room. Without a Rule
// no limit is reached.
type Excess struct {
	Rule *policy.Rule
	Wait time.Duration // 0: this call alone is more than the limit
	// Uncounted means that the call has no countable amount; the call is denied.
	Uncounted bool
	Err       error // for the owner: why nothing was counted
}

// Ledger holds entries that the processes of one agent's session share. Entries are
// only appended, and all processes read them in the same order. It is safe for
// concurrent use.
type Ledger interface {
	// Append adds entries at the end and returns all entries since the last call,
	// including its own, in the order of the ledger. An error means that the entries of
	// other processes are unknown: then nothing may be counted, and no grant holds.
	Append(own ...Entry) (since []Entry, err error)
	// Alive reports whether the process that added an entry still runs.
	Alive(by string) bool
}

// Entry is one entry of a Ledger.
type Entry struct {
	Key    [16]byte      // what is counted or allowed: see keyOf and grantKey
	ID     uint64        // random id of the entry
	At     time.Time     // to the nanosecond
	Every  time.Duration // how long the entry counts
	Amount int64         // not negative
	Back   bool          // this entry takes back the entry with the same key and ID
	By     string        // the process that added the entry, when the Ledger names it; the Ledger fills this in
}

// Label is one thing that a session has seen.
type Label struct{ Kind, Source string }

// Labels is the set of what a session has seen, shared by all that use it. A label is
// never removed, and adding it twice changes nothing. It is safe for concurrent use.
type Labels interface {
	// Brought returns the labels that a message of the server brings, whatever its
	// contents.
	Brought(message *Exchange) []Label
	// Add adds labels to the set. When it returns, every later Judge sees them. An
	// error withholds the message that brought them. Add does not keep the message.
	Add(labels []Label, message []byte) error
	// Seen returns the set for the rules. It first joins the sets of other sessions
	// that the calls name.
	Seen(cs []policy.Call) policy.Seen
	// Judge returns the action that the set requires for calls that the rules allow or
	// ask about, and the reason for the agent. It returns Allow when the set does not
	// object; a reason beside Allow is only recorded. It can only tighten. It does not
	// keep the slice.
	Judge(cs []policy.Call) (a policy.Action, why string)
	// PassFiles notes the files that calls read and write, because a file keeps the labels of the
	// session that wrote it. The gate calls it before it forwards the calls or asks a person. An
	// error refuses the calls. It does not keep the slice.
	PassFiles(cs []policy.Call) error
	// Allowed is called for calls that Judge asked about and that a person allowed,
	// before they are forwarded. It does not keep the slice.
	Allowed(cs []policy.Call)
}

// Release is a person's permission after an answer was withheld: the next answer to the
// same call is forwarded.
type Release struct {
	Record string // the record of the withheld answer
	By     string // the person, as far as it is known
}

// Releases holds what a person released. Processes share it. It is safe for concurrent
// use.
type Releases interface {
	// Name returns the name under which the next answer to calls is released. value is
	// the digest of the calls and of their server. The name tells nothing about the
	// value. "" means that no answer can be released here.
	Name(value [32]byte) string
	// Waits reports whether a release waits under a name.
	Waits(name string) bool
	// Take uses up the release under a name. ok is false when there is none, when its
	// time is over, or when another process has taken it.
	Take(name string) (r Release, ok bool)
}

// Found is a finding in a message: one kind at one place.
type Found struct {
	Kind string // a word of the rules, such as "secret"
	At   string // the string that holds it: a JSON pointer into the message or, for a call, into its arguments
	N    int    // number of findings there
	// Advice tells the agent the meaning of a mark in a call, and what to write
	// instead; "" when the mark stands for a withheld text.
	Advice string
}

// Inspection is the result of looking at a reply. The zero value denies.
type Inspection struct {
	Decision policy.Decision // the decision of the rules
	Found    []Found
	Looked   []string // the kinds that were searched in all of the reply; nil when none was, or only part of it was searched
	Sent     []byte   // the bytes to send instead of the reply; nil: the reply unchanged
	Altered  []string // for the owner: what was altered, such as "redact secret"
	Why      string   // for the owner: which part of the rules could not be carried out
}

// Inspector finds what a message carries, before any byte of it is forwarded, and makes
// the alterations that rules require. It is called only when a rule needs it. It is
// safe for concurrent use.
//
// Sent differs from the received bytes only where rules say so. The frame reader has
// checked Sent again, and the record holds the digests of both. The arguments of a call
// are never altered.
type Inspector interface {
	// Inspect looks at the reply, Exchange.OriginalRaw, by the rules of p, and changes
	// nothing in it. An error withholds the reply and is for the owner. A reply that
	// waits for a person is inspected again.
	Inspect(reply *Exchange, p Policy) (Inspection, error)
	// Alter returns the bytes of a server's request to the client after the
	// alterations of p's rules, and describes the alterations in words. An error
	// denies the request.
	Alter(request *Exchange, alters []policy.Alteration, p Policy) (sent []byte, words []string, err error)
	// Carries returns the findings in the arguments or texts of a call, of the kinds
	// that p's rules about calls ask about. After an error the findings are unknown.
	Carries(c *policy.Call, p Policy) ([]Found, error)
	// Bars returns, for the agent, why the calls are not allowed by the current lists of
	// their servers; "" means that the calls are allowed.
	Bars(cs []policy.Call, p Policy) (why string)
}

// Approver asks a person. Ask returns when there is an answer, when ctx ends, or when
// nobody can be asked; every error is a deny. Ask is called once for each waiting
// question, any number of them at once, each from its own goroutine. An Approver that
// can show only one question makes the others wait. Implementations must answer only
// for the Question they were given. Package gatetest holds the tests that every
// implementation must pass.
//
// When ctx ends, context.Cause is the reason to tell the person: ErrWithdrawn,
// ErrResolved, ErrClosed (or any other cause: the connection is gone) or
// context.DeadlineExceeded. An answer that Ask returns later changes nothing.
type Approver interface {
	Ask(ctx context.Context, q Question) (Answer, error)
}

// ErrKept means that a team's centre keeps the question after its call was denied. When a person has
// allowed the call there, the same call passes. Answer.Note tells the agent how this works.
var ErrKept = errors.New("nobody has answered at the team's centre yet")

// Reasons why a question ended before it was answered.
var (
	ErrWithdrawn = errors.New("the caller withdrew the call")
	ErrClosed    = errors.New("the session is over")
	// ErrResolved is wrapped by an error that adds words: whether the call was allowed
	// or denied, and whether the rules or an earlier answer decided.
	ErrResolved = errors.New("settled")
)

// Concluder tells the person the result of an answer.
type Concluder interface {
	// Concluded is called once for each question for which Ask returned an Answer
	// without an error, in time or not. q.Number identifies the question. v is what
	// was done: Forward or Refuse has already been called. Close waits for Concluded.
	Concluded(q Question, v Verdict)
}

// Question is shown to a person: the calls exactly as they would be executed.
// Everything in it except Rule comes from the wire and is untrusted.
type Question struct {
	Number     uint64        // counts this session's questions, from 1
	Calls      []policy.Call // at least one; more for one result with several input requests
	Rule       policy.Rule   // the first rule that asked
	Digest     [32]byte      // digest of the frame's bytes; the answer holds only for this frame
	Asked      time.Time
	Deadline   time.Time
	Session    bool   // AllowSession can hold for these calls; otherwise it counts as AllowOnce
	Server     string // the server's name, or the guessed name shown instead
	Revision   string // revision of the policy that asked; "" when it has none
	Client     Client // the caller's own form; nil when it cannot be used
	ClientName string // the client's own name and version; "" when it has not sent them

	// Why is a reason for the question in addition to the rule: the contents of the
	// reply, or what the session has seen; "" for none. It may contain text of a message.
	Why string
	// Reply means that the calls were already made and the question is about their
	// reply. No rule can be written from the answer.
	Reply bool
	Finds []string // findings in the reply: kind, number and place of each; nil when nothing was found

	// Ticket names the question in the queue, where it can be answered too. The gate
	// leaves it empty; an Approver that queues the question sets it for the other
	// Approvers.
	Ticket string

	// Value is the digest of the server and of everything in the calls that reaches it. Unlike Digest
	// it is the same when the client sends the same call again.
	Value [32]byte

	// Preview is what a preview of the command found, as JSON; nil if the rule wants none. The gate
	// leaves it empty too. It decides nothing.
	Preview []byte
}

// Bound is how far an answer for the session reaches beyond the calls it was given
// for. It is safe for concurrent use.
type Bound interface {
	// Covers reports whether calls that the answered rule asks about lie within the
	// bound. They must lie there under every reading, and without a reason for caution
	// that the person was not shown. It does not keep the slice.
	Covers(cs []policy.Call) bool
	// Title returns a description for people; it contains nothing harmful.
	Title() string
}

// Client is the caller's own interface (MCP elicitation) as a way to ask. The gate
// passes it to the Approver with the question. Its answer need not come from a person.
type Client interface {
	// Elicit shows message and the flat form that schema (a JSON Schema object)
	// describes, and returns the response. It may be called once for each Question and
	// ends with ctx.
	Elicit(ctx context.Context, message string, schema []byte) (Elicited, error)
	// Name returns the client's own name and version. Both are untrusted.
	Name() (name, version string)
}

// Elicited is the result of an elicitation (MCP 2025-06-18 and later). Action is
// accept, decline or cancel; Content is the JSON object of the form when accepted.
type Elicited struct {
	Action  string
	Content []byte
}

// Reply is a person's reply. The zero value is a deny.
type Reply uint8

// The replies a person can give.
const (
	DenyOnce Reply = iota
	AllowOnce
	AllowSession // this call again, or all within a Bound, until the session ends, the policy changes, or it is revoked
	AllowAlways  // a rule has been written above the one that asked
	DenyAlways   // a deny rule has been written above the one that asked
	HandOver     // nobody was asked: the client asks a person before it continues
)

// Allows reports whether the reply lets the call through.
func (r Reply) Allows() bool {
	return r == AllowOnce || r == AllowSession || r == AllowAlways || r == HandOver
}

// String gives the word that records use.
func (r Reply) String() string {
	switch r {
	case AllowOnce:
		return "once"
	case AllowSession:
		return "session"
	case AllowAlways:
		return "always"
	case DenyAlways:
		return "deny always"
	case HandOver:
		return "handed over"
	case DenyOnce:
	}
	return "deny"
}

// Answer is a person's reply and how it was given.
type Answer struct {
	Reply  Reply
	Digest [32]byte // the digest of the question; a different digest is a deny
	// Approval is the requirement that a team's centre has checked; nil for the answer of a person at
	// this machine. If the rule names approvers, such a person can only deny the call.
	Approval *policy.Approval
	Channel  string // "terminal", "queue", "elicitation", ...
	By       string // who answered, as far as the channel can tell: an account, a client's name
	Words    string // a text from the person for the agent; trusted, but shown as plain text
	// Note names, for the record, the rule that was written. With an error, Note is the
	// reason why no person could be asked; it contains no path, because the agent reads it.
	Note string
	// Scope is the word for how far AllowSession reaches; "" and "exact" mean only
	// this call. The Approver turns Scope into Bound, and the gate reads only Bound.
	Scope string
	Bound Bound
}
