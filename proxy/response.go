package proxy

import (
	"context"
	"time"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/mcp"
	"github.com/clawai/clawai/internal/wire/frame"
	"github.com/clawai/clawai/policy"
)

// response is a response on its way to the caller. It is also the gate's Outlet for the response.
type response struct {
	rc      *receiver
	burst   uint64
	x       gate.Exchange
	request *request
	inputs  mcp.Inputs // input requests to the client in a server's result
	tasks   []string   // ids of the tasks that the call became
	// version is the negotiated version in the result of initialize. It is "" for any other result.
	version string
}

// handleResponse passes the answer to a request in flight to the gate. It drops every other answer.
func (rc *receiver) handleResponse(ctx context.Context, f *frame.Frame) {
	resp := responses.Get().(*response)
	resp.rc, resp.burst = rc, rc.burst
	req, why := rc.s.table.claimRequest(rc.oppositeDirection(), rc.scopedKey(f.ID), resp)
	if req == nil {
		if why == codeUnsolicited && rc.handleOddID(ctx, f) {
			return
		}
		rc.dropUnsolicited(f, why)
		return
	}
	resp.request = req
	if req.elicitation != nil {
		rc.handleElicitResult(req, f)
		return
	}
	if req.form != nil {
		f = rc.withCallerID(f, req)
	}
	if refusal := resp.readFrame(f); refusal != nil {
		resp.rejectReply(f, refusal)
		return
	}
	rc.enqueueExchange(ctx, &resp.x, true)
	rc.passed = append(rc.passed, resp)
}

// dropUnsolicited drops and records an answer that no request waits for.
func (rc *receiver) dropUnsolicited(f *frame.Frame, why string) {
	reason := "an answer to no request in flight"
	switch why {
	case codeSecondAnswer:
		reason = "a second answer"
	case codeLateAnswer:
		reason = "an answer to a cancelled request"
	}
	rc.recordDrop(&event.Event{Code: why, Reason: reason, ID: f.ID, Bytes: len(f.Raw)})
}

// readFrame sets the fields of the exchange from the frame.
func (resp *response) readFrame(f *frame.Frame) *frame.Refusal {
	rc, req := resp.rc, resp.request
	resp.x.Raw, resp.x.Out, resp.x.Caller = f.Raw, resp, resp
	resp.x.Answered, resp.x.Further = req.answeredCalls(), req.further
	if rc.s.o.Gate.Screens() {
		resp.x.Frame = *f
	}
	ev := &resp.x.Event
	rc.describeFrame(ev, f, nil)
	ev.Method, ev.Ref = req.method, req.record
	ev.IsError, resp.tasks = mcp.ReadOutcome(f)
	if req.message.Class == mcp.List && f.Result != nil {
		ev.Kind, ev.Declared = event.Listed, mcp.DeclaredNames(req.method, f.Result)
		rc.s.table.noteList(req.method)
	}
	if req.method == "initialize" && f.Result != nil {
		resp.version = mcp.NegotiatedVersion(f.Result)
		kinds := mcp.ListsTold(f.Result)
		rc.s.lists.Store(&kinds)
	}
	if req.token != nil && len(resp.tasks) > 0 {
		rc.s.table.keepToken(req)
	}
	if rc.from != mcp.ServerToClient {
		if req.method == "roots/list" && f.Result != nil {
			rc.s.o.Gate.NoteRoots(mcp.DeclaredRoots(f.Result, nil))
		}
		return nil
	}
	if req.method == "tools/list" && f.Result != nil {
		rc.s.o.Gate.NoteTools(rc.s.o.Name, mcp.ToolAssurances(f.Result))
	}
	inputs, refusal := mcp.InputCalls(f, rc.s.o.Name)
	if refusal != nil || len(inputs.Calls) == 0 {
		return refusal
	}
	if refusal := rc.checkStrictly(f); refusal != nil {
		return refusal
	}
	resp.inputs = inputs
	// Each poll of a task repeats the task's input requests. The rules judge these only the first
	// time.
	if req.method != "tasks/get" || !rc.s.table.inputs.KnowsInputs(inputs) {
		resp.x.Calls = inputs.Calls
		resp.x.Event.Subject, resp.x.Event.Names = inputs.Calls[0].Subject.RuleKey(), callNames(inputs.Calls)
	}
	return nil
}

// rejectReply sends the caller an error instead of a response that must not be forwarded.
func (resp *response) rejectReply(f *frame.Frame, refusal *frame.Refusal) {
	rc := resp.rc
	record := rc.recordDrop(&event.Event{
		Code: refusal.Code, Reason: refusal.Reason, ID: f.ID, Bytes: len(f.Raw),
		Method: resp.request.method, Ref: resp.request.record,
	})
	to, _ := rc.s.table.releaseRequest(resp.request)
	_ = resp.sendToCaller(to, mcp.UnusableAnswer(to.id, refusal, record))
}

// Forward sends the answer to the caller, which may then use the id again.
func (resp *response) Forward(x *gate.Exchange) error {
	return resp.sendToCaller(resp.rc.s.table.completeRequest(resp), x.Raw)
}

// sendToCaller sends the line to the caller. A caller that has sent a retry waits on the stream of
// the retry, not on this receiver's output.
func (resp *response) sendToCaller(to caller, line []byte) error {
	if resp.request.form != nil && to.back != nil {
		return resp.rc.writeLine(resp.burst, to.back, line)
	}
	if resp.rc.from == mcp.ClientToServer {
		resp.rc.s.table.addNotice("", resp.rc.scope)
	}
	return resp.rc.sendLine(resp.burst, line)
}

// Refuse sends the caller a denial instead of the answer.
func (resp *response) Refuse(x *gate.Exchange, v gate.Verdict) {
	to, _ := resp.rc.s.table.releaseRequest(resp.request)
	if v.Code == gate.CodeWithdrawn {
		return
	}
	what, ran := x.Calls, false // the call is not finished, because the server's input requests are refused
	if len(what) == 0 {
		what, ran = resp.request.answeredCalls(), true
	}
	_ = resp.sendToCaller(to, resp.request.denialLine(to, what, v, ran))
}

// Waiting sends the caller a progress message while a person looks at the answer.
func (resp *response) Waiting(_ *gate.Exchange, elapsed time.Duration) {
	if to, line := resp.request.progressLine(elapsed); line != nil {
		_ = resp.sendToCaller(to, line)
	}
}

// callNames returns the names of all the calls.
func callNames(calls []policy.Call) []string {
	var all []string
	for i := range calls {
		all = append(all, calls[i].Names...)
	}
	return all
}
