package ask

import (
	"context"
	"io"
	"os"
	"sync"
	"time"

	"github.com/clawai/clawai/internal/text/term"
)

// Limits of a StderrRelay.
const (
	// maxKept is the maximum number of bytes in the buffer while a question is open. If the buffer
	// is full, the server must wait, at most until the question's deadline. No text is lost.
	maxKept = 8 << 20
	// chunkSize is how many bytes are written at a time.
	chunkSize = 32 << 10
	// closeTimeout limits the last write. Without the limit Close could wait forever, because a
	// program that the server started may still hold the pipe.
	closeTimeout = 200 * time.Millisecond
)

// StderrRelay copies a server's stderr to the terminal. While a question of any clawai is open on
// this terminal, it keeps the text in a buffer. A nil StderrRelay does nothing.
type StderrRelay struct {
	out    io.Writer
	lock   string
	theirs *os.File // the server's end of the pipe; closed when the server has started
	ours   *os.File

	stage chan struct{}   // holds one element while a question or a chunk of text uses the terminal
	open  context.Context // ends when Close is called; no question comes after that
	over  context.CancelFunc
	done  chan struct{} // closed when all text is written

	mu      sync.Mutex
	changed sync.Cond
	kept    []byte
	ended   bool // the pipe has no more input
}

// NewStderrRelay returns a StderrRelay if the file in the parameter out is the terminal on which
// questions are asked. Otherwise it returns nil. The parameter lock is Options.Lock of the
// Terminal.
func NewStderrRelay(out *os.File, lock string) (*StderrRelay, error) {
	if !term.IsControlling(out) {
		return nil, nil //nolint:nilnil // a nil StderrRelay is one that holds nothing back
	}
	return newStderrRelay(out, lock)
}

func newStderrRelay(out io.Writer, lock string) (*StderrRelay, error) {
	ours, theirs, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	a := &StderrRelay{
		out: out, lock: lock, ours: ours, theirs: theirs,
		stage: make(chan struct{}, 1), done: make(chan struct{}),
	}
	a.changed.L = &a.mu
	a.open, a.over = context.WithCancel(context.Background())
	go a.readPipe()
	go a.writeChunks()
	return a, nil
}

// Stderr returns the file that the server must get as its stderr.
func (a *StderrRelay) Stderr() *os.File { return a.theirs }

// CloseServerEnd closes the server's end of the pipe in this process. Call it after the server was
// started, or could not be started.
func (a *StderrRelay) CloseServerEnd() {
	if a != nil {
		_ = a.theirs.Close()
	}
}

// holdTerminal keeps text off the terminal until release is called.
func (a *StderrRelay) holdTerminal(ctx context.Context) (release func(), err error) {
	if a == nil {
		return func() {}, nil
	}
	select {
	case a.stage <- struct{}{}:
		return func() { <-a.stage }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Close writes the rest of the text. It waits only a limited time for the terminal. The server must
// have ended, and no question may be open.
func (a *StderrRelay) Close() {
	if a == nil {
		return
	}
	a.over()
	_ = a.ours.SetReadDeadline(time.Now().Add(closeTimeout / 2)) // enough time to read the rest of the pipe
	select {
	case <-a.done:
	case <-time.After(closeTimeout):
	}
	_ = a.ours.Close()
}

func (a *StderrRelay) readPipe() {
	buf := make([]byte, chunkSize)
	for {
		n, err := a.ours.Read(buf)
		a.mu.Lock()
		for len(a.kept) > maxKept {
			a.changed.Wait()
		}
		a.kept = append(a.kept, buf[:n]...)
		a.ended = err != nil
		a.changed.Broadcast()
		a.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// writeChunks writes the text in the buffer while no question is open.
func (a *StderrRelay) writeChunks() {
	defer close(a.done)
	for {
		a.mu.Lock()
		for len(a.kept) == 0 && !a.ended {
			a.changed.Wait()
		}
		n := min(len(a.kept), chunkSize)
		chunk := a.kept[:n:n]
		a.mu.Unlock()
		if n == 0 {
			return
		}
		a.writeChunk(chunk)
		a.mu.Lock()
		if a.kept = a.kept[n:]; len(a.kept) == 0 {
			a.kept = nil
		}
		a.changed.Broadcast()
		a.mu.Unlock()
	}
}

// writeChunk writes one chunk while no question is open. If the terminal is gone, the chunk is
// lost: the server must not wait, and without the relay its text would be lost too.
func (a *StderrRelay) writeChunk(chunk []byte) {
	// After Close, the waits for the stage and for the terminal fail at once. The rest of the text
	// is then written even while a question is open.
	if release, err := a.holdTerminal(a.open); err == nil {
		defer release()
	}
	if free, err := term.WaitTurn(a.open, a.lock); err == nil {
		defer func() { _ = free.Close() }()
	}
	_, _ = a.out.Write(chunk)
}
