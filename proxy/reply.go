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

// reply is an answer on its way to whoever made the call.
type reply struct {
	lane   *lane
	burst  *burst
	x      gate.Exchange
	call   *call
	inputs mcp.Inputs // what a server's result asks of the client
	tasks  []string   // handles under which the call goes on
	// The version an initialize result settles on, "" for any other.
	version string
}

// response hands an answer to a request in flight to the gate, and drops every
// other.
func (l *lane) response(ctx context.Context, f *frame.Frame) {
	r := &reply{lane: l, burst: l.burst}
	c, why := l.s.table.claim(l.opposite(), l.key(f.ID), r)
	if c == nil {
		l.stray(f, why)
		return
	}
	r.call = c
	if c.asked != nil {
		l.elicited(c, f)
		return
	}
	if c.form != nil {
		f = l.readdress(f, c)
	}
	if refusal := r.read(f); refusal != nil {
		r.refused(f, refusal)
		return
	}
	l.enqueue(ctx, &r.x, true)
}

// stray records an answer that nobody waits for.
func (l *lane) stray(f *frame.Frame, why string) {
	reason := "an answer to no request in flight"
	switch why {
	case secondAnswer:
		reason = "a second answer"
	case lateAnswer:
		reason = "an answer to a cancelled request"
	}
	l.dropped(&event.Event{Code: why, Reason: reason, ID: f.ID, Bytes: len(f.Raw)})
}

// read fills in the exchange.
func (r *reply) read(f *frame.Frame) *frame.Refusal {
	l, c := r.lane, r.call
	r.x.Raw, r.x.Out, r.x.Caller = f.Raw, r, r
	ev := &r.x.Event
	l.describe(ev, f, nil)
	ev.Method, ev.Ref, ev.IsError = c.method, c.x.Event.Record, failed(f)
	if c.class == mcp.List && f.Result != nil {
		ev.Kind, ev.Declared = event.Listed, mcp.Declared(c.method, f.Result)
	}
	if c.method == "initialize" && f.Result != nil {
		r.version = mcp.Negotiated(f.Result)
	}
	// A large result is not parsed for this. A member spelt with escapes is missed:
	// then its handle is nobody's.
	if bytes.Contains(f.Result, []byte(`"taskId"`)) {
		r.tasks = mcp.Created(f.Result)
	}
	if c.token != nil && len(r.tasks) > 0 {
		l.s.table.lend(c)
	}
	if l.from != mcp.ServerToClient {
		return nil
	}
	inputs, refusal := mcp.InputCalls(f, l.s.o.Name)
	if refusal != nil || len(inputs.Calls) == 0 {
		return refusal
	}
	r.inputs = inputs
	// A task that is polled repeats what it waits for: asked once is enough.
	if c.method != "tasks/get" || !l.s.table.known(inputs) {
		r.x.Calls = inputs.Calls
		r.x.Event.Subject, r.x.Event.Names = inputs.Calls[0].Subject.Key(), names(inputs.Calls)
	}
	return nil
}

// refused answers the call of a reply that must not cross.
func (r *reply) refused(f *frame.Frame, refusal *frame.Refusal) {
	l := r.lane
	record := l.dropped(&event.Event{
		Code: refusal.Code, Reason: refusal.Reason, ID: f.ID, Bytes: len(f.Raw),
		Method: r.call.method, Ref: r.call.x.Event.Record,
	})
	to, _ := l.s.table.release(r.call)
	_ = r.send(to, mcp.Refused(&frame.Refusal{
		Code: refusal.Code, Reason: "in the answer: " + refusal.Reason, ID: to.id, Request: true,
	}, record))
}

// Forward passes the answer on; from then on the id is free again.
func (r *reply) Forward(x *gate.Exchange) error {
	t := &r.lane.s.table
	to, _ := t.caller(r.call)
	t.settle(r)
	return r.send(to, x.Raw)
}

// send answers on the stream that the answer came for. A caller that has returned
// from a form waits on another.
func (r *reply) send(to caller, line []byte) error {
	if r.call.form != nil && to.back != nil {
		return r.lane.put(r.burst, to.back, line)
	}
	return r.lane.send(r.burst, line)
}

// Refuse answers the call in the other side's place.
func (r *reply) Refuse(x *gate.Exchange, v gate.Verdict) {
	to, _ := r.lane.s.table.release(r.call)
	if v.Code == gate.CodeWithdrawn {
		return
	}
	what := r.call.judged
	if len(x.Calls) > 0 {
		what = &x.Calls[0]
	}
	_ = r.send(to, r.call.denied(to, what, v))
}

// Waiting keeps the caller alive while a person looks at the answer.
func (r *reply) Waiting(_ *gate.Exchange, elapsed time.Duration) {
	if to, line := r.call.alive(elapsed); line != nil {
		_ = r.send(to, line)
	}
}

// failed reports an error, or a tool result that says it is one.
func failed(f *frame.Frame) bool {
	if f.Error != nil {
		return true
	}
	// For the record only: a member spelt with escapes may be missed, and a
	// large result is not parsed for it.
	return bytes.Contains(f.Result, []byte(`"isError"`)) && gjson.GetBytes(f.Result, "isError").Bool()
}

// names are the names of several calls.
func names(calls []policy.Call) []string {
	var all []string
	for i := range calls {
		all = append(all, calls[i].Names...)
	}
	return all
}
