package main

import (
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/clawai/clawai/internal/testing/exectest"
	"github.com/clawai/clawai/internal/testing/slow"
)

// TestBorrowedPowersAreRefused: a clawai that is somebody else while it runs starts
// nothing and reads nothing, whatever it is asked.
func TestBorrowedPowersAreRefused(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("only root can lend powers; CI is root")
	}
	const nobody, other = 65534, 54321
	h := newWrapHome(t)
	dir := lendingFolder(t)
	marker := filepath.Join(dir, "started")
	for _, c := range []struct {
		name string
		lend func(path string) error
		want string
	}{
		{"nothing", func(string) error { return nil }, ""},
		{"setuid", func(path string) error {
			return firstError(os.Chown(path, other, 0), os.Chmod(path, 0o755|os.ModeSetuid))
		}, "another user than the one who started it (setuid)"},
		{"setgid", func(path string) error {
			return firstError(os.Chown(path, 0, other), os.Chmod(path, 0o755|os.ModeSetgid))
		}, "another group than that of the user who started it (setgid)"},
		{"file capabilities", func(path string) error { // CAP_DAC_READ_SEARCH, effective (capabilities(7))
			var v2 [20]byte
			binary.LittleEndian.PutUint32(v2[:], 0x02000001)
			binary.LittleEndian.PutUint32(v2[4:], 1<<unix.CAP_DAC_READ_SEARCH)
			return unix.Setxattr(path, "security.capability", v2[:], 0)
		}, "file capabilities"},
	} {
		t.Run(c.name, func(t *testing.T) {
			src, err := os.ReadFile(h.bin)
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(dir, strings.ReplaceAll(c.name, " ", ""), "clawai")
			exectest.Write(t, path, src)
			if err := c.lend(path); err != nil {
				t.Fatalf("the powers cannot be lent, so that nothing is tested: %v", err)
			}
			state := filepath.Join(dir, "state")
			policy := filepath.Join(dir, "policy.toml")
			if err := os.WriteFile(policy, []byte("[[rule]]\naction = \"allow\"\ntool = \"*\"\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			run := func(args ...string) (string, int) {
				cmd := exec.Command(path, args...)
				cmd.Dir, cmd.Env = "/", []string{"HOME=" + filepath.Join(dir, "home"), "PATH=/usr/bin:/bin", "CLAWAI_STATE_DIR=" + state}
				cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody, NoSetGroups: false}}
				out, _ := cmd.CombinedOutput()
				return string(out), cmd.ProcessState.ExitCode()
			}
			out, code := run("--version")
			if code != 0 {
				t.Errorf("--version exits %d: %s", code, out)
			}
			for _, args := range [][]string{
				{"proxy", "--policy", policy, "--server", "x", "--", "sh", "-c", "echo >" + marker},
				{"proxy", "--help"}, {"approve"}, {"log"}, {"status"}, {"doctor"}, {"policy", "check", policy},
				{"--version", "proxy", "--", "sh", "-c", "echo >" + marker},
			} {
				out, code := run(args...)
				if refused := code == 125 && strings.Contains(out, c.want); c.want != "" && !refused {
					t.Errorf("%q exits %d: %s", args, code, out)
				} else if c.want == "" && strings.Contains(out, "powers") {
					t.Errorf("%q is refused: %s", args, out)
				}
			}
			if _, err := os.Stat(marker); err == nil {
				t.Error("a server was started")
			}
			if _, err := os.Stat(state); err == nil {
				t.Error("a state folder was made")
			}
		})
	}
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// lendingFolder is one where the marks of files count, and everybody may look.
func lendingFolder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "clawai-lend")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	var fs unix.Statfs_t
	if err := unix.Statfs(dir, &fs); err != nil {
		t.Fatal(err)
	}
	if fs.Flags&unix.ST_NOSUID != 0 {
		if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "mode=755"); err != nil {
			t.Fatalf("the folder is mounted nosuid, and another cannot be: %v", err)
		}
		t.Cleanup(func() { _ = unix.Unmount(dir, unix.MNT_DETACH) })
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}
