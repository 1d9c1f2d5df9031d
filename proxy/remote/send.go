package remote

import (
	"context"
	"maps"
	"net/http"
	"sync"
	"time"

	"github.com/clawai/clawai/proxy/frame"
	"github.com/clawai/clawai/proxy/mcp"
)

// exchange is one frame of the client's on its way, and the answer's way back.
type exchange struct {
	frame  frame.Frame
	era    era
	ctx    context.Context
	cancel context.CancelFunc

	unasked bool // no message of the client's needs it: no person is asked to sign in

	// sent is closed when the request has been written, told when it has its
	// answer. Both may be asked for again.
	sent, told done

	// Guarded by Upstream.mu:
	cancelled bool              // by the client
	open      map[string][]byte // the ids that have no answer yet, by frame.IDKey: one, or a batch's
}

func newExchange(ctx context.Context, f frame.Frame) *exchange {
	x := &exchange{frame: f, era: eraOf(&f), sent: newDone(), told: newDone(), open: make(map[string][]byte)}
	x.ctx, x.cancel = context.WithCancel(ctx)
	for _, e := range append([]frame.Frame{f}, f.Elements...) {
		if e.Kind == frame.Request {
			x.open[key(&e)] = e.ID
		}
	}
	return x
}

// done is something that happens once.
type done struct {
	once *sync.Once
	ch   chan struct{}
}

func newDone() done { return done{new(sync.Once), make(chan struct{})} }

// now reports whether it has not happened before.
func (d done) now() (first bool) {
	d.once.Do(func() { close(d.ch); first = true })
	return first
}

func (d done) yet() bool {
	select {
	case <-d.ch:
		return true
	default:
		return false
	}
}

// send puts one line on its way.
func (u *Upstream) send(line []byte) {
	if len(line) == 0 {
		return
	}
	f, err := frame.Parse(line, u.o.Limits)
	if err != nil { // the pump forwards only what it has parsed
		u.lost("unreadable", "a frame could not be read: "+err.Error())
		return
	}
	x := newExchange(u.ctx, f)
	if f.Kind != frame.Response {
		u.settled() // what follows initialize needs the session it begins
	}
	switch {
	case f.Kind == frame.Request || f.Kind == frame.Batch:
		u.launch(x)
	case f.Method == "notifications/cancelled" && u.abort(&f):
	default:
		u.acknowledged(x)
	}
}

// launch starts a request and returns when it has been written.
func (u *Upstream) launch(x *exchange) {
	u.mu.Lock()
	for id := range x.open {
		u.inFlight[id] = x
	}
	if x.frame.Method == "initialize" {
		u.session.begin(x.frame.Raw)
		if u.sse != nil && u.sse.lost {
			u.sse = nil
		}
	}
	u.mu.Unlock()
	u.run(func() {
		defer x.cancel()
		u.ask(x)
		u.mu.Lock()
		maps.DeleteFunc(u.inFlight, func(_ string, other *exchange) bool { return other == x })
		if x.frame.Method == "initialize" {
			u.session.begun()
		}
		u.mu.Unlock()
	})
	t := time.NewTimer(ackTimeout) // a server that does not read holds up nobody else
	defer t.Stop()
	select {
	case <-x.sent.ch:
	case <-x.ctx.Done():
	case <-t.C:
	}
}

// settled waits until no initialize is in flight.
func (u *Upstream) settled() {
	u.mu.Lock()
	wait := u.session.settled
	u.mu.Unlock()
	if wait == nil {
		return
	}
	select {
	case <-wait:
	case <-u.ctx.Done():
	}
}

// abort ends the request that a cancellation names the way its era wants it:
// since 2026-07-28 by hanging up (MCP 2026-07-28 basic/transports), before by a
// message, which abort leaves to its caller to send.
func (u *Upstream) abort(f *frame.Frame) (done bool) {
	m, refusal := mcp.Read(f, mcp.ClientToServer, "")
	if refusal != nil || m.Cancels == nil {
		return false
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	x := u.inFlight[frame.IDKey(m.Cancels)]
	if x == nil {
		return false
	}
	if x.frame.Kind == frame.Batch {
		delete(x.open, frame.IDKey(m.Cancels))
		return false
	}
	x.cancelled = true
	if x.era.modern {
		x.cancel()
	} else { // nobody waits for it: a server that never ends it must not keep it
		time.AfterFunc(cancelGrace, x.cancel)
	}
	return x.era.modern
}

// acknowledged posts a notification or a response and waits until the server has
// taken it, but not for ever: the client's next message must not hang on it.
func (u *Upstream) acknowledged(x *exchange) {
	u.run(func() {
		defer x.cancel()
		u.tell(x)
	})
	t := time.NewTimer(ackTimeout)
	defer t.Stop()
	select {
	case <-x.ctx.Done():
	case <-t.C:
		u.lost("slow_acknowledgement", "the server has not acknowledged a message for "+ackTimeout.String())
	}
}

// tell posts x, which has no answer.
func (u *Upstream) tell(x *exchange) {
	resp, err := u.post(x)
	if err != nil {
		u.lost("not_delivered", u.words(err))
		return
	}
	defer finish(resp.Body)
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		u.lost("not_delivered", "the server answered a "+kind(&x.frame)+" with "+Status(resp))
		return
	}
	if x.frame.Method == "notifications/initialized" {
		u.initialized(x.frame.Raw)
	}
}

func kind(f *frame.Frame) string {
	if f.Kind == frame.Notification {
		return "notification"
	}
	return "response"
}

// ask posts a request and sees it through to its answer.
func (u *Upstream) ask(x *exchange) {
	resp, err := u.post(x)
	if err != nil {
		u.fail(x, u.words(err))
		return
	}
	older, err := u.speaksSSE(x, resp)
	if older || err != nil {
		finish(resp.Body)
	}
	if older {
		resp, err = u.post(x)
	}
	if err != nil {
		u.fail(x, u.words(err))
		return
	}
	defer finish(resp.Body)
	if u.accepted(resp) {
		u.awaitTwoWay(x)
		return
	}
	u.answer(x, resp)
}

// lost tells the owner of something the client has no message for.
func (u *Upstream) lost(code, text string) {
	if u.ctx.Err() != nil {
		return // we hung up
	}
	u.mu.Lock()
	u.failure = text
	u.mu.Unlock()
	u.o.Note(code, text)
}

// fail answers what will have no answer of the server's.
func (u *Upstream) fail(x *exchange, why string) {
	u.mu.Lock()
	silent := !x.told.now() || x.cancelled || u.ctx.Err() != nil || len(x.open) == 0
	open := x.open
	x.open = nil
	if !silent {
		u.failure = why
	}
	u.mu.Unlock()
	if silent {
		return
	}
	for _, id := range open {
		u.deliver(mcp.Unreached(id, why))
	}
}

// okay reports a status that carries an answer.
func okay(resp *http.Response) bool { return resp.StatusCode == http.StatusOK }
