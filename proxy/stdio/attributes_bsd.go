//go:build unix && !linux

package stdio

import (
	"os/exec"
	"syscall"
)

// setProcessAttributes puts the child into a process group, or into its own if the id is 0. If this
// process dies, this kernel cannot kill the child. Only the watchdog and the end of stdin stop the child then.
func setProcessAttributes(cmd *exec.Cmd, group int) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pgid: group}
}
