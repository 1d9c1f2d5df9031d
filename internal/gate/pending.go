package gate

import (
	"sync"

	"github.com/clawai/clawai/internal/event"
)

// pendingOutcomes holds the outcomes of forwarded replies that are not on record yet. The next
// record writes them first, so that in the record they are never after a later
// decision.
type pendingOutcomes struct {
	recording sync.Mutex // locked while the taken events are recorded

	mu     sync.Mutex
	events []*event.Event
	spare  []*event.Event // memory of the last events, for reuse
	// unsound means that a record has failed and the pending events are not recorded
	// yet. Until they are, no reply is forwarded before its outcome is recorded.
	unsound bool
}

// Flush records the outcomes of the replies that Observe has forwarded, or waits for a
// running record. A transport calls it after it has handed the replies on and before
// it waits for input. After an error the outcomes are still pending, and the session
// forwards nothing until they are recorded.
func (s *Session) Flush() error { return s.recordEvents(nil) }

// arePlainReplies reports whether all of xs are replies with nothing to judge, so that
// their outcomes may be recorded after they are forwarded.
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

// finishRecord handles the result of recording events. The first n of them were pending before.
// After an error those n are pending again: the record may then hold them twice, but never misses
// them.
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
