package remote

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/clawai/clawai/internal/mcp"
	"github.com/clawai/clawai/internal/wire/frame"
)

// session is a client's session with a server of an earlier version than 2026-07-28. Upstream.mu
// guards it.
type session struct {
	id      string
	version string // negotiated version
	// The frames that began the session. They are sent again to begin a new session when the server
	// has forgotten this one. Such a server answers 404, and the client must begin again without
	// the id (MCP 2025-11-25 basic/transports).
	initialize, initialized []byte
	initializing            chan struct{}      // closed when initialize is answered
	listening               bool               // the server's own stream is open or will be opened
	stopListening           context.CancelFunc // ends the server's own stream, after which a new one is opened
	renewing                chan struct{}      // closed when the running renewal has ended; nil if none runs
}

func (s *session) startInitialize(initialize []byte) {
	s.initialize, s.initializing = slices.Clone(initialize), make(chan struct{})
	s.id, s.version = "", ""
}

// finishInitialize releases the messages that wait for initialize.
func (s *session) finishInitialize() {
	if s.initializing != nil {
		close(s.initializing)
		s.initializing = nil
	}
}

// setNegotiated stores the version and the session id from the answer to initialize.
func (s *session) setNegotiated(h http.Header, result []byte) {
	s.version = mcp.NegotiatedVersion(result)
	s.id = SessionID(h)
}

func visibleASCII(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' })
}

// setSessionHeaders sets the headers for the session and the version.
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

// handleInitialized notes that the session is open, and opens the server's own stream. It waits
// until the stream is open: messages that the server sends before that are lost, and some of them may
// be questions to the client about the next call. It waits at most openTimeout, because some
// servers send no header before their first message.
func (u *Upstream) handleInitialized(line []byte) {
	u.mu.Lock()
	first := !u.session.listening && u.sse == nil
	u.session.initialized, u.session.listening = slices.Clone(line), true
	if !first && u.session.stopListening != nil {
		u.session.stopListening() // ended, because this stream belongs to the old session
	}
	u.mu.Unlock()
	if !first {
		return
	}
	opened := newSignal()
	u.startTask(func() { defer opened.fireOnce(); u.keepStreamOpen(opened) })
	select {
	case <-opened.ch:
	case <-time.After(openTimeout):
	case <-u.ctx.Done():
	}
}

// reopenStream opens the server's own stream if the server refused it before. It is called when the
// credentials are new.
func (u *Upstream) reopenStream() {
	u.mu.Lock()
	line, listening := u.session.initialized, u.session.listening
	u.mu.Unlock()
	if line != nil && !listening {
		u.handleInitialized(line)
	}
}

// renewSession begins the session again, because the server has forgotten it or its stream has
// ended. The function dead reports whether this is still so. renewSession calls it while it holds
// u.mu. Only one goroutine renews the session, and the others wait for it. renewSession returns
// true if there is a new session. rt is the request that needs the session, or nil.
func (u *Upstream) renewSession(rt *roundTrip, dead func() bool) bool {
	ctx := u.ctx
	if rt != nil {
		ctx = rt.ctx
	}
	u.mu.Lock()
	if !dead() { // another goroutine has already renewed the session
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

// reinitialize sends the session's first frames again. The client does not get the answer, because
// it already has the answer to its own initialize.
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
	late := time.AfterFunc(ackTimeout, rt.cancel) // the client's own message has the same limit
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

// postOwn posts a request of the proxy itself and returns the result. Its time limit is ackTimeout.
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

// deleteSession asks the server to end the session. The server may refuse this (405).
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
	UseOnce(r) // at the end of ctx, net/http could close the connection under a request of another session
	if resp, err := DoRequest(u.http, r); err == nil {
		drainBody(resp.Body)
	}
}
