//go:build unix

package config

import (
	"os"
	"syscall"
)

// openFlags prevents following a link that replaced the file, and blocking on a FIFO.
const openFlags = os.O_RDONLY | syscall.O_NOFOLLOW | syscall.O_NONBLOCK | syscall.O_CLOEXEC

// lookFlags are the flags for a file that may belong to anybody or be a link.
const lookFlags = openFlags &^ syscall.O_NOFOLLOW
