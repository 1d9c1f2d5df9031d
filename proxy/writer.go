package proxy

import (
	"fmt"
	"io"
	"sync"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/mcp"
)

const (
	queueLimit = 1 << 20  // bytes in the queue above which senders wait for a slow reader
	copyLimit  = 32 << 10 // a larger frame is queued without a copy
	keepLimit  = 64 << 10 // a larger buffer is not reused
)

// Writer writes whole lines of several senders to one stream. While one sender writes, the others
// only queue their lines, and the first sender writes those too. So lines never mix, and many lines
// at once cost one system call. After an error, every later Add returns that error.
type Writer struct {
	w io.Writer

	mu     sync.Mutex
	idle   sync.Cond // signalled after each write
	chunks [][]byte  // queued lines in order; later lines are in tail
	tail   []byte    // small lines that come after chunks
	queued int       // bytes in chunks and tail
	taken  int       // bytes of the present write, and of a write that failed
	spare  []byte    // buffer for the next tail
	busy   bool      // a sender is writing
	err    error
	broken chan struct{} // closed when err becomes non-nil
}

// NewWriter returns a Writer on w. From then on only this Writer may write to w.
func NewWriter(w io.Writer) *Writer {
	o := &Writer{w: w, broken: make(chan struct{})}
	o.idle.L = &o.mu
	return o
}

// BrokenSignal returns a channel that is closed after a write has failed.
func (o *Writer) BrokenSignal() <-chan struct{} { return o.broken }

// Add queues one line, which Flush sends. Add waits while the queue is too long.
func (o *Writer) Add(line []byte) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.queued > queueLimit && o.err == nil {
		if o.busy {
			o.idle.Wait()
		} else {
			o.writeQueue()
		}
	}
	if o.err != nil {
		return o.err
	}
	if len(line) > copyLimit {
		o.chunks = append(o.chunks, o.tail, line)
		o.tail = nil
	} else {
		o.tail = append(o.tail, line...)
	}
	o.tail = append(o.tail, '\n')
	o.queued += len(line) + 1
	return nil
}

// Flush sends the queued lines. If another sender is writing, that sender sends these lines too.
func (o *Writer) Flush() {
	o.mu.Lock()
	if !o.busy {
		o.writeQueue()
	}
	o.mu.Unlock()
}

// asyncWriter is a Writer for the goroutine that reads from the other end of the Writer. Its Flush
// writes in another goroutine. Otherwise there could be a deadlock: the reader waits for its own
// write, and the other end does not read while it writes to the reader.
type asyncWriter Writer

func (o *asyncWriter) Add(line []byte) error { return (*Writer)(o).Add(line) }

func (o *asyncWriter) Flush() { go (*Writer)(o).Flush() }

// AsyncSink returns a sink on o for the goroutine that reads from the other end of o.
func (o *Writer) AsyncSink() Sink { return (*asyncWriter)(o) }

// DrainQueue returns when the queue is empty or a write has failed.
func (o *Writer) DrainQueue() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.busy {
		o.idle.Wait()
	}
	o.writeQueue()
	return o.err
}

// DescribeLoss returns the record of the lines that the client has not read, or nil if there are
// none. It is for the Writer to the client at the end of a session: until then such lines count as
// passed on.
func (o *Writer) DescribeLoss() *event.Event {
	o.mu.Lock()
	defer o.mu.Unlock()
	n := o.queued + o.taken
	if n == 0 {
		return nil
	}
	return &event.Event{
		Kind: event.Dropped, Code: gate.CodeForwardFailed, Direction: mcp.ServerToClient.String(), Bytes: n,
		Reason: fmt.Sprintf("the client has not read the last %d bytes that were passed on to it, or only a part of them", n),
	}
}

// writeQueue writes until the queue is empty. The caller holds the lock, and writeQueue unlocks it
// during the system calls.
func (o *Writer) writeQueue() {
	o.busy = true
	for o.queued > 0 && o.err == nil {
		chunks, tail := o.chunks, o.tail
		o.chunks, o.tail, o.spare = nil, o.spare[:0], nil
		o.queued, o.taken = 0, o.queued
		o.mu.Unlock()
		err := o.writeChunks(chunks, tail)
		o.mu.Lock()
		if o.err = err; err == nil {
			o.taken = 0
		} else { // closed only once, because nothing is written after an error
			close(o.broken)
		}
		if cap(tail) <= keepLimit {
			o.spare = tail
		}
		o.idle.Broadcast()
	}
	o.busy = false
	o.idle.Broadcast()
}

func (o *Writer) writeChunks(chunks [][]byte, tail []byte) error {
	for _, c := range chunks {
		if len(c) == 0 {
			continue
		}
		if _, err := o.w.Write(c); err != nil {
			return err
		}
	}
	_, err := o.w.Write(tail)
	return err
}
