package proxy

import (
	"io"
	"sync"
)

const (
	queueLimit = 1 << 20  // bytes that may be queued for a slow reader before senders wait
	copyLimit  = 32 << 10 // larger frames are queued by reference
	keepLimit  = 64 << 10 // a larger buffer is left to the garbage collector
)

// Writer writes whole lines of several senders to one stream. While one sender writes, the other
// senders only queue their lines, and the first one writes those too. So lines never interleave,
// and a burst costs one system call. After an error, every later Add returns that error.
type Writer struct {
	w io.Writer

	mu     sync.Mutex
	idle   sync.Cond // signalled whenever a write has ended
	chunks [][]byte  // queued lines in order; the last ones are in tail
	tail   []byte    // small lines after chunks
	queued int       // bytes in chunks and tail
	spare  []byte    // buffer for the next tail
	busy   bool      // somebody is writing
	err    error
	broken chan struct{} // closed when err is set
}

// NewWriter returns a Writer on w. Nobody else may write to w.
func NewWriter(w io.Writer) *Writer {
	o := &Writer{w: w, broken: make(chan struct{})}
	o.idle.L = &o.mu
	return o
}

// BrokenSignal returns a channel that is closed when nothing can be written any more.
func (o *Writer) BrokenSignal() <-chan struct{} { return o.broken }

// Add queues one line; Flush sends it. It waits while too much is queued.
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

// Flush sends the queued lines. If another sender is writing, that sender sends them.
func (o *Writer) Flush() {
	o.mu.Lock()
	if !o.busy {
		o.writeQueue()
	}
	o.mu.Unlock()
}

// asyncWriter is a Writer for the goroutine that reads from the Writer's other end: Flush writes in
// another goroutine. If the other end did not read while it writes, and the reader waited for its
// own write, both would wait forever.
type asyncWriter Writer

func (o *asyncWriter) Add(line []byte) error { return (*Writer)(o).Add(line) }

func (o *asyncWriter) Flush() { go (*Writer)(o).Flush() }

// AsyncSink returns o as a sink for the goroutine that reads from o's other end.
func (o *Writer) AsyncSink() Sink { return (*asyncWriter)(o) }

// DrainQueue returns when the queue is empty or nothing can be sent any more.
func (o *Writer) DrainQueue() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.busy {
		o.idle.Wait()
	}
	o.writeQueue()
	return o.err
}

// writeQueue sends until the queue is empty. The caller holds the lock; writeQueue unlocks it
// during the system calls.
func (o *Writer) writeQueue() {
	o.busy = true
	for o.queued > 0 && o.err == nil {
		chunks, tail := o.chunks, o.tail
		o.chunks, o.tail, o.spare = nil, o.spare[:0], nil
		o.queued = 0
		o.mu.Unlock()
		err := o.writeChunks(chunks, tail)
		o.mu.Lock()
		if o.err = err; err != nil { // happens once: nothing is sent after an error
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
