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
	quietDelay = 100 * time.Millisecond
	// An edit after which a call may get a wider answer waits longer, in case that
	// the writer only pauses: what a half-written file opens must not be in force.
	widenDelay = 2 * time.Second
	// A folder that is moved away with a parent tells nobody, and a system may
	// have no watch left to give: then looking is all there is.
	pollWatched   = 30 * time.Second
	pollUnwatched = 2 * time.Second
)

// Watch calls onChange whenever the policy that from was loaded from becomes
// another one, until ctx ends; it returns after the last call. An error means
// that the file is missing or broken now and the last good policy should stand;
// it is told once. When the last good policy comes back, it is told again. The
// edits of own were written whole, and are taken up at once; it may be nil.
func Watch(ctx context.Context, from *Loaded, own *Edits, onChange func(*Loaded, error)) {
	w := &watcher{good: from, own: own, tell: onChange, widenDelay: widenDelay, pollWatched: pollWatched, pollUnwatched: pollUnwatched}
	w.watchPolicy(ctx)
}

// watchPolicy looks until ctx ends.
func (w *watcher) watchPolicy(ctx context.Context) {
	notes, err := fsnotify.NewWatcher()
	if err == nil {
		w.fs = notes
		defer func() { _ = notes.Close() }()
	}
	w.run(ctx)
}

type watcher struct {
	fs        *fsnotify.Watcher // nil: none could be had
	folders   map[string]bool   // watched now
	entries   []string          // entries whose change matters
	good      *Loaded
	own       *Edits
	last      string    // what was read last: a digest or an error
	since     time.Time // when that was first read
	lastError string    // the error that was told last; "" when good stands
	tell      func(*Loaded, error)

	widenDelay, pollWatched, pollUnwatched time.Duration

	look func() time.Duration // in place of poll; nil: none
}

func (w *watcher) run(ctx context.Context) {
	var events chan fsnotify.Event
	var errs chan error
	if w.fs != nil {
		events, errs = w.fs.Events, w.fs.Errors
	}
	again := time.NewTimer(w.pollFiles())
	defer again.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case ev := <-events:
			if w.folders[ev.Name] || slices.Contains(w.entries, ev.Name) {
				again.Reset(quietDelay)
			}
		case err := <-errs: // an overflow: something was missed
			w.last = err.Error()
			again.Reset(quietDelay)
		case <-again.C:
			again.Reset(w.pollFiles())
		}
	}
}

// pollFiles reads the file, tells what changed, and says when to look again if
// nothing happens.
func (w *watcher) pollFiles() time.Duration {
	if w.look != nil {
		return w.look()
	}
	src, t, err := readPolicy(w.good.Path)
	packs, way := readPacks(w.good.Path, src)
	t.entries = append(t.entries, way.entries...)
	above, failed := w.good.layers.readLayers(new(walk))
	above.loadConfirmations(w.good.layers.State)
	if err == nil {
		err = failed
	}
	for _, other := range above.paths {
		t.entries = append(t.entries, other.entries...)
	}
	now := fmt.Sprintf("%x %q %x %v", sha256.Sum256(src), packs, above.layersDigest(), above.confirmed)
	if err != nil {
		now = err.Error()
	}
	if fresh := w.watchFolders(t); fresh || now != w.last {
		w.last, w.since = now, time.Now()
		return quietDelay
	}
	var next *Loaded
	if err == nil {
		var loosens bool
		next, loosens, err = w.good.reloadPolicy(src, above, w.own)
		if wait := time.Until(w.since.Add(w.widenDelay)); err == nil && loosens && wait > 0 {
			return min(wait, w.pollUnwatched)
		}
	}
	w.applyPolicy(next, err)
	if w.watchesAll(t) {
		return w.pollWatched
	}
	return w.pollUnwatched
}

// applyPolicy puts what was read in force, or keeps what is, and tells what that changes.
func (w *watcher) applyPolicy(next *Loaded, err error) {
	if err != nil {
		if err.Error() != w.lastError {
			w.lastError = err.Error()
			w.tell(nil, err)
		}
		return
	}
	next.News = next.newNotes(w.good)
	changed := next.Policy != w.good.Policy || w.lastError != "" || len(next.News) > 0
	w.good, w.lastError = next, ""
	if changed {
		w.tell(next, nil)
	}
}

// watchFolders watches the folders of the path, and only those; true when one is new.
func (w *watcher) watchFolders(t resolvedPath) (fresh bool) {
	w.entries = t.entries
	if w.fs == nil {
		return false
	}
	wanted := make(map[string]bool, len(t.entries))
	for _, turn := range t.entries {
		dir := filepath.Dir(turn)
		fresh = fresh || !w.folders[dir]
		wanted[dir] = true
		_ = w.fs.Add(dir) // also one that is watched: it may be another folder by now
	}
	for _, dir := range w.fs.WatchList() {
		if !wanted[dir] {
			_ = w.fs.Remove(dir) // gone already when its folder is
		}
	}
	w.folders = wanted
	return fresh
}

// watchesAll reports whether every folder of the path is under watch.
func (w *watcher) watchesAll(t resolvedPath) bool {
	if w.fs == nil || len(t.entries) == 0 {
		return false
	}
	list := w.fs.WatchList()
	return !slices.ContainsFunc(t.entries, func(turn string) bool {
		return !slices.Contains(list, filepath.Dir(turn))
	})
}
