package remember

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/clawai/clawai/internal/gate"
)

// On a full disk nothing is written and nothing is lost; TestWriteThatEndsAnywhere
// stands for it where no file system may be mounted.
func TestFullDisk(t *testing.T) {
	k, q := ask(t, before, aWrite("/home/user/p/a"))
	dir := t.TempDir()
	err := unix.Mount("tmpfs", dir, "tmpfs", 0, "mode=0700,size=65536")
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES) {
		t.Log("no file system may be mounted here")
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	k.Policy = filepath.Join(dir, "policy.toml")
	rewrite(t, k, before)
	ballast := filepath.Join(dir, "ballast")
	if err := os.WriteFile(ballast, bytes.Repeat([]byte{1}, 65536), 0o600); err == nil {
		t.Fatal("the disk does not fill")
	}
	if note, err := k.Write(t.Context(), q, "exact", gate.AllowAlways); err == nil || !strings.Contains(err.Error(), "no space left") {
		t.Errorf("%q, %v", note, err)
	}
	if got := holds(t, k.Policy); got != before {
		t.Errorf("the file was written: %s", got)
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	if _, err := k.Write(t.Context(), q, "exact", gate.AllowAlways); err != nil {
		t.Error(err)
	}
}
