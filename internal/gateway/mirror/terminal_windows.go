package mirror

import (
	"os/exec"
	"syscall"
)

const detachedProcess = 0x00000008 // of CreateProcess: without the console

// leaveTerminal keeps a program and those that it starts from asking at the console.
func leaveTerminal(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: detachedProcess}
}
