//go:build unix

package stdio

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

func wouldBlock(err error) bool { return err != nil && errors.Is(err, syscall.EAGAIN) }

// waitReady waits until the descriptor can be read or written.
func waitReady(fd int, write bool) error {
	events := int16(unix.POLLIN)
	if write {
		events = unix.POLLOUT
	}
	fds := []unix.PollFd{{Fd: int32(fd), Events: events}}
	for {
		_, err := unix.Poll(fds, -1)
		if err == nil {
			return nil
		}
		if !errors.Is(err, unix.EINTR) {
			return os.NewSyscallError("poll", err)
		}
	}
}
