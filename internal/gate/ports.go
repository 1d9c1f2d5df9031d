package gate

import (
	"context"
	"errors"
	"time"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/policy"
)

// Policy is the rules. *policy.Policy is the one there is.
type Policy interface {
	// DecideAll is the strictest decision over all the calls; it is safe for
	// concurrent use and does not keep the slice.
	DecideAll(cs []policy.Call) policy.Decision
	// Timed says that a rule looks at the time of a call (policy.Call.At).
	Timed() bool
	// Revision names the rules as they are, for people; "" is no name.
	Revision() string
}

// Recorder writes the audit record. Record returns only when every event is in
// the log; an error means none of the exchanges they describe may go on, but
// plain replies, which have: their events come again.
type Recorder interface {
	// Record fills in each event's record id (ev.Record) and writes them, in
	// order, in one write. It is safe for concurrent use and keeps neither the
	// slice nor the events.
	Record(events ...*event.Event) error
}

// Limits counts calls against the limits of rules, for all sessions that share
// it. It is safe for concurrent use. *Meter is one in memory.
type Limits interface {
	// Charge counts calls against limits, all of them or none. paid is what was
	// charged for the same calls before, nil for nothing: where a limit is still the
	// same it is not charged again, and everything else of it is given back. Without
	// a receipt and without an excess nothing was counted, and the call is denied.
	Charge(now time.Time, paid Receipt, charges []policy.Charge, cs []policy.Call) (Receipt, Excess)
}

// Receipt is what one exchange has been charged.
type Receipt interface {
	GiveBack() // the exchange was not forwarded
}

// Excess is a limit that is reached, and when there will be room. Without a Rule
// there is none.
type Excess struct {
	Rule *policy.Rule
	Wait time.Duration
}

// Principal is who makes a call. Whoever makes the exchange fills it in from what it
// has checked itself, never from what the message says. The zero value is nobody
// known, which is less than anybody: no rule may allow for it what it allows to
// somebody.
type Principal struct {
	ID          string // stable, and of one person or program: "local:ana"
	Role        string // in which it calls
	Environment string // from where, as the owner divides what there is: "production"
}

// Principals vouches for who calls. It is safe for concurrent use.
type Principals interface {
	// Admit says of each message whether its principal may use the gate at all by
	// now; what it may do is for the rules. An error refuses the message and is for
	// the owner. It waits for nobody.
	Admit(p *Principal) error
}

// Label is one thing that a session has seen.
type Label struct{ Kind, Source string }

// Labels is the set of what a session has seen, for all that share it. A label is
// never taken out, and joining one twice is joining it once. It is safe for concurrent
// use.
type Labels interface {
	// Add joins labels to the set. When it returns, every later Judge knows them; an
	// error withholds the reply that brought them.
	Add(labels []Label) error
	// Judge is what the set makes of calls that the rules allow or ask about, and why,
	// for the agent: Allow where it says nothing. It can only tighten. It does not keep
	// the slice.
	Judge(cs []policy.Call) (a policy.Action, why string)
}

// Span is a part of an exchange's Raw, from Start to before End: one JSON string with
// its quotes, a value or a name.
type Span struct{ Start, End int }

// Finding is something that a reply carries.
type Finding struct {
	Kind string // a stable word: "secret", "injection"
	At   Span
}

// Edit is another text for a string of a reply.
type Edit struct {
	At Span
	To string // as text: what it is as JSON is for who carries it out
}

// Inspection is what was found in a reply. The zero value is nothing.
type Inspection struct {
	Findings []Finding
	Edits    []Edit  // of values only
	Labels   []Label // what the session has seen with it
}

// Inspector says what a reply carries, before a byte of it goes on. It is safe for
// concurrent use.
//
// What is judged, recorded and sent are the same bytes. An edit changes nothing but
// the strings it names: whoever carries edits out leaves every other byte as it is,
// has the frame reader admit the result again, and records the digests of both. Nobody
// does yet, nor does a rule look at findings: a reply with either is withheld. The
// arguments of a call are never edited.
type Inspector interface {
	// Inspect looks at a reply and changes nothing of it. An error withholds the reply
	// and is for the owner. A reply that waits for a person is inspected again.
	Inspect(reply *Exchange) (Inspection, error)
}

// Approver asks a person. Ask returns when there is an answer, when ctx ends,
// or when nobody can be asked; every error is a deny. It is called once for each
// question that waits, any number of them at once, each from a goroutine of its
// own: whoever can show only one lets the others wait in a line. Implementations
// must answer only for the Question they were given. Package gatetest holds what
// every implementation must do.
//
// When ctx ends, context.Cause says what the person may be told: ErrWithdrawn,
// ErrResolved, ErrClosed (or any other cause: the connection is gone) or
// context.DeadlineExceeded. What Ask answers after that changes nothing.
type Approver interface {
	Ask(ctx context.Context, q Question) (Answer, error)
}

// Why a question is over before it was answered.
var (
	ErrWithdrawn = errors.New("the caller withdrew the call")
	ErrClosed    = errors.New("the session is over")
	// ErrResolved is wrapped by an error that goes on in words: which way it went,
	// and whether the rules or an earlier answer decided.
	ErrResolved = errors.New("settled")
)

// Concluder tells the person what became of an answer.
type Concluder interface {
	// Concluded is called once for each question for which Ask gave an Answer
	// without an error, whether the answer was in time or not; Number says which
	// question. v is what was done, and it is done: Forward or Refuse has been
	// called. Close waits for it.
	Concluded(q Question, v Verdict)
}

// Question is what a person is shown: the calls exactly as they would be
// executed. Everything in it but Rule comes from the wire and is hostile.
type Question struct {
	Number     uint64        // of this session's questions, from 1
	Calls      []policy.Call // at least one; more for one result with several input requests
	Rule       policy.Rule   // the first rule that asked
	Digest     [32]byte      // of the frame's bytes; the answer holds for these only
	Asked      time.Time
	Deadline   time.Time
	Session    bool   // AllowSession can hold for these calls; otherwise it counts as AllowOnce
	Server     string // the server's name, or what is shown for it
	Revision   string // of the policy that asked; "" when it has none
	Client     Client // the caller's own form; nil when it cannot be used
	ClientName string // how the client calls itself, with its version; "" when it has not said

	// Ticket names the question in the queue, where it can be answered too. The
	// gate leaves it empty; an Approver that queues it fills it in for the others.
	Ticket string
}

// Client is whoever made the call, as somebody who can be asked through its own
// interface (MCP elicitation). It is offered to the Approver with the question. What it answers need not come from a person.
type Client interface {
	// Elicit shows message and the flat form that schema (a JSON Schema object)
	// describes, and gives what came back. It is safe to call once for each
	// Question and ends with ctx.
	Elicit(ctx context.Context, message string, schema []byte) (Elicited, error)
	// Name is how the client calls itself, and its version. Both are hostile.
	Name() (name, version string)
}

// Elicited is the result of an elicitation (MCP 2025-06-18 and later): Action is
// accept, decline or cancel; Content the JSON object of the form, when accepted.
type Elicited struct {
	Action  string
	Content []byte
}

// Reply is what a person said. The zero value is a deny.
type Reply uint8

// What a person can say.
const (
	DenyOnce Reply = iota
	AllowOnce
	AllowSession // this call again, until the session ends, the policy changes, or it is revoked
	AllowAlways  // a rule has been written above the one that asked
	DenyAlways   // a rule that denies has been written there
)

// Allows says whether the reply lets the call through.
func (r Reply) Allows() bool { return r == AllowOnce || r == AllowSession || r == AllowAlways }

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
	case DenyOnce:
	}
	return "deny"
}

// Answer is a person's reply and how it was given.
type Answer struct {
	Reply   Reply
	Digest  [32]byte // the question's; a different one is a deny
	Channel string   // "terminal", "queue", "elicitation", ...
	By      string   // who answered, as far as the channel knows: an account, a client's name
	Words   string   // what the person wants the agent to know; hostile to nobody but shown as text
	// Note says what was written, for the record; or, beside an error, why
	// nobody could be asked: then the agent reads it, so it names no path.
	Note string
}
