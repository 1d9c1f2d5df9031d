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
// What Calls hold is never overwritten: an Approver that was told to stop may
// still be reading it.
type Exchange struct {
	Raw   []byte        // the exact bytes that are judged, recorded and forwarded
	Calls []policy.Call // what the rules judge, strictest wins; none: passed on and recorded
	Work  []policy.Call // let through before, and gone on with here: they must not be denied by now
	Event event.Event   // what the transport knows of it; the gate adds the verdict
	Out   Outlet        // where it goes

	paid Receipt // what it counts as against limits, until it is out
}

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

// Asker is an Outlet that knows its caller as somebody who can be asked.
type Asker interface {
	// Client is the caller of this exchange, nil when it has no form to show. It
	// is called once, before the Approver is, and its Elicit at most once.
	Client() Client
	// Back is closed while the caller can be answered. One that was given a form
	// in place of its answer (MCP 2026-07-28 basic/patterns/mrtr) is away until
	// it returns with another request; only then is the answer weighed.
	Back() <-chan struct{}
}

// Named is an Outlet that knows how the client calls itself, whether it has a
// form to show or not. Both are hostile.
type Named interface {
	Named() (name, version string)
}

// named is the client of an exchange, for people.
func (x *Exchange) named() string {
	n, ok := x.Out.(Named)
	if !ok {
		return ""
	}
	name, version := n.Named()
	all := strings.TrimSpace(name + " " + version)
	if len(all) > maxNamed {
		all = strings.ToValidUTF8(all[:maxNamed], "") + "…"
	}
	return all
}

// maxNamed is as much of a client's name, in bytes, as is kept with each question.
const maxNamed = 200

// caller is whoever stands behind an exchange, as somebody to ask.
func (x *Exchange) caller() Client {
	if a, ok := x.Out.(Asker); ok {
		return a.Client()
	}
	return nil
}

// back is the Back of the caller; everybody but an Asker waits for the answer.
func (x *Exchange) back() <-chan struct{} {
	if a, ok := x.Out.(Asker); ok {
		return a.Back()
	}
	here := make(chan struct{})
	close(here)
	return here
}

// Verdict is what the gate decided and why. The zero value is a deny.
type Verdict struct {
	Action policy.Action // Allow or Deny once it reaches an Outlet
	Policy policy.Action // what the rules alone said
	Rule   *policy.Rule  // nil when none matched
	Stage  Stage
	Code   Code
	Reason string // for the agent, a clause: no rule position, no path, no secret; "" when allowed
	Record string // the record id to quote to the owner; "" when it could not be recorded
}

// Stage names the step of the gate that decided.
type Stage string

// The stages.
const (
	StagePolicy Stage = "policy"
	StageRate   Stage = "rate" // a limit of a rule
	StageAsk    Stage = "ask"
	StageRecord Stage = "record"
	StageGate   Stage = "gate" // a panic or a closed session

	// StageObserve stands on every judged exchange, and on the start, of a
	// session that enforces nothing (Options.ObserveOnly).
	StageObserve Stage = "observe"
)

// Code is the stable machine word of a verdict's reason.
type Code = string

// The codes; those of an allow come first.
const (
	CodeAllowedByRule    Code = "allowed_by_rule"
	CodeUngoverned       Code = "ungoverned" // a method no rule governs
	CodeAllowedByPerson  Code = "allowed_by_person"
	CodeAllowedInSession Code = "allowed_in_session" // a person said so earlier
	CodeNotEnforced      Code = "not_enforced"       // forwarded against the rules: ObserveOnly

	CodeDeniedByRule   Code = "denied_by_rule"
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
