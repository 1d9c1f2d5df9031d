package config

import (
	"context"
	"crypto/sha256"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/clawai/clawai/internal/state/filewatch"
)

const (
	// The watcher applies a change only if two readings with this pause between them give the same
	// text, and no event comes in between. So several steps of an editor are one change. Half a rule
	// is not applied, because it may allow more than the whole rule.
	quietDelay = 100 * time.Millisecond
	// If the policy may allow more after an edit than before, we wait longer. The writer may only have
	// paused, and a half-written file must not allow a call.
	widenDelay = 2 * time.Second
	// The intervals between readings if no event comes. Events are not enough: if a parent folder
	// is moved, there is no event, and the system may not let us watch every folder.
	pollWatched   = 30 * time.Second
	pollUnwatched = 2 * time.Second
)

// Watch calls onChange whenever the files of a loaded policy change, until ctx ends. When Watch
// returns, no call of onChange runs any more. An error means that a file is missing or broken, and
// that the caller should keep the last good policy. Watch reports the same error only once. If the
// last good policy comes back, Watch reports that too. The parameter own holds the edits of this
// process, which are applied at once because they are complete. The parameter own may be nil.
func Watch(ctx context.Context, loaded *Loaded, own *Edits, onChange func(*Loaded, error)) {
	w := &watcher{good: loaded, own: own, tell: onChange, widenDelay: widenDelay, pollWatched: pollWatched, pollUnwatched: pollUnwatched}
	w.watchPolicy(ctx)
}

// watchPolicy watches until ctx ends.
func (w *watcher) watchPolicy(ctx context.Context) {
	if notes, err := filewatch.New(); err == nil {
		w.fs = notes
		defer notes.Close()
	}
	w.run(ctx)
}

type watcher struct {
	fs        *filewatch.Watcher // nil: the system cannot watch files
	folders   map[string]bool    // the watched folders
	entries   []string           // directory entries whose change matters
	good      *Loaded            // the last good policy
	own       *Edits
	last      string    // digest or error of the last reading
	since     time.Time // time of the first reading with the result last
	lastError string    // the last reported error; "" if there is none
	tell      func(*Loaded, error)

	widenDelay, pollWatched, pollUnwatched time.Duration

	look func() time.Duration // the function that WatchHub uses in place of pollFiles; nil for policies
}

func (w *watcher) run(ctx context.Context) {
	again := time.NewTimer(w.pollFiles())
	defer again.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case ev := <-w.fs.Events():
			if ev.Err != nil {
				w.last = ev.Err.Error() // events were lost, so treat the next reading as a change
			}
			if ev.Err != nil || w.folders[ev.Name] || slices.Contains(w.entries, ev.Name) {
				again.Reset(quietDelay)
			}
		case <-again.C:
			again.Reset(w.pollFiles())
		}
	}
}

// pollFiles reads the files and reports changes. It returns the time after which it must be called
// again if no event comes.
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

// applyPolicy puts the new policy into force or keeps the old one, and reports a change.
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

// watchFolders watches exactly the folders of t.entries. It returns true if one of these folders
// was not watched before.
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
		_ = w.fs.Add(dir) // also for a watched folder, because another folder may be at this path now
	}
	for _, dir := range w.fs.WatchList() {
		if !wanted[dir] {
			_ = w.fs.Remove(dir) // an error is ignored: it means that the folder is gone
		}
	}
	w.folders = wanted
	return fresh
}

// watchesAll reports whether every folder of t.entries is watched.
func (w *watcher) watchesAll(t resolvedPath) bool {
	if w.fs == nil || len(t.entries) == 0 {
		return false
	}
	list := w.fs.WatchList()
	return !slices.ContainsFunc(t.entries, func(turn string) bool {
		return !slices.Contains(list, filepath.Dir(turn))
	})
}
