//go:build unix

package stdio

import (
	"errors"
	"sync"

	"golang.org/x/sys/unix"
)

// StdoutGone is closed when whoever read this process's standard output has closed
// it, and nothing can be written there any more. The end of a reader that nothing is
// written to is reported by poll(2) alone, so that one thread sleeps in it; it starts
// at the first call.
var StdoutGone = sync.OnceValue(func() <-chan struct{} { return pollHangUp(1) })

func pollHangUp(fd int) <-chan struct{} {
	gone := make(chan struct{})
	go func() {
		fds := []unix.PollFd{{Fd: int32(fd)}} // errors and the end are reported unasked
		for {
			_, err := unix.Poll(fds, -1)
			if errors.Is(err, unix.EINTR) {
				continue
			}
			if err == nil && fds[0].Revents&(unix.POLLERR|unix.POLLHUP) != 0 {
				close(gone)
			}
			return // what cannot be polled is noticed when something is written
		}
	}()
	return gone
}
