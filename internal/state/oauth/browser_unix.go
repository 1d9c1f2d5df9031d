//go:build unix

package oauth

import (
	"os/exec"
	"syscall"
)

// detachProcess starts the program in a process group of its own.
func detachProcess(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
