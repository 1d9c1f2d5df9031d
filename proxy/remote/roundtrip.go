package remote

import (
	"context"
	"maps"
	"net/http"
	"sync"
	"time"

	"github.com/clawai/clawai/internal/mcp"
	"github.com/clawai/clawai/internal/wire/frame"
)

// roundTrip is one frame of the client that is sent to the server, with the state of its answer.
type roundTrip struct {
	frame  frame.Frame
	era    era
	ctx    context.Context
	cancel context.CancelFunc

	background bool // the frame is not a message of the client, so no person is asked to sign in

	// sent is fired when the request has been written. answered is fired when the request has its
	// answer. held is fired when fetching the credentials takes long.
	sent, answered, held signal

	// Upstream.mu guards the fields below.
	cancelled  bool              // the client has cancelled the request
	unanswered map[string][]byte // ids without an answer, by frame.IDKey; several for a batch
}

func newRoundTrip(ctx context.Context, f frame.Frame) *roundTrip {
	rt := &roundTrip{frame: f, era: eraOf(&f), sent: newSignal(), answered: newSignal(), held: newSignal(), unanswered: make(map[string][]byte)}
	rt.ctx, rt.cancel = context.WithCancel(ctx)
	for e := range f.Messages {
		if e.Kind == frame.Request {
			rt.unanswered[frame.IDKey(e.ID)] = e.ID
		}
	}
	return rt
}

// signal is an event that happens at most once.
type signal struct {
	once *sync.Once
	ch   chan struct{}
}

func newSignal() signal { return signal{new(sync.Once), make(chan struct{})} }

// fireOnce fires the signal. It returns true if this call was the first.
func (s signal) fireOnce() (first bool) {
	s.once.Do(func() { close(s.ch); first = true })
	return first
}

func (s signal) hasFired() bool {
	select {
	case <-s.ch:
		return true
	default:
		return false
	}
}

// sendLine sends one line of the proxy.
func (u *Upstream) sendLine(line []byte) {
	if len(line) == 0 {
		return
	}
	f, err := frame.Parse(line, u.o.Limits)
	if err != nil { // cannot happen, because package proxy forwards only parsed frames
		u.reportFailure("unreadable", "a frame could not be read: "+err.Error())
		return
	}
	rt := newRoundTrip(u.ctx, f)
	if f.Kind != frame.Response {
		u.awaitInitialize() // messages after initialize need the session that initialize begins
	}
	switch {
	case f.Kind == frame.Request || f.Kind == frame.Batch:
		u.startRequest(rt)
	case f.Method == "notifications/cancelled" && u.cancelRequest(&f):
	default:
		u.sendOneWay(rt)
	}
}

// awaitTurn waits, after rt was started, until the next line may be sent. It returns when the
// channel far is closed, but it waits at most ackTimeout. While an earlier line is late, it waits
// only until rt is written, and at most lateTimeout. So a slow server delays the lines only once.
// awaitTurn does not wait for credentials: it also returns when the channel held is closed. The
// result late is true if awaitTurn gave up the wait while no earlier line was late.
func (u *Upstream) awaitTurn(rt *roundTrip, far, held <-chan struct{}) (late bool) {
	wait := ackTimeout
	if u.late.Load() > 0 {
		wait, far = lateTimeout, rt.sent.ch
	}
	select {
	case <-far:
		return false
	case <-rt.ctx.Done():
		return false
	case <-held:
	case <-time.After(wait):
	}
	u.late.Add(1)
	u.startTask(func() {
		defer u.late.Add(-1)
		select {
		case <-far:
		case <-rt.ctx.Done():
		}
	})
	return wait == ackTimeout
}

// startRequest starts a request. It returns when the request has been written.
func (u *Upstream) startRequest(rt *roundTrip) {
	u.mu.Lock()
	for id := range rt.unanswered {
		u.inFlight[id] = rt
	}
	if rt.frame.Method == "initialize" {
		u.session.startInitialize(rt.frame.Raw)
		if u.sse != nil && u.sse.lost {
			u.sse = nil
		}
	}
	u.mu.Unlock()
	u.startTask(func() {
		defer rt.cancel()
		u.postRequest(rt)
		u.mu.Lock()
		maps.DeleteFunc(u.inFlight, func(_ string, other *roundTrip) bool { return other == rt })
		if rt.frame.Method == "initialize" {
			u.session.finishInitialize()
		}
		u.mu.Unlock()
	})
	u.awaitTurn(rt, rt.sent.ch, rt.held.ch) // a server that does not read must not block other requests
}

// awaitInitialize waits until no initialize is in flight.
func (u *Upstream) awaitInitialize() {
	u.mu.Lock()
	wait := u.session.initializing
	u.mu.Unlock()
	if wait == nil {
		return
	}
	select {
	case <-wait:
	case <-u.ctx.Done():
	}
}

// cancelRequest cancels the request that a cancellation names. For a request of 2026-07-28 it ends
// the HTTP request (MCP 2026-07-28 basic/transports) and returns true. For earlier versions it
// returns false, and the caller sends the cancellation to the server.
func (u *Upstream) cancelRequest(f *frame.Frame) (done bool) {
	m, refusal := mcp.Read(f, mcp.ClientToServer, "")
	if refusal != nil || m.Cancels == nil {
		return false
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	rt := u.inFlight[frame.IDKey(m.Cancels)]
	if rt == nil {
		return false
	}
	if rt.frame.Kind == frame.Batch {
		delete(rt.unanswered, frame.IDKey(m.Cancels))
		return false
	}
	rt.cancelled = true
	if rt.era.modern {
		rt.cancel()
	} else { // ends the request later, in case the server never ends it
		time.AfterFunc(cancelGrace, rt.cancel)
	}
	return rt.era.modern
}

// sendOneWay posts a notification or a response. It waits for the server's acknowledgement, but at
// most ackTimeout, so that the client's next message is not blocked.
func (u *Upstream) sendOneWay(rt *roundTrip) {
	u.startTask(func() {
		defer rt.cancel()
		u.postOneWay(rt)
	})
	if u.awaitTurn(rt, rt.ctx.Done(), nil) {
		u.reportFailure("slow_acknowledgement", "the server has not acknowledged a message for "+ackTimeout.String())
	}
}

// postOneWay posts rt, to which there is no answer.
func (u *Upstream) postOneWay(rt *roundTrip) {
	resp, err := u.postRoundTrip(rt)
	if err != nil {
		u.reportFailure("not_delivered", u.explainError(err))
		return
	}
	defer drainBody(resp.Body)
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		u.reportFailure("not_delivered", "the server answered a "+kindName(&rt.frame)+" with "+StatusText(resp))
		return
	}
	if rt.frame.Method == "notifications/initialized" {
		u.handleInitialized(rt.frame.Raw)
	}
}

func kindName(f *frame.Frame) string {
	if f.Kind == frame.Notification {
		return "notification"
	}
	return "response"
}

// postRequest posts a request and handles its answer.
func (u *Upstream) postRequest(rt *roundTrip) {
	if err := u.startWithSSE(rt); err != nil {
		u.failRequests(rt, u.explainError(err))
		return
	}
	resp, err := u.postRoundTrip(rt)
	if err != nil {
		u.failRequests(rt, u.explainError(err))
		return
	}
	older, err := u.trySSE(rt, resp)
	if older || err != nil {
		drainBody(resp.Body)
	}
	if older {
		resp, err = u.postRoundTrip(rt)
	}
	if err != nil {
		u.failRequests(rt, u.explainError(err))
		return
	}
	defer drainBody(resp.Body)
	if u.isAccepted(resp) {
		u.awaitAnswer(rt)
		return
	}
	u.handleAnswer(rt, resp)
}

// reportFailure notes a failure about which the client gets no message.
func (u *Upstream) reportFailure(code, text string) {
	if u.ctx.Err() != nil {
		return // no failure, because Close closed the connection
	}
	u.mu.Lock()
	u.failure = text
	u.mu.Unlock()
	u.o.Note(code, text)
}

// failRequests answers the unanswered requests of rt with an error.
func (u *Upstream) failRequests(rt *roundTrip, why string) {
	u.mu.Lock()
	silent := !rt.answered.fireOnce() || rt.cancelled || u.ctx.Err() != nil || len(rt.unanswered) == 0
	open := rt.unanswered
	rt.unanswered = nil
	if !silent {
		u.failure = why
	}
	u.mu.Unlock()
	if silent {
		return
	}
	for _, id := range open {
		u.deliverLine(mcp.UnreachedAnswer(id, why))
	}
}

// isOK reports whether the status is 200.
func isOK(resp *http.Response) bool { return resp.StatusCode == http.StatusOK }
