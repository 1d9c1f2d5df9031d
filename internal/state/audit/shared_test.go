package audit

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/text/redact"
)

// noon is a time of a day that is long over for whoever tidies up by the real clock.
var noon = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)

func at(t time.Time) func() time.Time { return func() time.Time { return t } }

// call records one call as a process of its own would, and returns the record's id.
func call(t *testing.T, dir string, o Options) string {
	t.Helper()
	o.Brief = true
	l, err := Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	ev := &event.Event{Kind: event.Decision, Detail: "of a call"}
	if err := l.Record(ev); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return ev.Record
}

// segmentFiles are the names of all segments, and the lines of the ledger.
func segmentFiles(t *testing.T, dir string) (names []string, ledger int) {
	t.Helper()
	all, err := listSegments(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, fi := range all {
		names = append(names, fi.Name())
	}
	text, err := os.ReadFile(filepath.Join(dir, ledgerName))
	if err != nil {
		t.Fatal(err)
	}
	return names, strings.Count(string(text), "\n")
}

// tidy is what a session does beside its work, at a time.
func tidy(t *testing.T, dir string, now time.Time) {
	t.Helper()
	l, err := Open(dir, Options{Now: at(now)})
	if err == nil {
		err = l.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}

func intact(t *testing.T, dir string, notes int) {
	t.Helper()
	report, err := Verify(dir, "", Retention{Keep: -1, KeepFor: -1})
	if err != nil || !report.IsIntact() || len(report.Notes) != notes {
		t.Errorf("%v, findings %v, notes %v, want %d of these", err, report.Findings, report.Notes, notes)
	}
}

func TestCallsOfASessionShareTheSegmentOfADay(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "audit")
	ids := map[string]bool{}
	for i := range 50 {
		ids[call(t, dir, Options{Now: at(noon.Add(time.Duration(i) * time.Second)), Shared: "agent 1"})] = true
	}
	call(t, dir, Options{Now: at(noon), Shared: "agent 2"})
	call(t, dir, Options{Now: at(noon), Shared: "agent 1", Redact: redact.Full}) // the segment says how secrets are kept out
	if names, ledger := segmentFiles(t, dir); len(ids) != 50 || len(names) != 3 || ledger != 3 {
		t.Errorf("%d ids, segments %q, %d lines of the ledger", len(ids), names, ledger)
	}
	read := 0
	for e, err := range Read(dir, Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Kind == event.Decision {
			read++
		}
	}
	if read != 52 {
		t.Errorf("%d calls are read", read)
	}
	intact(t, dir, 3) // the day is over, and nobody has closed them
	call(t, dir, Options{Now: at(noon.Add(day)), Shared: "agent 1"})
	if names, _ := segmentFiles(t, dir); len(names) != 4 {
		t.Errorf("the next day has no segment of its own: %q", names)
	}
}

func TestASharedSegmentIsClosedWhenItsDayIsOver(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "audit")
	call(t, dir, Options{Now: at(noon), Shared: "agent"})
	tidy(t, dir, noon.Add(time.Hour))
	call(t, dir, Options{Now: at(noon.Add(2 * time.Hour)), Shared: "agent"})
	names, _ := segmentFiles(t, dir)
	if len(names) != 2 || !acceptsCalls(names[0], noon) {
		t.Fatalf("tidying closed what calls still go on in: %q", names)
	}
	tidy(t, dir, noon.Add(day))
	if fi, err := os.Stat(filepath.Join(dir, names[0])); err != nil || !isClosed(fi) {
		t.Errorf("%v %v: it is open", fi, err)
	}
	intact(t, dir, 0)
	// Whatever is cut off it now is found.
	if err := os.Truncate(filepath.Join(dir, names[0]), 700); err != nil {
		t.Fatal(err)
	}
	if report, err := Verify(dir, "", Retention{Keep: -1, KeepFor: -1}); err != nil || report.IsIntact() {
		t.Error(err, report)
	}
}

// A call that carries much is gone on behind like any other.
func TestACallWithALongLine(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "audit")
	o := Options{Now: at(noon), Shared: "agent", Brief: true}
	call(t, dir, o)
	l, err := Open(dir, o)
	if err == nil {
		err = l.Record(&event.Event{Kind: event.Decision, Args: []byte(`{"content":"` + strings.Repeat("all work ", 200<<10) + `"}`)})
	}
	if err == nil {
		err = l.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	call(t, dir, o)
	if names, ledger := segmentFiles(t, dir); len(names) != 1 || ledger != 1 {
		t.Errorf("segments %q, %d lines of the ledger", names, ledger)
	}
}

// What cannot be gone on with is left as it is, and the call has a segment of its own.
func TestACallThatFindsItsSegmentTaken(t *testing.T) {
	for name, spoil := range map[string]func(t *testing.T, path string){
		"torn": func(t *testing.T, path string) {
			fi, err := os.Stat(path)
			if err == nil {
				err = os.Truncate(path, fi.Size()-9)
			}
			if err != nil {
				t.Fatal(err)
			}
		},
		"changed at its end": func(t *testing.T, path string) {
			text, err := os.ReadFile(path)
			if err == nil {
				err = os.WriteFile(path, []byte(strings.Replace(string(text), "of a call", "of A call", 1)), 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
		},
		"one line alone, as of a process that died before the ledger knew": func(t *testing.T, path string) {
			text, err := os.ReadFile(path)
			if err == nil {
				err = os.Truncate(path, int64(strings.IndexByte(string(text), '\n')+1))
			}
			if err != nil {
				t.Fatal(err)
			}
		},
		"empty": func(t *testing.T, path string) {
			if err := os.Truncate(path, 0); err != nil {
				t.Fatal(err)
			}
		},
		"closed": func(t *testing.T, path string) {
			if err := os.Chmod(path, closedMode); err != nil {
				t.Fatal(err)
			}
		},
		"a link to another": func(t *testing.T, path string) {
			err := os.Rename(path, path+".moved")
			if err == nil {
				err = os.Symlink(path+".moved", path)
			}
			if err != nil {
				t.Fatal(err)
			}
		},
		"a folder": func(t *testing.T, path string) {
			err := os.Remove(path)
			if err == nil {
				err = os.Mkdir(path, 0o700)
			}
			if err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "audit")
			o := Options{Now: at(noon), Shared: "agent"}
			first := call(t, dir, o)
			names, _ := segmentFiles(t, dir)
			path := filepath.Join(dir, names[0])
			spoil(t, path)
			before, _ := os.ReadFile(path)
			second, third := call(t, dir, o), call(t, dir, o)
			if after, _ := os.ReadFile(path); string(after) != string(before) {
				t.Error("it was written to")
			}
			if session := func(id string) string { s, _, _ := strings.Cut(id, "-"); return s }; session(second) == session(first) || session(third) == session(second) {
				t.Errorf("records %s, %s, %s", first, second, third)
			}
		})
	}
}

// While one call waits for a person the others of its session do not wait for it.
func TestACallThatWaitsKeepsNoOtherWaiting(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "audit")
	o := Options{Now: at(noon), Shared: "agent", Brief: true}
	waits, err := Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	other := call(t, dir, o)
	if err := waits.Record(&event.Event{Kind: event.Decision}); err != nil {
		t.Fatal(err)
	}
	if err := waits.Close(); err != nil {
		t.Fatal(err)
	}
	later := call(t, dir, o)
	if !strings.HasPrefix(later, waits.SessionID()+"-") || strings.HasPrefix(other, waits.SessionID()+"-") {
		t.Errorf("waiting %s, beside it %s, after it %s", waits.SessionID(), other, later)
	}
	tidy(t, dir, noon.Add(day))
	intact(t, dir, 0)
}

// A shared segment that was removed under a call is no reason to lose its record.
func TestASharedSegmentThatIsRemoved(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "audit")
	o := Options{Now: at(noon), Shared: "agent", Brief: true}
	call(t, dir, o)
	l, err := Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(l.seg.path); err != nil {
		t.Fatal(err)
	}
	if err := l.Record(&event.Event{Kind: event.Decision}); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if report, err := Verify(dir, "", Retention{Keep: -1, KeepFor: -1}); err != nil || report.IsIntact() {
		t.Errorf("what was removed is not missed: %v %v", err, report)
	}
}

// Many calls of several sessions at once, and somebody who tidies up at midnight: every
// call is on record once, under an id of its own.
func TestCallsAtOnceShareWhatTheyCan(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "audit")
	var clock atomic.Int64
	clock.Store(noon.Add(11 * time.Hour).UnixNano())
	now := func() time.Time { return time.Unix(0, clock.Add(int64(20*time.Second))).UTC() }
	var group sync.WaitGroup
	var mu sync.Mutex
	ids := map[string]bool{}
	for worker := range 8 {
		group.Go(func() {
			for range 60 {
				l, err := Open(dir, Options{Now: now, Shared: fmt.Sprint("agent ", worker%3), Brief: worker > 0})
				ev := &event.Event{Kind: event.Decision}
				if err == nil {
					err = l.Record(ev)
				}
				if err == nil {
					err = l.Close()
				}
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				ids[ev.Record] = true
				mu.Unlock()
			}
		})
	}
	group.Wait()
	tidy(t, dir, noon.Add(10*day))
	read := 0
	for e, err := range Read(dir, Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Kind == event.Decision && ids[e.Record] {
			read++
		}
	}
	if len(ids) != 480 || read != 480 {
		t.Errorf("%d ids, %d read", len(ids), read)
	}
	intact(t, dir, 0)
}
