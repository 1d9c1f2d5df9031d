package ask

import (
	"context"
	"io"
	"os"
	"sync"
	"time"

	"github.com/clawai/clawai/internal/text/term"
)

// Bounds of a StderrRelay.
const (
	// maxKept is how much is kept, in bytes, while a question is open. A server
	// that writes more waits with the rest, at the longest until the question's
	// deadline: nothing is left out.
	maxKept = 8 << 20
	// chunkSize is how much is written in one turn.
	chunkSize = 32 << 10
	// closeTimeout is how long what is left may take when all is over: a program that
	// the server started may still hold the pipe.
	closeTimeout = 200 * time.Millisecond
)

// StderrRelay carries what a server writes to its stderr to the terminal that it shares
// with us, except while a question is open there, ours or that of another clawai:
// then it keeps the text until the question is answered. A nil StderrRelay holds nothing
// back.
type StderrRelay struct {
	out    io.Writer
	lock   string
	theirs *os.File // the server's end, ours to close once it was started
	ours   *os.File

	stage chan struct{}   // holds one while somebody uses the terminal: a question, or one chunk
	open  context.Context // ends with Close: there are no more questions
	over  context.CancelFunc
	done  chan struct{} // closed when all is written

	mu      sync.Mutex
	changed sync.Cond
	kept    []byte
	ended   bool // nothing more comes
}

// NewStderrRelay gives a StderrRelay when out is the terminal on which questions are asked,
// and nil when it is anything else. Lock is that of Options.
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

// Stderr is what the server is to be started with.
func (a *StderrRelay) Stderr() *os.File { return a.theirs }

// CloseServerEnd gives up the server's end of the pipe: the server has it by now, or
// could not be started.
func (a *StderrRelay) CloseServerEnd() {
	if a != nil {
		_ = a.theirs.Close()
	}
}

// holdTerminal keeps the terminal free until release is called.
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

// Close writes what is left, and waits for the terminal only so long. The server
// has ended and no question is open any more.
func (a *StderrRelay) Close() {
	if a == nil {
		return
	}
	a.over()
	_ = a.ours.SetReadDeadline(time.Now().Add(closeTimeout / 2)) // what was written is read by then
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

// writeChunks writes what is kept whenever the terminal is free.
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

// writeChunk writes one chunk while nobody asks. When the terminal is gone it is lost, as
// it would be to the server itself, which must not wait for it.
func (a *StderrRelay) writeChunk(chunk []byte) {
	// What is left at the end is written, whoever asks.
	if release, err := a.holdTerminal(a.open); err == nil {
		defer release()
	}
	if free, err := term.WaitTurn(a.open, a.lock); err == nil {
		defer func() { _ = free.Close() }()
	}
	_, _ = a.out.Write(chunk)
}
