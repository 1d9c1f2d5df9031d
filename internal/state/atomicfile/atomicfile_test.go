package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/clawai/clawai/internal/testing/slow"
)

func write(t *testing.T, path, text string, mode fs.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

// holds says that path has the text and that nothing else lies in its folder.
func holds(t *testing.T, path, text string) {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil || string(got) != text {
		t.Errorf("%s holds %q (%v), want %q", path, got, err, text)
	}
	list, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(list) != 1 {
		t.Errorf("folder has %v (%v), want one entry", list, err)
	}
}

func mode(t *testing.T, path string) fs.FileMode {
	t.Helper()
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Mode()
}

func TestNewFileGetsTheModeAsked(t *testing.T) {
	slow.Test(t)
	for _, tt := range []struct{ ask, want fs.FileMode }{{0, 0o600}, {0o666, 0o666}} {
		path := filepath.Join(t.TempDir(), "new")
		if err := Write(path, []byte("x"), Options{Mode: tt.ask}); err != nil {
			t.Fatal(err)
		}
		holds(t, path, "x")
		if got := mode(t, path).Perm(); runtime.GOOS != "windows" && got != tt.want {
			t.Errorf("mode %v, want %v", got, tt.want)
		}
	}
}

func TestOldFileKeepsItsMode(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	write(t, path, "old", 0o640)
	if err := Write(path, []byte("new"), Options{Mode: 0o666, Old: []byte("old")}); err != nil {
		t.Fatal(err)
	}
	holds(t, path, "new")
	if got := mode(t, path).Perm(); runtime.GOOS != "windows" && got != 0o640 {
		t.Errorf("mode %v, want 0640", got)
	}
}

func TestSymlinkStaysALink(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	write(t, filepath.Join(other, "real"), "old", 0o600)
	link := filepath.Join(dir, "link")
	if err := os.Symlink(filepath.Join(other, "real"), link); err != nil {
		t.Fatal(err)
	}
	if err := Write(link, []byte("new"), Options{}); err != nil {
		t.Fatal(err)
	}
	if mode(t, link).Type() != fs.ModeSymlink {
		t.Error("the link was replaced by a file")
	}
	holds(t, filepath.Join(other, "real"), "new")
}

func TestChangedFileIsLeftAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	write(t, path, "theirs", 0o600)
	if err := Write(path, []byte("ours"), Options{Old: []byte("read")}); !errors.Is(err, ErrChanged) {
		t.Errorf("got %v, want ErrChanged", err)
	}
	holds(t, path, "theirs")

	gone := filepath.Join(t.TempDir(), "gone")
	if err := Write(gone, []byte("ours"), Options{Old: []byte{}}); !errors.Is(err, ErrChanged) {
		t.Errorf("a deleted file: got %v, want ErrChanged", err)
	}
	if _, err := os.Lstat(gone); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a deleted file came back: %v", err)
	}
}

func TestRefusedTargets(t *testing.T) {
	dir := t.TempDir()
	dangling := filepath.Join(dir, "dangling")
	if err := os.Symlink(filepath.Join(dir, "nothing"), dangling); err != nil {
		t.Fatal(err)
	}
	loop := filepath.Join(dir, "loop")
	if err := os.Symlink(loop, loop); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{dangling, loop, dir, filepath.Join(dir, "no", "folder")} {
		if err := Write(path, []byte("x"), Options{}); err == nil {
			t.Errorf("%s: written", path)
		}
	}
}
