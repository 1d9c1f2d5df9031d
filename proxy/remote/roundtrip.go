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

// roundTrip is one frame of the client's on its way, and the answer's way back.
type roundTrip struct {
	frame  frame.Frame
	era    era
	ctx    context.Context
	cancel context.CancelFunc

	background bool // no message of the client's needs it: no person is asked to sign in

	// sent is closed when the request has been written, answered when it has its
	// answer. Both may be asked for again. held is closed when its credentials take
	// their time.
	sent, answered, held signal

	// Guarded by Upstream.mu:
	cancelled  bool              // by the client
	unanswered map[string][]byte // the ids that have no answer yet, by frame.IDKey: one, or a batch's
}

func newRoundTrip(ctx context.Context, f frame.Frame) *roundTrip {
	rt := &roundTrip{frame: f, era: eraOf(&f), sent: newSignal(), answered: newSignal(), held: newSignal(), unanswered: make(map[string][]byte)}
	rt.ctx, rt.cancel = context.WithCancel(ctx)
	for _, e := range append([]frame.Frame{f}, f.Elements...) {
		if e.Kind == frame.Request {
			rt.unanswered[requestKey(&e)] = e.ID
		}
	}
	return rt
}

// signal is something that happens once.
type signal struct {
	once *sync.Once
	ch   chan struct{}
}

func newSignal() signal { return signal{new(sync.Once), make(chan struct{})} }

// fireOnce reports whether it has not happened before.
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

// sendLine puts one line on its way.
func (u *Upstream) sendLine(line []byte) {
	if len(line) == 0 {
		return
	}
	f, err := frame.Parse(line, u.o.Limits)
	if err != nil { // the pump forwards only what it has parsed
		u.reportFailure("unreadable", "a frame could not be read: "+err.Error())
		return
	}
	rt := newRoundTrip(u.ctx, f)
	if f.Kind != frame.Response {
		u.awaitInitialize() // what follows initialize needs the session it begins
	}
	switch {
	case f.Kind == frame.Request || f.Kind == frame.Batch:
		u.startRequest(rt)
	case f.Method == "notifications/cancelled" && u.cancelRequest(&f):
	default:
		u.sendOneWay(rt)
	}
}

// awaitTurn returns when what was sent has come so far that the next line comes behind it. A
// server that keeps one waiting keeps it once, not for each line, and what waits for credentials
// keeps nobody. It reports that it has waited in vain for as long as it waits for any.
func (u *Upstream) awaitTurn(rt *roundTrip, far, held <-chan struct{}) (late bool) {
	wait := ackTimeout
	if u.late.Load() > 0 {
		wait, far = lateTimeout, rt.sent.ch
	}
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case <-far:
		return false
	case <-rt.ctx.Done():
		return false
	case <-held:
	case <-t.C:
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

// startRequest starts a request and returns when it has been written.
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
	u.awaitTurn(rt, rt.sent.ch, rt.held.ch) // a server that does not read holds up nobody else
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

// cancelRequest ends the request that a cancellation names the way its era wants it:
// since 2026-07-28 by hanging up (MCP 2026-07-28 basic/transports), before by a
// message, which abort leaves to its caller to send.
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
	} else { // nobody waits for it: a server that never ends it must not keep it
		time.AfterFunc(cancelGrace, rt.cancel)
	}
	return rt.era.modern
}

// sendOneWay posts a notification or a response and waits until the server has
// taken it, but not for ever: the client's next message must not hang on it.
func (u *Upstream) sendOneWay(rt *roundTrip) {
	u.startTask(func() {
		defer rt.cancel()
		u.postOneWay(rt)
	})
	if u.awaitTurn(rt, rt.ctx.Done(), nil) {
		u.reportFailure("slow_acknowledgement", "the server has not acknowledged a message for "+ackTimeout.String())
	}
}

// postOneWay posts rt, which has no answer.
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

// postRequest posts a request and sees it through to its answer.
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

// reportFailure tells the owner of something the client has no message for.
func (u *Upstream) reportFailure(code, text string) {
	if u.ctx.Err() != nil {
		return // we hung up
	}
	u.mu.Lock()
	u.failure = text
	u.mu.Unlock()
	u.o.Note(code, text)
}

// failRequests answers what will have no answer of the server's.
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

// isOK reports a status that carries an answer.
func isOK(resp *http.Response) bool { return resp.StatusCode == http.StatusOK }
