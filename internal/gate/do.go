package gate

import (
	"context"
	"fmt"
	"sync"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/policy"
)

// Do judges requests and notifications, in either direction. Several exchanges in one call are the
// frames of one read, and Do keeps their order. When Do returns, each exchange has been forwarded
// or refused, except those that wait for a person. A goroutine of the session forwards or refuses
// these later. The end of ctx ends the questions, so ctx must live as long as the connection.
func (s *Session) Do(ctx context.Context, xs ...*Exchange) {
	s.crossGate(ctx, event.Passed, xs)
}

// Observe judges replies. A reply with Calls (a result that carries requests to the client) is
// judged as in Do. A list result is recorded and then forwarded. When all of xs are plain replies,
// Observe forwards them before their outcomes are recorded. This is safe because the decisions on
// their calls are already on record. Flush or the next record writes the outcomes.
func (s *Session) Observe(ctx context.Context, xs ...*Exchange) {
	if s.arePlainReplies(xs) {
		s.passReplies(xs)
		return
	}
	s.crossGate(ctx, event.Outcome, xs)
}

// recordEvents writes the pending events and then the given events. A panic in the Recorder counts
// as a failed record.
func (s *Session) recordEvents(events []*event.Event) (err error) {
	s.pending.recording.Lock()
	defer s.pending.recording.Unlock()
	all := s.pending.takeEvents()
	n := len(all)
	if n == 0 {
		all = events
	} else {
		all = append(all, events...)
	}
	if len(all) == 0 {
		return nil
	}
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("record: panic: %v", r)
		}
		s.pending.finishRecord(all, n, err)
	}()
	return s.o.Recorder.Record(all...)
}

// deliverVerdict calls the Outlet method for v. It records a message that the outlet loses, because
// nothing else would show the loss.
func (s *Session) deliverVerdict(x *Exchange, v *Verdict) {
	if v.Action != policy.Allow {
		v.Record = x.Event.Record
		refuseExchange(x, *v)
		return
	}
	if lost := forwardExchange(x); lost != "" {
		v.Code = CodeForwardFailed
		_ = s.NoteEvents(lossEvent(&x.Event, x.Event.Record, lost)) // the error is ignored, because nothing is left that could report it
	}
}

// lossEvent returns the record of a message that an outlet lost.
func lossEvent(ev *event.Event, ref, why string) *event.Event {
	return &event.Event{
		Kind: event.Dropped, Ref: ref, Code: CodeForwardFailed, Reason: why,
		Server: ev.Server, Direction: ev.Direction, Method: ev.Method, ID: ev.ID,
	}
}

// forwardExchange forwards x. It returns a description of the failure, or "" when there is none.
func forwardExchange(x *Exchange) (lost string) {
	paid := x.paid
	x.paid = nil // the transport may reuse the exchange as soon as it is forwarded
	defer func() {
		if r := recover(); r != nil {
			lost = fmt.Sprintf("forward: panic: %v", r)
		}
		if lost != "" && paid != nil {
			paid.GiveBack()
		}
	}()
	if err := x.Out.Forward(x); err != nil {
		return "forward: " + err.Error()
	}
	return ""
}

func refuseExchange(x *Exchange, v Verdict) {
	// A panic in Refuse forwards nothing, and the session must continue.
	defer func() { _ = recover() }()
	x.refundCharge()
	x.Out.Refuse(x, v)
}

// batch is the scratch memory of one call of Do or Observe. It is reused, so that an allowed call
// allocates no memory here.
type batch struct {
	events []*event.Event
}

var batches = sync.Pool{New: func() any { return new(batch) }}

// addExchange adds the events of a judged exchange. The event of an exchange that waits for a
// person is recorded later.
func (b *batch) addExchange(x *Exchange) {
	if x.before != nil {
		b.events = append(b.events, x.before)
		x.before = nil
	}
	if x.verdict.Action != policy.Prompt {
		b.events = append(b.events, &x.Event)
	}
}

func (b *batch) releaseBatch() {
	clear(b.events)
	b.events = b.events[:0]
	batches.Put(b)
}
