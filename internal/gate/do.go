package gate

import (
	"context"
	"fmt"
	"sync"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/policy"
)

// Do takes requests and notifications that want to cross, in either direction;
// several are the frames of one read, and their order is kept. When Do returns,
// each exchange has been forwarded or refused, unless a person is asked: then
// that follows from a goroutine of the session, and ctx ends the asking, so it
// must live as long as the connection.
func (s *Session) Do(ctx context.Context, xs ...*Exchange) {
	s.crossGate(ctx, event.Passed, xs)
}

// Observe takes replies. One with Calls (a result that carries requests to the
// client) is judged as Do judges; a list result is recorded and forwarded. When
// all of xs are plain replies they are forwarded first: the decision is on
// record, and the client need not wait for that of the outcome. It follows with
// Flush, or with whatever is recorded before that.
func (s *Session) Observe(ctx context.Context, xs ...*Exchange) {
	if s.arePlainReplies(xs) {
		s.passReplies(xs)
		return
	}
	s.crossGate(ctx, event.Outcome, xs)
}

// recordEvents writes what is pending and then events, before anything goes on; a panic
// is a failed record.
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

// deliverVerdict calls the one Outlet method that v names. What the outlet loses is
// recorded: nobody else would know.
func (s *Session) deliverVerdict(x *Exchange, v *Verdict) {
	if v.Action != policy.Allow {
		v.Record = x.Event.Record
		refuseExchange(x, *v)
		return
	}
	if lost := forwardExchange(x); lost != "" {
		v.Code = CodeForwardFailed
		_ = s.NoteEvents(lossEvent(&x.Event, x.Event.Record, lost)) // there is no one left to tell when this fails too
	}
}

// lossEvent gives the record of a message that an outlet lost.
func lossEvent(of *event.Event, ref, why string) *event.Event {
	return &event.Event{
		Kind: event.Dropped, Ref: ref, Code: CodeForwardFailed, Reason: why,
		Server: of.Server, Direction: of.Direction, Method: of.Method, ID: of.ID,
	}
}

// forwardExchange says in words what went wrong, if anything.
func forwardExchange(x *Exchange) (lost string) {
	paid := x.paid
	x.paid = nil // the transport may use the exchange again once it is out
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
	// A panic while refusing forwards nothing, and the session must go on.
	defer func() { _ = recover() }()
	x.refundCharge()
	x.Out.Refuse(x, v)
}

// batch is the scratch of one crossing, kept so that an allowed call allocates
// nothing here.
type batch struct {
	events []*event.Event
}

var batches = sync.Pool{New: func() any { return new(batch) }}

// addExchange takes in a judged exchange. One that waits for a person is recorded after.
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
