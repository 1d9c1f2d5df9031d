//go:build unix

package audit

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"

	"github.com/clawai/clawai/internal/event"

	"github.com/clawai/clawai/internal/testing/slow"
)

// limitFiles makes every write end at byte size of its file, as a full disk
// does, until the returned function is called.
func limitFiles(t testing.TB, size int64) (lift func()) {
	t.Helper()
	var old unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_FSIZE, &old); err != nil {
		t.Fatal(err)
	}
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: uint64(size), Max: old.Max}); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &old); err != nil {
			t.Fatal(err)
		}
	}
}

// A write may end at any byte, and so may the next attempts: no record is
// acknowledged that is not there, half a line is never taken for one, and when
// there is room again the record goes on and verifies.
func TestWritesThatEndAnywhere(t *testing.T) {
	slow.Test(t)
	base := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp(base, "x")
		if err != nil {
			rt.Fatal(err)
		}
		l, err := Open(filepath.Join(dir, "audit"), Options{Retention: keepAll, KeyFile: filepath.Join(base, "key")})
		if err != nil {
			rt.Fatal(err)
		}
		l.cleanups.Wait()
		l.nextCheck = time.Now().Add(time.Hour) // or go test notes the look in a file of its own, under our limit
		acknowledged := map[string]bool{}
		record := func() error {
			batch := []*event.Event{usual(1), usual(2), {Kind: event.End}}
			err := l.Record(batch...)
			for _, ev := range batch {
				if (ev.Record == "") != (err != nil) {
					rt.Fatalf("id %q with error %v", ev.Record, err)
				}
				if err == nil {
					acknowledged[ev.Record] = true
				}
			}
			return err
		}
		if err := record(); err != nil {
			rt.Fatal(err)
		}
		attempts := rapid.IntRange(1, 4).Draw(rt, "attempts")
		for range attempts {
			room := rapid.OneOf(rapid.Int64Range(0, 4), rapid.Int64Range(0, 2500)).Draw(rt, "room")
			fi, err := os.Stat(l.seg.path)
			if err != nil {
				rt.Fatal(err)
			}
			lift := limitFiles(t, fi.Size()+room)
			err = record()
			lift()
			if err != nil && !errors.Is(err, unix.EFBIG) {
				rt.Fatal(err)
			}
		}
		if rapid.Bool().Draw(rt, "again") {
			if err := record(); err != nil {
				rt.Fatal(err)
			}
		}
		if err := l.Close(); err != nil {
			rt.Fatal(err)
		}
		r := verify(t, filepath.Join(dir, "audit"))
		if !r.IsIntact() {
			b, _ := os.ReadFile(l.dir + "/" + r.Findings[0].File)
			rt.Fatalf("%+v\n%s", r, b)
		}
		read := map[string]bool{}
		for e, err := range Read(l.dir, Filter{}) {
			if err != nil {
				rt.Fatal(err)
			}
			if read[e.Record] {
				rt.Fatalf("%s is there twice", e.Record)
			}
			read[e.Record] = true
		}
		for id := range acknowledged {
			if !read[id] {
				rt.Fatalf("%s was acknowledged and is not there", id)
			}
		}
	})
}

// The line that tells a failed write says what was lost.
func TestRecoverySaysWhatWasRefused(t *testing.T) {
	l := openLog(t, t.TempDir()+"/audit", Options{})
	l.cleanups.Wait()
	l.nextCheck = time.Now().Add(time.Hour)
	lift := limitFiles(t, l.seg.size+10)
	batch := make([]*event.Event, 1000) // more than is reserved at once
	for i := range batch {
		batch[i] = usual(i)
	}
	err := l.Record(batch...)
	lift()
	if err == nil {
		t.Fatal("recorded beyond the limit")
	}
	if err := l.Record(usual(3)); err != nil {
		t.Fatal(err)
	}
	for e, err := range Read(l.dir, Filter{Kinds: []event.Kind{event.Recovery}}) {
		left := 10
		if l.seg.mem != nil {
			left = 0 // nothing is stored for which there is no room
		}
		if err != nil || e.Bytes != left || !strings.Contains(e.Detail, "file too large") || !strings.Contains(string(e.Raw), `"refused":1000`) {
			t.Fatalf("%v: %s", err, e.Raw)
		}
		return
	}
	t.Fatal("no recovery line")
}

func TestOpenRefusesWhatOthersCanChange(t *testing.T) {
	for name, prepare := range map[string]func(t *testing.T, dir string) error{
		"directory that others can write": func(_ *testing.T, dir string) error { return os.Chmod(dir, 0o777) },
		"directory for everybody's files": func(_ *testing.T, dir string) error { return os.Chmod(dir, os.ModeSticky|0o777) },
		"parent that others can write":    func(_ *testing.T, dir string) error { return os.Chmod(filepath.Dir(dir), 0o777) },
		"directory that is a link": func(_ *testing.T, dir string) error {
			return errors.Join(os.Rename(dir, dir+"2"), os.Symlink(dir+"2", dir))
		},
		"directory that is a file": func(_ *testing.T, dir string) error {
			return errors.Join(os.Remove(dir), os.WriteFile(dir, nil, 0o600))
		},
		"ledger that others can write": func(_ *testing.T, dir string) error {
			path := filepath.Join(dir, ledgerName)
			return errors.Join(os.WriteFile(path, nil, 0o600), os.Chmod(path, 0o620))
		},
		"ledger that is a FIFO": func(_ *testing.T, dir string) error {
			return unix.Mkfifo(filepath.Join(dir, ledgerName), 0o600)
		},
		"ledger that is a link": func(_ *testing.T, dir string) error {
			return os.Symlink(filepath.Join(dir, "x"), filepath.Join(dir, ledgerName))
		},
		"ledger that is a directory": func(_ *testing.T, dir string) error { return os.Mkdir(filepath.Join(dir, ledgerName), 0o700) },
		"key that others can read": func(_ *testing.T, dir string) error {
			return os.WriteFile(filepath.Join(filepath.Dir(dir), "record.key"), make([]byte, keyLen), 0o644)
		},
		"key that is short": func(_ *testing.T, dir string) error {
			return os.WriteFile(filepath.Join(filepath.Dir(dir), "record.key"), nil, 0o600)
		},
		"key that is a link": func(_ *testing.T, dir string) error {
			return os.Symlink("/dev/zero", filepath.Join(filepath.Dir(dir), "record.key"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "state", "audit")
			if err := os.MkdirAll(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := prepare(t, dir); err != nil {
				t.Fatal(err)
			}
			l, err := Open(dir, Options{})
			if err == nil {
				l.Close()
				t.Fatal("opened")
			}
			t.Log(err)
			if segs, _ := filepath.Glob(dir + "/2*"); len(segs) > 0 {
				t.Errorf("left %v", segs)
			}
		})
	}
}

func TestFilesArePrivate(t *testing.T) {
	old := unix.Umask(0)
	defer unix.Umask(old)
	dir := filepath.Join(t.TempDir(), "state", "audit")
	if err := os.Chmod(filepath.Dir(filepath.Dir(dir)), 0o755); err != nil {
		t.Fatal(err)
	}
	l := openLog(t, dir, Options{})
	for path, want := range map[string]os.FileMode{
		dir: 0o700, l.seg.path: 0o600, filepath.Join(dir, ledgerName): 0o600, l.o.KeyFile: 0o600,
	} {
		fi, err := os.Stat(path)
		if err != nil || fi.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", path, fi.Mode(), err)
		}
	}
}
