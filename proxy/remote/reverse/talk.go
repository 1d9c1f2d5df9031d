package reverse

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/proxy"
	"github.com/clawai/clawai/proxy/remote"
)

// agent is one agent session at one server: its gate, and the memory of the calls
// that no MCP session holds together.
type agent struct {
	gate   Gate
	pump   *proxy.Session // of messages without a session
	tools  remote.Tools
	places places // in streams outside of any session

	used time.Time       // guarded by Server.mu
	busy int             // requests being served; guarded by Server.mu
	kept map[string]bool // headers that do not go on; guarded by Server.mu
}

func (a *agent) close() {
	a.gate.End()
}

// talk is one MCP session (up to 2025-11-25): the ids in it are its own.
type talk struct {
	agent  *agent
	pump   *proxy.Session
	key    string
	seen   replays
	places places

	id, version string    // as the server gave them; guarded by Server.mu
	used        time.Time // guarded by Server.mu
	busy        int       // requests being served; guarded by Server.mu

	// Of the transport of 2024-11-05: the stream that carries the answers, and
	// where messages go.
	stream   *responder
	endpoint *url.URL
	open     context.Context // until the stream ends
}

// agent finds or makes the agent session of a path, and holds it until done.
func (s *Server) agent(at desk) (a *agent, done func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ctx.Err() != nil {
		return nil, nil, http.ErrServerClosed
	}
	s.tidy()
	a = s.desks[at]
	if a == nil {
		if len(s.desks) >= maxTalks {
			return nil, nil, fmt.Errorf("there are %d agent sessions already", maxTalks)
		}
		g, err := s.o.Gate(at.server)
		if err != nil {
			return nil, nil, err
		}
		a = &agent{gate: g, pump: s.pump(g.Session, at.server)}
		s.desks[at] = a
	}
	a.busy++
	return a, func() {
		s.mu.Lock()
		a.busy--
		a.used = time.Now()
		s.mu.Unlock()
	}, nil
}

func (s *Server) pump(g *gate.Session, server string) *proxy.Session {
	return proxy.NewSession(proxy.Options{Gate: g, Name: server, Limits: s.o.Limits, DenyAsError: s.o.DenyAsError})
}

// tidy forgets what nobody has used for long, and looks for it now and then only:
// there may be many. s.mu is held.
func (s *Server) tidy() {
	now := time.Now()
	if now.Sub(s.tidied) < s.o.Idle/64 {
		return
	}
	s.tidied = now
	old := now.Add(-s.o.Idle)
	for key, t := range s.talks {
		if t.used.Before(old) && t.busy == 0 {
			delete(s.talks, key)
		}
	}
	for at, a := range s.desks {
		if a.busy == 0 && a.used.Before(old) {
			delete(s.desks, at)
			s.tasks.Go(a.close)
		}
	}
}

// newTalk is a session that has no id yet.
func (s *Server) newTalk(a *agent, server string) *talk {
	return &talk{agent: a, pump: s.pump(a.gate.Session, server), busy: 1}
}

// keep makes t found by id at this place. Where there are too many, the one that
// was not used for longest goes: its client is told to begin anew.
func (s *Server) keep(at desk, id string, t *talk) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.talks) >= maxTalks && !s.crowdOut() {
		return fmt.Errorf("there are %d sessions already", maxTalks)
	}
	if t.key != "" && s.talks[t.key] == t {
		delete(s.talks, t.key)
	}
	t.key, t.used = talkKey(at, id), time.Now()
	s.talks[t.key] = t
	return nil
}

// opened takes in the answer with which the server began a session.
func (s *Server) opened(t *talk, id, version string) {
	s.mu.Lock()
	t.id, t.version = cmp.Or(id, t.id), cmp.Or(version, t.version)
	s.mu.Unlock()
}

// known is what the server knows a session by; nothing without one.
func (s *Server) known(t *talk) (id, version string) {
	if t == nil {
		return "", ""
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return t.id, t.version
}

// first reports a header of a's client that has not been seen before.
func (s *Server) first(a *agent, header string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if a.kept[header] || len(a.kept) >= maxKept {
		return false
	}
	if a.kept == nil {
		a.kept = make(map[string]bool)
	}
	a.kept[header] = true
	return true
}

// crowdOut forgets the session that was not used for longest. s.mu is held.
func (s *Server) crowdOut() bool {
	var oldest *talk
	for _, t := range s.talks {
		if t.busy == 0 && (oldest == nil || t.used.Before(oldest.used)) {
			oldest = t
		}
	}
	if oldest == nil {
		return false
	}
	delete(s.talks, oldest.key)
	return true
}

// talk finds a session, to be given back with rest; only the path it was opened
// under leads to it.
func (s *Server) talk(at desk, id string) *talk {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.talks[talkKey(at, id)]
	if t != nil {
		t.busy++
	}
	return t
}

// rest notes that a request of a session has been served.
func (s *Server) rest(t *talk) {
	if t == nil {
		return
	}
	s.mu.Lock()
	t.busy--
	t.used = time.Now()
	s.mu.Unlock()
}

func (s *Server) forget(t *talk) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t.key != "" && s.talks[t.key] == t {
		delete(s.talks, t.key)
	}
}

func talkKey(at desk, id string) string { return at.session + "\x00" + at.server + "\x00" + id }

// scope is a word for one request that no other has.
func (s *Server) scope() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.n++
	return strconv.Itoa(s.n) + " "
}
