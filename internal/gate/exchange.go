package gate

import (
	"strings"
	"time"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/policy"
)

// Exchange is one message that wants to cross the gate. A transport fills it
// in, hands it to Session.Do or Session.Observe, and touches neither it nor
// the bytes behind it until the Outlet's Forward or Refuse is called. The Event
// of a plain reply, and the bytes it names, stay the gate's until it is recorded.
// What Calls hold of one that is Held is never overwritten: an Approver that was told to
// stop may still be reading it.
type Exchange struct {
	Raw   []byte        // the exact bytes that are judged, recorded and forwarded
	Calls []policy.Call // what the rules judge, strictest wins; none: passed on and recorded
	Work  []policy.Call // let through before, and gone on with here: they must not be denied by now
	Event event.Event   // what the transport knows of it, the server first of all; the gate adds the verdict
	Out   Outlet        // where it goes

	// Answered are, of a reply, the calls that it answers; Replies, of an array of replies,
	// one for each. Unasked says of a message that it tells the user something, and answers
	// no call. Further says of a page of a list that one before it was asked for.
	Answered []policy.Call
	Replies  []*Exchange
	Unasked  bool
	Further  bool

	// Caller is who is told or asked, Principal who it is that calls. Of both the zero
	// value is nobody.
	Caller    Caller
	Principal Principal

	verdict     Verdict         // what stands of it while it is judged
	judgedCalls []policy.Call   // Calls as the rules were last asked: with the time, what the session has seen and what they carry
	reply       bool            // it came to Observe
	charges     []policy.Charge // of the rules that judged it, until it is counted
	paid        Receipt         // what it counts as against limits, until it is out
	before      *event.Event    // what is recorded just before it
	advice      string          // what a mark in it stands for, for the agent
	held        bool            // it waited for a person
	came        []byte          // what Raw was before it was altered; nil when it was not
	asks        string          // of a reply that a rule asks about: why, for the person
}

// WaitedForPerson says that x waited, or waits, for a person: others may still be looking at it, and
// at what it holds, when it has crossed. One that did not may be used again when it has
// been recorded.
func (x *Exchange) WaitedForPerson() bool { return x.held }

// Outlet is the transport's side of one exchange. For each exchange the gate
// calls exactly one of Forward and Refuse, exactly once, perhaps from another
// goroutine when a person was asked. There is no other way through.
type Outlet interface {
	// Forward sends x.Raw on. After an error the gate reads x.Event once more,
	// to record that it was lost.
	Forward(x *Exchange) error
	Refuse(x *Exchange, v Verdict)
	// Waiting is called while a person is being asked, so that the caller can
	// be kept alive (notifications/progress). It never overlaps or follows the
	// Forward or Refuse of the same exchange.
	Waiting(x *Exchange, elapsed time.Duration)
}

// Caller is whoever made the call of an exchange. The zero Exchange has None.
type Caller interface {
	// Named is how the client calls itself, whether it has a form to show or not.
	// Both are hostile.
	Named() (name, version string)
	// Client is the caller as somebody who can be asked, nil when it has no form to
	// show. It is called once, before the Approver is, and its Elicit at most once.
	Client() Client
	// Back is closed while the caller can be answered. One that was given a form
	// in place of its answer (MCP 2026-07-28 basic/patterns/mrtr) is away until
	// it returns with another request; only then is the answer used.
	Back() <-chan struct{}
}

// getCaller gives whoever made the call.
func (x *Exchange) getCaller() Caller {
	if x.Caller == nil {
		return None{}
	}
	return x.Caller
}

// clientName gives the client of an exchange, for people.
func clientName(c Caller) string {
	name, version := c.Named()
	all := strings.TrimSpace(name + " " + version)
	if len(all) > maxName {
		all = strings.ToValidUTF8(all[:maxName], "") + "…"
	}
	return all
}

// maxName is as much of a client's name, in bytes, as is kept with each question.
const maxName = 200

// Verdict is what the gate decided and why. The zero value is a deny.
type Verdict struct {
	Action policy.Action // Allow or Deny once it reaches an Outlet
	Policy policy.Action // what the rules alone said
	Rule   *policy.Rule  // nil when none matched
	Stage  Stage
	Code   Code
	Reason string // for the agent, a clause: no rule position, no path, no secret; "" when allowed
	Hint   string // a folder below which absolute paths would do, for the agent; "" for none
	Record string // the record id to quote to the owner; "" when it could not be recorded

	endorsed bool // a person has let it go, whatever the session has seen

	labels  string // why what the session has seen tightens it; "" where it does not
	owner   string // the reason in words that only the owner reads
	unruled bool   // the rules about calls had no part in it: what they said before stays on record
	noted   bool   // of what passes: it is on record all the same, as what it was
}

// noteVerdict writes a verdict into the record of x. Of a message that passes because no
// stage has a word on it there is no verdict to write.
func (x *Exchange) noteVerdict(v *Verdict) {
	if v.Action == policy.Allow && !x.isGoverned() && v.Code != CodeAllowedByPerson && !v.noted {
		return
	}
	ev := &x.Event
	if ev.Decision = v.Action.String(); !v.noted {
		ev.Kind = event.Decision
	}
	if !v.unruled {
		ev.Policy = v.Policy.String()
	}
	ev.Stage, ev.Code, ev.Reason = string(v.Stage), v.Code, v.owner
	ev.RuleFile, ev.RuleLine, ev.RuleText = "", 0, ""
	if r := v.Rule; r != nil {
		ev.RuleFile, ev.RuleLine, ev.RuleText = r.Pos.File, r.Pos.Line, r.Description
	}
}

// Code is the stable machine word of a verdict's reason.
type Code = string

// The codes; those of an allow come first.
const (
	CodeAllowedByRule    Code = "allowed_by_rule"
	CodeUngoverned       Code = "ungoverned" // a method no rule governs
	CodeAllowedByPerson  Code = "allowed_by_person"
	CodeAllowedInSession Code = "allowed_in_session" // a person said so earlier
	CodeHandedOver       Code = "handed_over"        // the client asks the person with its own dialog
	CodeNotEnforced      Code = "not_enforced"       // forwarded against the rules: ObserveOnly
	CodeAltered          Code = "altered"            // of a reply: a rule had something of it changed

	CodeUnknownCaller  Code = "unknown_caller" // nobody vouches for the principal
	CodeWithheld       Code = "withheld"       // of a reply: what it carries
	CodeLabels         Code = "labels"         // what the session has seen
	CodePinned         Code = "pinned"         // what is called is not as it was approved
	CodeDeniedByRule   Code = "denied_by_rule"
	CodeMarker         Code = "marker" // the same, of a call with the mark of a text that was withheld
	CodeNoRule         Code = "no_rule"
	CodeMalformed      Code = "malformed"
	CodeLimit          Code = "limit" // more often than a rule allows
	CodeDeniedByPerson Code = "denied_by_person"
	CodeNotAnswered    Code = "not_answered"
	CodeNobodyToAsk    Code = "nobody_to_ask"
	CodeWrongAnswer    Code = "wrong_answer" // for another question, or not one we know
	CodeTooMany        Code = "too_many_questions"
	CodeDeniedRecently Code = "denied_recently" // a person denied the same call a moment ago
	CodeMuted          Code = "muted"           // the session asks too often
	CodeWithdrawn      Code = "withdrawn"       // the caller cancelled it: expects no reply
	CodeCallerAway     Code = "caller_away"     // it never returned from its own form: nobody expects a reply
	CodeRecordFailed   Code = "record_failed"
	CodeChanged        Code = "bytes_changed"
	CodePanic          Code = "panic"
	CodeClosed         Code = "closed"

	// Only in records, and the first in what a Concluder is told.
	CodeForwardFailed Code = "forward_failed" // beside an allow: the outlet lost it
	CodeTooLate       Code = "too_late"       // of an answer: the call was over by then
)
