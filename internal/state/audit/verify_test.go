package audit

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/clawai/clawai/internal/testing/slow"
)

// closedLog writes a log of several sessions and segments and closes it.
func closedLog(t testing.TB, dir string) {
	t.Helper()
	for range 2 {
		l, err := Open(dir, Options{MaxBytes: 2000})
		if err != nil {
			t.Fatal(err)
		}
		for range 6 {
			if err := l.Record(sample()); err != nil {
				t.Fatal(err)
			}
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// keepAll removes nothing.
var keepAll = Retention{Keep: -1, KeepFor: -1}

func verify(t testing.TB, dir string) Verification {
	t.Helper()
	r, err := Verify(dir, "", Retention{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func files(t testing.TB, dir string) map[string][]byte {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*.ndjson"))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]byte{}
	for _, p := range paths {
		b, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		all[filepath.Base(p)] = b
	}
	return all
}

func TestVerifyAcceptsWhatWasWritten(t *testing.T) {
	dir := t.TempDir() + "/audit"
	closedLog(t, dir)
	r := verify(t, dir)
	if !r.IsIntact() || len(r.Notes) > 0 || r.Segments < 4 || r.Records != uint64(12+r.Segments) {
		t.Fatalf("%+v", r)
	}
	if again, err := Verify(dir, r.Head, Retention{}); err != nil || !again.IsIntact() {
		t.Fatalf("with its own head: %+v, %v", again, err)
	}
	if r, err := Verify(dir, strings.Repeat("ab", 32), Retention{}); err != nil || r.IsIntact() {
		t.Fatalf("with a head that is not there: %+v, %v", r, err)
	}
}

// Any one changed byte of a closed log is found, wherever it is.
func TestVerifyFindsAnyChangedByte(t *testing.T) {
	dir := t.TempDir() + "/audit"
	closedLog(t, dir)
	all := files(t, dir)
	var names []string
	for name := range all {
		names = append(names, name)
	}
	rapid.Check(t, func(rt *rapid.T) {
		name := rapid.SampledFrom(names).Draw(rt, "file")
		good := all[name]
		bad := bytes.Clone(good)
		at := rapid.IntRange(0, len(bad)-1).Draw(rt, "at")
		bad[at] ^= byte(rapid.IntRange(1, 255).Draw(rt, "flip"))
		replace(t, filepath.Join(dir, name), bad)
		defer replace(t, filepath.Join(dir, name), good)
		if r := verify(t, dir); r.IsIntact() {
			rt.Fatalf("%s byte %d: %q became %q and nothing was found", name, at, good[at], bad[at])
		}
	})
}

func replace(t testing.TB, path string, content []byte) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o400); err != nil {
		t.Fatal(err)
	}
}

func TestVerifyFindsWhatWasDoneToSegments(t *testing.T) {
	slow.Test(t)
	swap := func(t *testing.T, a, b string) {
		for _, mv := range [][2]string{{a, a + "x"}, {b, a}, {a + "x", b}} {
			if err := os.Rename(mv[0], mv[1]); err != nil {
				t.Fatal(err)
			}
		}
	}
	lines := func(b []byte) [][]byte { return bytes.SplitAfter(b, []byte("\n")) }
	for name, do := range map[string]func(t *testing.T, dir string, segs []string){
		"removed": func(t *testing.T, _ string, segs []string) {
			if err := os.Remove(segs[1]); err != nil {
				t.Fatal(err)
			}
		},
		"inserted": func(t *testing.T, dir string, _ []string) {
			other := t.TempDir() + "/audit"
			closedLog(t, other)
			for name, b := range files(t, other) {
				if name != ledgerName {
					if err := os.WriteFile(filepath.Join(dir, name), b, 0o400); err != nil {
						t.Fatal(err)
					}
				}
			}
		},
		"swapped":        func(t *testing.T, _ string, segs []string) { swap(t, segs[0], segs[1]) },
		"ledger removed": func(t *testing.T, dir string, _ []string) { _ = os.Remove(filepath.Join(dir, ledgerName)) },
		"last record cut": func(t *testing.T, _ string, segs []string) {
			b, _ := os.ReadFile(segs[0])
			ls := lines(b)
			replace(t, segs[0], bytes.Join(ls[:len(ls)-2], nil))
		},
		"middle record cut": func(t *testing.T, _ string, segs []string) {
			b, _ := os.ReadFile(segs[0])
			ls := lines(b)
			replace(t, segs[0], bytes.Join(append(ls[:1:1], ls[2:]...), nil))
		},
		"record doubled": func(t *testing.T, _ string, segs []string) {
			b, _ := os.ReadFile(segs[0])
			ls := lines(b)
			replace(t, segs[0], bytes.Join(append(ls[:2:2], ls[1:]...), nil))
		},
		"emptied": func(t *testing.T, _ string, segs []string) { replace(t, segs[2], nil) },
		"bytes added": func(t *testing.T, _ string, segs []string) {
			b, _ := os.ReadFile(segs[0])
			replace(t, segs[0], append(b, "{}"...))
		},
		"blank line added": func(t *testing.T, _ string, segs []string) {
			b, _ := os.ReadFile(segs[0])
			replace(t, segs[0], append(b, '\n'))
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir() + "/audit"
			closedLog(t, dir)
			segs, err := filepath.Glob(dir + "/2*.ndjson")
			if err != nil {
				t.Fatal(err)
			}
			do(t, dir, segs)
			r := verify(t, dir)
			if r.IsIntact() {
				t.Fatalf("nothing found: %+v", r)
			}
			for _, f := range r.Findings {
				t.Logf("%s:%d: %s", f.File, f.Line, f.What)
			}
		})
	}
}

// What a session without an end leaves is told of in words that are true before and after the
// next one has accounted for it: what was no crash does not become one.
func TestVerifyTellsWhatWasLeft(t *testing.T) {
	said := func(dir string) (all string) {
		for _, n := range verify(t, dir).Notes {
			all += n.What + "\n"
		}
		return all
	}
	t.Run("a call's half line", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "audit")
		call(t, dir, Options{Shared: "agent"})
		path := segmentPaths(t, dir)[0]
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		replace(t, path, whole[:len(whole)-100])
		if err := os.Chmod(path, 0o600); err != nil {
			t.Fatal(err)
		}
		call(t, dir, Options{})
		for range 2 { // a session on the same day leaves it as it is
			if got := said(dir); !strings.Contains(got, "not a whole record; no call is added to them, and the first session after this day accounts for them") || strings.Contains(got, "may still come") {
				t.Errorf("%s", got)
			}
			if err := openLog(t, dir, Options{}).Close(); err != nil {
				t.Fatal(err)
			}
		}
	})
	t.Run("a changed record", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "audit")
		l := openLog(t, dir, Options{})
		if err := l.Record(sample()); err != nil {
			t.Fatal(err)
		}
		path := l.seg.path
		abandon(t, l)
		whole := recorded(t, path)
		whole[len(whole)-200] ^= 1
		if err := os.WriteFile(path, whole, 0o600); err != nil {
			t.Fatal(err)
		}
		if r := verify(t, dir); r.IsIntact() {
			t.Errorf("%+v", r)
		}
		if err := openLog(t, dir, Options{}).Close(); err != nil {
			t.Fatal(err)
		}
		if got := said(dir); !strings.Contains(got, "no record, or one that was changed, before line 3 of the ledger closed it") || strings.Contains(got, "died") {
			t.Errorf("%s", got)
		}
	})
	t.Run("a segment that was put there", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "audit")
		call(t, dir, Options{})
		other := openLog(t, filepath.Join(t.TempDir(), "audit"), Options{})
		if err := other.Record(sample()); err != nil {
			t.Fatal(err)
		}
		path := other.seg.path
		abandon(t, other)
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(path)), recorded(t, path), 0o600); err != nil {
			t.Fatal(err)
		}
		if r := verify(t, dir); r.IsIntact() {
			t.Errorf("%+v", r)
		}
		if err := openLog(t, dir, Options{}).Close(); err != nil {
			t.Fatal(err)
		}
		if got := said(dir); !strings.Contains(got, "the ledger did not name it before line") {
			t.Errorf("%s", got)
		}
	})
}
