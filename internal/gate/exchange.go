package gate

import (
	"slices"
	"strings"
	"time"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/mcp"
	"github.com/clawai/clawai/internal/wire/frame"
	"github.com/clawai/clawai/policy"
)

// Exchange is one message that wants to cross the gate. A transport fills it in, hands
// it to Session.Do or Session.Observe, and does not touch it or its bytes until the
// Outlet's Forward or Refuse is called. The Event of a plain reply, and the bytes it
// refers to, belong to the gate until the event is recorded. If the exchange waited for
// a person (WaitedForPerson), the transport must never overwrite the contents of Calls,
// because an Approver that was told to stop may still be reading them.
type Exchange struct {
	Raw   []byte        // the exact bytes that are judged, recorded and forwarded
	Calls []policy.Call // judged by the rules, the strictest decision wins; without any, the message is forwarded and recorded
	Work  []policy.Call // calls that were allowed before and continue with this message; they must not be denied now
	Event event.Event   // the transport's facts, above all the server; the gate adds the verdict
	Out   Outlet        // the destination

	// Frame is Raw as the transport has parsed it, so that an Inspector need not parse it again.
	// The zero value means that the transport did not keep it.
	Frame frame.Frame

	// Answered holds the calls that a reply answers. Replies holds one exchange for
	// each reply of an array of replies. Unasked means that the message tells the user
	// something and answers no call. Further means that the message is a later page of
	// a list.
	Answered []policy.Call
	Replies  []*Exchange
	Unasked  bool
	Further  bool

	// Upload means that the message is part of a request to a model: the result of one of the calls in
	// Answered, or text from the user. Unread means that clawai could not read the message: every rule
	// may match it, and clawai never alters it.
	Upload, Unread bool

	// Caller receives messages and questions about the exchange. It is nil if no party does.
	Caller Caller

	verdict     Verdict         // the verdict so far, while x is judged
	judgedCalls []policy.Call   // Calls as last passed to the rules: with the time, the labels of the session and the findings
	reply       bool            // x came through Observe
	charges     []policy.Charge // charges of the rules that judged x, until they are counted
	paid        Receipt         // the counted charges, until x is forwarded or refused
	before      *event.Event    // an event to record just before x
	advice      string          // for the agent: what a mark such as "[clawai:withheld KIND N]" in x means
	held        bool            // x waited for a person
	received    []byte          // Raw before it was altered; nil when it was not altered
	asks        string          // why a rule asks a person about this reply, in words for the person; "" for any other message
}

// WaitedForPerson reports whether x waited, or waits, for a person. If so, other
// goroutines may read x and its contents even after x is forwarded or refused.
// Otherwise x may be reused after it has been recorded.
func (x *Exchange) WaitedForPerson() bool { return x.held }

// Outlet is the transport's side of one exchange. For each exchange the gate calls
// exactly one of Forward and Refuse, exactly once. When a person was asked, the call
// may come from another goroutine. No other way leads through the gate.
type Outlet interface {
	// Forward sends x.Raw on. After an error the gate reads x.Event once more to
	// record the loss.
	Forward(x *Exchange) error
	Refuse(x *Exchange, v Verdict)
	// Waiting is called while a person is being asked, so that the transport can keep
	// the caller alive (notifications/progress). It never overlaps or follows the
	// Forward or Refuse of the same exchange.
	Waiting(x *Exchange, elapsed time.Duration)
}

// Caller is the party that made the call of an exchange. The zero Exchange has None.
type Caller interface {
	// Named returns the client's own name and version, whether or not the caller has a
	// form. Both values are untrusted.
	Named() (name, version string)
	// Client returns the caller's own way to show a form (elicitation), or nil. It is called once,
	// before the Approver; the Client's Elicit is called at most once.
	Client() Client
	// Back returns a channel that is closed as soon as the caller can be answered. A
	// caller that was given a form instead of its answer (MCP 2026-07-28
	// basic/patterns/mrtr) is away until it returns with another request; only then is the
	// answer used.
	Back() <-chan struct{}
}

// getCaller returns the caller, or None.
func (x *Exchange) getCaller() Caller {
	if x.Caller == nil {
		return None{}
	}
	return x.Caller
}

// clientName returns the client's name and version for people.
func clientName(c Caller) string {
	name, version := c.Named()
	all := strings.TrimSpace(name + " " + version)
	if len(all) > maxName {
		all = strings.ToValidUTF8(all[:maxName], "") + "…"
	}
	return all
}

// maxName is the number of bytes of a client's name that each question keeps.
const maxName = 200

// Verdict is the decision of the gate, with the reason. The zero value is a deny.
type Verdict struct {
	Action policy.Action // Allow or Deny once it reaches an Outlet
	Policy policy.Action // the decision of the rules alone
	Rule   *policy.Rule  // nil when none matched
	Stage  Stage
	Code   Code
	Reason string // for the agent, a clause without rule position, path or secret; "" when allowed
	Hint   string // for the agent: a folder below which absolute paths would be allowed; "" for none
	Record string // the record id to quote to the owner; "" when the message could not be recorded

	// Releasable means that the answer to a call was withheld, and that a person can
	// release the next one.
	Releasable bool

	endorsed bool // a person allowed the call despite the labels of the session

	labels  string // the reason why the session's labels tighten the verdict; "" when they do not
	owner   string // the reason for the owner only
	unruled bool   // the rules about calls did not decide this verdict; their earlier decision stays on record
	noted   bool   // the message passes, but the verdict is recorded and the event keeps its kind
}

// NewDenial returns a verdict that denies a call in the form for the agent.
func (v *Verdict) NewDenial(what policy.Call) mcp.Denial {
	d := mcp.Denial{What: what, Stage: string(v.Stage), Code: v.Code, Reason: v.Reason, Hint: v.Hint, Record: v.Record, File: mcp.NamedFile(what.Args), Releasable: v.Releasable}
	if v.Rule != nil {
		d.Description, d.Team = v.Rule.Description, v.Rule.Approval != nil
	}
	switch v.Code {
	case CodeDeniedByRule:
		d.Reason = "" // the rule's description is used instead
	case CodeNotAnswered, CodeNobodyToAsk, CodeTooMany, CodeMuted, CodeApprovalWaits:
		d.Unanswered = true
	}
	return d
}

// MaskDenial masks secrets in the texts of a refusal that come from messages.
func (s *Session) MaskDenial(d mcp.Denial) mcp.Denial {
	names := slices.Clone(d.What.Names)
	for i := range names {
		names[i] = s.o.Mask(names[i])
	}
	d.What.Names, d.What.Method, d.Reason, d.File = names, s.o.Mask(d.What.Method), s.o.Mask(d.Reason), s.o.Mask(d.File)
	return d
}

// noteVerdict writes a verdict into the record of x. If no stage decided the message and it passes,
// there is no verdict to write.
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

// Code is the stable machine word for a verdict's reason.
type Code = string

// The codes; the codes of an allow come first.
const (
	CodeAllowedByRule    Code = "allowed_by_rule"
	CodeUngoverned       Code = "ungoverned" // no rule governs the method
	CodeAllowedByPerson  Code = "allowed_by_person"
	CodeAllowedInSession Code = "allowed_in_session" // a person allowed it earlier
	CodeHandedOver       Code = "handed_over"        // the client asks the person with its own dialog
	CodeNotEnforced      Code = "not_enforced"       // forwarded against the rules: ObserveOnly
	CodeAltered          Code = "altered"            // of a reply: a rule changed part of it
	CodeReleased         Code = "released"           // of a reply: a rule withholds it, and a person released it

	CodeWithheld       Code = "withheld" // of a reply: because of its contents
	CodeLabels         Code = "labels"   // because of what the session has seen
	CodePinned         Code = "pinned"   // the called thing differs from what was approved
	CodeDeniedByRule   Code = "denied_by_rule"
	CodeMarker         Code = "marker" // like denied_by_rule: the call contains the mark of a withheld text
	CodeNoRule         Code = "no_rule"
	CodeMalformed      Code = "malformed"
	CodeLimit          Code = "limit" // more often, or a larger sum, than a limit allows
	CodeDeniedByPerson Code = "denied_by_person"
	CodeNotAnswered    Code = "not_answered"
	CodeNobodyToAsk    Code = "nobody_to_ask"
	CodeWrongAnswer    Code = "wrong_answer" // the answer is for another question or is unknown
	CodeTooMany        Code = "too_many_questions"
	CodeDeniedRecently Code = "denied_recently" // a person denied the same call a moment ago
	CodeApprovalWaits  Code = "approval_waits"  // a team's centre keeps the question
	CodeMuted          Code = "muted"           // the session asks too often
	CodeWithdrawn      Code = "withdrawn"       // the caller cancelled the call and expects no reply
	CodeCallerAway     Code = "caller_away"     // the caller never returned from its own form and expects no reply
	CodeRecordFailed   Code = "record_failed"
	CodeChanged        Code = "bytes_changed"
	CodePanic          Code = "panic"
	CodeClosed         Code = "closed"

	// These two codes are only in records; a Concluder sees the first too.
	CodeForwardFailed Code = "forward_failed" // on an allow: the outlet lost the message
	CodeTooLate       Code = "too_late"       // of an answer: the call was over by then
)
