package gate

import (
	"sync"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/policy"
)

// owed are outcomes of replies that have gone on and are not on record yet.
// Whatever is recorded next takes them along, so that they are never later in
// the record than anything that was decided after them.
type owed struct {
	mu     sync.Mutex
	events []*event.Event
	spare  []*event.Event // memory of the last ones
	// unsound: the record has failed and not yet held what is owed. No reply
	// goes on before its outcome is recorded until it does.
	unsound bool
}

// Settle records the outcomes of the replies that Observe has let through. A
// transport calls it when it has handed them on, before it waits for input.
// After an error they are still owed, and the session passes nothing on until
// they are recorded.
func (s *Session) Settle() error {
	s.owed.mu.Lock()
	none := len(s.owed.events) == 0
	s.owed.mu.Unlock()
	if none {
		return nil
	}
	return s.record(nil)
}

// plain says that all of xs are replies in which there is nothing to judge, and
// that their outcomes may be recorded when they have gone on.
func (s *Session) plain(xs []*Exchange) bool {
	if s.closed.Load() {
		return false
	}
	for _, x := range xs {
		if len(x.Calls) > 0 || x.Event.Kind != "" {
			return false
		}
	}
	s.owed.mu.Lock()
	defer s.owed.mu.Unlock()
	return !s.owed.unsound
}

// pass forwards plain replies and owes their outcomes.
func (s *Session) pass(xs []*Exchange) {
	for _, x := range xs {
		x.Event.Kind = event.Outcome
		v := s.judge(x)
		if v.Action != policy.Allow { // closed meanwhile
			s.conclude(x, v, nil)
			continue
		}
		lost := forward(x)
		s.owed.add(&x.Event)
		if lost != "" {
			s.owed.add(loss(&x.Event, x.Event.Ref, lost))
		}
	}
}

func (o *owed) add(ev *event.Event) {
	o.mu.Lock()
	o.events = append(o.events, ev)
	o.mu.Unlock()
}

// take hands over what is owed.
func (o *owed) take() (events []*event.Event) {
	o.mu.Lock()
	defer o.mu.Unlock()
	events, o.events, o.spare = o.events, o.spare, nil
	return events
}

// settled takes in how the record of events went, the first n of them owed.
// Those that failed are owed again: in the record they may then stand twice,
// never not at all.
func (o *owed) settled(events []*event.Event, n int, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case err != nil:
		o.unsound = true
		o.events = append(events[:n:n], o.events...)
		return
	case len(o.events) == 0:
		o.unsound = false
	}
	if n > 0 {
		clear(events)
		o.spare = events[:0]
	}
}
