//go:build unix

package mirror

import (
	"os/exec"
	"syscall"
)

// leaveTerminal keeps a program and those that it starts from asking at the terminal, and ends all of them when
// its context ends: an ssh that waits for a server goes on without its git.
func leaveTerminal(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
