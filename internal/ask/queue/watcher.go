package queue

import (
	"maps"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/clawai/clawai/internal/state/filewatch"
)

// touchFile wakes the processes that listen to the file at path. A touch needs no disk space. If
// the touch fails, the listeners still check by themselves from time to time.
func touchFile(path string) error {
	now := time.Now()
	return os.Chtimes(path, now, now)
}

// watcher wakes the listeners of this process. It has a goroutine and a file watcher only while
// there are listeners, because a system allows each user few file watchers (128 on Linux).
type watcher struct {
	check time.Duration

	files  sync.Mutex         // held while files are added or removed, and until the goroutine has ended
	fs     *filewatch.Watcher // nil if the system gives us no file watcher; then only the regular checks work
	ending chan struct{}
	ended  chan struct{}

	mu        sync.Mutex
	listeners map[string]map[chan struct{}]bool // channels of the listeners, by path
}

// listenPath returns a channel that ticks after each touch of the file at path, and at regular
// checks. Ticks that are not received merge into one.
func (e *watcher) listenPath(path string) (heard <-chan struct{}, stop func()) {
	ch := make(chan struct{}, 1)
	e.files.Lock()
	defer e.files.Unlock()
	e.mu.Lock()
	first, anew := len(e.listeners) == 0, e.listeners[path] == nil
	if first {
		e.listeners = map[string]map[chan struct{}]bool{}
	}
	if anew {
		e.listeners[path] = map[chan struct{}]bool{}
	}
	e.listeners[path][ch] = true
	e.mu.Unlock()
	if first {
		e.ending, e.ended = make(chan struct{}), make(chan struct{})
		e.fs, _ = filewatch.New()
		go e.run(e.fs, e.ending, e.ended)
	}
	if anew {
		e.addPath(path)
	}
	return ch, func() { e.stopListening(path, ch) }
}

// addPath starts to watch a file. If the file is missing, the next check tries again.
func (e *watcher) addPath(path string) {
	if e.fs != nil {
		_ = e.fs.Add(path)
	}
}

func (e *watcher) stopListening(path string, ch chan struct{}) {
	e.files.Lock()
	defer e.files.Unlock()
	e.mu.Lock()
	delete(e.listeners[path], ch)
	gone := len(e.listeners[path]) == 0
	if gone {
		delete(e.listeners, path)
	}
	last := len(e.listeners) == 0
	e.mu.Unlock()
	if gone && e.fs != nil {
		_ = e.fs.Remove(path)
	}
	if last {
		close(e.ending)
		<-e.ended
	}
}

// run sends ticks to the listeners until the last one has stopped.
func (e *watcher) run(w *filewatch.Watcher, ending, ended chan struct{}) {
	defer close(ended)
	if w != nil {
		defer w.Close()
	}
	check := time.NewTicker(e.check)
	defer check.Stop()
	for {
		select {
		case <-ending:
			return
		case ev := <-w.Events():
			e.notifyPath(ev.Name)
		case <-check.C:
			if e.files.TryLock() { // do not wait for the lock: its holder may be waiting for this goroutine
				e.rewatchLocked()
				e.files.Unlock()
			}
			e.notifyPath("")
		}
	}
}

// notifyPath sends a tick to the listeners of path. If path is unknown, it sends a tick to all
// listeners.
func (e *watcher) notifyPath(path string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	_, known := e.listeners[path]
	for p, listeners := range e.listeners {
		if known && p != path {
			continue
		}
		for ch := range listeners {
			tickChannel(ch)
		}
	}
}

// rewatch watches files again that were removed and created anew.
func (e *watcher) rewatch() {
	e.files.Lock()
	defer e.files.Unlock()
	e.rewatchLocked()
}

// rewatchLocked does the work of rewatch. The caller holds e.files.
func (e *watcher) rewatchLocked() {
	e.mu.Lock()
	paths := slices.Collect(maps.Keys(e.listeners))
	e.mu.Unlock()
	for _, path := range paths {
		e.addPath(path)
	}
}
