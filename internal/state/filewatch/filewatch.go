// Package filewatch reports changes of files and folders.
//
// It stands in front of fsnotify. On Windows, Add and Close of fsnotify wait for its reader, and
// the reader waits until somebody takes its event or its error. A caller that adds a folder and
// takes events in one goroutine can so wait for itself for ever. Here a goroutine takes
// everything at once.
package filewatch

import (
	"errors"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"
)

// maxWaiting bounds the events that wait for the caller. Above it they count as lost.
const maxWaiting = 4096

// closePatience is how long Close waits for the system. fsnotify on Windows can forget a Close
// that meets an error of its reader.
const closePatience = time.Second

// Event is a change of a watched file or folder, or of an entry of a watched folder.
type Event struct {
	fsnotify.Event

	// Err is why changes were not seen; then Name is "", and anything may have changed.
	Err error
}

// Lost reports whether the events were too many. Every other Err is a failure of the system.
func (e Event) Lost() bool { return errors.Is(e.Err, fsnotify.ErrEventOverflow) }

// Watcher reports changes until Close. Events and Close are for one goroutine; the other methods
// are safe for concurrent use.
type Watcher struct {
	fs     *fsnotify.Watcher
	events chan Event
	closed chan struct{}
	once   sync.Once
}

// New returns a watcher of nothing yet. It fails where the system allows no more watchers.
func New() (*Watcher, error) {
	notes, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	w := &Watcher{fs: notes, events: make(chan Event), closed: make(chan struct{})}
	go w.pump()
	return w, nil
}

// Events returns the channel of changes. It is never closed. A nil Watcher has no changes.
func (w *Watcher) Events() <-chan Event {
	if w == nil {
		return nil
	}
	return w.events
}

// Add watches a file, or a folder with its direct entries. If it is watched, Add starts anew:
// another file may have taken its place.
func (w *Watcher) Add(path string) error { return w.fs.Add(path) }

// Remove ends the watch of a path. It fails if the path is not watched.
func (w *Watcher) Remove(path string) error { return w.fs.Remove(path) }

// WatchList returns the paths that the system watches.
func (w *Watcher) WatchList() []string { return w.fs.WatchList() }

// Close ends the watcher. It returns when the system has released it, or after closePatience.
func (w *Watcher) Close() {
	w.once.Do(func() {
		close(w.closed)
		ended := make(chan struct{})
		go func() {
			_ = w.fs.Close()
			close(ended)
		}()
		select {
		case <-ended:
		case <-time.After(closePatience):
		}
	})
}

// pump takes what fsnotify reports, at once, and passes it on, until fsnotify has ended.
func (w *Watcher) pump() {
	var waiting []Event
	for {
		var out chan Event
		var next Event
		if len(waiting) > 0 {
			out, next = w.events, waiting[0]
		}
		var e Event
		var open bool
		select {
		case out <- next:
			waiting = waiting[1:]
			continue
		case e.Event, open = <-w.fs.Events:
		case e.Err, open = <-w.fs.Errors:
		}
		if !open {
			return
		}
		waiting = enqueueEvent(waiting, e)
	}
}

// enqueueEvent adds an event to those that wait. If they are too many, one that says so takes
// their place.
func enqueueEvent(waiting []Event, e Event) []Event {
	if len(waiting) >= maxWaiting {
		return []Event{{Err: fsnotify.ErrEventOverflow}}
	}
	return append(waiting, e)
}
