package proxy

import (
	"bytes"
	"context"
	"time"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/proxy/frame"
	"github.com/clawai/clawai/proxy/mcp"
	"github.com/tidwall/gjson"
)

// response is an answer on its way to whoever made the call.
type response struct {
	rc      *receiver
	burst   *burst
	x       gate.Exchange
	request *request
	inputs  mcp.Inputs // what a server's result asks of the client
	tasks   []string   // handles under which the call goes on
	// The version an initialize result settles on, "" for any other.
	version string
}

// handleResponse hands an answer to a request in flight to the gate, and drops every
// other.
func (rc *receiver) handleResponse(ctx context.Context, f *frame.Frame) {
	resp := &response{rc: rc, burst: rc.burst}
	req, why := rc.s.table.claim(rc.opposite(), rc.scopedKey(f.ID), resp)
	if req == nil {
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
	if refusal := resp.read(f); refusal != nil {
		resp.reject(f, refusal)
		return
	}
	rc.enqueue(ctx, &resp.x, true)
}

// dropUnsolicited records an answer that nobody waits for.
func (rc *receiver) dropUnsolicited(f *frame.Frame, why string) {
	reason := "an answer to no request in flight"
	switch why {
	case codeSecondAnswer:
		reason = "a second answer"
	case codeLateAnswer:
		reason = "an answer to a cancelled request"
	}
	rc.dropped(&event.Event{Code: why, Reason: reason, ID: f.ID, Bytes: len(f.Raw)})
}

// read fills in the exchange.
func (resp *response) read(f *frame.Frame) *frame.Refusal {
	rc, req := resp.rc, resp.request
	resp.x.Raw, resp.x.Out, resp.x.Caller = f.Raw, resp, resp
	ev := &resp.x.Event
	rc.describe(ev, f, nil)
	ev.Method, ev.Ref, ev.IsError = req.method, req.record, isError(f)
	if req.class == mcp.List && f.Result != nil {
		ev.Kind, ev.Declared = event.Listed, mcp.Declared(req.method, f.Result)
	}
	if req.method == "initialize" && f.Result != nil {
		resp.version = mcp.Negotiated(f.Result)
	}
	// A large result is not parsed for this. A member spelt with escapes is missed:
	// then its handle is nobody's.
	if bytes.Contains(f.Result, []byte(`"taskId"`)) {
		resp.tasks = mcp.Created(f.Result)
	}
	if req.token != nil && len(resp.tasks) > 0 {
		rc.s.table.keepToken(req)
	}
	if rc.from != mcp.ServerToClient {
		return nil
	}
	inputs, refusal := mcp.InputCalls(f, rc.s.o.Name)
	if refusal != nil || len(inputs.Calls) == 0 {
		return refusal
	}
	resp.inputs = inputs
	// A task that is polled repeats what it waits for: asked once is enough.
	if req.method != "tasks/get" || !rc.s.table.inputsKnown(inputs) {
		resp.x.Calls = inputs.Calls
		resp.x.Event.Subject, resp.x.Event.Names = inputs.Calls[0].Subject.Key(), callNames(inputs.Calls)
	}
	return nil
}

// reject answers the call of a reply that must not cross.
func (resp *response) reject(f *frame.Frame, refusal *frame.Refusal) {
	rc := resp.rc
	record := rc.dropped(&event.Event{
		Code: refusal.Code, Reason: refusal.Reason, ID: f.ID, Bytes: len(f.Raw),
		Method: resp.request.method, Ref: resp.request.record,
	})
	to, _ := rc.s.table.release(resp.request)
	_ = resp.send(to, mcp.Refused(&frame.Refusal{
		Code: refusal.Code, Reason: "in the answer: " + refusal.Reason, ID: to.id, Request: true,
	}, record))
}

// Forward passes the answer on; from then on the id is free again.
func (resp *response) Forward(x *gate.Exchange) error {
	t := &resp.rc.s.table
	to, _ := t.caller(resp.request)
	t.complete(resp)
	return resp.send(to, x.Raw)
}

// send answers on the stream that the answer came for. A caller that has returned
// from a form waits on another.
func (resp *response) send(to caller, line []byte) error {
	if resp.request.form != nil && to.back != nil {
		return resp.rc.write(resp.burst, to.back, line)
	}
	return resp.rc.send(resp.burst, line)
}

// Refuse answers the call in the other side's place.
func (resp *response) Refuse(x *gate.Exchange, v gate.Verdict) {
	to, _ := resp.rc.s.table.release(resp.request)
	if v.Code == gate.CodeWithdrawn {
		return
	}
	what := resp.request.calls
	if len(x.Calls) > 0 {
		what = x.Calls
	}
	_ = resp.send(to, resp.request.denial(to, what, v))
}

// Waiting keeps the caller alive while a person looks at the answer.
func (resp *response) Waiting(_ *gate.Exchange, elapsed time.Duration) {
	if to, line := resp.request.progress(elapsed); line != nil {
		_ = resp.send(to, line)
	}
}

// isError reports an error, or a tool result that says it is one.
func isError(f *frame.Frame) bool {
	if f.Error != nil {
		return true
	}
	// For the record only: a member spelt with escapes may be missed, and a
	// large result is not parsed for it.
	return bytes.Contains(f.Result, []byte(`"isError"`)) && gjson.GetBytes(f.Result, "isError").Bool()
}

// callNames are the names of several calls.
func callNames(calls []policy.Call) []string {
	var all []string
	for i := range calls {
		all = append(all, calls[i].Names...)
	}
	return all
}
