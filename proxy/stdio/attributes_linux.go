package stdio

import (
	"os/exec"
	"syscall"
)

// setProcessAttributes puts the child in a group of its own and lets the kernel kill it
// when we die.
func setProcessAttributes(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
