//go:build unix

package cmdline

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Nobody writes to the other end, and nothing waits for that.
func TestAFIFOIsNotWaitedFor(t *testing.T) {
	name := filepath.Join(t.TempDir(), "fifo")
	if err := unix.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 2)
	go func() {
		_, err := ReadFile(name)
		done <- err
		f, err := openFile(name) // swapped in after the look
		if err == nil {
			seen, _ := os.Lstat(name)
			err = errors.Join(checkSameFile(f, seen), f.Close())
		}
		done <- err
	}()
	for range 2 {
		select {
		case err := <-done:
			if !errors.Is(err, errNotRegular) {
				t.Error(err)
			}
		case <-time.After(time.Minute):
			t.Fatal("waits")
		}
	}
}

// A file that a person names may be a link; nothing that waits or never ends is read.
func TestFilesThatAPersonNames(t *testing.T) {
	dir := t.TempDir()
	file, link, fifo, dangling := filepath.Join(dir, "file"), filepath.Join(dir, "link"), filepath.Join(dir, "fifo"), filepath.Join(dir, "dangling")
	if err := errors.Join(os.WriteFile(file, []byte("text"), 0o600), os.Symlink("file", link), unix.Mkfifo(fifo, 0o600), os.Symlink("none", dangling)); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	for _, name := range []string{file, link, "file", "link"} {
		if b, err := ReadNamed(name, 4); err != nil || string(b) != "text" {
			t.Errorf("%s: %q, %v", name, b, err)
		}
	}
	if _, err := ReadNamed("link", 3); !errors.Is(err, errTooLarge) {
		t.Error(err)
	}
	for _, name := range []string{fifo, dangling, dir, "/dev/zero", "/proc/self/environ"} {
		if _, err := ReadNamed(name, 4); err == nil {
			t.Errorf("%s is read", name)
		}
	}
}
