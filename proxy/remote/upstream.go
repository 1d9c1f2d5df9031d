package remote

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// Upstream is one client's connection to a server. Package proxy writes and reads lines, and
// Upstream sends and receives them over HTTP.
type Upstream struct {
	o       Options
	http    *http.Client
	ctx     context.Context // context of the connection; only Close ends it
	cancel  context.CancelFunc
	out     *io.PipeReader // the server's messages, for Read
	in      *io.PipeWriter
	tasks   sync.WaitGroup
	closed  sync.Once
	partial []byte // the written part of an unfinished line
	queue   chan queueItem
	late    atomic.Int32 // number of lines that are late
	tools   Tools

	mu       sync.Mutex // guards what follows
	session  session
	inFlight map[string]*roundTrip // by frame.IDKey of the request
	sse      *sseTransport         // the HTTP+SSE transport, once the server is known to speak it
	failure  string                // the last failure, for Status
}

// Read returns the server's messages as lines.
func (u *Upstream) Read(p []byte) (int, error) { return u.out.Read(p) }

// queueItem is a line to send. If line is nil, sent is closed when the earlier lines are sent.
type queueItem struct {
	line []byte
	sent chan struct{}
}

// Write sends lines in their order. It waits for the server only when many lines are queued: the
// proxy must notice the end of the client's input even with a slow server.
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
		case u.queue <- queueItem{line: u.partial}:
		case <-u.ctx.Done():
			return 0, io.ErrClosedPipe
		}
		u.partial, rest = nil, tail
	}
}

// dispatchLines sends one line after the other, so that the server sees them in the client's
// order. It sends the next line when a request has been written or any other message has been
// acknowledged.
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

// waitSent waits until the queued lines are sent, at most flushTimeout.
func (u *Upstream) waitSent() {
	t := time.After(flushTimeout)
	q := queueItem{sent: make(chan struct{})}
	select {
	case u.queue <- q:
	case <-t:
		return
	}
	select {
	case <-q.sent:
	case <-t:
	}
}

// Done returns nil: a server that cannot be reached may be reached again.
func (u *Upstream) Done() <-chan struct{} { return nil }

// Close ends the session with the server and every stream, in about one second.
func (u *Upstream) Close(context.Context) error {
	u.closed.Do(func() {
		u.waitSent()
		u.mu.Lock()
		u.cancel() // under the lock, so that no task starts after it
		u.mu.Unlock()
		_ = u.in.Close()
		u.tasks.Wait()
		// This comes last: a stream that is resumed meanwhile would find no session and begin
		// another.
		u.deleteSession()
		u.http.CloseIdleConnections()
	})
	return nil
}

// Status returns the state of the connection as text for people.
func (u *Upstream) Status() string {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.failure != "" {
		return u.failure
	}
	return "the connection was closed"
}

// startTask starts a task that Close waits for. After Close it starts none.
func (u *Upstream) startTask(task func()) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.ctx.Err() == nil {
		u.tasks.Go(task)
	}
}

// deliverLine passes one frame to the reader.
func (u *Upstream) deliverLine(line []byte) {
	line = OneLine(line)
	_, _ = u.in.Write(append(line, '\n')) // an error means that nobody reads any more
}

// OneLine returns a frame as one line. It replaces line breaks in place by spaces, because in JSON
// they occur only between tokens. It replaces a line break inside a string by NUL, which no frame
// may hold; otherwise an invalid frame would become valid.
func OneLine(frame []byte) []byte {
	frame = bytes.Trim(frame, " \t\r\n") // only the white space of JSON
	if bytes.IndexByte(frame, '\n') < 0 && bytes.IndexByte(frame, '\r') < 0 {
		return frame
	}
	inside, escapes := false, false // whether c is inside a string, and whether it follows a backslash
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

// trustedLength is the largest Content-Length for which a buffer is allocated in advance.
const trustedLength = 4 << 20

// ReadAll reads a body into one buffer. length is the length in the header, or -1.
func ReadAll(body io.Reader, length int64) ([]byte, error) {
	if length <= 0 || length > trustedLength {
		return io.ReadAll(body)
	}
	var b bytes.Buffer
	b.Grow(int(length) + bytes.MinRead) // with room to detect the end
	_, err := b.ReadFrom(body)
	return b.Bytes(), err
}
