package audit

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/event"

	"github.com/clawai/clawai/internal/testing/slow"
)

// A record whose file is taken away goes on in another, and says so; what was in it
// is missed.
func TestARecordThatIsTakenAway(t *testing.T) {
	slow.Test(t)
	if runtime.GOOS == "windows" {
		t.Skip("Windows keeps a file that is open")
	}
	for name, take := range map[string]func(state, path string) error{
		"the state folder removed": func(state, _ string) error { return os.RemoveAll(state) },
		"the state folder moved":   func(state, path string) error { return os.Rename(state, state+"~") },
		"the record removed":       func(state, path string) error { return os.RemoveAll(filepath.Join(state, "audit")) },
		"the record moved": func(state, path string) error {
			return os.Rename(filepath.Join(state, "audit"), filepath.Join(state, "old"))
		},
		"the segments removed": func(state, path string) error {
			paths, _ := filepath.Glob(filepath.Join(state, "audit", "2*"))
			return errors.Join(os.Remove(paths[0]), os.Remove(paths[1]))
		},
		"the segment replaced": func(state, path string) error {
			text, err := os.ReadFile(path)
			return errors.Join(err, os.Remove(path), os.WriteFile(path, text, 0o600))
		},
		"the segment cut short": func(_, path string) error { return os.Truncate(path, 700) },
		"the segment emptied":   func(_, path string) error { return os.Truncate(path, 0) },
	} {
		t.Run(name, func(t *testing.T) {
			state := filepath.Join(t.TempDir(), "state")
			dir := filepath.Join(state, "audit")
			now := time.Now()
			if err := openLog(t, dir, Options{}).Close(); err != nil {
				t.Fatal(err)
			}
			l := openLog(t, dir, Options{Now: func() time.Time { return now }})
			if err := l.Record(usual(1)); err != nil {
				t.Fatal(err)
			}
			l.cleanups.Wait()
			if err := take(state, l.seg.path); err != nil {
				t.Fatal(err)
			}
			now = now.Add(2 * time.Second) // what was moved is missed within one
			for i := range 3 {
				ev := usual(i)
				if err := l.Record(ev); err != nil || ev.Record == "" {
					t.Fatal(err)
				}
			}
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
			var found []event.Entry
			for e, err := range Read(dir, Filter{Session: l.SessionID()}) {
				if err != nil {
					t.Fatal(err)
				}
				found = append(found, e)
			}
			if n := len(found); n < 4 || found[n-4].Kind != event.Upkeep || !strings.Contains(found[n-4].Detail, "its records before number") {
				t.Errorf("%d records, none says what happened", n)
			}
			if r := verify(t, dir); r.IsIntact() && name != "the segment replaced" { // by its copy
				t.Errorf("nothing is missed: %+v", r)
			}
		})
	}
}

// Where no other can be begun, nothing is recorded, and so nothing goes on, until one
// can.
func TestARecordThatCannotBeBegunAnew(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows keeps a file that is open")
	}
	state := filepath.Join(t.TempDir(), "state")
	l := openLog(t, filepath.Join(state, "audit"), Options{})
	l.cleanups.Wait()
	if err := errors.Join(os.RemoveAll(state), os.WriteFile(state, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	time.Sleep(2 * lookEvery)
	for range 2 {
		ev := usual(1)
		if err := l.Record(ev); err == nil || ev.Record != "" || !strings.Contains(err.Error(), "was removed, moved or cut short while it was in use, and no other can be begun") {
			t.Fatalf("%v, %q", err, ev.Record)
		}
	}
	if err := os.Remove(state); err != nil {
		t.Fatal(err)
	}
	time.Sleep(2 * lookEvery)
	if err := l.Record(usual(2)); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}
