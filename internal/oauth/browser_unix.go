//go:build unix

package oauth

import (
	"os/exec"
	"syscall"
)

// apart starts the program in a process group of its own.
func apart(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
