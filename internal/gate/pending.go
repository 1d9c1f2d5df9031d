package gate

import (
	"sync"

	"github.com/clawai/clawai/internal/event"
)

// pendingOutcomes holds the outcomes of forwarded replies that are not on record yet. The next
// record writes these outcomes first, so that they come before every later decision.
type pendingOutcomes struct {
	recording sync.Mutex // locked while events from takeEvents are recorded

	mu     sync.Mutex
	events []*event.Event
	spare  []*event.Event // the emptied slice of the last events, for reuse
	// unsound is true from a failed record until the pending events are recorded. In this time no
	// reply is forwarded before its outcome is recorded.
	unsound bool
}

// Flush records the outcomes of the replies that Observe has forwarded. If another goroutine is
// recording, Flush waits for it. A transport calls Flush after it has sent the replies and before
// it waits for input. After an error the outcomes are still pending, and the session forwards
// nothing until they are recorded.
func (s *Session) Flush() error { return s.recordEvents(nil) }

// arePlainReplies reports whether all of xs are replies with nothing to judge. Only such replies
// may be forwarded before their outcomes are recorded.
func (s *Session) arePlainReplies(xs []*Exchange) bool {
	if s.closed.Load() || s.screens.Load() {
		return false
	}
	for _, x := range xs {
		if len(x.Calls) > 0 || x.Event.Kind != "" || x.Upload {
			return false
		}
	}
	s.pending.mu.Lock()
	defer s.pending.mu.Unlock()
	return !s.pending.unsound
}

func (p *pendingOutcomes) addEvent(ev *event.Event) {
	p.mu.Lock()
	p.events = append(p.events, ev)
	p.mu.Unlock()
}

// takeEvents removes and returns the pending events.
func (p *pendingOutcomes) takeEvents() (events []*event.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.events) == 0 {
		return nil
	}
	events, p.events, p.spare = p.events, p.spare, nil
	return events
}

// finishRecord handles the result of a record of events. The first n events were pending before.
// After an error these n events are pending again. So the record may hold them twice, but they are
// never missing.
func (p *pendingOutcomes) finishRecord(events []*event.Event, n int, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case err != nil:
		p.unsound = true
		p.events = append(events[:n:n], p.events...)
		return
	case len(p.events) == 0:
		p.unsound = false
	}
	if n > 0 {
		clear(events)
		p.spare = events[:0]
	}
}
