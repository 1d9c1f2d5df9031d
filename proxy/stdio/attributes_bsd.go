//go:build unix && !linux

package stdio

import (
	"os/exec"
	"syscall"
)

// setProcessAttributes puts the child into its own process group. If this process dies, this kernel
// cannot kill the child. Only the watchdog and the end of stdin stop the child then.
func setProcessAttributes(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}
