//go:build attack && linux

package sql

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// A house is where one engine lives: a directory of its own, an unprivileged user,
// and namespaces without a network, in which it is the first process.
type house struct {
	dir  string
	cred *syscall.Credential
}

func newHouse(t testing.TB) *house {
	t.Helper()
	dir, err := os.MkdirTemp("", "attack-sql-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	h := &house{dir: dir}
	if os.Geteuid() == 0 {
		nobody, err := user.Lookup("nobody")
		if err != nil {
			t.Fatal(err)
		}
		uid, _ := strconv.Atoi(nobody.Uid)
		gid, _ := strconv.Atoi(nobody.Gid)
		h.cred = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		if err := os.Chown(dir, uid, gid); err != nil {
			t.Fatal(err)
		}
	}
	return h
}

// command is a program in the house, killed with everything it started when ctx
// ends. A user who is not root needs user namespaces.
func (h *house) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = h.dir
	cmd.Env = []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=" + h.dir, "TMPDIR=" + h.dir, "LC_ALL=C", "TZ=UTC"}
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Credential: h.cred,
		Pdeathsig:  syscall.SIGKILL, // when a test that takes too long ends without cleaning up
		Cloneflags: syscall.CLONE_NEWPID | syscall.CLONE_NEWNS | syscall.CLONE_NEWNET | syscall.CLONE_NEWIPC,
	}
	if h.cred == nil {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}}
	}
	return cmd
}

// setUp runs a program that has to end well.
func (h *house) setUp(t testing.TB, name string, args ...string) {
	t.Helper()
	if out, err := h.command(t.Context(), name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", name, err, out)
	}
}

// serve starts a server and waits until ready says that it answers.
func (h *house) serve(t testing.TB, ready func() error, name string, args ...string) {
	t.Helper()
	cmd := h.command(context.Background(), name, args...)
	log, err := os.Create(filepath.Join(h.dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }()
	t.Cleanup(func() { _ = cmd.Process.Kill(); <-ended })
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for limit := time.After(2 * time.Minute); ; {
		err := ready()
		if err == nil {
			return
		}
		select {
		case <-tick.C:
			continue
		case <-ended:
		case <-limit:
		}
		text, _ := os.ReadFile(log.Name())
		t.Fatalf("%s does not answer: %v\n%s", name, err, text)
	}
}

// program finds a command on the PATH or, for what Debian keeps elsewhere, by
// patterns of files, the newest last. A missing engine fails the test: an attack
// that does not run finds nothing.
func program(t testing.TB, name string, patterns ...string) string {
	t.Helper()
	if path, err := exec.LookPath(name); err == nil {
		return path
	}
	for _, p := range patterns {
		found, _ := filepath.Glob(p)
		slices.SortFunc(found, func(a, b string) int { return len(a) - len(b) })
		if len(found) > 0 {
			return found[len(found)-1]
		}
	}
	t.Fatalf("%s is not installed; `bash .ci/run attack` installs what the attacks need", name)
	return ""
}

// files are the names, sizes and times of what lies in the house, without what the
// engine itself writes while nothing is asked of it.
func (h *house) files(t testing.TB, own func(path string) bool) string {
	t.Helper()
	var all []string
	_ = filepath.WalkDir(h.dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || own(path[len(h.dir):]) {
			if entry != nil && entry.IsDir() {
				return filepath.SkipDir
			}
			return nil
		}
		size := int64(0)
		if info, err := entry.Info(); err == nil && !entry.IsDir() {
			size = info.Size()
		}
		all = append(all, fmt.Sprintf("%s %d", path[len(h.dir):], size))
		return nil
	})
	return fmt.Sprint(all)
}
