//go:build unix

package enrolment

import (
	"os/exec"
	"syscall"
)

// detachProcess makes cmd start in its own session, so that Ctrl-C or the end of a terminal does
// not end it.
func detachProcess(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
