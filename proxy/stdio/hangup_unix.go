//go:build unix

package stdio

import (
	"errors"
	"sync"

	"golang.org/x/sys/unix"
)

// StdoutGone returns a channel that is closed when the reader of this process's standard output is
// gone. Without a write, only poll(2) reports this. So one thread sleeps in poll(2) from the first
// call on.
var StdoutGone = sync.OnceValue(func() <-chan struct{} { return pollHangUp(1) })

func pollHangUp(fd int) <-chan struct{} {
	gone := make(chan struct{})
	go func() {
		fds := []unix.PollFd{{Fd: int32(fd)}} // no events are requested, because errors and hang-ups are always reported
		for {
			_, err := unix.Poll(fds, -1)
			if errors.Is(err, unix.EINTR) {
				continue
			}
			if err == nil && fds[0].Revents&(unix.POLLERR|unix.POLLHUP) != 0 {
				close(gone)
			}
			return // if poll fails, the next write shows the hang-up
		}
	}()
	return gone
}
