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

// Local is a server in this process that speaks as one over stdio does. It carries one MCP
// session (up to 2025-11-25), or what one caller asks without any (2026-07-28), judges what it
// carries by g, and returns, with everything it has started gone, when in or ctx has ended.
// What it writes are whole lines.
type Local func(ctx context.Context, g *gate.Session, in io.ReadCloser, out io.Writer)

// localSession is the pair of pipes between one MCP session of a client's, or one caller
// without any, and a local server: each message of the client's is a line to it, and each of its lines leaves on one
// of the client's streams. Nothing is judged here: the server does that.
type localSession struct {
	in     *io.PipeWriter
	over   chan struct{} // closed when the server has ended
	gate   *gate.Session
	name   string
	caller *caller       // nil in an MCP session
	begins chan struct{} // closed when a session of before has begun anew; nil: its client begins it

	leaves sync.Mutex // held while lines leave; guards what follows
	part   []byte     // of a line

	mu      sync.Mutex           // guards what follows
	version string               // that was settled on; "" before
	awaited map[string]*exchange // by frame.IDKey of requests
	tokens  map[string]*exchange // by frame.IDKey of their progress tokens
	streams []*responder         // that the client opened for whatever comes, the newest last
	posts   []*exchange          // whose answers are to come
	held    [][]byte             // for the next stream; the client has none
}

// exchange is a post whose requests are being answered.
type exchange struct {
	out     *responder
	begins  bool // with initialize
	unmet   int  // requests without an answer
	pending []string
	tokens  []string

	request  *request      // of a caller without a session
	reopened chan struct{} // closed with the answer to our own initialize; nil: it is the client's
}

// Bounds of what a session holds.
const (
	maxHeld    = 64
	maxStreams = 8
)

// newLocal begins a session of a local server on this route, to be found by id; c is nil for
// an MCP session, begins for what its client begins.
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

// endInput lets the server see the end of its input. It does not wait.
func (l *localSession) endInput() { _ = l.in.Close() }

// agreedVersion gives the version that was settled on; "" before.
func (l *localSession) agreedVersion() (version string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.version
}

// reopenSession does what a client does first, for one that did it before this process began. What its
// client can is not known any more, so it is asked nothing. It is false where the server refuses.
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

// awaitAnswers has the answers to x's requests leave on it; false when one has the id of a
// request that has no answer yet.
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

// addStream has what answers no request leave on out.
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

// removeStream has nothing more leave on a stream that the client does not read.
func (l *localSession) removeStream(out *responder) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.streams = slices.DeleteFunc(l.streams, func(o *responder) bool { return o == out })
	l.posts = slices.DeleteFunc(l.posts, func(x *exchange) bool { return x.out == out })
}

// flushWaiting sends what waited for a stream.
func (l *localSession) flushWaiting() {
	l.mu.Lock()
	waits := len(l.held) > 0
	l.mu.Unlock()
	if !waits {
		return
	}
	l.leaves.Lock()
	defer l.leaves.Unlock()
	l.mu.Lock()
	held := l.held
	l.held = nil
	l.mu.Unlock()
	for _, line := range held {
		l.sendNotice(line)
	}
}

// Write takes what the server says. It has one caller at a time.
func (l *localSession) Write(b []byte) (int, error) {
	l.leaves.Lock()
	defer l.leaves.Unlock()
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

// deliverLine sends an answer to whoever asked, and everything else to whoever listens.
func (l *localSession) deliverLine(line []byte) {
	m := jsonscan.ValueOf(line)
	switch id := m.Member("id"); {
	case m.Member("method") != "":
		l.sendNotice(line)
	case id.Kind() == jsonscan.String || id.Kind() == jsonscan.Number:
		l.deliverAnswer(frame.IDKey(id.Bytes()), m, line)
	}
}

func (l *localSession) deliverAnswer(id string, m jsonscan.Value, line []byte) {
	l.mu.Lock()
	x := l.awaited[id]
	if x != nil && x.begins && l.version == "" {
		l.version = strings.Clone(mcp.NegotiatedVersion(m.Member("result").Bytes())) // the line is not ours
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

// meetRequest takes a request of x's for answered, or withdrawn; true when it was the last one.
// l.mu is held.
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

// withdrawRequest ends the waiting for a request that the client has cancelled: it has no answer.
// It is false when there was none to end.
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

// sendNotice sends what is no answer: progress to the request it is about, the rest where the
// client listens, or, if it does nowhere, beside the answer to come. Without any it waits.
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

// recordUnheard records what the server has said to nobody.
func (l *localSession) recordUnheard(m jsonscan.Value, line []byte, why string) {
	_ = l.gate.NoteEvents(&event.Event{
		Kind: event.Dropped, Stage: "frame", Code: "unheard", Reason: why, ServerGuess: l.name,
		Direction: mcp.ServerToClient.String(), Method: m.Member("method").Text(), ID: m.Member("id").Bytes(), Bytes: len(line),
	})
}
