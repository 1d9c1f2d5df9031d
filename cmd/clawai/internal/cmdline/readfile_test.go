package cmdline

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/ask/view"
)

func TestReadFile(t *testing.T) {
	dir := t.TempDir()
	file := func(name string, size int) string {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, []byte(strings.Repeat("x", size)), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	for name, size := range map[string]int{"empty": 0, "small": 5, "full": view.MaxFile} {
		if b, err := ReadFile(file(name, size)); err != nil || len(b) != size {
			t.Errorf("%s: %d bytes, %v", name, len(b), err)
		}
	}
	if _, err := ReadFile(file("large", view.MaxFile+1)); !errors.Is(err, view.ErrTooLarge) {
		t.Errorf("large: %v", err)
	}
	if _, err := ReadFile(filepath.Join(dir, "missing")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing: %v", err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(filepath.Join(dir, "small"), link); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{dir, link, "small", "", "//host/share/x", `\\host\share\x`, os.DevNull} {
		if b, err := ReadFile(name); !errors.Is(err, errNotRegular) && !errors.Is(err, fs.ErrNotExist) || b != nil {
			t.Errorf("%q: %d bytes, %v", name, len(b), err)
		}
	}
	if runtime.GOOS == "linux" {
		for _, name := range []string{"/proc/self/environ", "/proc/version", "/sys/kernel/uevent_seqnum"} {
			if _, err := os.Stat(name); err != nil {
				continue
			}
			if b, err := ReadFile(name); !errors.Is(err, errNotRegular) {
				t.Errorf("%q: %d bytes, %v", name, len(b), err)
			}
		}
	}
}

// What was put in the place of a file that had been looked at is not read.
func TestAFileThatWasSwappedIsNotRead(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a", "b"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	seen, err := os.Lstat(filepath.Join(dir, "a"))
	if err != nil {
		t.Fatal(err)
	}
	f, err := openFile(filepath.Join(dir, "b"))
	if err != nil {
		t.Fatal(err)
	}
	if err := checkSameFile(f, seen); !errors.Is(err, errNotRegular) {
		t.Errorf("swapped: %v", err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if err := checkSameFile(f, seen); err == nil {
		t.Error("a closed file passes")
	}
}
