//go:build unix

package enrolment

import (
	"os/exec"
	"syscall"
)

// detachProcess makes cmd start in its own session, so that neither Ctrl-C nor the end of a
// terminal ends it.
func detachProcess(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
