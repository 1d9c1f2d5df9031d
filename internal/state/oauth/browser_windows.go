package oauth

import (
	"os/exec"
	"syscall"
)

// detachProcess starts the program in a process group of its own.
func detachProcess(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}
