//go:build unix

package atomicfile

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
)

// TestFailingWriteLeavesTheOldBytes runs a child whose files may not grow, so
// that the kernel cuts the write short as a full disk would.
func TestFailingWriteLeavesTheOldBytes(t *testing.T) {
	if path := os.Getenv("ATOMICFILE_CHILD"); path != "" {
		signal.Ignore(syscall.SIGXFSZ)
		limit := syscall.Rlimit{Cur: 10, Max: 10}
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
			os.Exit(3)
		}
		if err := Write(path, make([]byte, 1000), Options{}); errors.Is(err, syscall.EFBIG) {
			os.Exit(0)
		}
		os.Exit(4)
	}
	path := filepath.Join(t.TempDir(), "f")
	write(t, path, "old", 0o600)
	cmd := exec.Command(os.Args[0], "-test.run=^TestFailingWriteLeavesTheOldBytes$")
	cmd.Env = append(os.Environ(), "ATOMICFILE_CHILD="+path)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("child: %v\n%s", err, out)
	}
	holds(t, path, "old")
}

func TestOwnerIsKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	write(t, path, "old", 0o600)
	uid, gid := os.Getuid(), os.Getgid()
	if uid == 0 {
		uid, gid = 4711, 4712
	}
	if err := os.Chown(path, uid, gid); err != nil {
		t.Fatal(err)
	}
	if err := Write(path, []byte("new"), Options{}); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if st := info.Sys().(*syscall.Stat_t); int(st.Uid) != uid || int(st.Gid) != gid {
		t.Errorf("owner %d:%d, want %d:%d", st.Uid, st.Gid, uid, gid)
	}
}

func TestAPipeIsNotReplaced(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Write(path, []byte("x"), Options{}); err == nil || mode(t, path).Type() != os.ModeNamedPipe {
		t.Errorf("%v, and it is now %v", err, mode(t, path))
	}
}
