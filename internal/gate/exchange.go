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

// Exchange is one message that wants to cross the gate. A transport fills it in and hands it to
// Session.Do or Session.Observe. The transport then does not touch the exchange or its bytes until
// the gate calls the Outlet's Forward or Refuse. The Event of a plain reply, and the bytes that the
// Event refers to, belong to the gate until the event is recorded. If the exchange waited for a
// person (WaitedForPerson), the transport must never overwrite the contents of Calls, because an
// Approver that was told to stop may still be reading them.
type Exchange struct {
	Raw   []byte        // the exact bytes that are judged, recorded and forwarded
	Calls []policy.Call // the calls that the rules judge; a message without calls is forwarded and recorded
	Work  []policy.Call // calls that were allowed before and continue with this message; the rules must not deny them now
	Event event.Event   // the transport's facts, above all the server; the gate adds the verdict
	Out   Outlet        // the destination

	// Frame is Raw as parsed by the transport, so that an Inspector need not parse Raw again. The
	// zero Frame means that the transport did not keep the parsed form.
	Frame frame.Frame

	// Answered holds the calls that a reply answers. Replies holds one exchange for each reply in
	// an array of replies. Unasked means that the message informs the user and answers no call.
	// Further means that the message is the second or a later page of a list.
	Answered []policy.Call
	Replies  []*Exchange
	Unasked  bool
	Further  bool

	// Upload means that the message is part of a request to a model: the result of one of the calls
	// in Answered, or a text from the user. Unread means that clawai could not read the message.
	// Every rule may match an unread message, and clawai never alters it.
	Upload, Unread bool

	// Caller receives messages and questions about the exchange. nil means that there is no caller
	// to tell or ask.
	Caller Caller

	verdict     Verdict         // the verdict so far, while x is judged
	judgedCalls []policy.Call   // copies of Calls for the rules, with the time, the labels of the session and the findings
	reply       bool            // x came through Observe
	charges     []policy.Charge // charges of the rules that judged x, until they are counted
	paid        Receipt         // the counted charges, until x is forwarded or refused
	before      *event.Event    // an event to record just before x
	advice      string          // text for the agent: the meaning of a mark such as "[clawai:withheld KIND N]" in x
	held        bool            // x waited for a person
	received    []byte          // Raw before the alterations; nil when nothing was altered
	asks        string          // text for the person: why a rule asks about this reply; "" for any other message
}

// WaitedForPerson reports whether x waited, or waits, for a person. If so, other goroutines may
// read x and its contents even after x is forwarded or refused. Otherwise the transport may reuse x
// after its event is recorded.
func (x *Exchange) WaitedForPerson() bool { return x.held }

// Outlet is the transport's side of one exchange. For each exchange the gate makes exactly one
// call: of Forward or of Refuse. After a person was asked, another goroutine may make this call.
type Outlet interface {
	// Forward sends x.Raw on. After an error the gate reads x.Event once more to record the lost
	// message.
	Forward(x *Exchange) error
	Refuse(x *Exchange, v Verdict)
	// Waiting is called while a person is asked, so that the transport can keep the caller alive
	// (notifications/progress). Waiting never runs during or after Forward or Refuse of the same
	// exchange.
	Waiting(x *Exchange, elapsed time.Duration)
}

// Caller is the party that made the call of an exchange. For an Exchange without a Caller the gate
// uses the type None.
type Caller interface {
	// Named returns the client's own name and version. Both are untrusted. Named works even when
	// Client returns nil.
	Named() (name, version string)
	// Client returns the caller's own way to show a form (elicitation), or nil. The gate calls
	// Client once, before it calls the Approver. The Elicit of the returned Client is called at
	// most once.
	Client() Client
	// Back returns a channel that is closed as soon as the caller can be answered. A caller that
	// got a form instead of its answer (MCP 2026-07-28 basic/patterns/mrtr) is away until it
	// returns with another request. The gate uses the person's answer only after that.
	Back() <-chan struct{}
}

// getCaller returns the caller of the exchange, or None{} if it has none.
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

// maxName is the maximum length in bytes of a client's name in a question.
const maxName = 200

// Verdict is the decision of the gate, with the reason. The zero value is a deny.
type Verdict struct {
	Action policy.Action // Allow or Deny when the verdict reaches an Outlet
	Policy policy.Action // the decision of the rules alone, before other stages
	Rule   *policy.Rule  // the rule that decided; nil when no rule matched
	Stage  Stage
	Code   Code
	Reason string // text for the agent: a clause that contains no position of a rule, no path and no secret; "" when allowed
	Hint   string // for the agent: absolute paths below this folder would be allowed; "" when there is no such folder
	Record string // the record id to quote to the owner; "" when the message could not be recorded

	// Releasable means that the answer to a call was withheld, and that a person can release the
	// next answer to the same call.
	Releasable bool

	endorsed bool // a person allowed the call despite the labels of the session

	labels  string      // why the session's labels make the verdict stricter; "" when they do not
	led     policy.Seen // the labels of the session that led to a question or a denial, for the record
	owner   string      // the reason for the owner, who may see more than the agent
	unruled bool        // the verdict is not from the rules about calls, so the record keeps the earlier decision of these rules
	noted   bool        // the event keeps its kind, although the verdict of this allowed message is recorded
}

// NewDenial returns the denial of a call in the form for the agent.
func (v *Verdict) NewDenial(what policy.Call) mcp.Denial {
	d := mcp.Denial{What: what, Stage: string(v.Stage), Code: v.Code, Reason: v.Reason, Hint: v.Hint, Record: v.Record, File: mcp.NamedFile(what.Args), Releasable: v.Releasable}
	if v.Rule != nil {
		d.Description, d.Team = v.Rule.Description, v.Rule.Approval != nil
	}
	switch v.Code {
	case CodeDeniedByRule:
		d.Reason = "" // the rule's description takes the place of the reason
	case CodeNotAnswered, CodeNobodyToAsk, CodeTooMany, CodeMuted, CodeApprovalWaits:
		d.Unanswered = true
	}
	return d
}

// MaskDenial masks secrets in the texts that a denial quotes from messages.
func (s *Session) MaskDenial(d mcp.Denial) mcp.Denial {
	names := slices.Clone(d.What.Names)
	for i := range names {
		names[i] = s.o.Mask(names[i])
	}
	d.What.Names, d.What.Method, d.Reason, d.File = names, s.o.Mask(d.What.Method), s.o.Mask(d.Reason), s.o.Mask(d.File)
	return d
}

// noteVerdict writes a verdict into the event of x. A message that passes without a deciding stage
// has no verdict to write.
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
	ev.Stage, ev.Code, ev.Reason, ev.Labels = string(v.Stage), v.Code, v.owner, v.led
	if r := v.Rule; r != nil {
		ev.RuleFile, ev.RuleLine, ev.RuleText = r.Pos.File, r.Pos.Line, r.Description
	} else {
		ev.RuleFile, ev.RuleLine, ev.RuleText = "", 0, ""
	}
}

// Code is the stable machine word for a verdict's reason.
type Code = string

// The codes. The codes of an allow come first.
const (
	CodeAllowedByRule    Code = "allowed_by_rule"
	CodeUngoverned       Code = "ungoverned" // no rule governs the method
	CodeAllowedByPerson  Code = "allowed_by_person"
	CodeAllowedInSession Code = "allowed_in_session" // a person allowed the call earlier for the session
	CodeHandedOver       Code = "handed_over"        // the client asks the person with its own dialog
	CodeNotEnforced      Code = "not_enforced"       // forwarded against the rules, because of ObserveOnly
	CodeAltered          Code = "altered"            // a rule changed part of a reply
	CodeReleased         Code = "released"           // a rule withholds a reply, but a person released it

	CodeWithheld       Code = "withheld" // a reply is withheld because of its contents
	CodeLabels         Code = "labels"   // denied because of the labels of the session
	CodePinned         Code = "pinned"   // the tool, prompt or other list entry that the call names differs from the approved one
	CodeDeniedByRule   Code = "denied_by_rule"
	CodeMarker         Code = "marker" // denied by a rule, and the call contains the mark of a withheld text
	CodeNoRule         Code = "no_rule"
	CodeMalformed      Code = "malformed"
	CodeLimit          Code = "limit" // the call is over a limit on the number of calls or on a sum
	CodeDeniedByPerson Code = "denied_by_person"
	CodeNotAnswered    Code = "not_answered"
	CodeNobodyToAsk    Code = "nobody_to_ask"
	CodeWrongAnswer    Code = "wrong_answer" // the answer is for another question, or its value is unknown
	CodeTooMany        Code = "too_many_questions"
	CodeDeniedRecently Code = "denied_recently" // a person denied the same call a moment ago
	CodeApprovalWaits  Code = "approval_waits"  // a team's centre keeps the question
	CodeMuted          Code = "muted"           // the session asks too often, so no person is asked
	CodeWithdrawn      Code = "withdrawn"       // the caller cancelled the call and expects no reply
	CodeCallerAway     Code = "caller_away"     // the caller never returned from its own form and expects no reply
	CodeRecordFailed   Code = "record_failed"
	CodeChanged        Code = "bytes_changed"
	CodePanic          Code = "panic"
	CodeClosed         Code = "closed"

	// These two codes are only in records, except that a Concluder also sees CodeForwardFailed.
	CodeForwardFailed Code = "forward_failed" // an allowed message that the outlet lost
	CodeTooLate       Code = "too_late"       // an answer that came after the call was over
)
