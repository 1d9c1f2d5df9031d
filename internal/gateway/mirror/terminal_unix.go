//go:build unix

package mirror

import (
	"os/exec"
	"syscall"
)

// leaveTerminal keeps a program and its children from asking at the terminal. When the program's
// context ends, it kills all of them, because a child such as ssh may outlive git.
func leaveTerminal(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
