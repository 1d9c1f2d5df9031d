//go:build unix

package choose

import (
	"errors"
	"io"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// keys is the keyboard without being a file: the way bubbletea stops reading a
// file races with the read, and leaves a reader behind that would take the next
// line typed. Nothing is read after stop has returned.
type keys struct {
	in      *os.File
	over    chan struct{}
	reading sync.Mutex
}

// pollInterval is how often a reader looks whether it is over, in milliseconds.
const pollInterval = 20

func newKeys(in *os.File) *keys { return &keys{in: in, over: make(chan struct{})} }

func (k *keys) Read(p []byte) (int, error) {
	k.reading.Lock()
	defer k.reading.Unlock()
	for {
		select {
		case <-k.over:
			return 0, io.EOF
		default:
		}
		ready, err := unix.Poll([]unix.PollFd{{Fd: int32(k.in.Fd()), Events: unix.POLLIN}}, pollInterval)
		if err != nil && !errors.Is(err, unix.EINTR) {
			return 0, err
		}
		if ready > 0 {
			return k.in.Read(p)
		}
	}
}

func (k *keys) stop() {
	close(k.over)
	k.reading.Lock()
	defer k.reading.Unlock()
}
