package audit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/state/filewatch"
)

// Follow is like Read, but after the existing records it also returns new records as they are
// written. Follow orders up to maxNews new records by time. It ends when ctx ends, or after it has
// returned an error other than a *Damage. The error is ErrReplaced if the directory was removed or
// replaced by another one. The directory must exist.
func Follow(ctx context.Context, dir string, f Filter) iter.Seq2[event.Entry, error] {
	return func(yield func(event.Entry, error) bool) {
		// The watch begins before the listing, so that no change is missed between the two.
		watch, err := filewatch.New()
		if err == nil {
			defer watch.Close()
			err = watch.Add(dir)
		}
		if err != nil {
			yield(event.Entry{}, fmt.Errorf("watch %q: %w", dir, err))
			return
		}
		is, err := os.Stat(dir)
		if err != nil {
			yield(event.Entry{}, err)
			return
		}
		os.SameFile(is, is) // read the identity of dir now; otherwise Windows would read it, by the path, only at the first comparison
		fl := follower{dir: dir, is: is, f: f, sources: map[string]*source{}, dirty: map[string]bool{}, poll: time.NewTicker(pollEvery)}
		defer fl.close()
		if err := fl.yieldBacklog(yield); err != nil {
			if !errors.Is(err, errStopped) {
				yield(event.Entry{}, err)
			}
			return
		}
		if f.Caught != nil {
			f.Caught()
		}
		for {
			if err := fl.awaitChange(ctx, watch); err != nil {
				if ctx.Err() == nil {
					yield(event.Entry{}, err)
				}
				return
			}
			if !fl.yieldChanges(yield) {
				return
			}
		}
	}
}

// ErrReplaced means that the path of the record no longer leads to the directory that Follow has
// opened.
var ErrReplaced = errors.New("the folder of the record was removed or replaced")

var errStopped = errors.New("stopped")

// follower holds every segment that Follow has seen.
type follower struct {
	dir     string
	is      os.FileInfo // identity of dir when Follow began; later the path may lead to another directory
	f       Filter
	sources map[string]*source // the sources, by the file name of their segment
	dirty   map[string]bool    // file names of the segments that may have new records
	left    []*source          // sources whose file was replaced; they are read to their end
	poll    *time.Ticker
}

// pollEvery is the interval at which unfinished segments are read. Reading on events alone is not
// enough, because the system reports no event for data that is stored into a mapped file.
const pollEvery = 100 * time.Millisecond

func (fl *follower) close() {
	fl.poll.Stop()
	for _, s := range fl.sources {
		s.close()
	}
	for _, s := range fl.left {
		s.close()
	}
}

// yieldBacklog yields the existing records. It returns errStopped if the caller wants no more.
func (fl *follower) yieldBacklog(yield func(event.Entry, error) bool) error {
	list, err := listSources(fl.dir, true)
	if err != nil {
		return err
	}
	for _, s := range list {
		fl.sources[filepath.Base(s.path)] = s
	}
	skipHeads(list, &fl.f)
	stopped := false
	readBacklog(list, &fl.f, func(*source) {})(func(e event.Entry, err error) bool {
		stopped = !yield(e, err) || err != nil && !isDamage(err)
		return !stopped
	})
	if stopped {
		return errStopped
	}
	fl.f.Last = 0
	for name, s := range fl.sources {
		if s.ended {
			s.close()
			continue
		}
		// Skip the old records that yieldBacklog has left out, because they are not new.
		for s.limit != noLimit {
			if _, err := s.nextEntry(&fl.f); errors.Is(err, io.EOF) {
				s.limit = noLimit
			} else if err != nil && !isDamage(err) {
				return err
			}
		}
		fl.dirty[name] = true // the segment may have grown since it was listed
	}
	return nil
}

// awaitChange waits until a segment has changed.
func (fl *follower) awaitChange(ctx context.Context, watch *filewatch.Watcher) error {
	if len(fl.dirty) > 0 {
		return ctx.Err()
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case ev := <-watch.Events():
		switch {
		case ev.Lost():
			return fl.markAll()
		case ev.Err != nil:
			return fmt.Errorf("watch %q: %w", fl.dir, ev.Err)
		}
		return fl.handleChange(ev)
	case <-fl.poll.C:
		if now, err := os.Stat(fl.dir); err != nil || !os.SameFile(now, fl.is) {
			return fmt.Errorf("%q: %w", fl.dir, ErrReplaced)
		}
		for name, s := range fl.sources {
			if !s.done {
				fl.dirty[name] = true
			}
		}
		return nil
	}
}

func (fl *follower) handleChange(ev filewatch.Event) error {
	name := filepath.Base(ev.Name)
	if ev.Name == fl.dir && ev.Has(fsnotify.Remove|fsnotify.Rename) {
		return fmt.Errorf("%q: %w", fl.dir, ErrReplaced)
	}
	if _, _, ok := parseSegmentName(name); !ok {
		return nil
	}
	s := fl.sources[name]
	if s == nil || ev.Has(fsnotify.Create) {
		fi, err := os.Lstat(ev.Name)
		if err != nil || !fi.Mode().IsRegular() {
			return nil // the file was removed, or is not a segment
		}
		if s != nil && !s.readsFile(fi) {
			fl.left = append(fl.left, s)
			s = nil
		}
	}
	if s == nil {
		fl.sources[name] = newSource(ev.Name)
	}
	fl.dirty[name] = true
	return nil
}

// markAll marks all segments as changed, because the system has dropped events.
func (fl *follower) markAll() error {
	list, err := listSources(fl.dir, false)
	for _, s := range list {
		name := filepath.Base(s.path)
		if fl.sources[name] == nil {
			fl.sources[name] = s
		}
		fl.dirty[name] = true
	}
	return err
}

// yieldChanges yields the new records of the changed segments. It returns false when following
// must end.
func (fl *follower) yieldChanges(yield func(event.Entry, error) bool) bool {
	var news []event.Entry
	read := fl.left
	for name := range fl.dirty {
		read = append(read, fl.sources[name])
	}
	for _, s := range read {
		for {
			e, err := s.nextEntry(&fl.f)
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				if !yield(event.Entry{}, err) || !isDamage(err) {
					return false
				}
				continue
			}
			if news = append(news, e); len(news) == maxNews {
				if !yieldSorted(news, yield) {
					return false
				}
				news = news[:0]
			}
		}
		if s.isFinished() {
			s.close()
		}
	}
	for _, s := range fl.left {
		s.close()
	}
	fl.left = nil
	clear(fl.dirty)
	return yieldSorted(news, yield)
}

// maxNews is the largest number of new records that are kept to be ordered by time. After a pause
// there may be millions of new records.
const maxNews = 4096

func yieldSorted(news []event.Entry, yield func(event.Entry, error) bool) bool {
	slices.SortStableFunc(news, func(a, b event.Entry) int { return compareEntries(&a, &b) })
	for _, e := range news {
		if !yield(e, nil) {
			return false
		}
	}
	return true
}
