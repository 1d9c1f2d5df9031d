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

// Upstream is one client's connection to a server. Package proxy writes lines to it and reads lines
// from it. Upstream exchanges them with the server over HTTP.
type Upstream struct {
	o       Options
	http    *http.Client
	ctx     context.Context // context of the connection, which only Close ends
	cancel  context.CancelFunc
	out     *io.PipeReader // the server's messages, which Read returns
	in      *io.PipeWriter
	tasks   sync.WaitGroup
	closed  sync.Once
	partial []byte // the part of an unfinished line that Write got
	queue   chan queueItem
	late    atomic.Int32 // number of lines that the server has not taken in time
	tools   Tools

	mu       sync.Mutex // guards the fields below
	session  session
	inFlight map[string]*roundTrip // requests in flight, by frame.IDKey of the id
	sse      *sseTransport         // the HTTP+SSE transport; nil unless the server speaks it
	failure  string                // text of the last failure, for Status
}

// Read returns the server's messages, each as one line.
func (u *Upstream) Read(p []byte) (int, error) { return u.out.Read(p) }

// queueItem is a line to send. An item without a line is a marker: sent is closed when all earlier
// lines are sent.
type queueItem struct {
	line []byte
	sent chan struct{}
}

// Write queues lines, which are sent in their order. It waits for the server only when many lines
// are queued, because the proxy must notice the end of the client's input even if the server is
// slow.
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

// dispatchLines sends the lines one by one, so that the server gets them in the client's order. If a
// line is a request, the next line may follow as soon as the request has been written. Otherwise the
// next line waits until the server has acknowledged this one.
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

// Done returns nil, because the connection never ends by itself: a server that cannot be reached
// may be reachable later.
func (u *Upstream) Done() <-chan struct{} { return nil }

// Close ends the session with the server and every stream. It takes at most about one second.
func (u *Upstream) Close(context.Context) error {
	u.closed.Do(func() {
		u.waitSent()
		u.mu.Lock()
		u.cancel() // called while u.mu is held, so that no task starts later
		u.mu.Unlock()
		_ = u.in.Close()
		u.tasks.Wait()
		// deleteSession comes last, because otherwise a stream that is being resumed would find no
		// session and begin another.
		u.deleteSession()
		u.http.CloseIdleConnections()
	})
	return nil
}

// Status returns the state of the connection as a text for people.
func (u *Upstream) Status() string {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.failure != "" {
		return u.failure
	}
	return "the connection was closed"
}

// startTask starts a task, unless Close was called. Close waits for the task.
func (u *Upstream) startTask(task func()) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.ctx.Err() == nil {
		u.tasks.Go(task)
	}
}

// deliverLine passes one frame to Read.
func (u *Upstream) deliverLine(line []byte) {
	line = OneLine(line)
	_, _ = u.in.Write(append(line, '\n')) // an error means that the proxy does not read any more
}

// OneLine returns a frame as one line. It replaces line breaks by spaces, in place, because in JSON
// they occur only between tokens. A line break inside a string becomes NUL, which no frame may
// hold. Otherwise OneLine would make an invalid frame valid.
func OneLine(frame []byte) []byte {
	frame = bytes.Trim(frame, " \t\r\n") // only the white space of JSON
	if bytes.IndexByte(frame, '\n') < 0 && bytes.IndexByte(frame, '\r') < 0 {
		return frame
	}
	inside, escapes := false, false // inside: the position is in a string; escapes: the byte before the position is a backslash that escapes the next byte
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

// trustedLength is the largest Content-Length for which ReadAll allocates the buffer in advance.
const trustedLength = 4 << 20

// ReadAll reads a body into one buffer. length is the Content-Length, or -1.
func ReadAll(body io.Reader, length int64) ([]byte, error) {
	if length <= 0 || length > trustedLength {
		return io.ReadAll(body)
	}
	var b bytes.Buffer
	b.Grow(int(length) + bytes.MinRead) // the extra room lets ReadFrom detect the end without growing the buffer
	_, err := b.ReadFrom(body)
	return b.Bytes(), err
}
