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
	// Labelled says that a rule looks at what the session has seen (policy.Call.Seen).
	Labelled() bool
	// Hint is the folder below which absolute paths would have let denied calls
	// through, for the agent; "" where there is none.
	Hint(cs []policy.Call) string
	// Revision names the rules as they are, for people; "" is no name.
	Revision() string
	// Screens are the kinds of findings that rules about calls, replies or entries of
	// lists ask about; ruled says whether there are such rules, of calls, whether one has
	// a find.
	Screens(on policy.On) (kinds []string, ruled bool)
	// Packs are what rules look for beside the kinds that there are everywhere.
	Packs() []policy.Pack
	// Pin is how the lists of a server are held to what was approved.
	Pin(server string) policy.Pin
	// DecideReply is what rules about replies, or about entries of lists, say of what came
	// back to calls. It does not keep the slices.
	DecideReply(on policy.On, calls []policy.Call, kinds []string) policy.Decision
}

// Recorder writes the audit record. Record returns only when every event is in
// the log; an error means none of the exchanges they describe may go on, but
// plain replies, which have: their events come again.
type Recorder interface {
	// Record fills in each event's record id (ev.Record) and writes them, in
	// order, in one write. It is safe for concurrent use and keeps neither the
	// slice nor the events, nor what they point to: that is used again.
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
	Wait time.Duration // 0: this call alone is more than the limit
	// Uncounted says that the call has no amount that could be counted: it is denied.
	Uncounted bool
	Err       error // why nothing was counted, for the owner
}

// Ledger is what processes of one agent's session have in common: entries to which is only
// added, and which all of them read in one order. It is safe for concurrent use.
type Ledger interface {
	// Append adds entries behind all there are and gives those that have come since the
	// last call, its own at their place. An error says that what the others have added is
	// not known: then nothing may be counted, and nothing holds.
	Append(own ...Entry) (since []Entry, err error)
	// Alive says whether the process that has added an entry still runs.
	Alive(by string) bool
}

// Entry is one of a Ledger.
type Entry struct {
	Key    [16]byte      // what is counted, or allowed
	ID     uint64        // its own, drawn at random
	At     time.Time     // to the nanosecond
	Every  time.Duration // for how long it counts
	Amount int64         // not negative
	Back   bool          // takes back the entry of this key and ID
	By     string        // the process, where the Ledger names it; its own fills this in
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
	// Brought is what a message of the server's brings along, whatever it holds.
	Brought(message *Exchange) []Label
	// Add joins labels to the set. When it returns, every later Judge knows them; an
	// error withholds the message that brought them. It does not keep the message.
	Add(labels []Label, message []byte) error
	// Seen is what rules are told of the set, after calls that may name the session.
	Seen(cs []policy.Call) policy.Seen
	// Judge is what the set makes of calls that the rules allow or ask about, and why,
	// for the agent: Allow where it says nothing, or beside a reason that is only
	// recorded. It can only tighten. It does not keep the slice.
	Judge(cs []policy.Call) (a policy.Action, why string)
	// Allowed is told of calls that Judge asked about and a person has let go, before
	// they do. It does not keep the slice.
	Allowed(cs []policy.Call)
}

// Found is what a message carries, of one kind and at one place.
type Found struct {
	Kind string // a word of the rules: "secret"
	At   string // the string it stands in, as a JSON pointer into the message or, of a call, into its arguments
	N    int    // how many of them
	// Advice tells the agent of a mark in a call what it stands for, and what to write instead;
	// "" where it stands for a text that was withheld.
	Advice string
}

// Inspection is what came of looking at a reply. The zero value denies.
type Inspection struct {
	Decision policy.Decision // what the rules make of it
	Found    []Found
	Looked   []string // the kinds that were looked for in all of it; nil: none, or not in all of it
	Sent     []byte   // what goes on in place of what came, when it goes on; nil: what came
	Altered  []string // what was done to it, in words for the owner: "redact secret"
	Why      string   // for the owner: what the rules could not have carried out
}

// Inspector says what a message carries, before a byte of it goes on, and carries out
// what rules alter. It is asked only where a rule needs it, and is safe for concurrent
// use.
//
// What Sent holds differs from what came in nothing but what rules name, was admitted by
// the frame reader again, and is recorded by the digests of both. The arguments of a call
// are never altered.
type Inspector interface {
	// Inspect looks at what came back, Exchange.OriginalRaw, by the rules of p, and changes
	// nothing of it. An error withholds it and is for the owner. One that waits for a
	// person is inspected again.
	Inspect(reply *Exchange, p Policy) (Inspection, error)
	// Alter is the bytes of a request that a server makes to the client with what rules
	// of p alter of it, and in words what was done. An error denies the request.
	Alter(request *Exchange, alters []policy.Alteration, p Policy) (sent []byte, words []string, err error)
	// Carries is what stands in the arguments or the texts of a call, of the kinds that rules
	// of p about calls ask about. An error leaves open what does.
	Carries(c *policy.Call, p Policy) ([]Found, error)
	// Bars says why calls may not be made of what their servers list by now, for the agent;
	// "" is no reason.
	Bars(cs []policy.Call, p Policy) (why string)
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

	// Why is why it is asked, beside what the rule says: what came back holds, what the
	// session has seen; "" for no other reason. It may quote the wire.
	Why string
	// Reply says that the calls were made, and that what came back is asked about. No rule
	// can be written from the answer.
	Reply bool
	Finds []string // of what came back: kind, number and place of each; nil when nothing was found

	// Ticket names the question in the queue, where it can be answered too. The
	// gate leaves it empty; an Approver that queues it fills it in for the others.
	Ticket string
}

// Bound is how far an answer for the session goes beyond the calls it was given for. It
// is safe for concurrent use.
type Bound interface {
	// Covers says whether calls, about which the rule asks that was answered, lie within
	// the bound: under every reading, and without a reason for care that the person was
	// not shown. It does not keep the slice.
	Covers(cs []policy.Call) bool
	// Title says it for people; harmless.
	Title() string
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
	AllowSession // this call again, or all within a Bound, until the session ends, the policy changes, or it is revoked
	AllowAlways  // a rule has been written above the one that asked
	DenyAlways   // a rule that denies has been written there
	HandOver     // nobody was asked: whoever made the call asks a person before it goes on
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
	Reply   Reply
	Digest  [32]byte // the question's; a different one is a deny
	Channel string   // "terminal", "queue", "elicitation", ...
	By      string   // who answered, as far as the channel knows: an account, a client's name
	Words   string   // what the person wants the agent to know; hostile to nobody but shown as text
	// Note says what was written, for the record; or, beside an error, why
	// nobody could be asked: then the agent reads it, so it names no path.
	Note string
	// Scope is the word for how far AllowSession goes; "" and "exact" are no further
	// than the call.
	// Whoever asks makes it the Bound, and the gate looks at that alone.
	Scope string
	Bound Bound
}
