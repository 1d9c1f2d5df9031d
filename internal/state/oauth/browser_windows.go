package oauth

import (
	"os/exec"
	"syscall"
)

// detachProcess makes cmd start in a new process group, so that Ctrl-C does not end it.
func detachProcess(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}
