// Package filewatch reports changes of files and folders.
//
// The package wraps fsnotify. On Windows, Add and Close of fsnotify wait for its reader goroutine,
// and that goroutine waits until the caller receives its event or its error. So a caller that adds
// a folder and receives events in the same goroutine can block for ever. In this package, a
// goroutine of the Watcher receives every event and error at once.
package filewatch

import (
	"errors"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"
)

// maxWaiting is the maximum number of events that wait for the caller. If there are more events,
// all of them count as lost.
const maxWaiting = 4096

// closePatience is how long Close waits for fsnotify. On Windows, fsnotify can lose the request to
// close if its reader has an error at the same time.
const closePatience = time.Second

// Event is a change of a watched file or folder, or of an entry of a watched folder.
type Event struct {
	fsnotify.Event

	// Err is the reason why changes were missed; nil for a change. If Err is not nil, Name is "",
	// and any file may have changed.
	Err error
}

// Lost reports whether changes were missed because there were too many. Any other Err is a failure
// of the system.
func (e Event) Lost() bool { return errors.Is(e.Err, fsnotify.ErrEventOverflow) }

// Watcher reports changes until Close. Only one goroutine may call Events and Close. The other
// methods are safe for concurrent use.
type Watcher struct {
	fs     *fsnotify.Watcher
	events chan Event
	closed chan struct{}
	once   sync.Once
}

// New returns a watcher without paths. It returns an error if the system allows no more watchers.
func New() (*Watcher, error) {
	notes, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	w := &Watcher{fs: notes, events: make(chan Event), closed: make(chan struct{})}
	go w.pump()
	return w, nil
}

// Events returns the channel of changes. The channel is never closed. For a nil Watcher the channel
// is nil.
func (w *Watcher) Events() <-chan Event {
	if w == nil {
		return nil
	}
	return w.events
}

// Add watches a file, or a folder with its direct entries. If the path is watched already, Add
// starts the watch again, because another file may be at the path now.
func (w *Watcher) Add(path string) error { return w.fs.Add(path) }

// Remove ends the watch of a path. It returns an error if the path is not watched.
func (w *Watcher) Remove(path string) error { return w.fs.Remove(path) }

// WatchList returns the paths that the system watches.
func (w *Watcher) WatchList() []string { return w.fs.WatchList() }

// Close ends the watcher. It returns when fsnotify has closed, or after closePatience.
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

// pump receives every event and error of fsnotify at once, and passes it to the caller when the
// caller is ready. It ends when fsnotify has closed.
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

// enqueueEvent adds an event to the waiting events. If too many events wait, it replaces all of
// them by one event with the error ErrEventOverflow.
func enqueueEvent(waiting []Event, e Event) []Event {
	if len(waiting) >= maxWaiting {
		return []Event{{Err: fsnotify.ErrEventOverflow}}
	}
	return append(waiting, e)
}
