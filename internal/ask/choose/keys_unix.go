//go:build unix

package choose

import (
	"errors"
	"io"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// keys is the keyboard. It is a terminal to bubbletea, which puts it into raw mode,
// writes the line ends of that mode, and puts it back; but no file with a name, for the
// way in which such a one is stopped being read races with the read, and leaves a reader
// behind that would take the next line typed. Nothing is read after stop has returned.
type keys struct {
	in      *os.File
	over    chan struct{}
	reading sync.Mutex
}

// pollInterval is how often a reader looks whether it is over, in milliseconds.
const pollInterval = 20

func newKeys(in *os.File) *keys { return &keys{in: in, over: make(chan struct{})} }

// Fd, Write and Close make it a terminal to bubbletea.
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
			if errors.Is(err, io.EOF) { // hung up; at an end of input bubbletea would wait on
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
