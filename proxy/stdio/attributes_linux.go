package stdio

import (
	"os/exec"
	"syscall"
)

// setProcessAttributes puts the child into its own process group. It also makes the kernel kill the
// child when this process dies.
func setProcessAttributes(cmd *exec.Cmd) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setpgid, cmd.SysProcAttr.Pdeathsig = true, syscall.SIGKILL
}
