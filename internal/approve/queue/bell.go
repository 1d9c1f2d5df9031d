package queue

import (
	"os"
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

	mu     sync.Mutex
	heard  map[string]map[chan struct{}]bool // by path
	watch  *fsnotify.Watcher                 // nil where the system gives none: then the slow check is all
	ending chan struct{}
	ended  chan struct{}
}

// listen gives a channel that ticks after the file at path was touched, and
// every check besides. Ticks that nobody takes become one.
func (e *ears) listen(path string) (heard <-chan struct{}, stop func()) {
	ch := make(chan struct{}, 1)
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.heard) == 0 {
		e.start()
	}
	if e.heard[path] == nil {
		e.heard[path] = map[chan struct{}]bool{}
		e.add(path)
	}
	e.heard[path][ch] = true
	return ch, func() { e.stop(path, ch) }
}

func (e *ears) start() {
	e.heard = map[string]map[chan struct{}]bool{}
	e.ending, e.ended = make(chan struct{}), make(chan struct{})
	e.watch, _ = fsnotify.NewWatcher()
	go e.run(e.watch, e.ending, e.ended)
}

// add begins to watch; a file that is missing is tried again at the next check.
func (e *ears) add(path string) {
	if e.watch != nil {
		_ = e.watch.Add(path)
	}
}

func (e *ears) stop(path string, ch chan struct{}) {
	e.mu.Lock()
	delete(e.heard[path], ch)
	if len(e.heard[path]) == 0 {
		delete(e.heard, path)
		if e.watch != nil {
			_ = e.watch.Remove(path)
		}
	}
	var ended chan struct{}
	if len(e.heard) == 0 {
		close(e.ending)
		ended = e.ended
	}
	e.mu.Unlock()
	if ended != nil {
		<-ended
	}
}

// run passes on what is heard until the last listener has gone.
func (e *ears) run(w *fsnotify.Watcher, ending, ended chan struct{}) {
	defer close(ended)
	var events chan fsnotify.Event
	var errs chan error
	if w != nil {
		defer w.Close()
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
		case <-errs: // events were lost
			e.tell("")
		case <-check.C:
			e.again(w)
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
func (e *ears) again(w *fsnotify.Watcher) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for path := range e.heard {
		if w != nil && w == e.watch {
			_ = w.Add(path)
		}
	}
}
