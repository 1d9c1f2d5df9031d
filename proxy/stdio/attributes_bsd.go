//go:build unix && !linux

package stdio

import (
	"os/exec"
	"syscall"
)

// setProcessAttributes puts the child into its own process group. This kernel cannot kill the
// child when this process dies: only the watchdog and the end of stdin stop it.
func setProcessAttributes(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}
