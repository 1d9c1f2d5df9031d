package proxy

import (
	"bytes"
	"context"
	"strings"
	"time"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/mcp"
	"github.com/clawai/clawai/internal/wire/frame"
)

// requestBatch is a JSON array of requests and notifications (only in MCP 2025-03-26). The proxy
// forwards or refuses the whole array and never splits it.
type requestBatch struct {
	rc       *receiver
	burst    uint64
	x        gate.Exchange
	requests []*request
}

// handleBatch adds an array to the group (receiver.group). An array of requests and notifications
// becomes a requestBatch, and an array of responses becomes a responseBatch. An array with both is
// refused.
func (rc *receiver) handleBatch(ctx context.Context, f *frame.Frame) {
	replies := 0
	for i := range f.Elements {
		if f.Elements[i].Kind == frame.Response {
			replies++
		}
	}
	switch replies {
	case 0:
		rc.handleRequestBatch(ctx, f)
	case len(f.Elements):
		rc.handleResponseBatch(ctx, f)
	default:
		rc.refuseBatch(f, &frame.Refusal{Code: "mixed_batch", Reason: "requests and answers in one array"})
	}
}

// handleRequestBatch checks every element of an array of requests and notifications. Then it adds
// the array to the group as one exchange.
func (rc *receiver) handleRequestBatch(ctx context.Context, f *frame.Frame) {
	rc.judgeGroup(ctx) // the group is judged first, because the array may cancel a request that came in the same read, or repeat its id
	b := &requestBatch{rc: rc, burst: rc.burst}
	rc.beginBatch(&b.x, f, b)
	var methods []string
	for i := range f.Elements {
		if refusal := b.addElement(&f.Elements[i]); refusal != nil {
			rc.refuseBatch(f, refusal)
			return
		}
		methods = append(methods, f.Elements[i].Method)
	}
	if refusal := reserveRefusal(f, rc.s.table.reserveIDs(b.requests...)); refusal != nil {
		rc.refuseBatch(f, refusal)
		return
	}
	b.x.Event.Detail = strings.Join(methods, " ")
	b.x.Event.Names = callNames(b.x.Calls)
	if len(b.x.Calls) > 0 {
		b.x.Event.Subject = b.x.Calls[0].Subject.RuleKey()
	}
	rc.enqueueExchange(ctx, &b.x, false)
}

// beginBatch fills in the exchange of a batch.
func (rc *receiver) beginBatch(x *gate.Exchange, f *frame.Frame, out gate.Outlet) {
	x.Raw, x.Out = f.Raw, out
	rc.describeFrame(&x.Event, f, nil)
	x.Event.Method = "batch"
}

// unscreenedElement is the refusal of an array in which a message has text for the rules about
// replies. Such a message must come outside an array.
var unscreenedElement = &frame.Refusal{Code: "unscreened_batch", Reason: "the owner's rules look at what a server sends; this must come in a message of its own"}

// addElement reads one element of the array and adds its calls.
func (b *requestBatch) addElement(f *frame.Frame) *frame.Refusal {
	rc := b.rc
	if f.Kind == frame.Request {
		req, refusal := rc.newRequest(f)
		if refusal == nil && rc.isRetry(&req.message) {
			refusal = &frame.Refusal{Code: "late_form", Reason: "the answer to a form comes in a request of its own"}
		}
		if refusal == nil {
			refusal = req.admitRequest(f)
		}
		if refusal == nil && req.saysMore(f) && rc.s.o.Gate.Screens() {
			refusal = unscreenedElement
		}
		if refusal != nil {
			return refusal
		}
		req.waiting, req.kept, req.work, req.array = &b.x, true, req.x.Work, b
		b.requests = append(b.requests, req)
		b.x.Calls, b.x.Work = append(b.x.Calls, req.calls...), append(b.x.Work, req.x.Work...)
		return nil
	}
	n := &notification{rc: rc}
	if refusal := n.readFrame(f); refusal != nil {
		return refusal
	}
	if why := n.checkReference(f); why != "" {
		return &frame.Refusal{Code: "not_in_flight", Reason: why}
	}
	if n.x.Unasked && rc.s.o.Gate.Screens() {
		return unscreenedElement
	}
	b.x.Calls, b.x.Work = append(b.x.Calls, n.x.Calls...), append(b.x.Work, n.x.Work...)
	return nil
}

// handleResponseBatch passes an array of responses to the gate, if every element answers a request
// in flight.
func (rc *receiver) handleResponseBatch(ctx context.Context, f *frame.Frame) {
	b := &responseBatch{rc: rc, burst: rc.burst}
	rc.beginBatch(&b.x, f, b)
	var refusal *frame.Refusal
	for i := range f.Elements {
		e := &f.Elements[i]
		resp := &response{rc: rc, burst: rc.burst}
		req, why := rc.s.table.claimRequest(rc.oppositeDirection(), rc.scopedKey(e.ID), resp)
		if req != nil && req.elicitation != nil {
			rc.handleElicitResult(req, e)
			req, why = nil, codeOwnAnswer
		}
		if req == nil {
			refusal = &frame.Refusal{Code: why, Reason: "the array holds an answer to no request in flight"}
			continue
		}
		resp.request = req
		b.responses = append(b.responses, resp)
		if req.form != nil { // only calls of MCP 2026-07-28 have forms, and that version has no arrays
			refusal = &frame.Refusal{Code: frame.CodeBatch, Reason: "the call's version has no arrays"}
		}
		if why := resp.readFrame(e); why != nil {
			refusal = why
		}
		b.x.Calls, b.x.Replies = append(b.x.Calls, resp.x.Calls...), append(b.x.Replies, &resp.x)
	}
	if refusal == nil {
		b.x.Event.Names = callNames(b.x.Calls)
		rc.enqueueExchange(ctx, &b.x, true)
		return
	}
	for _, resp := range b.responses {
		resp.rejectReply(f, refusal)
	}
	if len(b.responses) == 0 {
		rc.recordDrop(&event.Event{Code: refusal.Code, Reason: refusal.Reason, Bytes: len(f.Raw)})
	}
}

// refuseBatch refuses an array and answers every request in it.
func (rc *receiver) refuseBatch(f *frame.Frame, refusal *frame.Refusal) {
	record := rc.recordDrop(&event.Event{Code: refusal.Code, Reason: refusal.Reason, Method: "batch", Bytes: len(f.Raw)})
	var lines [][]byte
	for i := range f.Elements {
		e := &f.Elements[i]
		one := &frame.Refusal{Code: refusal.Code, Reason: refusal.Reason, ID: e.ID, Request: e.Kind == frame.Request}
		if line := mcp.RefusalAnswer(one, record); line != nil {
			lines = append(lines, line)
		}
	}
	rc.respondBatch(rc.burst, lines)
}

// Forward sends the array to the other side.
func (b *requestBatch) Forward(x *gate.Exchange) error {
	for _, req := range b.requests {
		req.record = x.Event.Record // the answers refer to the record of the array
		b.rc.s.table.markSent(req)
	}
	err := b.rc.sendLine(b.burst, x.Raw)
	var lines [][]byte
	for _, req := range b.requests {
		if line := req.clientGone(err); line != nil {
			lines = append(lines, line)
		}
	}
	b.rc.respondBatch(b.burst, lines)
	return err
}

// Refuse answers the requests of the array, except those that their callers have withdrawn.
func (b *requestBatch) Refuse(_ *gate.Exchange, v gate.Verdict) {
	var lines [][]byte
	for _, req := range b.requests {
		if !b.rc.s.table.releaseHeld(req) {
			lines = append(lines, req.denialLine(req.caller, req.calls, v, false))
		}
	}
	b.rc.respondBatch(b.burst, lines)
}

// Waiting sends a progress message to each caller in the array that asked for progress.
func (b *requestBatch) Waiting(_ *gate.Exchange, elapsed time.Duration) {
	for _, req := range b.requests {
		if to, line := req.progressLine(elapsed); line != nil {
			_ = b.rc.writeLine(b.burst, to.back, line)
		}
	}
}

// respondBatch sends several answers to the sender of the array, as one array.
func (rc *receiver) respondBatch(b uint64, lines [][]byte) {
	if len(lines) > 0 {
		rc.answerSender(b, append(append([]byte{'['}, bytes.Join(lines, []byte{','})...), ']'))
	}
}

// responseBatch is an array of responses that is on its way to the callers.
type responseBatch struct {
	rc        *receiver
	burst     uint64
	x         gate.Exchange
	responses []*response
}

// Forward sends the array to the other side.
func (b *responseBatch) Forward(x *gate.Exchange) error {
	for _, resp := range b.responses {
		b.rc.s.table.completeRequest(resp)
	}
	if b.rc.from == mcp.ClientToServer {
		b.rc.s.table.addNotice("", b.rc.scope)
	}
	return b.rc.sendLine(b.burst, x.Raw)
}

// Refuse sends each caller a denial instead of its response.
func (b *responseBatch) Refuse(_ *gate.Exchange, v gate.Verdict) {
	for _, resp := range b.responses {
		resp.Refuse(&resp.x, v)
	}
}

// Waiting sends a progress message to each caller that asked for progress.
func (b *responseBatch) Waiting(_ *gate.Exchange, elapsed time.Duration) {
	for _, resp := range b.responses {
		resp.Waiting(&resp.x, elapsed)
	}
}
