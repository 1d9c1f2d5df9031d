package reverse

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/mcp"
	"github.com/clawai/clawai/internal/wire/frame"
	"github.com/clawai/clawai/internal/wire/jsonscan"
)

// Local is an MCP server in this process that speaks the stdio protocol. Each time it is called, it
// serves one MCP session (up to 2025-11-25), or the requests of one caller without a session
// (2026-07-28). The gate g judges the messages. Local ends when its input or ctx ends. It returns
// after everything that it started has ended. It writes whole lines.
type Local func(ctx context.Context, g *gate.Session, in io.ReadCloser, out io.Writer)

// localSession connects an MCP session, or a caller without a session, with a local server. Each
// client message becomes a line to the server. Each line of the server goes to one of the client's
// streams. localSession itself passes no message to the gate, because the local server does this.
type localSession struct {
	in     *io.PipeWriter
	over   chan struct{} // closed when the local server has ended
	gate   *gate.Session
	name   string        // the server's name in the request path
	caller *caller       // the caller without a session; nil for an MCP session
	begins chan struct{} // closed when a session of an earlier process has been reopened; nil if the client began the session in this process

	sending sync.Mutex // held while lines are sent; guards part
	part    []byte     // the beginning of an unfinished line

	mu      sync.Mutex           // guards the fields below
	version string               // negotiated version; "" until initialize is answered
	awaited map[string]*exchange // open exchanges by frame.IDKey of the request
	tokens  map[string]*exchange // open exchanges by frame.IDKey of the progress token
	streams []*responder         // streams that the client opened for messages other than answers, the newest last
	posts   []*exchange          // exchanges that wait for answers, the newest last
	held    [][]byte             // lines that wait for a stream while the client has none
}

// exchange is a POST with requests that wait for their answers.
type exchange struct {
	out     *responder
	begins  bool     // one of the requests is initialize
	unmet   int      // number of requests that still wait for an answer
	pending []string // frame.IDKeys of the requests
	tokens  []string // frame.IDKeys of the progress tokens of the requests

	request  *request      // the request of a caller without a session; nil for an MCP session
	reopened chan struct{} // closed when the initialize of reopenSession is answered; nil for an exchange of a client
}

// Limits of a session: the lines that wait for a stream, and the open streams of the client.
const (
	maxHeld    = 64
	maxStreams = 8
)

// newLocal begins a session of a local server on this route, with this id. The parameter c is the
// caller without a session, or nil for an MCP session. The channel begins is closed when a session
// of an earlier process has been reopened. The channel is nil if the client itself sends
// initialize.
func (s *Server) newLocal(a *agentSession, at route, id string, c *caller, begins chan struct{}, run Local) (sess *mcpSession, err error) {
	g, err := a.makes(at.server)
	if err != nil {
		return nil, err
	}
	in, toServer := io.Pipe()
	l := &localSession{
		in: toServer, over: make(chan struct{}), gate: g.Session, name: at.server, caller: c, begins: begins,
		awaited: map[string]*exchange{}, tokens: map[string]*exchange{},
	}
	sess = &mcpSession{agent: a, local: l, active: 1}
	if err = s.addSession(at, id, sess); err == nil && !s.runTask(a.in, func() {
		run(a.in.ctx, g.Session, in, l)
		_ = in.Close()
		g.End()
		s.removeSession(sess)
		close(l.over)
	}) {
		err = context.Canceled
	}
	if err != nil {
		s.removeSession(sess)
		g.End()
		return nil, err
	}
	return sess, nil
}

// agreedVersion returns the negotiated version, or "" until initialize is answered.
func (l *localSession) agreedVersion() (version string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.version
}

// reopenSession sends initialize to the server in place of a client that did this before the
// process began. The client's capabilities are unknown, so none are declared and the server sends
// it no requests. reopenSession returns false if the server refuses.
func (l *localSession) reopenSession(ctx context.Context, version string) bool {
	const id = `"clawai-reopen"`
	answered := make(chan struct{})
	l.awaitAnswers(&exchange{begins: true, pending: []string{frame.IDKey([]byte(id))}, reopened: answered})
	begin := `{"jsonrpc":"2.0","id":` + id + `,"method":"initialize","params":{"protocolVersion":"` + version + `","capabilities":{},"clientInfo":{"name":"unknown","version":""}}}`
	if _, err := l.in.Write([]byte(begin + "\n")); err != nil {
		return false
	}
	select {
	case <-answered:
	case <-l.over:
	case <-ctx.Done():
	}
	if l.agreedVersion() == "" {
		return false
	}
	_, err := l.in.Write([]byte(`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n"))
	return err == nil
}

// awaitAnswers stores x, so that it gets the answers to its requests. It returns false when one of
// the ids is in use.
func (l *localSession) awaitAnswers(x *exchange) bool {
	l.mu.Lock()
	for i, id := range x.pending {
		if l.awaited[id] != nil || slices.Contains(x.pending[:i], id) {
			l.mu.Unlock()
			return false
		}
	}
	for _, id := range x.pending {
		l.awaited[id] = x
	}
	for _, token := range x.tokens {
		l.tokens[token] = x
	}
	x.unmet = len(x.pending)
	l.posts = append(l.posts, x)
	l.mu.Unlock()
	l.flushWaiting()
	return true
}

// addStream makes the responder `out` the newest stream for messages other than answers.
func (l *localSession) addStream(out *responder) {
	l.mu.Lock()
	l.streams = append(l.streams, out)
	var oldest *responder
	if len(l.streams) > maxStreams {
		oldest, l.streams = l.streams[0], slices.Clone(l.streams[1:])
	}
	l.mu.Unlock()
	if oldest != nil {
		oldest.finishResponse(0)
	}
	l.flushWaiting()
}

// removeStream removes a stream, because the client does not read it any more.
func (l *localSession) removeStream(out *responder) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.streams = slices.DeleteFunc(l.streams, func(o *responder) bool { return o == out })
	l.posts = slices.DeleteFunc(l.posts, func(x *exchange) bool { return x.out == out })
}

// flushWaiting sends the lines that waited until the client had a stream.
func (l *localSession) flushWaiting() {
	l.mu.Lock()
	waits := len(l.held) > 0
	l.mu.Unlock()
	if !waits {
		return
	}
	l.sending.Lock()
	defer l.sending.Unlock()
	l.mu.Lock()
	held := l.held
	l.held = nil
	l.mu.Unlock()
	for _, line := range held {
		l.sendNotice(line)
	}
}

// Write receives the output of the local server. Only one goroutine may call it at a time.
func (l *localSession) Write(b []byte) (int, error) {
	l.sending.Lock()
	defer l.sending.Unlock()
	for rest := b; ; {
		line, after, ended := bytes.Cut(rest, []byte("\n"))
		if !ended {
			l.part = append(l.part, line...)
			return len(b), nil
		}
		if len(l.part) > 0 {
			line, l.part = append(l.part, line...), nil
		}
		l.deliverLine(line)
		rest = after
	}
}

// deliverLine sends an answer to the exchange that waits for it, and any other message to a stream
// of the client.
func (l *localSession) deliverLine(line []byte) {
	m := jsonscan.ValueOf(line)
	switch id := m.Member("id"); {
	case m.Member("method") != "":
		l.sendNotice(line)
	case mcp.IsToken(id):
		l.deliverAnswer(frame.IDKey(id.Bytes()), m, line)
	}
}

func (l *localSession) deliverAnswer(id string, m jsonscan.Value, line []byte) {
	l.mu.Lock()
	x := l.awaited[id]
	if x != nil && x.begins && l.version == "" {
		l.version = strings.Clone(mcp.NegotiatedVersion(m.Member("result").Bytes())) // cloned, because the buffer of line is reused
	}
	last := x != nil && l.meetRequest(x, id)
	l.mu.Unlock()
	if x != nil && x.reopened != nil {
		close(x.reopened)
		return
	}
	if x != nil && x.request != nil {
		line = l.caller.rewriteAnswer(x, m, line)
	}
	if x == nil || x.out.Add(line) != nil {
		l.recordUnheard(m, line, "nobody waits for it any more")
	}
	if last {
		x.out.finishResponse(0)
	}
}

// meetRequest notes that a request of x was answered or withdrawn. It returns true if no request of
// x is left. The caller holds l.mu.
func (l *localSession) meetRequest(x *exchange, id string) (last bool) {
	delete(l.awaited, id)
	if x.unmet--; x.unmet > 0 {
		return false
	}
	for _, token := range x.tokens {
		if l.tokens[token] == x {
			delete(l.tokens, token)
		}
	}
	l.posts = slices.DeleteFunc(l.posts, func(o *exchange) bool { return o == x })
	return true
}

// withdrawRequest ends the wait for a cancelled request, because such a request gets no answer. It
// returns false if no exchange waited for it.
func (l *localSession) withdrawRequest(id []byte) bool {
	l.mu.Lock()
	key := frame.IDKey(id)
	x := l.awaited[key]
	last := x != nil && l.meetRequest(x, key)
	l.mu.Unlock()
	if last {
		x.out.finishResponse(http.StatusAccepted)
	}
	return x != nil
}

// sendNotice sends a message that is not an answer. A progress message goes to the exchange of its
// request. Any other message goes to the client's newest stream or, without a stream, to the newest
// open POST. If there is no POST either, the message waits.
func (l *localSession) sendNotice(line []byte) {
	m := jsonscan.ValueOf(line)
	if l.caller != nil {
		l.sendRelatedNotice(m, line)
		return
	}
	var about string
	if m.Member("method").Text() == "notifications/progress" {
		about = frame.IDKey(m.Member("params").Member("progressToken").Bytes())
	}
	for {
		out := l.findListener(about)
		if out == nil {
			break
		}
		if out.Add(line) == nil {
			return
		}
		l.removeStream(out)
		about = ""
	}
	l.mu.Lock()
	full := len(l.held) >= maxHeld
	if !full {
		l.held = append(l.held, bytes.Clone(line))
	}
	l.mu.Unlock()
	if full {
		l.recordUnheard(m, line, "its client listens nowhere")
	}
}

func (l *localSession) findListener(about string) *responder {
	l.mu.Lock()
	defer l.mu.Unlock()
	if x := l.tokens[about]; x != nil {
		return x.out
	}
	if n := len(l.streams); n > 0 {
		return l.streams[n-1]
	}
	if n := len(l.posts); n > 0 {
		return l.posts[n-1].out
	}
	return nil
}

// recordUnheard records a message of the server that no client gets.
func (l *localSession) recordUnheard(m jsonscan.Value, line []byte, why string) {
	_ = l.gate.NoteEvents(&event.Event{
		Kind: event.Dropped, Stage: "frame", Code: "unheard", Reason: why, ServerGuess: l.name,
		Direction: mcp.ServerToClient.String(), Method: m.Member("method").Text(), ID: m.Member("id").Bytes(), Bytes: len(line),
	})
}
