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
	"sync/atomic"
	"time"

	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/proxy"
	"github.com/clawai/clawai/proxy/remote"
)

// agentSession is an agent's use of one server: its gate, and the state of calls outside MCP
// sessions.
type agentSession struct {
	gate       Gate
	makes      func(server string) (Gate, error) // makes the gate of a session of a local server
	in         *lifetime                         // lifetime of the server or of the invocation
	pump       *proxy.Session                    // for messages without a session
	tools      remote.Tools
	sentEvents eventIDs // in streams without a session

	lastUsed time.Time       // guarded by Server.mu
	active   int             // number of requests being served; guarded by Server.mu
	withheld map[string]bool // recorded names of dropped headers; guarded by Server.mu
}

// mcpSession is one MCP session (up to 2025-11-25). Its request ids are separate from those of
// other sessions.
type mcpSession struct {
	agent      *agentSession
	pump       *proxy.Session
	key        string // sessionKey; "" until addSession
	replays    replays
	sentEvents eventIDs

	id, version string       // as the server set them; guarded by Server.mu
	lastUsed    time.Time    // guarded by Server.mu
	active      int          // requests being served; guarded by Server.mu
	streams     atomic.Int32 // number of open streams of the client for server messages

	// For the transport of 2024-11-05: the stream that carries the answers, and the address for
	// messages.
	stream   *responder
	endpoint *url.URL
	open     context.Context // ends with the stream

	adopted bool // the session began before this process

	local *localSession // set for a local server
}

// endLocal closes the input of the local server of a removed session. It does not wait.
func (m *mcpSession) endLocal() {
	if m.local != nil {
		_ = m.local.in.Close()
	}
}

// acquireAgent finds or makes the agent session of a path, and keeps it in use until done is
// called.
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
		if run == nil && len(s.agents) >= s.o.Sessions { // an invocation has only one agent session for each server
			return nil, nil, fmt.Errorf("there are %d agent sessions already", s.o.Sessions)
		}
		g, err := makes(route.server)
		if err != nil {
			return nil, nil, err
		}
		a = &agentSession{gate: g, makes: makes, in: in, pump: s.newPump(g.Session, route.server), withheld: map[string]bool{}}
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

// expireIdle removes the sessions, agent sessions and invocations that were not used for
// Options.Idle. It searches only now and then, because there may be many entries. s.mu is held.
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
			a.in.tasks.Go(a.gate.End)
		}
	}
	for name, run := range s.invocations {
		if run.active == 0 && run.lastUsed.Before(old) {
			s.dropInvocation(name, run)
		}
	}
}

// expireSessions removes idle sessions also when no request comes, because sessions of local
// servers have processes.
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

// newSession returns a session without an id.
func (s *Server) newSession(a *agentSession, server string) *mcpSession {
	return &mcpSession{agent: a, pump: s.newPump(a.gate.Session, server), active: 1}
}

// addSession registers sess under this id and route. If there are too many sessions, it removes
// the least recently used one of the same lifetime; that client must initialize again.
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

// noSession is the answer to a message with the id of no session.
const noSession = "there is no such session; initialize anew"

// resumeSession finds the session with this id. For a session from before this process it calls
// begin: many clients do not initialize again when they get a 404. A session that is known under
// another path, or has ended, is not begun again. With Options.Invocations no session is begun
// again, because an invocation and its sessions end with the process.
func (rh *requestHandler) resumeSession(id string, begin func() *mcpSession) bool {
	s := rh.s
	if rh.session = s.acquireSession(rh.route, id); rh.session != nil {
		return true
	}
	s.adopting.Lock() // a stream and a call at the same time must get the same session
	defer s.adopting.Unlock()
	if rh.session = s.acquireSession(rh.route, id); rh.session == nil && s.o.Invocations == nil && !s.knowsSession(rh.route.server, id) {
		rh.session = begin()
	}
	return rh.session != nil
}

// findRemote finds the session of a remote server, or adopts it: the server may still have it, and
// answers 404 otherwise.
func (rh *requestHandler) findRemote(id string) bool {
	if rh.resumeSession(id, func() *mcpSession {
		if remote.SessionID(rh.r.Header) != id || id == "" {
			return nil
		}
		sess := rh.s.newSession(rh.agent, rh.route.server)
		sess.adopted = true
		rh.s.setSessionInfo(sess, id, rh.r.Header.Get("Mcp-Protocol-Version"))
		if rh.s.addSession(rh.route, id, sess) != nil {
			return nil
		}
		return sess
	}) {
		return true
	}
	rh.refuseRequest(http.StatusNotFound, noSession)
	return false
}

// knowsSession reports whether this server has or had a session with this id, under any path.
func (s *Server) knowsSession(server, id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	suffix := "\x00" + server + "\x00" + id
	for key := range s.sessions {
		if strings.HasSuffix(key, suffix) {
			return true
		}
	}
	for key := range s.ended {
		if strings.HasSuffix(key, suffix) {
			return true
		}
	}
	return false
}

// setSessionInfo stores the id and the version of a session from the server's answer.
func (s *Server) setSessionInfo(sess *mcpSession, id, version string) {
	s.mu.Lock()
	sess.id, sess.version = cmp.Or(id, sess.id), cmp.Or(version, sess.version)
	s.mu.Unlock()
}

// sessionInfo returns the server's id and version of a session; both are "" without a session.
func (s *Server) sessionInfo(sess *mcpSession) (id, version string) {
	if sess == nil {
		return "", ""
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return sess.id, sess.version
}

// firstWithheld reports whether this dropped header is new for the agent session a, and notes it.
func (s *Server) firstWithheld(a *agentSession, header string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if a.withheld[header] || len(a.withheld) >= maxWithheld {
		return false
	}
	a.withheld[header] = true
	return true
}

// evictOldest removes the least recently used session of a lifetime. s.mu is held.
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

// forgetSession removes an unused session. A remote server may still have it; a local server ends
// with it. s.mu is held.
func (s *Server) forgetSession(key string, sess *mcpSession) {
	delete(s.sessions, key)
	if sess.local != nil {
		s.noteEnded(key)
	}
	sess.endLocal()
}

// noteEnded remembers that a session has ended and must not be reopened. s.mu is held.
func (s *Server) noteEnded(key string) {
	if len(s.ended) >= maxEnded {
		clear(s.ended)
	}
	s.ended[key] = true
}

// acquireSession returns the session that was opened under this path and id, or nil.
// releaseSession releases it.
func (s *Server) acquireSession(route route, id string) *mcpSession {
	s.mu.Lock()
	defer s.mu.Unlock()
	sess := s.sessions[sessionKey(route, id)]
	if sess != nil {
		sess.active++
	}
	return sess
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

// maxEnded is the number of ended sessions that are remembered.
const maxEnded = 10_000

func sessionKey(route route, id string) string {
	return route.session + "\x00" + route.server + "\x00" + id
}

// newScope returns a scope that no other request has.
func (s *Server) newScope() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.scopes++
	return strconv.Itoa(s.scopes) + " "
}
