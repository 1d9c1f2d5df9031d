//go:build unix

package choose

import (
	"errors"
	"io"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// keys is the keyboard. For bubbletea, keys is a terminal, so that bubbletea sets and restores raw
// mode and writes the line ends of raw mode. keys is not an *os.File: bubbletea's way to stop
// reading a file has a race, and the reader that remains would take the next typed line. After stop
// has returned, no goroutine reads.
type keys struct {
	in      *os.File
	over    chan struct{}
	reading sync.Mutex
}

// pollInterval is how often a reader checks whether it must stop, in milliseconds.
const pollInterval = 20

func newKeys(in *os.File) *keys { return &keys{in: in, over: make(chan struct{})} }

// Fd, Write and Close make keys a terminal for bubbletea.
func (k *keys) Fd() uintptr                 { return k.in.Fd() }
func (k *keys) Write(p []byte) (int, error) { return k.in.Write(p) }
func (k *keys) Close() error                { return k.in.Close() }

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
			n, err := k.in.Read(p)
			if errors.Is(err, io.EOF) { // the terminal hung up; after io.EOF bubbletea would wait forever
				err = io.ErrUnexpectedEOF
			}
			return n, err
		}
	}
}

func (k *keys) stop() {
	close(k.over)
	k.reading.Lock()
	defer k.reading.Unlock()
}
