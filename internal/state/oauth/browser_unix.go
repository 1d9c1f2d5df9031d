//go:build unix

package oauth

import (
	"os/exec"
	"syscall"
)

// detach starts the program in a process group of its own.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
