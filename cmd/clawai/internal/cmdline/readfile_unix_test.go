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
		f, err := open(name) // swapped in after the look
		if err == nil {
			seen, _ := os.Lstat(name)
			err = errors.Join(same(f, seen), f.Close())
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
