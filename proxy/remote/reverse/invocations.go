package reverse

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/clawai/clawai/internal/wire/frame"
)

// Invocations configures invocations: separate runs of an owner's agents behind one Server. An
// invocation has the path /secret/mcp/group/invocation, in which the owner chooses the last two
// names. A PUT to this path with the owner's token begins the invocation, and a DELETE ends it. The
// clients of the invocation use the servers below this path. All the clients of an invocation share
// one state. Two invocations share nothing.
type Invocations struct {
	Token string // at least 16 characters, sent as Authorization: Bearer
	// Begin begins the invocation with the name "group/invocation". It is called while a lock is
	// held, so it must not block.
	Begin func(name string) (Invocation, error)
}

// Invocation makes the gates of one invocation. End discards their shared state. It is called once,
// after all the gates are closed.
type Invocation struct {
	Gate func(server string) (Gate, error)
	End  func()
}

// invocation is a running invocation.
type invocation struct {
	Invocation
	lifetime
	requests sync.WaitGroup
	over     chan struct{} // closed when the invocation has ended completely

	active   int       // number of requests that are being served; guarded by Server.mu
	lastUsed time.Time // guarded by Server.mu
}

var errNoInvocation = errors.New("there is no such invocation, or it has ended")

// countRequest and uncountRequest count the requests that an invocation is serving. They do nothing
// on nil. The caller holds s.mu.
func (in *invocation) countRequest() {
	if in != nil {
		in.active++
		in.requests.Add(1)
	}
}

func (in *invocation) uncountRequest(now time.Time) {
	if in != nil {
		in.active--
		in.lastUsed = now
		in.requests.Done()
	}
}

// refuseInvocation refuses a request because its invocation does not run. The answer has the id of
// the request, because otherwise the client would ignore the error.
func (rh *requestHandler) refuseInvocation() {
	var id []byte
	if rh.r.Method == http.MethodPost {
		line, ok := rh.readMessage()
		if !ok {
			return
		}
		if f, err := frame.Parse(line, rh.s.o.Limits); err == nil && f.Kind == frame.Request {
			id = f.ID
		}
	}
	rh.refuseMessage(http.StatusNotFound, id, -32600, "There is no such invocation, or it has ended; its owner begins one.")
}

// isOwner reports whether a request has the owner's token.
func (s *Server) isOwner(r *http.Request) bool {
	said := r.Header.Values("Authorization")
	if s.o.Invocations == nil || len(said) != 1 {
		return false
	}
	token, ok := strings.CutPrefix(said[0], "Bearer ")
	return ok && secretEqual(token, s.o.Invocations.Token)
}

// parseInvocation returns the "group/invocation" in the path of an invocation. It does not check
// these names.
func (s *Server) parseInvocation(path string) (name string, ok bool) {
	parts := strings.Split(strings.TrimPrefix(path, "/"), "/")
	if s.o.Invocations == nil || len(parts) != 4 || !secretEqual(parts[0], s.o.Secret) || parts[1] != "mcp" {
		return "", false
	}
	return parts[2] + "/" + parts[3], true
}

// serveOwner begins or ends an invocation for the owner.
func (s *Server) serveOwner(w http.ResponseWriter, r *http.Request, name string) {
	if !s.isOwner(r) {
		w.Header().Set("Www-Authenticate", "Bearer")
		writeRefusal(w, http.StatusUnauthorized, "The owner's token begins and ends invocations: Authorization: Bearer TOKEN.")
		return
	}
	for part := range strings.SplitSeq(name, "/") {
		if !isPathName(part) || len(part) > maxPathName {
			writeRefusal(w, http.StatusBadRequest, "The names of a group and of an invocation are letters, digits, - and _ and ., at most 128 and not dots alone.")
			return
		}
	}
	switch r.Method {
	case http.MethodPut:
		if status, why := s.beginInvocation(name); why != "" {
			writeRefusal(w, status, why)
			return
		}
		w.WriteHeader(http.StatusCreated)
	case http.MethodDelete:
		over := s.endInvocation(name)
		if over == nil {
			writeRefusal(w, http.StatusNotFound, "There is no such invocation, or it has ended.")
			return
		}
		select {
		case <-over:
			w.WriteHeader(http.StatusNoContent)
		case <-r.Context().Done():
		}
	default:
		w.Header().Set("Allow", "PUT, DELETE")
		writeRefusal(w, http.StatusMethodNotAllowed, "PUT begins an invocation, DELETE ends it.")
	}
}

// beginInvocation begins an invocation. After a failure it returns an HTTP status and the reason.
func (s *Server) beginInvocation(name string) (status int, why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ctx.Err() != nil {
		return http.StatusServiceUnavailable, "clawai is about to end."
	}
	s.expireIdle()
	switch {
	case s.invocations[name] != nil:
		return http.StatusConflict, "There is such an invocation already."
	case len(s.invocations) >= s.o.Sessions:
		return http.StatusServiceUnavailable, "There are as many invocations as there can be; end one."
	}
	its, err := s.o.Invocations.Begin(name)
	if err != nil {
		return http.StatusServiceUnavailable, "The invocation cannot begin; clawai's record may say why."
	}
	run := &invocation{Invocation: its, over: make(chan struct{}), lastUsed: time.Now()}
	run.ctx, run.cancel = context.WithCancel(s.ctx)
	s.invocations[name] = run
	return 0, ""
}

// endInvocation ends an invocation. The channel over is closed when the end is complete. The
// channel is nil if there is no such invocation.
func (s *Server) endInvocation(name string) (over <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	run := s.invocations[name]
	if run == nil {
		return nil
	}
	s.dropInvocation(name, run)
	return run.over
}

// dropInvocation removes an invocation and cancels its work. It discards the invocation's state
// after the work has ended. The caller holds s.mu, and the server is not closed.
func (s *Server) dropInvocation(name string, run *invocation) {
	delete(s.invocations, name)
	run.cancel()
	for key, sess := range s.sessions {
		if sess.agent.in == &run.lifetime {
			delete(s.sessions, key)
			sess.endLocal()
		}
	}
	var agents []*agentSession
	for at, a := range s.agents {
		if a.in == &run.lifetime {
			delete(s.agents, at)
			agents = append(agents, a)
		}
	}
	s.tasks.Go(func() {
		run.requests.Wait()
		run.tasks.Wait()
		for _, a := range agents {
			a.gate.End()
		}
		run.End()
		close(run.over)
	})
}

// hasShare reports whether an invocation has as many MCP sessions as its share allows. Then its
// next session must replace one of its own. The caller holds s.mu.
func (s *Server) hasShare(in *lifetime) bool {
	if in == &s.lifetime {
		return false
	}
	n := 0
	for _, sess := range s.sessions {
		if sess.agent.in == in {
			n++
		}
	}
	return n >= max(1, s.o.Sessions/10)
}
