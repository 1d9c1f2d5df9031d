//go:build unix && !linux

package stdio

import (
	"os/exec"
	"syscall"
)

// setProcessAttributes puts the child in a group of its own. The kernel offers nothing
// for our own death: the watchdog and the end of its stdin are what remains.
func setProcessAttributes(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}
