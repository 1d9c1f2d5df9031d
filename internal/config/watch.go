package config

import (
	"context"
	"crypto/sha256"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/fsnotify/fsnotify"
)

const (
	// A change is believed when the file reads the same twice, this far apart
	// and with no event since: an editor's several steps are one change, and a
	// rule of which half is written must not be taken for a wider one.
	quiet = 100 * time.Millisecond
	// An edit after which a call may get a wider answer waits longer, in case that
	// the writer only pauses: what a half-written file opens must not be in force.
	still = 2 * time.Second
	// A folder that is moved away with a parent tells nobody, and a system may
	// have no watch left to give: then looking is all there is.
	sighted = 30 * time.Second
	blind   = 2 * time.Second
)

// Watch calls onChange whenever the policy that from was loaded from becomes
// another one, until ctx ends; it returns after the last call. An error means
// that the file is missing or broken now and the last good policy should stand;
// it is told once. When the last good policy comes back, it is told again. The
// edits of own were written whole, and are taken up at once; it may be nil.
func Watch(ctx context.Context, from *Loaded, own *Edits, onChange func(*Loaded, error)) {
	w := &watch{good: from, own: own, tell: onChange, still: still, sighted: sighted, blind: blind}
	notes, err := fsnotify.NewWatcher()
	if err == nil {
		w.notes = notes
		defer func() { _ = notes.Close() }()
	}
	w.run(ctx)
}

type watch struct {
	notes   *fsnotify.Watcher // nil: none could be had
	folders map[string]bool   // watched now
	turns   []string          // entries whose change matters
	good    *Loaded
	own     *Edits
	last    string    // what was read last: a digest or an error
	since   time.Time // when that was first read
	trouble string    // the error that was told last; "" when good stands
	tell    func(*Loaded, error)

	still, sighted, blind time.Duration
}

func (w *watch) run(ctx context.Context) {
	var events chan fsnotify.Event
	var errs chan error
	if w.notes != nil {
		events, errs = w.notes.Events, w.notes.Errors
	}
	again := time.NewTimer(w.look())
	defer again.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case ev := <-events:
			if w.folders[ev.Name] || slices.Contains(w.turns, ev.Name) {
				again.Reset(quiet)
			}
		case err := <-errs: // an overflow: something was missed
			w.last = err.Error()
			again.Reset(quiet)
		case <-again.C:
			again.Reset(w.look())
		}
	}
}

// look reads the file, tells what changed, and says when to look again if
// nothing happens.
func (w *watch) look() time.Duration {
	src, t, err := read(w.good.Path)
	above, failed := w.good.layers.read()
	if err == nil {
		err = failed
	}
	for _, other := range above.trails {
		t.turns = append(t.turns, other.turns...)
	}
	now := fmt.Sprintf("%x %x %v", sha256.Sum256(src), above.sum(), above.confirmed)
	if err != nil {
		now = err.Error()
	}
	if fresh := w.aim(t); fresh || now != w.last {
		w.last, w.since = now, time.Now()
		return quiet
	}
	var next *Loaded
	if err == nil {
		var loosens bool
		next, loosens, err = w.good.succeed(src, above, w.own)
		if wait := time.Until(w.since.Add(w.still)); err == nil && loosens && wait > 0 {
			return min(wait, w.blind)
		}
	}
	w.take(next, err)
	if w.sees(t) {
		return w.sighted
	}
	return w.blind
}

// take puts what was read in force, or keeps what is, and tells what that changes.
func (w *watch) take(next *Loaded, err error) {
	if err != nil {
		if err.Error() != w.trouble {
			w.trouble = err.Error()
			w.tell(nil, err)
		}
		return
	}
	next.News = next.news(w.good)
	changed := next.Policy != w.good.Policy || w.trouble != "" || len(next.News) > 0
	w.good, w.trouble = next, ""
	if changed {
		w.tell(next, nil)
	}
}

// aim watches the folders of the trail, and only those; true when one is new.
func (w *watch) aim(t trail) (fresh bool) {
	w.turns = t.turns
	if w.notes == nil {
		return false
	}
	wanted := make(map[string]bool, len(t.turns))
	for _, turn := range t.turns {
		dir := filepath.Dir(turn)
		fresh = fresh || !w.folders[dir]
		wanted[dir] = true
		_ = w.notes.Add(dir) // also one that is watched: it may be another folder by now
	}
	for _, dir := range w.notes.WatchList() {
		if !wanted[dir] {
			_ = w.notes.Remove(dir) // gone already when its folder is
		}
	}
	w.folders = wanted
	return fresh
}

// sees says whether every folder of the trail is under watch.
func (w *watch) sees(t trail) bool {
	if w.notes == nil || len(t.turns) == 0 {
		return false
	}
	list := w.notes.WatchList()
	return !slices.ContainsFunc(t.turns, func(turn string) bool {
		return !slices.Contains(list, filepath.Dir(turn))
	})
}
