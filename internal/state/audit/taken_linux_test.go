package audit

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/clawai/clawai/internal/testing/slow"
)

func copyFile(from, to string) error {
	text, err := os.ReadFile(from)
	return errors.Join(err, os.WriteFile(to, text, 0o600))
}

// In whatever way the file of a session that runs is taken away, what was recorded into it is
// missed, also what is recorded before the session looks again.
func TestASegmentThatIsTakenAway(t *testing.T) {
	slow.Test(t)
	for name, take := range map[string]func(path, other, aside string) error{
		"unlinked": func(path, _, _ string) error { return os.Remove(path) },
		"moved":    func(path, _, aside string) error { return os.Rename(path, aside) },
		"moved, a copy put there": func(path, _, aside string) error {
			return errors.Join(os.Rename(path, aside), copyFile(aside, path))
		},
		"replaced by a copy": func(path, _, aside string) error {
			return errors.Join(copyFile(path, aside), os.Rename(aside, path))
		},
		"linked, replaced by a copy": func(path, _, aside string) error {
			return errors.Join(os.Link(path, aside), copyFile(path, aside+"2"), os.Rename(aside+"2", path))
		},
		"linked, replaced by another": func(path, _, aside string) error {
			return errors.Join(os.Link(path, aside), os.WriteFile(aside+"2", nil, 0o600), os.Rename(aside+"2", path))
		},
		"cut":     func(path, _, _ string) error { return os.Truncate(path, 700) },
		"emptied": func(path, _, _ string) error { return os.Truncate(path, 0) },
		"cut where its records end": func(path, _, _ string) error {
			text, err := os.ReadFile(path)
			end := len(text)
			for end > 0 && text[end-1] == 0 {
				end--
			}
			return errors.Join(err, os.Truncate(path, int64(end)))
		},
		"written over by its copy": func(path, _, aside string) error {
			return errors.Join(copyFile(path, aside), copyFile(aside, path))
		},
		"swapped": func(path, other, _ string) error {
			return unix.Renameat2(unix.AT_FDCWD, path, unix.AT_FDCWD, other, unix.RENAME_EXCHANGE)
		},
		"replaced by another session's": func(path, other, _ string) error { return copyFile(other, path) },
		"the folder moved, a copy put there": func(path, _, aside string) error {
			dir := filepath.Dir(path)
			return errors.Join(os.Rename(dir, aside), os.CopyFS(dir, os.DirFS(aside)))
		},
	} {
		for _, then := range []string{"closes", "goes on", "is killed", "goes on, is killed", "is killed, another begins", "goes on, is killed, another begins"} {
			t.Run(name+", "+then, func(t *testing.T) {
				state := t.TempDir()
				dir := filepath.Join(state, "audit")
				other := openLog(t, dir, Options{})
				_ = other.Record(usual(1))
				l, err := Open(dir, Options{})
				if err != nil {
					t.Fatal(err)
				}
				for i := range 10 {
					if err := l.Record(usual(i)); err != nil {
						t.Fatal(err)
					}
				}
				l.cleanups.Wait()
				other.cleanups.Wait()
				l.nextLook = time.Now().Add(time.Hour)
				l.nextCheck = l.nextLook
				if err := take(l.seg.path, other.seg.path, filepath.Join(state, "aside")); err != nil {
					t.Fatal(err)
				}
				for i := range 50 {
					if err := l.Record(usual(i)); err != nil {
						t.Log(err) // its file is spoiled: the next record goes to another
					}
				}
				wrote := int(l.chain.next) - 1
				if strings.HasPrefix(then, "goes on") {
					l.nextLook, l.nextCheck = time.Time{}, time.Time{}
					if err := l.Record(usual(1)); err != nil {
						t.Fatal(err)
					}
				}
				if !strings.Contains(then, "killed") {
					_ = l.Close() // it may not know its file any more
				} else {
					_ = l.seg.file.Close()
				}
				if strings.HasSuffix(then, "another begins") {
					openLog(t, dir, Options{}).cleanups.Wait()
				}
				have := 0
				for e, err := range Read(dir, Filter{Session: l.SessionID()}) {
					if err == nil && e.Session == l.SessionID() {
						have++
					}
				}
				if r := verify(t, dir); r.IsIntact() && have < wrote-1 { // one line begins the segment
					t.Errorf("%d of %d are there, and nothing is missed: %v", have, wrote, r.Notes)
				}
			})
		}
	}
}

// A session that ends without another record says how many there were.
func TestASegmentThatIsCutBeforeTheEnd(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "audit")
	l := openLog(t, dir, Options{})
	for i := range 10 {
		if err := l.Record(usual(i)); err != nil {
			t.Fatal(err)
		}
	}
	l.cleanups.Wait()
	if l.seg.mem == nil {
		t.Skip("no memory of a file is to be had here")
	}
	if err := os.Truncate(l.seg.path, 0); err != nil {
		t.Fatal(err)
	}
	l.nextLook = time.Now().Add(time.Hour)
	l.nextCheck = l.nextLook
	if err := l.Record(usual(1)); err == nil {
		t.Fatal("it was recorded where nothing is")
	}
	if err := l.Close(); err == nil {
		t.Error("nothing is said of what could not be recorded")
	}
	if r := verify(t, dir); r.IsIntact() {
		t.Errorf("nothing is missed: %v", r.Notes)
	}
}
