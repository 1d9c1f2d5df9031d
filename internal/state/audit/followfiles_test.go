//go:build unix

package audit

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/testing/slow"
)

// What lies in the folder under a segment's name and is none ends no follower, as it does no
// reader, and of a segment that was removed and begun anew the new records come.
func TestFollowGoesOnWhateverIsPutBeside(t *testing.T) {
	const name = "20260504T120000.000000000Z-planted.ndjson"
	for what, do := range map[string]func(dir, shared string) error{
		"a pipe":     func(dir, _ string) error { return syscall.Mkfifo(filepath.Join(dir, name), 0o600) },
		"a link":     func(dir, _ string) error { return os.Symlink(ledgerName, filepath.Join(dir, name)) },
		"a folder":   func(dir, _ string) error { return os.Mkdir(filepath.Join(dir, name), 0o700) },
		"removed":    func(_, shared string) error { return os.Remove(shared) },
		"moved away": func(dir, shared string) error { return os.Rename(shared, filepath.Join(dir, "kept")) },
	} {
		t.Run(what, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "audit")
			o := Options{Shared: "agent"}
			call(t, dir, o)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			calls := 0
			for e, err := range Follow(ctx, dir, Filter{Kinds: []event.Kind{event.Decision}}) {
				if err != nil {
					t.Fatal(err)
				}
				if calls++; calls == 1 {
					if err := do(dir, filepath.Join(dir, e.File)); err != nil {
						t.Fatal(err)
					}
				}
				if calls == 3 {
					return
				}
				call(t, dir, o)
			}
			t.Fatalf("%d calls came", calls)
		})
	}
}

// A reader is told that the folder is gone, also where another is in its place at once: the new
// records are not in the folder that it watches.
func TestFollowNoticesAnotherFolder(t *testing.T) {
	for name, replace := range map[string]func(dir string) error{
		"removed":             os.RemoveAll,
		"removed, made again": func(dir string) error { return errors.Join(os.RemoveAll(dir), os.Mkdir(dir, 0o700)) },
		"moved away":          func(dir string) error { return errors.Join(os.Rename(dir, dir+".old"), os.Mkdir(dir, 0o700)) },
		"below another parent": func(dir string) error {
			parent := filepath.Dir(dir)
			return errors.Join(os.Rename(parent, parent+".old"), os.MkdirAll(dir, 0o700))
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "state", "audit")
			l, err := Open(dir, Options{})
			if err == nil {
				err = errors.Join(l.Record(usual(1)), l.Close())
			}
			if err != nil {
				t.Fatal(err)
			}
			ended := make(chan error)
			seen := make(chan bool, 1)
			go func() {
				var last error
				for _, err := range Follow(t.Context(), dir, Filter{Kinds: []event.Kind{event.Decision}}) {
					last = err
					if err == nil {
						seen <- true
					}
				}
				ended <- last
			}()
			<-seen
			if err := replace(dir); err != nil {
				t.Fatal(err)
			}
			select {
			case err := <-ended:
				if !errors.Is(err, ErrReplaced) {
					t.Errorf("it ended with %v", err)
				}
			case <-time.After(30 * time.Second):
				t.Error("it goes on")
			}
		})
	}
}

// A follower that begins with the end of each segment has the latest records, whole and in order, and
// misses none that come later, wherever the end cuts a line.
func TestFollowTheTail(t *testing.T) {
	slow.Test(t)
	for _, tail := range []int64{1, 60, 301, 302, 303, 1500, 6000, 1 << 20} {
		t.Run(fmt.Sprint(tail), func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "audit")
			l := openLog(t, dir, Options{})
			var ids []string
			for i := range 40 {
				ev := usual(i)
				if err := l.Record(ev); err != nil {
					t.Fatal(err)
				}
				ids = append(ids, ev.Record)
			}
			var read []string
			for e, err := range Read(dir, Filter{Kinds: []event.Kind{event.Decision}, Last: 10, Tail: tail}) {
				if err != nil {
					t.Fatal(tail, err)
				}
				read = append(read, e.Record)
			}
			if n := len(read); n > 10 || !slices.Equal(read, ids[len(ids)-n:]) || tail == 1<<20 && n != 10 {
				t.Errorf("read of %d bytes: %v, not the last of %v", tail, read, ids)
			}
			ctx, cancel := context.WithCancel(t.Context())
			later := usual(41)
			written := make(chan error)
			go func() {
				time.Sleep(3 * pollEvery)
				err := l.Record(later)
				time.Sleep(3 * pollEvery)
				cancel()
				written <- err
			}()
			var got []string
			for e, err := range Follow(ctx, dir, Filter{Kinds: []event.Kind{event.Decision}, Last: 10, Tail: tail}) {
				if err != nil {
					t.Fatal(tail, err)
				}
				got = append(got, e.Record)
			}
			if err := <-written; err != nil {
				t.Fatal(err)
			}
			ids = append(ids, later.Record)
			if n := len(got); n < 1 || n > 11 || !slices.Equal(got, ids[len(ids)-n:]) {
				t.Errorf("of %d bytes: %v, not the last of %v", tail, got, ids)
			}
			if tail >= 1500 && len(got) < 3 || tail == 1<<20 && len(got) != 11 {
				t.Errorf("of %d bytes: only %d", tail, len(got))
			}
		})
	}
}
