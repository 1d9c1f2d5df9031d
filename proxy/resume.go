package proxy

import (
	"context"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/proxy/frame"
	"github.com/clawai/clawai/proxy/mcp"
)

// visitor is the caller of a request of 2026-07-28: it gets its form in place of
// the answer and returns with another request. What goes on is the first one,
// which was judged and shown; the second only says to whom the answer belongs.
type visitor struct {
	call   *call
	who    mcp.Client
	params []byte
	digest [32]byte
}

// Name is how the client calls itself.
func (v *visitor) Name() (name, version string) { return v.who.Name, v.who.Version }

// Elicit answers the call with a form and waits for the caller to return, which
// it may do long after ctx has ended (see Back).
func (v *visitor) Elicit(ctx context.Context, message string, schema []byte) (gate.Elicited, error) {
	c, s := v.call, v.call.lane.s
	f := &form{asking: newAsking(v.digest), params: v.params, here: make(chan struct{})}
	err := context.Cause(ctx)
	if err == nil {
		err = s.asks(f.asking, c.id)
	}
	if err == nil && !s.table.sendAway(c, f) {
		err = errSettled
	}
	if err == nil {
		err = tell(c.lane.back, mcp.InputRequired(c.id, f.state, message, schema))
	}
	if err != nil {
		return gate.Elicited{}, err
	}
	select {
	case got := <-f.answer:
		return got.Elicited, got.err
	case <-ctx.Done():
		return gate.Elicited{}, context.Cause(ctx)
	}
}

// Why a caller that was given a form cannot be answered under its new id, and
// why an answer to a request of ours goes nowhere.
const (
	lateForm  = "late_form"  // the question is over
	otherCall = "other_call" // it does not ask for the same
	takenID   = "duplicate_id"
	ownAnswer = "own_answer" // in an array
)

// returns reports a request that brings a requestState of ours back.
func (l *lane) returns(m *mcp.Message) bool {
	return m.RequestState != nil && l.from == mcp.ClientToServer && l.s.table.ours(m.RequestState)
}

// resume takes a caller back that was given a form. Its request goes nowhere.
func (l *lane) resume(f *frame.Frame, m *mcp.Message) {
	c := l.s.table.left(m.RequestState)
	why := lateForm
	switch {
	case c == nil:
	case c.method != f.Method || !mcp.SameCall(c.form.params, f.Params):
		why = otherCall
	default:
		why = l.s.table.comeBack(c, l.caller(f, m))
	}
	switch why {
	case "":
		got, err := mcp.ReadResponse(m.InputResponses)
		l.brings(c.form.asking, f, got, err)
	case takenID:
		l.unreadable(f.Raw, duplicate(f))
	default:
		l.turnAway(f, m, why)
	}
}

// turnAway answers a retry that is none. Nothing of it crosses.
func (l *lane) turnAway(f *frame.Frame, m *mcp.Message, why string) {
	reason := "the answer came too late, the question is over and nothing was done"
	if why == otherCall {
		reason = "what came back with the answer is not the call that was asked about; nothing was done"
	}
	record := l.dropped(&event.Event{Code: why, Reason: reason, Method: f.Method, ID: f.ID, Bytes: len(f.Raw)})
	d := mcp.Denial{
		What:  policy.Call{Method: f.Method, Subject: policy.MethodSubject},
		Stage: string(gate.StageAsk), Code: why, Reason: reason, Record: record,
		Unanswered: why == lateForm, AsError: l.s.o.DenyAsError,
	}
	if len(m.Calls) > 0 {
		d.What = m.Calls[0]
	}
	l.answer(l.burst, d.Answer(mcp.Caller{ID: f.ID, Method: f.Method, Modern: m.Modern}))
}

// readdress is the answer to a call whose caller has returned, under the id it
// waits for now; every other byte is the server's.
func (l *lane) readdress(f *frame.Frame, c *call) *frame.Frame {
	raw := frame.Splice(f.Raw, f.ID, c.form.back.id)
	limits := l.s.o.Limits
	limits.MaxBytes += len(c.form.back.id)
	other, err := frame.Parse(raw, limits)
	if err != nil {
		panic(err) // one id that was admitted stands where another stood
	}
	return &other
}
