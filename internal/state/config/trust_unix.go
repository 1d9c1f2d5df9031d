//go:build unix

package config

import (
	"os"
	"syscall"
)

// openFlags: a link put in the file's place is not followed, and a FIFO does
// not block.
const openFlags = os.O_RDONLY | syscall.O_NOFOLLOW | syscall.O_NONBLOCK | syscall.O_CLOEXEC

// lookFlags are those for a file that may be anybody's, and a link.
const lookFlags = openFlags &^ syscall.O_NOFOLLOW
