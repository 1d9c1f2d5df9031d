package proxy

import (
	"context"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/mcp"
	"github.com/clawai/clawai/internal/wire/frame"
	"github.com/clawai/clawai/policy"
)

// resultElicitor asks the caller of a request of MCP 2026-07-28. The caller gets a form instead of
// the answer and returns with a second request, the retry. The proxy forwards the first request,
// because that one was judged and shown to a person. The retry only tells who gets the answer.
type resultElicitor struct {
	request *request
	who     mcp.Client
	params  []byte
	digest  [32]byte
}

// Name returns the client's own name and version.
func (e *resultElicitor) Name() (name, version string) { return e.who.Name, e.who.Version }

// Elicit answers the call with a form and waits until the retry comes or ctx ends. The retry may
// come long after ctx has ended (see Back).
func (e *resultElicitor) Elicit(ctx context.Context, message string, schema []byte) (gate.Elicited, error) {
	req, s := e.request, e.request.rc.s
	f := &form{elicitation: newElicitation(e.digest), params: e.params, returned: make(chan struct{})}
	err := context.Cause(ctx)
	if err == nil {
		err = s.noteQuestion(f.elicitation, req.id)
	}
	if err == nil && !s.table.addForm(req, f) {
		err = errFormClosed
	}
	if err == nil {
		err = sendNow(req.rc.back, mcp.InputRequired(req.id, f.state, message, schema))
	}
	if err != nil {
		return gate.Elicited{}, err
	}
	select {
	case got := <-f.result:
		return got.Elicited, got.err
	case <-ctx.Done():
		return gate.Elicited{}, context.Cause(ctx)
	}
}

// Codes of refused retries, and of an unusable answer to a request of the proxy.
const (
	codeLateForm  = "late_form"  // the question is over
	codeOtherCall = "other_call" // the retry has other params than the first request
	codeOwnAnswer = "own_answer" // the answer to the proxy's request came in an array
)

// isRetry reports whether a client's request has a requestState of this proxy.
func (rc *receiver) isRetry(m *mcp.Message) bool {
	return m.RequestState != nil && rc.from == mcp.ClientToServer && rc.s.table.issuedState(m.RequestState)
}

// handleRetry handles a retry, which is the request with which a caller returns from a form. It
// forwards nothing.
func (rc *receiver) handleRetry(f *frame.Frame, m *mcp.Message) {
	req := rc.s.table.awaitingRetry(m.RequestState)
	why := codeLateForm
	switch {
	case req == nil:
	case req.method != f.Method || !mcp.SameCall(req.form.params, f.Params):
		why = codeOtherCall
	default:
		why = rc.s.table.addRetry(req, rc.newCaller(f, m))
	}
	switch why {
	case "":
		got, err := mcp.ReadResponse(m.InputResponses)
		rc.deliverElicitResult(req.form.elicitation, f, got, err)
	case codeDuplicateID:
		rc.handleUnreadable(f.Raw, reserveRefusal(f, why))
	default:
		rc.refuseRetry(f, m, why)
	}
}

// refuseRetry refuses a retry that is not valid. It forwards nothing.
func (rc *receiver) refuseRetry(f *frame.Frame, m *mcp.Message, why string) {
	reason := "the answer came too late, the question is over and nothing was done"
	if why == codeOtherCall {
		reason = "what came back with the answer is not the call that was asked about; nothing was done"
	}
	record := rc.recordDrop(&event.Event{Code: why, Reason: reason, Method: f.Method, ID: f.ID, Bytes: len(f.Raw)})
	d := mcp.Denial{
		What:  policy.Call{Method: f.Method, Subject: policy.MethodSubject},
		Stage: string(gate.StageAsk), Code: why, Reason: reason, Record: record,
		Unanswered: why == codeLateForm, AsError: rc.s.o.DenyAsError,
	}
	if len(m.Calls) > 0 {
		d.What = m.Calls[0]
	}
	rc.answerSender(rc.burst, rc.s.o.Gate.MaskDenial(d).AnswerFrame(mcp.Caller{ID: f.ID, Method: f.Method, Modern: m.Modern}))
}

// withCallerID returns the answer with the id of the caller's retry. It changes no other byte.
func (rc *receiver) withCallerID(f *frame.Frame, req *request) *frame.Frame {
	raw := frame.SplicePart(f.Raw, f.ID, req.form.retry.id)
	limits := rc.s.o.Limits
	limits.MaxBytes += len(req.form.retry.id)
	other, err := frame.Parse(raw, limits)
	if err != nil {
		panic(err) // cannot happen, because one admitted id replaces another
	}
	return &other
}
