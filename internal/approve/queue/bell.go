package queue

import (
	"maps"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"
)

// ring wakes whoever listens to the file at path. A touch needs no room on the
// disk. Where it fails they look by themselves before long.
func ring(path string) error {
	now := time.Now()
	return os.Chtimes(path, now, now)
}

// ears hear the bells of one process. Only while somebody listens is there a
// goroutine and one of the few watchers that systems give to a user (128 on
// Linux).
type ears struct {
	check time.Duration

	// files is held while files are added and removed, which may have to wait
	// for the goroutine to take an event; that needs mu.
	files  sync.Mutex
	watch  *fsnotify.Watcher // nil where the system gives none: then the slow check is all
	ending chan struct{}
	ended  chan struct{}

	mu    sync.Mutex
	heard map[string]map[chan struct{}]bool // by path
}

// listen gives a channel that ticks after the file at path was touched, and
// every check besides. Ticks that nobody takes become one.
func (e *ears) listen(path string) (heard <-chan struct{}, stop func()) {
	ch := make(chan struct{}, 1)
	e.files.Lock()
	defer e.files.Unlock()
	e.mu.Lock()
	first, anew := len(e.heard) == 0, e.heard[path] == nil
	if first {
		e.heard = map[string]map[chan struct{}]bool{}
	}
	if anew {
		e.heard[path] = map[chan struct{}]bool{}
	}
	e.heard[path][ch] = true
	e.mu.Unlock()
	if first {
		e.ending, e.ended = make(chan struct{}), make(chan struct{})
		e.watch, _ = fsnotify.NewWatcher()
		go e.run(e.watch, e.ending, e.ended)
	}
	if anew {
		e.add(path)
	}
	return ch, func() { e.stop(path, ch) }
}

// add begins to watch; a file that is missing is tried again at the next check.
func (e *ears) add(path string) {
	if e.watch != nil {
		_ = e.watch.Add(path)
	}
}

func (e *ears) stop(path string, ch chan struct{}) {
	e.files.Lock()
	defer e.files.Unlock()
	e.mu.Lock()
	delete(e.heard[path], ch)
	gone := len(e.heard[path]) == 0
	if gone {
		delete(e.heard, path)
	}
	last := len(e.heard) == 0
	e.mu.Unlock()
	if gone && e.watch != nil {
		_ = e.watch.Remove(path)
	}
	if last {
		close(e.ending)
		<-e.ended
	}
}

// run passes on what is heard until the last listener has gone.
func (e *ears) run(w *fsnotify.Watcher, ending, ended chan struct{}) {
	defer close(ended)
	var events chan fsnotify.Event
	var errs chan error
	if w != nil {
		defer func() { _ = w.Close() }()
		events, errs = w.Events, w.Errors
	}
	check := time.NewTicker(e.check)
	defer check.Stop()
	for {
		select {
		case <-ending:
			return
		case ev := <-events:
			e.tell(ev.Name)
		case _, lost := <-errs:
			if lost { // events
				e.tell("")
			}
		case <-check.C:
			if e.files.TryLock() { // not while the one who has it waits for us
				e.renew()
				e.files.Unlock()
			}
			e.tell("")
		}
	}
}

// tell ticks for one path, or, when it is not known which, for all.
func (e *ears) tell(path string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	_, known := e.heard[path]
	for p, listeners := range e.heard {
		if known && p != path {
			continue
		}
		for ch := range listeners {
			tick(ch)
		}
	}
}

// again watches files that were made anew since.
func (e *ears) again() {
	e.files.Lock()
	defer e.files.Unlock()
	e.renew()
}

// renew is again for who has e.files.
func (e *ears) renew() {
	e.mu.Lock()
	paths := slices.Collect(maps.Keys(e.heard))
	e.mu.Unlock()
	for _, path := range paths {
		e.add(path)
	}
}
