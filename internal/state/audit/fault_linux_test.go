package audit

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/clawai/clawai/internal/event"
)

// smallDisk is a directory on a file system of size bytes, or, where none may
// be mounted, one whose files end there.
func smallDisk(t *testing.T, size int64) (dir string, free func()) {
	t.Helper()
	dir = t.TempDir()
	err := unix.Mount("tmpfs", dir, "tmpfs", 0, "mode=0700,size=131072")
	if err == nil {
		t.Cleanup(func() {
			if err := unix.Unmount(dir, 0); err != nil {
				t.Error(err)
			}
		})
		ballast := filepath.Join(dir, "ballast")
		if err := os.WriteFile(ballast, bytes.Repeat([]byte{1}, int(131072-size)), 0o600); err != nil {
			t.Fatal(err)
		}
		return dir, func() {
			if err := os.Remove(ballast); err != nil {
				t.Fatal(err)
			}
		}
	}
	if !errors.Is(err, unix.EPERM) && !errors.Is(err, unix.EACCES) {
		t.Fatal(err)
	}
	return dir, limitFiles(t, size)
}

// On a full disk every call is refused, until there is room again.
func TestFullDisk(t *testing.T) {
	disk, free := smallDisk(t, 65536)
	dir := filepath.Join(disk, "audit")
	l, err := Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	l.cleanups.Wait()
	recorded, refused := 0, 0
	for refused < 20 {
		if err := l.Record(usual(recorded)); err == nil {
			recorded++
		} else if refused++; !errors.Is(err, unix.ENOSPC) && !errors.Is(err, unix.EFBIG) {
			t.Fatal(err)
		}
		if recorded > 1000 {
			t.Fatal("the disk does not fill")
		}
	}
	if _, err := Open(dir, Options{}); err == nil {
		t.Error("a session begins on a full disk")
	}
	free()
	for range 10 {
		if err := l.Record(usual(0)); err != nil {
			t.Fatal(err)
		}
		recorded++
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if r := verify(t, dir); !r.IsIntact() {
		t.Fatalf("%+v", r)
	}
	read := 0
	for e, err := range Read(dir, Filter{Kinds: []event.Kind{event.Decision}}) {
		if err != nil {
			t.Fatal(err)
		}
		read += len(e.Names)
	}
	if read < recorded {
		t.Fatalf("%d of %d records are read back", read, recorded)
	}
}

// What is being recorded keeps its file system writable, so that no call goes on without its
// record; what was made read-only begins no session, says so, and is read and verified.
func TestReadOnlyRemount(t *testing.T) {
	disk := t.TempDir()
	if err := unix.Mount("tmpfs", disk, "tmpfs", 0, "mode=0700,size=8m"); errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES) {
		t.Skip("nothing may be mounted here")
	} else if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := unix.Unmount(disk, 0); err != nil {
			t.Error(err)
		}
	}()
	dir := filepath.Join(disk, "audit")
	l, err := Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	readOnly := func() error { return unix.Mount("", disk, "", unix.MS_REMOUNT|unix.MS_RDONLY, "") }
	if err := readOnly(); !errors.Is(err, unix.EBUSY) {
		t.Fatalf("read-only under a session: %v", err)
	}
	if err := errors.Join(l.Record(sample()), l.Close(), readOnly()); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir, Options{}); !errors.Is(err, unix.EROFS) || !strings.Contains(err.Error(), dir) {
		t.Errorf("a session on a read-only disk: %v", err)
	}
	if r := verify(t, dir); !r.IsIntact() || r.Records < 2 {
		t.Errorf("%+v", r)
	}
}

// A session of a user who may not write there does not begin, and the error
// says where and why.
func TestReadOnlyDirectory(t *testing.T) {
	base, err := os.MkdirTemp("", "audit")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(base)
	dir := filepath.Join(base, "audit")
	if err := errors.Join(os.Mkdir(dir, 0o555), os.Chmod(base, 0o555), os.Chmod(dir, 0o555)); err != nil {
		t.Fatal(err)
	}
	cmd := command(t, dir, 4)
	if os.Geteuid() == 0 {
		cmd.Env = append(cmd.Env, "AUDIT_TEST_UID=65534")
	}
	var errs bytes.Buffer
	cmd.Stderr = &errs
	err = cmd.Run()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).ExitStatus() != 1 {
		t.Fatalf("%v: %s", err, errs.String())
	}
	if !strings.Contains(errs.String(), "permission denied") || !strings.Contains(errs.String(), dir) {
		t.Fatal(errs.String())
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Fatalf("%v %v", left, err)
	}
}
