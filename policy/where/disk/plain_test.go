package disk_test

import (
	"os"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"

	"github.com/clawai/clawai/policy/where"
	"github.com/clawai/clawai/policy/where/disk"
)

func onPlain(t testing.TB, dir, path string) where.Match {
	t.Helper()
	c, err := disk.NewUnder([]string{dir}, "/home/u", disk.PlainDisk())
	if err != nil {
		t.Fatal(err)
	}
	return c.JudgeValue(where.Value{Kind: where.String, Text: path}, true)
}

func TestPlain(t *testing.T) {
	for _, c := range []struct {
		dir, path string
		want      where.Match
	}{
		{"~/p", "~/p", where.Yes},
		{"~/p", "~/p/", where.Yes},
		{"~/p", "~/p/.env", where.Yes},
		{"~/p", "/home/u/p/a/b", where.Yes},
		{"~/p", "/home/u/./p//a", where.Yes},
		{"~/p", "/home/u/q/../p/a", where.Yes},
		{"/", "/etc/passwd", where.Yes},
		{"~/p", "~/pp", where.No},
		{"~/p", "~", where.No},
		{"~/p", "~/p/../q", where.No},
		{"~/p", "/p/home/u/p", where.No},
		{"~/p", "~/P/a", where.Maybe}, // one name or two: a file system would say
		{"~/p", "p/a", where.Maybe},
		{"/", "etc/passwd", where.Maybe},
		{"~/p", "~other/p/a", where.Maybe},
		{"~/p", "file:///home/u/p/a", where.Maybe},
		{"/proc", "/proc/self/root", where.Maybe},
	} {
		if got := onPlain(t, c.dir, c.path); got != c.want {
			t.Errorf("%s under %s: %v, want %v", c.path, c.dir, got, c.want)
		}
	}
}

// TestPlainSeesNoLinks: what is on this machine has no say.
func TestPlainSeesNoLinks(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/etc", filepath.Join(dir, "out")); err != nil {
		t.Skip(err)
	}
	if dir = filepath.ToSlash(dir); dir[0] != '/' {
		t.Skip("no path of POSIX")
	}
	if got := onPlain(t, dir, dir+"/out/passwd"); got != where.Yes {
		t.Errorf("got %v", got)
	}
}

// TestPlainIsTextual: a path lies in a folder exactly when its cleaned text does.
func TestPlainIsTextual(t *testing.T) {
	names := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "ab", ".", "..", ""}), 1, 6)
	rapid.Check(t, func(rt *rapid.T) {
		at := func(names []string) string {
			path := ""
			for _, n := range names {
				path += "/" + n
			}
			return path
		}
		dir, path := at(names.Draw(rt, "dir")), at(names.Draw(rt, "path"))
		want := where.MatchOf(inside(filepath.ToSlash(filepath.Clean(dir)), filepath.ToSlash(filepath.Clean(path))))
		if got := onPlain(t, dir, path); got != want {
			rt.Errorf("%s under %s: %v, want %v", path, dir, got, want)
		}
	})
}
