//go:build linux

package wrap

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/clawai/clawai/internal/testing/exectest"
	"github.com/clawai/clawai/internal/testing/slow"
	"github.com/clawai/clawai/wrap/client"
)

// What must hold when a process dies, lacks a right or finds the disk full is
// tried on a process: this test binary again, told by its environment to edit
// everything below a home.
const (
	envHome  = "WRAP_TEST_HOME"
	envKill  = "WRAP_TEST_KILL"  // a point of Apply to die at
	envLimit = "WRAP_TEST_LIMIT" // the longest file it may write, in bytes
)

func TestMain(m *testing.M) {
	if home := os.Getenv(envHome); home != "" {
		os.Exit(edit(home))
	}
	os.Exit(m.Run())
}

func edit(home string) int {
	rows, err := client.LoadCatalogue()
	if err != nil {
		panic(err)
	}
	e, err := SystemEnv()
	if err != nil {
		panic(err)
	}
	e.Dir = ""
	j := Planner{Program: Program{Path: "/opt/clawai"}}
	targets := slices.DeleteFunc(SelectTargets(FindConfigFiles(e, rows), Selection{}), func(t Target) bool { return !j.ChangesTarget(Wrap, t) })
	changes, errs := j.PlanChanges(Wrap, targets)
	var limit uint64
	if _, err := fmt.Sscan(os.Getenv(envLimit), &limit); err == nil {
		if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: limit, Max: limit}); err != nil {
			panic(err)
		}
	}
	errs = append(errs, ApplyChanges(context.Background(), changes, Options{
		State: filepath.Join(home, ".local/state/clawai"), Version: "test", Home: home, RecheckAfter: 1,
		at: func(point string) {
			if point == os.Getenv(envKill) {
				_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			}
		},
	})...)
	if err := errors.Join(errs...); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// child is the editing process, not yet started.
func (m *machine) child(env ...string) (*exec.Cmd, *bytes.Buffer) {
	m.t.Helper()
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append([]string{envHome + "=" + m.home, "HOME=" + m.home, "PATH=/usr/bin:/bin"}, env...)
	stderr := &bytes.Buffer{}
	cmd.Stderr = stderr
	cmd.Dir = "/"
	return cmd, stderr
}

func big(size int) string {
	return `{"mcpServers":{"web":{"command":"npx","args":[]}},"filler":"` + strings.Repeat("x", size) + `"}`
}

// whole demands the bytes before or after an edit, and nothing between.
func (m *machine) whole(rel, before string) (edited bool) {
	m.t.Helper()
	switch m.read(rel) {
	case before:
		return false
	case strings.Replace(before, `"npx","args":[]`, `"/opt/clawai","args":["proxy", "--server", "web", "--", "npx"]`, 1):
		return true
	}
	m.t.Fatalf("%s is neither as it was nor as it was to be", rel)
	return false
}

func TestKilledAtEachStep(t *testing.T) {
	slow.Test(t)
	for point, want := range map[string]bool{"locked": false, "journaled": false, "written": true} {
		m := newMachine(t)
		m.write(".cursor/mcp.json", cursorFile)
		cmd, _ := m.child(envKill + "=" + point)
		if err := cmd.Run(); err == nil || cmd.ProcessState.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
			t.Fatalf("%s: %v", point, err)
		}
		if m.whole(".cursor/mcp.json", cursorFile) != want {
			t.Errorf("%s: edited: %v", point, !want)
		}
		m.nothingLeft()
		if cmd, stderr := m.child(); cmd.Run() != nil || !m.whole(".cursor/mcp.json", cursorFile) {
			t.Errorf("%s: the next run: %s", point, stderr)
		}
	}
}

func TestKilledInTheMiddleOfAWrite(t *testing.T) {
	slow.Test(t)
	before := big(6 << 20)
	for round := range 3 {
		m := newMachine(t)
		m.write(".cursor/mcp.json", before)
		cmd, _ := m.child()
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error)
		go func() { ended <- cmd.Wait(); close(ended) }()
		for begun := false; !begun; { // the temporary file shows that the write has begun
			select {
			case <-ended: // sooner than we could look
				begun = true
			default:
				begun = len(m.leftovers()) > 0
			}
		}
		time.Sleep(time.Duration(round) * 4 * time.Millisecond) // later and later in the write
		_ = cmd.Process.Kill()
		<-ended
		edited := m.whole(".cursor/mcp.json", before)
		t.Logf("round %d: edited %v, left %d", round, edited, len(m.leftovers()))
		for _, path := range m.leftovers() { // as private as the file, and gone after the next run
			if info, err := os.Stat(path); err != nil || info.Mode().Perm()&^0o644 != 0 {
				t.Errorf("%s: %v %v", path, info.Mode(), err)
			}
			old := time.Now().Add(-time.Hour)
			if err := os.Chtimes(path, old, old); err != nil {
				t.Fatal(err)
			}
		}
		m.write(".cursor/mcp.json", before)
		if cmd, stderr := m.child(); cmd.Run() != nil || !m.whole(".cursor/mcp.json", before) {
			t.Errorf("the next run: %s", stderr)
		}
		m.nothingLeft()
	}
}

func TestNoRoomForTheNewFile(t *testing.T) {
	m := newMachine(t)
	before := big(1 << 20)
	m.write(".cursor/mcp.json", before)
	cmd, stderr := m.child(envLimit + "=100000")
	if err := cmd.Run(); err == nil || m.whole(".cursor/mcp.json", before) {
		t.Errorf("%v, %s", err, stderr)
	}
	m.refused(".cursor/mcp.json", "nothing was changed: ", errors.New(strings.TrimSpace(stderr.String())))
}

func TestDiskFull(t *testing.T) {
	m := newMachine(t)
	dir := m.path(".cursor")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=1536k"); err != nil {
		t.Skipf("a small disk cannot be made here (%v); TestNoRoomForTheNewFile stands in", err)
	}
	defer func() {
		if err := unix.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	}()
	before := big(1 << 20)
	m.write(".cursor/mcp.json", before)
	cmd, stderr := m.child()
	if err := cmd.Run(); err == nil || m.whole(".cursor/mcp.json", before) {
		t.Errorf("%v, %s", err, stderr)
	}
	m.refused(".cursor/mcp.json", "no space left on device; make room on the disk", errors.New(strings.TrimSpace(stderr.String())))
}

// TestAnothersFiles runs as somebody who may not write: as another user when we
// are root, whom no mode stops.
func TestAnothersFiles(t *testing.T) {
	slow.Test(t)
	for _, c := range []struct {
		name       string
		dir, file  os.FileMode
		ours       bool // the file belongs to the process
		want       string
		unreadable bool
	}{
		{name: "file of another", dir: 0o777, file: 0o644, want: "read-only for you (-rw-r--r--)"},
		{name: "own file in a folder of another", dir: 0o755, file: 0o644, ours: true, want: "its folder must be writable for you"},
		{name: "writable file of another", dir: 0o777, file: 0o666, want: "keep its owner: "},
		{name: "unreadable", dir: 0o755, file: 0o600, unreadable: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if os.Getuid() != 0 {
				t.Skip("only root can start a process as another user")
			}
			m := newMachine(t)
			const rel = ".cursor/mcp.json"
			path := m.write(rel, cursorFile)
			const other = 65534
			err := errors.Join(os.Chmod(filepath.Dir(m.home), 0o755), chownAll(m.path(".local"), other),
				os.Chmod(filepath.Dir(path), c.dir), os.Chmod(path, c.file))
			if c.ours {
				err = errors.Join(err, os.Chown(path, other, other))
			}
			if err != nil {
				t.Fatal(err)
			}
			cmd, stderr := m.child()
			cmd.Path = reachable(t)
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: other, Gid: other}}
			err = cmd.Run()
			if m.whole(rel, cursorFile) {
				t.Error("written")
			}
			if c.unreadable { // no plan, so nothing to refuse; the survey says why
				if err != nil {
					t.Errorf("%v: %s", err, stderr)
				}
				return
			}
			if err == nil {
				t.Fatal("not refused")
			}
			m.refused(rel, c.want, errors.New(strings.TrimSpace(stderr.String())))
		})
	}
}

func chownAll(dir string, uid int) error {
	return filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		return errors.Join(err, os.Chown(path, uid, uid))
	})
}

// reachable is a copy of this binary that every user can start: go test builds
// it in a folder of its own.
func reachable(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "edit")
	exectest.Self(t, path)
	return path
}

// Two that edit one file at the same time: each is done or says that it was
// not, and nothing else is lost.
func TestTwoAtATime(t *testing.T) {
	slow.Test(t)
	m := newMachine(t)
	m.write(".claude.json", claudeFile)
	var cmds []*exec.Cmd
	for range 4 {
		cmd, _ := m.child()
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		cmds = append(cmds, cmd)
	}
	done := 0
	for _, cmd := range cmds {
		if cmd.Wait() == nil {
			done++
		}
	}
	if done == 0 {
		t.Error("none was done")
	}
	if states := m.states(); states["files"] == Bare || states["git"] == Bare {
		t.Errorf("lost: %v", states)
	}
	for _, op := range []Selection{{Scope: client.User}, {Scope: client.Local}} {
		if err := m.do(Unwrap, op); err != nil {
			t.Fatal(err)
		}
	}
	if m.read(".claude.json") != claudeFile {
		t.Errorf("came back as\n%s", m.read(".claude.json"))
	}
}
