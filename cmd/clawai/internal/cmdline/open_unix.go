//go:build unix

package cmdline

import (
	"os"

	"golang.org/x/sys/unix"
)

func openFile(name string) (*os.File, error) {
	return os.OpenFile(name, os.O_RDONLY|unix.O_NONBLOCK|unix.O_NOFOLLOW|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
}
