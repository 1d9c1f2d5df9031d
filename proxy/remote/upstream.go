package remote

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/clawai/clawai/internal/wire/frame"
)

// Upstream is one client's connection to a server: frames in as lines, frames
// out as lines, HTTP between.
type Upstream struct {
	o       Options
	http    *http.Client
	ctx     context.Context // of the connection: Close ends it. No caller's context lives as long
	cancel  context.CancelFunc
	out     *io.PipeReader // what the server said, for Read
	in      *io.PipeWriter
	tasks   sync.WaitGroup
	closed  sync.Once
	done    chan struct{}
	partial []byte // a line whose end has not been written yet
	queue   chan queued
	late    atomic.Int32 // how many lines are on their way for too long

	mu       sync.Mutex // guards what follows
	session  session
	inFlight map[string]*roundTrip // by frame.IDKey of the request
	bound    bindings
	sse      *sseTransport // the HTTP+SSE transport, once the server turned out to speak it
	failure  string        // the last thing that went wrong, for Status
}

// Read gives what the server sent, as lines.
func (u *Upstream) Read(p []byte) (int, error) { return u.out.Read(p) }

// queued is a line on its way, or, without one, the wish to know when those
// before it are.
type queued struct {
	line []byte
	sent chan struct{}
}

// Write sends lines, in their order. It waits for the server only when many are
// on their way: the end of what the client says must be noticed behind a server
// that is slow.
func (u *Upstream) Write(p []byte) (int, error) {
	for rest := p; ; {
		line, tail, whole := bytes.Cut(rest, []byte{'\n'})
		u.partial = append(u.partial, line...)
		if !whole {
			return len(p), nil
		}
		if u.ctx.Err() != nil {
			return 0, io.ErrClosedPipe
		}
		select {
		case u.queue <- queued{line: u.partial}:
		case <-u.ctx.Done():
			return 0, io.ErrClosedPipe
		}
		u.partial, rest = nil, tail
	}
}

// dispatchLines sends one line after the other: the next when a request has been
// written, anything else acknowledged, so that a server sees them in the order in
// which the client sent them.
func (u *Upstream) dispatchLines() {
	for {
		select {
		case q := <-u.queue:
			if q.sent != nil {
				close(q.sent)
				continue
			}
			u.sendLine(q.line)
		case <-u.ctx.Done():
			return
		}
	}
}

// waitSent waits until what was written is on its way, but not for long.
func (u *Upstream) waitSent() {
	t := time.NewTimer(flushTimeout)
	defer t.Stop()
	q := queued{sent: make(chan struct{})}
	select {
	case u.queue <- q:
	case <-t.C:
		return
	}
	select {
	case <-q.sent:
	case <-t.C:
	}
}

// Done is never closed: a server that cannot be reached may be reached again.
func (u *Upstream) Done() <-chan struct{} { return u.done }

// Close ends the session with the server and every stream, in about a second.
func (u *Upstream) Close(context.Context) error {
	u.closed.Do(func() {
		u.waitSent()
		u.mu.Lock()
		u.cancel() // under the lock: no task is begun after it
		u.mu.Unlock()
		_ = u.in.Close()
		u.tasks.Wait()
		// Last: a stream that is taken up meanwhile would find the session gone, and
		// begin another.
		u.deleteSession()
		u.http.CloseIdleConnections()
	})
	return nil
}

// Status says how the connection stands, for people.
func (u *Upstream) Status() string {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.failure != "" {
		return u.failure
	}
	return "the connection was closed"
}

// startTask begins a task that Close waits for; after Close it begins none.
func (u *Upstream) startTask(task func()) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.ctx.Err() == nil {
		u.tasks.Go(task)
	}
}

// deliverLine hands one frame to the reader.
func (u *Upstream) deliverLine(line []byte) {
	line = OneLine(line)
	_, _ = u.in.Write(append(line, '\n')) // closed: nobody reads any more
}

// OneLine gives a frame as the pump takes it: line breaks, which in JSON stand between
// tokens only, are replaced by blanks, in place. In the place of one in a string stands what
// no frame may hold, or a frame that is not JSON would become one that is.
func OneLine(frame []byte) []byte {
	frame = bytes.Trim(frame, " \t\r\n") // what JSON calls blank, and no more
	if bytes.IndexByte(frame, '\n') < 0 && bytes.IndexByte(frame, '\r') < 0 {
		return frame
	}
	inside, escapes := false, false // a string; the byte before it
	for i, c := range frame {
		switch {
		case (c == '\n' || c == '\r') && inside:
			frame[i] = 0
		case c == '\n' || c == '\r':
			frame[i] = ' '
		case c == '"' && !escapes:
			inside = !inside
		}
		escapes = inside && c == '\\' && !escapes
	}
	return frame
}

// trustedLength is up to where memory is taken for a body because its header says so.
const trustedLength = 4 << 20

// ReadAll reads a body into one piece, of the length that its header gave, -1 for none.
func ReadAll(body io.Reader, length int64) ([]byte, error) {
	if length <= 0 || length > trustedLength {
		return io.ReadAll(body)
	}
	var b bytes.Buffer
	b.Grow(int(length) + bytes.MinRead) // with room to see its end
	_, err := b.ReadFrom(body)
	return b.Bytes(), err
}

// requestKey names a request among those in flight.
func requestKey(f *frame.Frame) string { return frame.IDKey(f.ID) }
