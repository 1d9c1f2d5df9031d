package audit

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/testing/slow"
)

func segmentPaths(t testing.TB, dir string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "2*.ndjson"))
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

// A session that rotates is one chain over its segments, with one numbering.
func TestRotation(t *testing.T) {
	dir := t.TempDir() + "/audit"
	l := openLog(t, dir, Options{MaxBytes: 5000})
	for i := range 100 {
		if err := l.Record(usual(i), usual(i)); err != nil {
			t.Fatal(err)
		}
	}
	if r := verify(t, dir); !r.IsIntact() || len(r.Notes) > 0 {
		t.Fatalf("while it runs: %+v", r)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	paths := segmentPaths(t, dir)
	for _, p := range paths {
		if fi, err := os.Stat(p); err != nil || !isClosed(fi) || fi.Size() > 7000 {
			t.Errorf("%s: %v, %v", p, fi, err)
		}
	}
	r := verify(t, dir)
	if !r.IsIntact() || len(r.Notes) > 0 || len(paths) < 10 || r.Segments != len(paths) || r.Records != uint64(200+len(paths)) {
		t.Fatalf("%d files: %+v", len(paths), r)
	}
	next := uint64(1)
	for e, err := range Read(dir, Filter{Kinds: []event.Kind{event.Decision, event.Segment}}) {
		if err != nil || e.Seq != next {
			t.Fatalf("%v: %d after %d", err, e.Seq, next-1)
		}
		next++
	}
}

// A rotation that cannot be done is no reason to stop.
func TestRotationThatFails(t *testing.T) {
	dir := t.TempDir() + "/audit"
	l := openLog(t, dir, Options{MaxBytes: 3000})
	l.cleanups.Wait()
	ledger := filepath.Join(dir, ledgerName)
	if err := errors.Join(os.Rename(ledger, ledger+".away"), os.Mkdir(ledger, 0o700)); err != nil {
		t.Fatal(err)
	}
	for i := range 20 {
		if err := l.Record(usual(i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Remove(ledger), os.Rename(ledger+".away", ledger)); err != nil {
		t.Fatal(err)
	}
	for i := range 5 {
		if err := l.Record(usual(i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if r := verify(t, dir); !r.IsIntact() || r.Segments < 2 || r.Records != uint64(25+r.Segments) {
		t.Fatalf("%+v", r)
	}
}

// Retention removes the oldest closed segments, never one that is written to,
// and what is left verifies.
func TestRetention(t *testing.T) {
	slow.Test(t)
	for name, o := range map[string]Options{
		"by size": {MaxBytes: 3000, Retention: Retention{Keep: 10_000, KeepFor: -1}},
		"by age":  {MaxBytes: 3000, Retention: Retention{Keep: -1, KeepFor: 24 * time.Hour}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir() + "/audit"
			var now atomic.Int64 // the upkeep of both looks at it too
			now.Store(time.Now().Add(-48 * time.Hour).UnixNano())
			clock := func() time.Time { return time.Unix(0, now.Add(int64(time.Millisecond))) }
			running := openLog(t, dir, Options{Now: clock, Retention: keepAll})
			writer := openLog(t, dir, Options{Now: clock, MaxBytes: o.MaxBytes, Retention: keepAll})
			writer.cleanups.Wait()
			running.cleanups.Wait()
			for i := range 50 {
				if i == 40 {
					now.Store(time.Now().Add(-time.Hour).UnixNano())
				}
				if err := writer.Record(usual(i)); err != nil {
					t.Fatal(err)
				}
			}
			if err := writer.Close(); err != nil {
				t.Fatal(err)
			}
			before := segmentPaths(t, dir)
			if err := openLog(t, dir, o).Close(); err != nil {
				t.Fatal(err)
			}
			after := segmentPaths(t, dir)
			if len(after) >= len(before) || after[0] != before[0] || after[len(after)-2] != before[len(before)-1] {
				t.Fatalf("before %v\nafter %v", before, after)
			}
			if err := running.Record(usual(0)); err != nil {
				t.Fatal(err)
			}
			r, err := Verify(dir, "", o.Retention)
			if err != nil || !r.IsIntact() || len(r.Notes) > 0 {
				t.Fatalf("%v %+v", err, r)
			}
			ledger, err := os.ReadFile(filepath.Join(dir, ledgerName))
			if err != nil || strings.Count(string(ledger), `"kind":"removed"`) != len(before)+1-len(after) {
				t.Fatalf("%v\n%s", err, ledger)
			}
			// What retention left still hangs on what it removed.
			replaceInFile(t, after[1], `"kind":"segment"`, `"kind":"segmend"`)
			if r := verify(t, dir); r.IsIntact() {
				t.Fatal("a changed first line was not found")
			}
		})
	}
}

func replaceInFile(t *testing.T, path, from, to string) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	replace(t, path, []byte(strings.Replace(string(b), from, to, 1)))
}

// A ledger that a crash or a full disk cut off in the middle of a line is
// healed by the next session, and says so. Until then the beginning of the next line is a note, and
// other bytes are a finding.
func TestTornLedger(t *testing.T) {
	for fragment, torn := range map[string]bool{"{": true, `{"seq":3,"time":"2026-`: true, `{"seq":4,"time":"2026-`: false, `{"seq":3}`: false, "x": false, "a\nb": false} {
		dir := t.TempDir() + "/audit"
		if err := openLog(t, dir, Options{}).Close(); err != nil {
			t.Fatal(err)
		}
		f, err := os.OpenFile(filepath.Join(dir, ledgerName), os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteString(fragment); err != nil {
			t.Fatal(err)
		}
		f.Close()
		if r := verify(t, dir); r.IsIntact() != torn || torn && (len(r.Notes) != 1 || r.Notes[0].File != ledgerName) {
			t.Fatalf("before the next session: %q: %+v", fragment, r)
		}
		if err := openLog(t, dir, Options{}).Close(); err != nil {
			t.Fatal(err)
		}
		if r := verify(t, dir); !r.IsIntact() || len(r.Notes) != 1 || r.Notes[0].File != ledgerName {
			t.Fatalf("%q: %+v", fragment, r)
		}
	}
}

func TestClosedLogRecordsNothing(t *testing.T) {
	l := openLog(t, t.TempDir()+"/audit", Options{})
	if err := errors.Join(l.Close(), l.Close()); err != nil {
		t.Fatal(err)
	}
	ev := usual(1)
	if err := l.Record(ev); !errors.Is(err, ErrClosed) || ev.Record != "" {
		t.Fatalf("%v, %q", err, ev.Record)
	}
}

// What others left is no reason for a session to fail: it is recorded.
func TestUpkeepThatFailsIsRecorded(t *testing.T) {
	dir := t.TempDir() + "/audit"
	if err := openLog(t, dir, Options{}).Close(); err != nil {
		t.Fatal(err)
	}
	strange := filepath.Join(dir, segmentName(time.Now(), "0123456789"))
	if err := errors.Join(os.WriteFile(strange, nil, 0o600), os.Chmod(strange, 0o666)); err != nil {
		t.Fatal(err)
	}
	if err := openLog(t, dir, Options{}).Close(); err != nil {
		t.Fatal(err)
	}
	n := 0
	for e, err := range Read(dir, Filter{Kinds: []event.Kind{event.Upkeep}}) {
		if n++; err != nil || !strings.Contains(e.Detail, "can be written by other users") {
			t.Fatalf("%v: %q", err, e.Detail)
		}
	}
	if n != 1 {
		t.Fatalf("%d upkeep records", n)
	}
}
