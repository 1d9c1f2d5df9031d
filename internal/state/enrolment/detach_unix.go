//go:build unix

package enrolment

import (
	"os/exec"
	"syscall"
)

// detachProcess makes cmd start in a new session of the system (setsid), so that Ctrl-C and the end
// of a terminal do not end cmd.
func detachProcess(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
