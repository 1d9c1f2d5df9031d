//go:build unix

package config

import (
	"os"
	"syscall"
)

// With openFlags, an open does not follow a link that has replaced the file, and does not wait at a
// FIFO.
const openFlags = os.O_RDONLY | syscall.O_NOFOLLOW | syscall.O_NONBLOCK | syscall.O_CLOEXEC

// lookFlags are the flags for a file of any owner, which may also be a link.
const lookFlags = openFlags &^ syscall.O_NOFOLLOW
