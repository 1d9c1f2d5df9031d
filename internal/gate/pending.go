package gate

import (
	"sync"

	"github.com/clawai/clawai/internal/event"
)

// pending are outcomes of replies that have gone on and are not on record yet.
// Whatever is recorded next takes them along, so that they are never later in
// the record than anything that was decided after them.
type pending struct {
	recording sync.Mutex // held while what was taken is recorded

	mu     sync.Mutex
	events []*event.Event
	spare  []*event.Event // memory of the last ones
	// unsound: the record has failed and not yet held what is pending. No reply
	// goes on before its outcome is recorded until it does.
	unsound bool
}

// Flush records the outcomes of the replies that Observe has let through, or waits for
// whoever does. A transport calls it when it has handed them on, before it waits for input.
// After an error they are still pending, and the session passes nothing on until
// they are recorded.
func (s *Session) Flush() error { return s.recordEvents(nil) }

// arePlainReplies says that all of xs are replies in which there is nothing to judge, and
// that their outcomes may be recorded when they have gone on.
func (s *Session) arePlainReplies(xs []*Exchange) bool {
	if s.closed.Load() || s.screens.Load() {
		return false
	}
	for _, x := range xs {
		if len(x.Calls) > 0 || x.Event.Kind != "" {
			return false
		}
	}
	s.pending.mu.Lock()
	defer s.pending.mu.Unlock()
	return !s.pending.unsound
}

func (p *pending) addEvent(ev *event.Event) {
	p.mu.Lock()
	p.events = append(p.events, ev)
	p.mu.Unlock()
}

// takeEvents hands over what is pending.
func (p *pending) takeEvents() (events []*event.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.events) == 0 {
		return nil
	}
	events, p.events, p.spare = p.events, p.spare, nil
	return events
}

// finishRecord takes in how the record of events went, the first n of them pending.
// Those that failed are pending again: in the record they may then stand twice,
// never not at all.
func (p *pending) finishRecord(events []*event.Event, n int, err error) {
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
