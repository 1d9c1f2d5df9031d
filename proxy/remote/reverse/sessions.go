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

// agentSession is the use of one server by one agent. It holds the gate and the state of calls
// without an MCP session.
type agentSession struct {
	gate       Gate
	makes      func(server string) (Gate, error) // makes a gate for a session of a local server
	in         *lifetime                         // the lifetime of the server or of the invocation
	pump       *proxy.Session                    // proxy session for messages without an MCP session
	tools      remote.Tools
	sentEvents eventIDs // ids of events in streams without an MCP session

	lastUsed time.Time       // guarded by Server.mu
	active   int             // number of requests that are being served; guarded by Server.mu
	withheld map[string]bool // names of dropped headers that are on record; guarded by Server.mu
}

// mcpSession is one MCP session (up to 2025-11-25). Sessions do not share request ids.
type mcpSession struct {
	agent      *agentSession
	pump       *proxy.Session
	key        string // result of sessionKey; "" until addSession
	replays    replays
	sentEvents eventIDs

	id, version string       // as set by the server; guarded by Server.mu
	lastUsed    time.Time    // guarded by Server.mu
	active      int          // number of requests that are being served; guarded by Server.mu
	streams     atomic.Int32 // number of open streams for the server's own messages

	// Only for the transport of 2024-11-05: stream carries the answers, and endpoint is the
	// server's address for messages.
	stream   *responder
	endpoint *url.URL
	open     context.Context // ends when the stream ends

	adopted bool // the session began before this process did

	local *localSession // the local server of the session; nil for a remote server
}

// endLocal closes the input of the local server of a removed session. It does not wait until the
// server has ended.
func (m *mcpSession) endLocal() {
	if m.local != nil {
		_ = m.local.in.Close()
	}
}

// acquireAgent finds or creates the agent session of a path. The agent session stays in use until
// the function done is called.
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
		if run == nil && len(s.agents) >= s.o.Sessions { // no limit for an invocation, which has only one agent session for each server
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

// expireIdle removes the sessions, agent sessions and invocations that were unused for
// Options.Idle. There may be many of them, so it searches only if at least Options.Idle/64 has
// passed since the last search. The caller holds s.mu.
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

// expireSessions removes idle sessions even if no request comes. This is needed because sessions of
// local servers have processes.
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

// newSession returns a session that has no id yet.
func (s *Server) newSession(a *agentSession, server string) *mcpSession {
	return &mcpSession{agent: a, pump: s.newPump(a.gate.Session, server), active: 1}
}

// addSession stores sess under this id and route. If there are too many sessions, it removes the
// least recently used session of the same lifetime. The client of the removed session must
// initialize again.
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

// noSession is the answer to a message with an unknown session id.
const noSession = "there is no such session; initialize anew"

// resumeSession finds the session with this id. If there is none, the session may be from before
// this process began. Then the function begin opens the session again, because many clients do not
// initialize again after a 404. This function is not called for a session that has ended or that is
// known under another path. It is never called if Options.Invocations is set, because an invocation
// and its sessions end with the process.
func (rh *requestHandler) resumeSession(id string, begin func() *mcpSession) bool {
	s := rh.s
	if rh.session = s.acquireSession(rh.route, id); rh.session != nil {
		return true
	}
	s.adopting.Lock() // held, so that a stream and a call at the same time get the same session
	defer s.adopting.Unlock()
	if rh.session = s.acquireSession(rh.route, id); rh.session == nil && s.o.Invocations == nil && !s.knowsSession(rh.route.server, id) {
		rh.session = begin()
	}
	return rh.session != nil
}

// findRemote finds the session of a remote server. It adopts an unknown session, because the server
// may still have it. If the server does not have it, the server answers 404.
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

// knowsSession reports whether this process has or had a session with this server and id, under any
// path.
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

// setSessionInfo stores the id and the version of a session. An empty id or version changes
// nothing.
func (s *Server) setSessionInfo(sess *mcpSession, id, version string) {
	s.mu.Lock()
	sess.id, sess.version = cmp.Or(id, sess.id), cmp.Or(version, sess.version)
	s.mu.Unlock()
}

// sessionInfo returns the id and the version of a session. Both are "" for a nil session.
func (s *Server) sessionInfo(sess *mcpSession) (id, version string) {
	if sess == nil {
		return "", ""
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return sess.id, sess.version
}

// firstWithheld notes a dropped header of agent session a. It returns true if the header is new.
// After maxWithheld headers it notes no more and returns false.
func (s *Server) firstWithheld(a *agentSession, header string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if a.withheld[header] || len(a.withheld) >= maxWithheld {
		return false
	}
	a.withheld[header] = true
	return true
}

// evictOldest removes the least recently used session of a lifetime. It returns false if all of
// them are in use. The caller holds s.mu.
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

// forgetSession removes a session that is not in use. A local server ends with its session. A
// remote server may keep the session. The caller holds s.mu.
func (s *Server) forgetSession(key string, sess *mcpSession) {
	delete(s.sessions, key)
	if sess.local != nil {
		s.noteEnded(key)
	}
	sess.endLocal()
}

// noteEnded remembers that a session has ended, so that it is not begun again. The caller holds
// s.mu.
func (s *Server) noteEnded(key string) {
	if len(s.ended) >= maxEnded {
		clear(s.ended)
	}
	s.ended[key] = true
}

// acquireSession returns the session with this route and id, or nil. The caller releases it with
// releaseSession.
func (s *Server) acquireSession(route route, id string) *mcpSession {
	s.mu.Lock()
	defer s.mu.Unlock()
	sess := s.sessions[sessionKey(route, id)]
	if sess != nil {
		sess.active++
	}
	return sess
}

// releaseSession notes that a request of the session is over.
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

// maxEnded is how many ended sessions are remembered.
const maxEnded = 10_000

func sessionKey(route route, id string) string {
	return route.session + "\x00" + route.server + "\x00" + id
}

// newScope returns a new scope, which no other request has.
func (s *Server) newScope() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.scopes++
	return strconv.Itoa(s.scopes) + " "
}
