package audit

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/testing/slow"
)

// tampered is a record of three sessions: the first closed, the second crashed and
// closed by the third, which runs.
type tampered struct {
	t     *testing.T
	dir   string
	paths []string // of the segments
}

func newTampered(t *testing.T) *tampered {
	t.Helper()
	r := &tampered{t: t, dir: t.TempDir() + "/audit"}
	one := openLog(t, r.dir, Options{MaxBytes: 2000})
	for i := range 20 {
		must(t, one.Record(usual(i)))
	}
	must(t, one.Close())
	two := openLog(t, r.dir, Options{})
	must(t, two.Record(usual(1)))
	abandon(t, two)
	three, err := Open(r.dir, Options{})
	must(t, err)
	must(t, three.Record(usual(1)))
	three.cleanups.Wait()
	t.Cleanup(func() { _ = three.Close() })
	r.paths = segmentPaths(t, r.dir)
	return r
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (r *tampered) ledger() string { return filepath.Join(r.dir, ledgerName) }

func (r *tampered) head() string { return verify(r.t, r.dir).Head }

// lines changes the lines of a file.
func (r *tampered) lines(path string, change func(lines [][]byte) [][]byte) {
	r.t.Helper()
	text, err := os.ReadFile(path)
	must(r.t, err)
	must(r.t, os.Chmod(path, 0o600))
	must(r.t, os.WriteFile(path, bytes.Join(change(bytes.SplitAfter(text, []byte("\n"))), nil), 0o600))
}

// zeros lengthens a segment.
func (r *tampered) zeros(i int, n int64, mode os.FileMode) {
	r.t.Helper()
	fi, err := os.Stat(r.paths[i])
	must(r.t, errors.Join(err, os.Chmod(r.paths[i], 0o600), os.Truncate(r.paths[i], fi.Size()+n), os.Chmod(r.paths[i], mode)))
}

// says appends a line to the ledger, as clawai would.
func (r *tampered) says(now time.Time, ms ...mark) {
	r.t.Helper()
	must(r.t, withLedger(r.dir, func() time.Time { return now }, func(led *ledger) error {
		for _, m := range ms {
			if err := led.appendMark(m); err != nil {
				return err
			}
		}
		return nil
	}))
}

// Every way to take records away, or to put them elsewhere, by whom the record does
// not know. What is not found without a kept head is listed in docs/record.md.
func TestTampering(t *testing.T) {
	slow.Test(t)
	remove := func(r *tampered, i int) { must(r.t, os.Remove(r.paths[i])) }
	removal := func(r *tampered, i int, keep Retention) mark {
		return mark{Kind: removed, Segment: filepath.Base(r.paths[i]), Detail: "older than 2160h0m0s", Keep: keep.Keep, KeepFor: int64(keep.KeepFor / time.Second)}
	}
	usually := Retention{}.withDefaults()
	for _, tt := range []struct {
		name   string
		do     func(r *tampered)
		found  bool // without a head
		headed bool // with the one from before
	}{
		{"nothing", func(*tampered) {}, false, false},
		{"a closed segment removed", func(r *tampered) { remove(r, 0) }, true, true},
		{"the last closed segment removed", func(r *tampered) { remove(r, len(r.paths)-2) }, true, true},
		{"the running segment removed", func(r *tampered) { remove(r, len(r.paths)-1) }, true, true},
		{"all segments removed", func(r *tampered) {
			for i := range r.paths {
				remove(r, i)
			}
		}, true, true},
		{"a segment cut", func(r *tampered) {
			r.lines(r.paths[0], func(l [][]byte) [][]byte { return l[:len(l)-2] })
		}, true, true},
		{"a crashed segment cut", func(r *tampered) {
			r.lines(r.paths[len(r.paths)-2], func(l [][]byte) [][]byte { return l[:len(l)-2] })
		}, true, true},
		{"a segment emptied", func(r *tampered) { r.lines(r.paths[0], func([][]byte) [][]byte { return nil }) }, true, true},
		{"a segment's beginning cut", func(r *tampered) { r.lines(r.paths[0], func(l [][]byte) [][]byte { return l[1:] }) }, true, true},
		{"a line removed", func(r *tampered) {
			r.lines(r.paths[0], func(l [][]byte) [][]byte { return append(l[:1:1], l[2:]...) })
		}, true, true},
		{"lines swapped", func(r *tampered) {
			r.lines(r.paths[0], func(l [][]byte) [][]byte { l[1], l[2] = l[2], l[1]; return l })
		}, true, true},
		{"a line doubled", func(r *tampered) {
			r.lines(r.paths[0], func(l [][]byte) [][]byte { return append(l[:2:2], l[1:]...) })
		}, true, true},
		{"a closed segment lengthened by a zero byte", func(r *tampered) { r.zeros(0, 1, closedMode) }, true, true},
		{"a closed segment lengthened by zero bytes", func(r *tampered) { r.zeros(1, 1<<20, closedMode) }, true, true},
		{"a crashed segment lengthened by zero bytes", func(r *tampered) { r.zeros(len(r.paths)-2, 8<<10, closedMode) }, true, true},
		{"a closed segment opened and lengthened by more than a session reserves", func(r *tampered) { r.zeros(0, 1<<20, 0o600) }, true, true},
		{"a closed segment lengthened by as much as a killed session leaves", func(r *tampered) { r.zeros(0, 100<<10, 0o600) }, false, false},
		{"a closed segment cut inside its last line and filled with zero bytes", func(r *tampered) {
			fi, err := os.Stat(r.paths[0])
			must(r.t, err)
			must(r.t, os.Chmod(r.paths[0], 0o600))
			must(r.t, os.Truncate(r.paths[0], fi.Size()-40))
			r.zeros(0, 40, closedMode)
		}, true, true},
		{"segments swapped", func(r *tampered) {
			must(r.t, errors.Join(os.Rename(r.paths[0], r.paths[0]+"x"), os.Rename(r.paths[1], r.paths[0]), os.Rename(r.paths[0]+"x", r.paths[1])))
		}, true, true},
		{"a segment renamed to an older one", func(r *tampered) {
			must(r.t, os.Rename(r.paths[0], filepath.Join(r.dir, "20010101T000000.000000000Z-"+filepath.Base(r.paths[0])[27:])))
		}, true, true},
		{"a segment copied", func(r *tampered) {
			text, err := os.ReadFile(r.paths[0])
			must(r.t, errors.Join(err, os.WriteFile(filepath.Join(r.dir, "20010101T000000.000000000Z-aaaaaaaaaa.ndjson"), text, 0o400)))
		}, true, true},
		{"the ledger removed", func(r *tampered) { must(r.t, os.Remove(r.ledger())) }, true, true},
		{"the ledger emptied", func(r *tampered) { r.lines(r.ledger(), func([][]byte) [][]byte { return nil }) }, true, true},
		{"a line of the ledger removed", func(r *tampered) {
			r.lines(r.ledger(), func(l [][]byte) [][]byte { return append(l[:1:1], l[2:]...) })
		}, true, true},
		{"lines of the ledger swapped", func(r *tampered) {
			r.lines(r.ledger(), func(l [][]byte) [][]byte { l[1], l[2] = l[2], l[1]; return l })
		}, true, true},
		{"everything removed", func(r *tampered) { must(r.t, os.RemoveAll(r.dir)) }, false, true},
		{"the ledger's end cut with the segments it names", func(r *tampered) {
			r.lines(r.ledger(), func(l [][]byte) [][]byte { return l[:2] })
			for i := range r.paths[1:] {
				remove(r, i+1)
			}
			r.lines(r.paths[0], func(l [][]byte) [][]byte { return l })
		}, false, true},
		{"the running segment cut", func(r *tampered) {
			r.lines(r.paths[len(r.paths)-1], func(l [][]byte) [][]byte { return l[:len(l)-2] })
		}, false, false},
		{"a removal that nobody asked for", func(r *tampered) {
			r.says(time.Now(), removal(r, 0, usually))
			remove(r, 0)
		}, true, true},
		{"a removal by another retention", func(r *tampered) {
			r.says(time.Now(), removal(r, 0, Retention{KeepFor: time.Second}))
			remove(r, 0)
		}, true, true},
		{"a removal in the future", func(r *tampered) {
			r.says(time.Now().AddDate(1, 0, 0), removal(r, 0, usually))
			remove(r, 0)
		}, true, true},
		{"a removal of what was never closed", func(r *tampered) {
			i := len(r.paths) - 1
			r.says(time.Now(), removal(r, i, usually))
			remove(r, i)
		}, true, true},
		{"a removal for a size that the ledger makes up", func(r *tampered) {
			r.says(time.Now(), mark{Kind: opened, Segment: "20260101T000000.000000000Z-aaaaaaaaaa.ndjson", First: "x"},
				mark{Kind: closed, Segment: "20260101T000000.000000000Z-aaaaaaaaaa.ndjson", First: "x", Size: 1 << 40}, removal(r, 0, usually))
			remove(r, 0)
		}, true, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newTampered(t)
			head := r.head()
			tt.do(r)
			for kept, want := range map[string]bool{"": tt.found, head: tt.headed} {
				report, err := Verify(r.dir, kept, Retention{})
				if err != nil || report.IsIntact() == want {
					t.Errorf("head %.8q: %v, found %v", kept, err, report.Findings)
				}
			}
		})
	}
}

// The dates and sizes of files let nothing be removed.
func TestRetentionAsksTheLedger(t *testing.T) {
	r := newTampered(t)
	long := time.Now().AddDate(-6, 0, 0)
	for _, path := range r.paths {
		must(t, os.Chtimes(path, long, long))
	}
	must(t, os.Chmod(r.paths[1], 0o600))
	must(t, os.Truncate(r.paths[1], 3<<30))
	must(t, os.Chmod(r.paths[1], closedMode))
	must(t, openLog(t, r.dir, Options{}).Close())
	if after := segmentPaths(t, r.dir); len(after) != len(r.paths)+1 {
		t.Errorf("%d segments are left of %d and one more", len(after), len(r.paths))
	}
	if text, err := os.ReadFile(r.ledger()); err != nil || strings.Contains(string(text), `"kind":"removed"`) {
		t.Errorf("%v\n%s", err, text)
	}
}

// What retention removes is no finding, and with a kept head it is told.
func TestRemovedSinceTheHead(t *testing.T) {
	r := newTampered(t)
	head := r.head()
	later := func() time.Time { return time.Now().AddDate(0, 0, 91) }
	must(t, openLog(t, r.dir, Options{Now: later}).Close())
	v := newVerifier(r.dir, Retention{})
	v.now = later()
	_, err := v.readSnapshot(head)
	must(t, err)
	if len(v.report.Findings) > 0 || len(v.report.Notes) != len(r.paths)-1 || !strings.Contains(v.report.Notes[0].What, "removed since the hash was kept") {
		t.Errorf("%d segments: %+v", len(r.paths), v.report)
	}
}
