package reverse

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/proxy"
	"github.com/clawai/clawai/proxy/remote"
)

// agentSession is an agent's use of one server: its gate, and the memory of the calls
// that no MCP session holds together.
type agentSession struct {
	gate       Gate
	makes      func(server string) (Gate, error) // a gate of a session of a local server
	in         *lifetime
	pump       *proxy.Session // of messages without a session
	tools      remote.Tools
	sentEvents eventIDs // in streams outside of any session

	lastUsed time.Time       // guarded by Server.mu
	active   int             // requests being served; guarded by Server.mu
	withheld map[string]bool // headers that do not go on; guarded by Server.mu
}

func (a *agentSession) closeGate() {
	a.gate.End()
}

// mcpSession is one MCP session (up to 2025-11-25): the ids in it are its own.
type mcpSession struct {
	agent      *agentSession
	pump       *proxy.Session
	key        string
	replays    replays
	sentEvents eventIDs

	id, version string    // as the server gave them; guarded by Server.mu
	lastUsed    time.Time // guarded by Server.mu
	active      int       // requests being served; guarded by Server.mu
	streams     int       // that its client has opened for what the server says unasked; guarded by Server.mu

	// Of the transport of 2024-11-05: the stream that carries the answers, and
	// where messages go.
	stream   *responder
	endpoint *url.URL
	open     context.Context // until the stream ends

	adopted bool // it began before this process did

	local *localSession // of a local server; nil for another
}

// endLocal ends what serves a session that nobody finds any more.
func (m *mcpSession) endLocal() {
	if m.local != nil {
		m.local.endInput()
	}
}

// acquireAgent finds or makes the agent session of a path, and holds it until done.
func (s *Server) acquireAgent(route route) (a *agentSession, done func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ctx.Err() != nil {
		return nil, nil, http.ErrServerClosed
	}
	s.expireIdle()
	in, makes := &s.lifetime, s.o.Gate
	run := s.invocations[route.session]
	switch {
	case run != nil:
		in, makes = &run.lifetime, run.Gate
	case s.o.Invocations != nil:
		return nil, nil, errNoInvocation
	}
	a = s.agents[route]
	if a == nil {
		if run == nil && len(s.agents) >= s.o.Sessions { // an invocation has one for each server
			return nil, nil, fmt.Errorf("there are %d agent sessions already", s.o.Sessions)
		}
		g, err := makes(route.server)
		if err != nil {
			return nil, nil, err
		}
		a = &agentSession{gate: g, makes: makes, in: in, pump: s.newPump(g.Session, route.server)}
		s.agents[route] = a
	}
	a.active++
	run.countRequest()
	return a, func() {
		s.mu.Lock()
		a.active--
		a.lastUsed = time.Now()
		run.uncountRequest(a.lastUsed)
		s.mu.Unlock()
	}, nil
}

func (s *Server) newPump(g *gate.Session, server string) *proxy.Session {
	return proxy.NewSession(proxy.Options{Gate: g, Name: server, Limits: s.o.Limits, DenyAsError: s.o.DenyAsError})
}

// expireIdle forgets what nobody has used for long, and looks for it now and then only:
// there may be many. s.mu is held.
func (s *Server) expireIdle() {
	now := time.Now()
	if now.Sub(s.lastExpiry) < s.o.Idle/64 {
		return
	}
	s.lastExpiry = now
	old := now.Add(-s.o.Idle)
	for key, sess := range s.sessions {
		if sess.lastUsed.Before(old) && sess.active == 0 {
			s.forgetSession(key, sess)
		}
	}
	for route, a := range s.agents {
		if a.active == 0 && a.lastUsed.Before(old) {
			delete(s.agents, route)
			a.in.tasks.Go(a.closeGate)
		}
	}
	for name, run := range s.invocations {
		if run.active == 0 && run.lastUsed.Before(old) {
			s.dropInvocation(name, run)
		}
	}
}

// expireSessions ends idle sessions while nobody comes: those of local servers have processes.
func (s *Server) expireSessions() {
	look := time.NewTicker(max(s.o.Idle/64, time.Millisecond))
	defer look.Stop()
	for {
		select {
		case <-look.C:
			s.mu.Lock()
			if s.ctx.Err() == nil {
				s.expireIdle()
			}
			s.mu.Unlock()
		case <-s.ctx.Done():
			return
		}
	}
}

// newSession gives a session that has no id yet.
func (s *Server) newSession(a *agentSession, server string) *mcpSession {
	return &mcpSession{agent: a, pump: s.newPump(a.gate.Session, server), active: 1}
}

// addSession makes sess found by id on this route. Where there are too many, the one of
// the same lifetime that was not used for longest goes: its client is told to begin anew.
func (s *Server) addSession(route route, id string, sess *mcpSession) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	in := sess.agent.in
	if in.ctx.Err() != nil {
		return errNoInvocation
	}
	if (len(s.sessions) >= s.o.Sessions || s.hasShare(in)) && !s.evictOldest(in) {
		return errors.New("there are too many sessions already")
	}
	if sess.key != "" && s.sessions[sess.key] == sess {
		delete(s.sessions, sess.key)
	}
	sess.key, sess.lastUsed = sessionKey(route, id), time.Now()
	s.sessions[sess.key] = sess
	return nil
}

// adoptSession takes up a session that began before this process did: its server may know it
// still, and says so if not. Many clients do not begin anew when they are told that a session
// is gone. One that another path has led to is that path's; invocations end with their
// process, and so do the sessions in them.
func (rh *requestHandler) adoptSession(id string) bool {
	s := rh.s
	s.adopting.Lock() // a stream and a call that come together are of one session
	defer s.adopting.Unlock()
	if rh.session = s.acquireSession(rh.route, id); rh.session != nil {
		return true
	}
	if s.o.Invocations != nil || rh.backend.local != nil || remote.SessionID(rh.r.Header) != id || id == "" || s.knowsSession(rh.route.server, id) {
		return false
	}
	sess := s.newSession(rh.agent, rh.route.server)
	sess.adopted = true
	s.setSessionInfo(sess, id, rh.r.Header.Get("Mcp-Protocol-Version"))
	if s.addSession(rh.route, id, sess) != nil {
		return false
	}
	rh.session = sess
	return true
}

// knowsSession reports a session of this server by this id, under whatever path, also one that
// has ended.
func (s *Server) knowsSession(server, id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	behind := "\x00" + server + "\x00" + id
	for key := range s.sessions {
		if strings.HasSuffix(key, behind) {
			return true
		}
	}
	for key := range s.ended {
		if strings.HasSuffix(key, behind) {
			return true
		}
	}
	return false
}

// setSessionInfo takes in the answer with which the server began a session.
func (s *Server) setSessionInfo(sess *mcpSession, id, version string) {
	s.mu.Lock()
	sess.id, sess.version = cmp.Or(id, sess.id), cmp.Or(version, sess.version)
	s.mu.Unlock()
}

// sessionInfo gives what the server knows a session by; nothing without one.
func (s *Server) sessionInfo(sess *mcpSession) (id, version string) {
	if sess == nil {
		return "", ""
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return sess.id, sess.version
}

// firstWithheld reports a header of a's client that has not been seen before.
func (s *Server) firstWithheld(a *agentSession, header string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if a.withheld[header] || len(a.withheld) >= maxWithheld {
		return false
	}
	if a.withheld == nil {
		a.withheld = make(map[string]bool)
	}
	a.withheld[header] = true
	return true
}

// evictOldest forgets the session of a lifetime that was not used for longest. s.mu is held.
func (s *Server) evictOldest(in *lifetime) bool {
	var oldest *mcpSession
	for _, sess := range s.sessions {
		if sess.agent.in == in && sess.active == 0 && (oldest == nil || sess.lastUsed.Before(oldest.lastUsed)) {
			oldest = sess
		}
	}
	if oldest == nil {
		return false
	}
	s.forgetSession(oldest.key, oldest)
	return true
}

// forgetSession ends a session that nobody uses. A remote server may know it still; a local one has
// ended with it. s.mu is held.
func (s *Server) forgetSession(key string, sess *mcpSession) {
	delete(s.sessions, key)
	if sess.local != nil {
		s.noteEnded(key)
	}
	sess.endLocal()
}

// noteEnded remembers that a session is not begun again. s.mu is held.
func (s *Server) noteEnded(key string) {
	if len(s.ended) >= maxEnded {
		clear(s.ended)
	}
	s.ended[key] = true
}

// acquireSession finds a session, to be given back with releaseSession; only the path it was opened
// under leads to it.
func (s *Server) acquireSession(route route, id string) *mcpSession {
	s.mu.Lock()
	defer s.mu.Unlock()
	sess := s.sessions[sessionKey(route, id)]
	if sess != nil {
		sess.active++
	}
	return sess
}

// beginListening notes that the client reads the session's own stream, until done.
func (s *Server) beginListening(sess *mcpSession) (done func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sess.streams++
	return func() {
		s.mu.Lock()
		sess.streams--
		s.mu.Unlock()
	}
}

// hasListener reports a session whose client reads its own stream.
func (s *Server) hasListener(sess *mcpSession) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return sess.streams > 0
}

// releaseSession notes that a request of a session has been served.
func (s *Server) releaseSession(sess *mcpSession) {
	if sess == nil {
		return
	}
	s.mu.Lock()
	sess.active--
	sess.lastUsed = time.Now()
	s.mu.Unlock()
}

func (s *Server) removeSession(sess *mcpSession) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if sess.key != "" && s.sessions[sess.key] == sess {
		delete(s.sessions, sess.key)
		s.noteEnded(sess.key)
	}
	sess.endLocal()
}

// maxEnded is how many sessions that have ended are remembered.
const maxEnded = 10_000

func sessionKey(route route, id string) string {
	return route.session + "\x00" + route.server + "\x00" + id
}

// newScope gives a word for one request that no other has.
func (s *Server) newScope() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.scopes++
	return strconv.Itoa(s.scopes) + " "
}
