package disk_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/testing/slow"

	"pgregory.net/rapid"

	"github.com/clawai/clawai/policy/where"
	"github.com/clawai/clawai/policy/where/disk"
)

// inside says whether a path without links lies in dir, or is it.
func inside(dir, path string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}

// evaluated is where a path leads by the standard library: links resolved at the
// deepest ancestor that is there, and the rest by text. false when it cannot say:
// at a loop, below a file, at a
// link to nothing, above what is not there.
func evaluated(path string) (string, bool) {
	rest := []string{}
	for at := path; ; {
		at = strings.TrimRight(at, "/")
		real, err := filepath.EvalSymlinks(at)
		if err == nil {
			if info, err := os.Stat(real); err != nil || len(rest) > 0 && !info.IsDir() {
				return "", false
			}
			for _, name := range rest {
				if name == ".." {
					return "", false
				}
				real = filepath.Join(real, name)
			}
			return real, true
		}
		if _, dangling := os.Lstat(at); dangling == nil || !errors.Is(err, fs.ErrNotExist) {
			return "", false
		}
		i := strings.LastIndexByte(at, '/')
		if i <= 0 {
			return "", false
		}
		rest = append([]string{at[i+1:]}, rest...)
		at = at[:i]
	}
}

// created makes a file through the path, and the directories on its way, and asks
// the kernel where it is.
func created(path string) (string, bool) {
	for i, c := range path {
		if c == '/' && i > 0 {
			os.Mkdir(path[:i], 0o755)
		}
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		f, err = os.Open(path)
	}
	if err != nil {
		return "", false
	}
	defer f.Close()
	at, err := os.Readlink("/proc/self/fd/" + itoa(f.Fd()))
	return at, err == nil
}

func itoa(n uintptr) string {
	if n < 10 {
		return string(rune('0' + n))
	}
	return itoa(n/10) + string(rune('0'+n%10))
}

// TestAgreesWithTheKernel builds trees with links at random and holds every
// verdict against filepath.EvalSymlinks, for the path and for the path cleaned
// first, and every Yes against the kernel, by a file that is created.
func TestAgreesWithTheKernel(t *testing.T) {
	slow.Test(t)
	if runtime.GOOS != "linux" {
		t.Skip("asks /proc where a file is")
	}
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	names := rapid.SampledFrom([]string{"a", "b", "c", "d"})
	steps := rapid.SampledFrom([]string{"a", "b", "c", "d", "a", "b", "..", "..", ".", "", "new"})
	var yes, no, maybe, made int
	rapid.Check(t, func(t *rapid.T) {
		root, err := os.MkdirTemp(base, "t")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(root)
		root += "/r/r/r"
		for range rapid.IntRange(1, 12).Draw(t, "entries") {
			at := filepath.Join(root, strings.Join(rapid.SliceOfN(names, 1, 3).Draw(t, "at"), "/"))
			if os.MkdirAll(filepath.Dir(at), 0o755) != nil {
				continue
			}
			target := strings.Join(rapid.SliceOfN(steps, 1, 4).Draw(t, "target"), "/")
			switch rapid.IntRange(0, 4).Draw(t, "kind") {
			case 0:
				os.WriteFile(at, nil, 0o644)
			case 1:
				os.Mkdir(at, 0o755)
			case 2:
				os.Symlink(root+"/"+target, at)
			default:
				if target != "" {
					os.Symlink(target, at)
				}
			}
		}
		dir := root + "/" + strings.Join(rapid.SliceOfN(names, 1, 2).Draw(t, "dir"), "/")
		realDir, known := evaluated(dir)
		c, err := disk.NewUnder([]string{dir}, "", disk.SystemDisk())
		if err != nil {
			t.Fatal(err)
		}
		for range 20 {
			path := root + "/" + strings.Join(rapid.SliceOfN(steps, 1, 6).Draw(t, "path"), "/")
			got := c.JudgeValue(text(path), true)
			switch got {
			case where.Maybe:
				maybe++
				continue
			case where.Yes:
				yes++
			case where.No:
				no++
			}
			for _, p := range []string{path, filepath.Clean(path)} {
				if at, ok := evaluated(p); ok && known && inside(realDir, at) != (got == where.Yes) {
					t.Fatalf("%s under %s (%s): %d, and it leads to %s", p, dir, realDir, got, at)
				}
			}
		}
		for range 3 {
			path := root + "/" + strings.Join(rapid.SliceOfN(steps, 1, 6).Draw(t, "file"), "/")
			if c.JudgeValue(text(path), true) != where.Yes {
				continue
			}
			if at, ok := created(path); ok {
				made++
				if realDir, _ := filepath.EvalSymlinks(dir); !inside(realDir, at) {
					t.Fatalf("%s was made at %s, outside %s", path, at, realDir)
				}
			}
		}
	})
	t.Logf("%d yes, %d no, %d maybe; %d files made", yes, no, maybe, made)
	if yes == 0 || no == 0 || made == 0 {
		t.Error("the trees show nothing")
	}
}

// FuzzUnder holds that a path of any text that is under a directory leads there by
// the standard library, too, cleaned first or not.
func FuzzUnder(f *testing.F) {
	root := house(f)
	home := root + "/home/u"
	for _, list := range [][]string{evasions, benign} {
		for _, path := range list {
			f.Add(path)
		}
	}
	c := under(f, disk.SystemDisk(), home, "~/projects")
	f.Fuzz(func(t *testing.T, path string) {
		path = strings.ReplaceAll(path, "/R", root)
		if c.JudgeValue(from(home+"/projects/app", path), true) != where.Yes {
			return
		}
		full := path
		if path[0] == '~' {
			full = home + path[1:]
		} else if path[0] != '/' {
			full = home + "/projects/app/" + path
		}
		for _, p := range []string{full, filepath.Clean(full)} {
			if at, ok := evaluated(p); ok && !inside(home+"/projects", at) {
				t.Errorf("%q leads to %s", path, at)
			}
		}
	})
}

func BenchmarkUnder(b *testing.B) {
	root := house(b)
	home := root + "/home/u"
	c := under(b, disk.SystemDisk(), home, "~/projects")
	for name, path := range map[string]string{
		"file": "~/projects/app/main.go", "new": "~/projects/new/deep/file", "link": "~/projects/app/in/deep", "out": "~/projects/out/passwd",
		"climb": "~/projects/app/../app/main.go", "longest": "~/projects/" + strings.Repeat("../projects/", 330),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c.JudgeValue(text(path), true)
			}
			b.ReportMetric(float64(c.JudgeCost(len(path))), "cost")
		})
	}
}
