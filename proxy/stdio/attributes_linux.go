package stdio

import (
	"os/exec"
	"syscall"
)

// setProcessAttributes puts the child into a process group, or into its own if the id is 0. It also
// makes the kernel kill the child when this process dies.
func setProcessAttributes(cmd *exec.Cmd, group int) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setpgid, cmd.SysProcAttr.Pgid, cmd.SysProcAttr.Pdeathsig = true, group, syscall.SIGKILL
}
