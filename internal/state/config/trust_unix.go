//go:build unix

package config

import (
	"os"
	"syscall"
)

// openFlags prevents following a link that has replaced the file, and waiting at a FIFO.
const openFlags = os.O_RDONLY | syscall.O_NOFOLLOW | syscall.O_NONBLOCK | syscall.O_CLOEXEC

// lookFlags are the flags for a file of any owner, which may also be a link.
const lookFlags = openFlags &^ syscall.O_NOFOLLOW
