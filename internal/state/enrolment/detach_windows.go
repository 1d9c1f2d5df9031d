package enrolment

import (
	"os/exec"
	"syscall"
)

// detached means that the process has no console (DETACHED_PROCESS).
const detached = 0x00000008

// detachProcess makes cmd start without a console and in its own process group, so that Ctrl-C does
// not end it.
func detachProcess(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP | detached, HideWindow: true}
}
