package remote

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/clawai/clawai/internal/mcp"
	"github.com/clawai/clawai/internal/wire/frame"
)

// session is what a legacy server knows a client by. It is guarded by
// Upstream.mu.
type session struct {
	id      string
	version string // as negotiated
	// The frames that began it, to begin another when the server has forgotten
	// it: a dead session is a 404, and the client begins anew without its id
	// (MCP 2025-11-25 basic/transports).
	initialize, initialized []byte
	initializing            chan struct{} // closed when initialize has its answer
	listening               bool
	stopListening           context.CancelFunc // ends the stream that is listened to; another is opened
	renewing                chan struct{}      // closed when a renewal under way has ended
}

func (s *session) startInitialize(initialize []byte) {
	s.initialize, s.initializing = slices.Clone(initialize), make(chan struct{})
	s.id, s.version = "", ""
}

// finishInitialize lets the messages through that waited for initialize.
func (s *session) finishInitialize() {
	if s.initializing != nil {
		close(s.initializing)
		s.initializing = nil
	}
}

// setNegotiated takes in the answer to initialize: the session's id comes with it.
func (s *session) setNegotiated(h http.Header, result []byte) {
	s.version = mcp.NegotiatedVersion(result)
	s.id = SessionID(h)
}

func visibleASCII(s string) bool {
	for i := range len(s) {
		if s[i] < 0x21 || s[i] > 0x7e {
			return false
		}
	}
	return s != ""
}

// setSessionHeaders sets the headers by which a server knows session and version.
func (u *Upstream) setSessionHeaders(h http.Header, e era) {
	u.mu.Lock()
	defer u.mu.Unlock()
	switch {
	case e.modern:
		h.Set(headerVersion, e.version)
		return
	case u.session.id != "":
		h.Set(headerSession, u.session.id)
	}
	if u.session.version != "" {
		h.Set(headerVersion, u.session.version)
	}
}

// handleInitialized notes that the session is open, and listens to what the server
// has to say outside of answers. It returns when that stream is open: what a
// server says there before is lost, and some ask their client there about a call
// that comes next. One that sends no header before it has something to say holds
// nobody up for long.
func (u *Upstream) handleInitialized(line []byte) {
	u.mu.Lock()
	first := !u.session.listening && u.sse == nil
	u.session.initialized, u.session.listening = slices.Clone(line), true
	if !first && u.session.stopListening != nil {
		u.session.stopListening() // that stream is the old session's
	}
	u.mu.Unlock()
	if !first {
		return
	}
	opened := newSignal()
	u.startTask(func() { defer opened.fireOnce(); u.keepStreamOpen(opened) })
	t := time.NewTimer(openTimeout)
	defer t.Stop()
	select {
	case <-opened.ch:
	case <-t.C:
	case <-u.ctx.Done():
	}
}

// reopenStream opens the server's own stream where it was refused with the credentials
// of before.
func (u *Upstream) reopenStream() {
	u.mu.Lock()
	line, listening := u.session.initialized, u.session.listening
	u.mu.Unlock()
	if line != nil && !listening {
		u.handleInitialized(line)
	}
}

// renewSession begins the session anew after the server has forgotten it, or ended the
// stream it was on: dead, called with u.mu held, reports it. Only one does it; the
// others wait for that one. It reports whether there is a new session. rt is what
// needs it, nil where nothing does yet.
func (u *Upstream) renewSession(rt *roundTrip, dead func() bool) bool {
	ctx := u.ctx
	if rt != nil {
		ctx = rt.ctx
	}
	u.mu.Lock()
	if !dead() { // done meanwhile
		u.mu.Unlock()
		return true
	}
	if wait := u.session.renewing; wait != nil {
		u.mu.Unlock()
		select {
		case <-wait:
		case <-ctx.Done():
		}
		u.mu.Lock()
		defer u.mu.Unlock()
		return !dead()
	}
	initialize, initialized := u.session.initialize, u.session.initialized
	if initialize == nil {
		u.mu.Unlock()
		return false
	}
	done := make(chan struct{})
	u.session.renewing = done
	u.mu.Unlock()

	ok := u.reinitialize(ctx, rt == nil, initialize, initialized)
	u.mu.Lock()
	u.session.renewing = nil
	u.mu.Unlock()
	close(done)
	if ok {
		u.reportFailure("session_renewed", "the session with the server had ended; a new one was begun, and what the old one knew is gone")
	}
	return ok
}

// reinitialize repeats the frames that began the session. The client has had its
// answer; this one is for us.
func (u *Upstream) reinitialize(ctx context.Context, background bool, initialize, initialized []byte) bool {
	f, err := frame.Parse(initialize, u.o.Limits)
	if err != nil {
		return false
	}
	u.mu.Lock()
	old, again := u.session, u.postOwn
	if u.sse != nil {
		again = u.reopenSSE
	}
	u.session.id, u.session.version = "", ""
	u.mu.Unlock()
	rt := newRoundTrip(ctx, f)
	rt.background = background
	defer rt.cancel()
	h, result, err := again(rt)
	u.mu.Lock()
	if err != nil {
		u.session.id, u.session.version = old.id, old.version
		u.mu.Unlock()
		return false
	}
	u.session.setNegotiated(h, result)
	u.mu.Unlock()
	if f, err = frame.Parse(initialized, u.o.Limits); err != nil {
		return initialized == nil
	}
	rt = newRoundTrip(ctx, f)
	defer rt.cancel()
	late := time.AfterFunc(ackTimeout, rt.cancel) // as when the client says it
	defer late.Stop()
	resp, err := u.postOnce(rt)
	if err != nil && (ctx.Err() != nil || rt.ctx.Err() == nil) {
		return false
	}
	if err == nil {
		drainBody(resp.Body)
	}
	u.handleInitialized(initialized)
	return true
}

// postOwn posts a request that the client knows nothing of, and does not wait for ever.
func (u *Upstream) postOwn(rt *roundTrip) (http.Header, []byte, error) {
	late := time.AfterFunc(ackTimeout, rt.cancel)
	defer late.Stop()
	resp, err := u.postOnce(rt)
	if err != nil {
		return nil, nil, err
	}
	defer drainBody(resp.Body)
	result, err := u.ownResult(rt, resp)
	return resp.Header, result, err
}

// deleteSession ends the session at the server, which may not want to know (405).
func (u *Upstream) deleteSession() {
	u.mu.Lock()
	id := u.session.id
	u.mu.Unlock()
	if id == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(u.ctx), closeTimeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodDelete, u.o.URL.String(), nil)
	if err != nil {
		return
	}
	if u.setHeaders(r, era{}) != nil {
		return
	}
	if resp, err := DoRequest(u.http, r); err == nil {
		drainBody(resp.Body)
	}
}
