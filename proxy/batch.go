package proxy

import (
	"bytes"
	"context"
	"strings"
	"time"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/proxy/frame"
	"github.com/clawai/clawai/proxy/mcp"
)

// batch is a JSON array of requests and notifications (MCP 2025-03-26 only).
// It crosses whole or not at all: its bytes are never taken apart.
type batch struct {
	lane  *lane
	burst *burst
	x     gate.Exchange
	calls []*call // the requests in it
}

// batch puts an array into the group: requests and notifications as one
// exchange, answers as another kind.
func (l *lane) batch(ctx context.Context, f *frame.Frame) {
	replies := 0
	for i := range f.Elements {
		if f.Elements[i].Kind == frame.Response {
			replies++
		}
	}
	switch replies {
	case 0:
		l.requests(ctx, f)
	case len(f.Elements):
		l.responses(ctx, f)
	default:
		l.refuseBatch(f, &frame.Refusal{Code: "mixed_batch", Reason: "requests and answers in one array"})
	}
}

// requests judges an array of requests and notifications, element by element.
func (l *lane) requests(ctx context.Context, f *frame.Frame) {
	l.judge(ctx) // what it cancels or repeats may be in this very read
	b := &batch{lane: l, burst: l.burst}
	b.x = gate.Exchange{Raw: f.Raw, Out: b, Event: event.Event{
		Server: l.s.o.Name, ServerGuess: l.s.o.Guess, Direction: l.from.String(), Method: "batch",
	}}
	var methods []string
	for i := range f.Elements {
		if refusal := b.add(&f.Elements[i]); refusal != nil {
			l.refuseBatch(f, refusal)
			return
		}
		methods = append(methods, f.Elements[i].Method)
	}
	if !l.s.table.reserve(b.calls...) {
		l.refuseBatch(f, duplicate(f))
		return
	}
	b.x.Event.Detail = strings.Join(methods, " ")
	b.x.Event.Names = names(b.x.Calls)
	if len(b.x.Calls) > 0 {
		b.x.Event.Subject = b.x.Calls[0].Subject.Key()
	}
	l.enqueue(ctx, &b.x, false)
}

// add reads one element.
func (b *batch) add(f *frame.Frame) *frame.Refusal {
	l := b.lane
	if f.Kind == frame.Request {
		m, refusal := mcp.Read(f, l.from, l.s.o.Name)
		if refusal == nil && l.returns(&m) {
			refusal = &frame.Refusal{Code: "late_form", Reason: "the answer to a form comes in a request of its own"}
		}
		if refusal != nil {
			return refusal
		}
		c, calls, refusal := l.newCall(f, &m)
		if refusal != nil {
			return refusal
		}
		c.waiting = &b.x
		b.calls = append(b.calls, c)
		b.x.Calls, b.x.Work = append(b.x.Calls, calls...), append(b.x.Work, c.x.Work...)
		return nil
	}
	n := &notice{lane: l}
	if refusal := n.read(f); refusal != nil {
		return refusal
	}
	if why := n.loose(f); why != "" {
		return &frame.Refusal{Code: "not_in_flight", Reason: why}
	}
	b.x.Calls, b.x.Work = append(b.x.Calls, n.x.Calls...), append(b.x.Work, n.x.Work...)
	return nil
}

// responses hands an array of answers to the gate if each of them answers a
// request in flight.
func (l *lane) responses(ctx context.Context, f *frame.Frame) {
	b := &answers{lane: l, burst: l.burst}
	b.x = gate.Exchange{Raw: f.Raw, Out: b, Event: event.Event{
		Server: l.s.o.Name, ServerGuess: l.s.o.Guess, Direction: l.from.String(), Method: "batch",
	}}
	var refusal *frame.Refusal
	for i := range f.Elements {
		e := &f.Elements[i]
		r := &reply{lane: l, burst: l.burst}
		c, why := l.s.table.claim(l.opposite(), l.key(e.ID), r)
		if c != nil && c.asked != nil {
			l.elicited(c, e)
			c, why = nil, ownAnswer
		}
		if c == nil {
			refusal = &frame.Refusal{Code: why, Reason: "the array holds an answer to no request in flight"}
			continue
		}
		r.call = c
		b.replies = append(b.replies, r)
		if c.form != nil { // 2026-07-28 has no arrays
			refusal = &frame.Refusal{Code: frame.CodeBatch, Reason: "the call's version has no arrays"}
		}
		if why := r.read(e); why != nil {
			refusal = why
		}
		b.x.Calls = append(b.x.Calls, r.x.Calls...)
	}
	if refusal == nil {
		b.x.Event.Names = names(b.x.Calls)
		l.enqueue(ctx, &b.x, true)
		return
	}
	for _, r := range b.replies {
		r.refused(f, refusal)
	}
	if len(b.replies) == 0 {
		l.dropped(&event.Event{Code: refusal.Code, Reason: refusal.Reason, Bytes: len(f.Raw)})
	}
}

// refuseBatch answers every request of an array that must not cross.
func (l *lane) refuseBatch(f *frame.Frame, refusal *frame.Refusal) {
	record := l.dropped(&event.Event{Code: refusal.Code, Reason: refusal.Reason, Method: "batch", Bytes: len(f.Raw)})
	var lines [][]byte
	for i := range f.Elements {
		e := &f.Elements[i]
		one := &frame.Refusal{Code: refusal.Code, Reason: refusal.Reason, ID: e.ID, Request: e.Kind == frame.Request}
		if line := mcp.Refused(one, record); line != nil {
			lines = append(lines, line)
		}
	}
	l.answerAll(l.burst, lines)
}

// Forward sends the array on.
func (b *batch) Forward(x *gate.Exchange) error {
	for _, c := range b.calls {
		c.x.Event.Record = x.Event.Record // the answers refer to it
		b.lane.s.table.forwarded(c)
	}
	err := b.lane.send(b.burst, x.Raw)
	var lines [][]byte
	for _, c := range b.calls {
		if line := c.unheard(err); line != nil {
			lines = append(lines, line)
		}
	}
	b.lane.answerAll(b.burst, lines)
	return err
}

// Refuse answers every request of the array but those withdrawn.
func (b *batch) Refuse(_ *gate.Exchange, v gate.Verdict) {
	var lines [][]byte
	for _, c := range b.calls {
		if !b.lane.s.table.releaseHeld(c) {
			lines = append(lines, c.denied(c.caller, c.judged, v))
		}
	}
	b.lane.answerAll(b.burst, lines)
}

// Waiting tells each caller in the array that its request is alive.
func (b *batch) Waiting(_ *gate.Exchange, elapsed time.Duration) {
	for _, c := range b.calls {
		if to, line := c.alive(elapsed); line != nil {
			_ = b.lane.put(b.burst, to.back, line)
		}
	}
}

// answerAll sends several answers as one array.
func (l *lane) answerAll(b *burst, lines [][]byte) {
	if len(lines) > 0 {
		l.answer(b, append(append([]byte{'['}, bytes.Join(lines, []byte{','})...), ']'))
	}
}

// answers is an array of answers on its way.
type answers struct {
	lane    *lane
	burst   *burst
	x       gate.Exchange
	replies []*reply
}

// Forward passes the array on.
func (b *answers) Forward(x *gate.Exchange) error {
	for _, r := range b.replies {
		b.lane.s.table.settle(r)
	}
	return b.lane.send(b.burst, x.Raw)
}

// Refuse answers every call in the other side's place.
func (b *answers) Refuse(_ *gate.Exchange, v gate.Verdict) {
	for _, r := range b.replies {
		r.Refuse(&r.x, v)
	}
}

// Waiting keeps the callers alive.
func (b *answers) Waiting(_ *gate.Exchange, elapsed time.Duration) {
	for _, r := range b.replies {
		r.Waiting(&r.x, elapsed)
	}
}
