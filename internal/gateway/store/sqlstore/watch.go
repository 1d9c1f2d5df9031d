package sqlstore

import (
	"sync"
	"time"

	"github.com/clawai/clawai/internal/gateway/store"
)

// watchers holds the callers of Watch.
type watchers struct {
	mu   sync.Mutex
	of   map[string]map[*watcher]bool // watchers by question; the key "" is for all questions
	poll time.Duration                // 0 means store.PollEvery
}

type watcher struct {
	woken chan struct{} // holds at most one value
	poll  *time.Timer
}

func (w *watcher) wake() {
	select {
	case w.woken <- struct{}{}:
	default: // the watcher has not read the last value yet
	}
}

func (w *watchers) add(question string) (woken <-chan struct{}, end func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	every := w.poll
	if every == 0 {
		every = store.PollEvery
	}
	one := &watcher{woken: make(chan struct{}, 1)}
	one.poll = time.AfterFunc(every, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.of[question][one] {
			one.wake()
			one.poll.Reset(every)
		}
	})
	if w.of == nil {
		w.of = map[string]map[*watcher]bool{}
	}
	if w.of[question] == nil {
		w.of[question] = map[*watcher]bool{}
	}
	w.of[question][one] = true
	return one.woken, func() { w.remove(question, one) }
}

func (w *watchers) remove(question string, one *watcher) {
	w.mu.Lock()
	defer w.mu.Unlock()
	one.poll.Stop()
	delete(w.of[question], one)
	if len(w.of[question]) == 0 {
		delete(w.of, question)
	}
}

// tell wakes the watchers of a question and the watchers of all questions.
func (w *watchers) tell(question string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, of := range []string{question, ""} {
		for one := range w.of[of] {
			one.wake()
		}
	}
}

// tellAll wakes every watcher.
func (w *watchers) tellAll() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, all := range w.of {
		for one := range all {
			one.wake()
		}
	}
}

// Watch implements store.News.
func (s *Store) Watch(question string) (woken <-chan struct{}, end func()) {
	if s.listener != nil {
		s.listener.start(s)
	}
	return s.watchers.add(question)
}

// SetReport implements store.News.
func (s *Store) SetReport(f func(error)) { s.reported = f }
