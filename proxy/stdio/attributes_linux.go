package stdio

import (
	"os/exec"
	"syscall"
)

// setProcessAttributes puts the child into its own process group, and makes the kernel kill it
// when this process dies.
func setProcessAttributes(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
