package reverse

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/wire/frame"
	"github.com/clawai/clawai/proxy/remote"
)

// Options of New. Upstreams or Local, and the next four, are required.
type Options struct {
	Upstreams map[string]remote.Options // by the name that stands in the path
	Local     map[string]Local          // likewise
	Secret    string                    // the first part of every path; nobody can guess it
	Port      string                    // that this server listens on
	Hosts     []string                  // the names and addresses it is reached by
	// Gate makes the gate of one agent session at one server, and of each session of a local one.
	Gate func(server string) (Gate, error)
	// Invocations, in place of Gate, lets nobody in who does not name one of them.
	Invocations *Invocations

	Pass        []string // headers of clients that go on besides those that always do; see CheckPassed
	Origins     []string // of web pages that may use it
	Limits      frame.Limits
	DenyAsError bool
	Idle        time.Duration // how long a session nobody uses is kept; default 1 h
	Patience    time.Duration // how long a client may take to send a message, or to read one of a local server, and a server to acknowledge one; default 1 min
	Sessions    int           // how many are kept; default 1,000
}

// Gate is what an agent session passes. End, called once, closes it.
type Gate struct {
	Session *gate.Session
	End     func()
}

// Server answers clients. Close ends it.
type Server struct {
	o        Options
	guard    guard
	backends map[string]*backend
	passed   map[string]bool // by plain name
	idle     idle
	closed   sync.Once
	lifetime

	callers  sync.Mutex // held while the local session of a caller begins
	adopting sync.Mutex // held while a session of an earlier process is taken up

	mu          sync.Mutex
	agents      map[route]*agentSession
	sessions    map[string]*mcpSession // by server and session id
	ended       map[string]bool        // sessions that were ended, by their key
	invocations map[string]*invocation
	scopes      int // requests so far: the scope of those without a session

	lastExpiry time.Time // see expireIdle
}

// lifetime is that of the server, or of an invocation: of everything in it that outlives a
// request.
type lifetime struct {
	ctx    context.Context // its end is guarded by Server.mu
	cancel context.CancelFunc
	tasks  sync.WaitGroup
}

// backend is one server behind this one.
type backend struct {
	name  string
	o     remote.Options
	http  *http.Client
	local Local // in place of an address
}

// route is what a path names: an agent session and a server.
type route struct{ session, server string }

// New makes a server for the given upstreams.
func New(o Options) (*Server, error) {
	switch {
	case len(o.Upstreams)+len(o.Local) == 0:
		return nil, errors.New("no server to forward to")
	case len(o.Secret) < 16:
		return nil, errors.New("the path needs a secret of at least 16 characters")
	case (o.Gate == nil) == (o.Invocations == nil):
		return nil, errors.New("a gate is required, or invocations that have them")
	case o.Invocations != nil && len(o.Invocations.Token) < 16:
		return nil, errors.New("the owner's token has at least 16 characters")
	}
	if o.Limits == (frame.Limits{}) {
		o.Limits = frame.DefaultLimits()
	}
	o.Idle = cmp.Or(o.Idle, time.Hour)
	o.Sessions = cmp.Or(o.Sessions, 1000)
	o.Patience = cmp.Or(o.Patience, time.Minute)
	s := &Server{
		o: o, guard: guard{hosts: o.Hosts, origins: o.Origins, port: o.Port},
		backends: make(map[string]*backend), agents: make(map[route]*agentSession), sessions: make(map[string]*mcpSession), ended: make(map[string]bool),
		invocations: make(map[string]*invocation),
	}
	for _, origin := range o.Origins {
		if err := CheckOrigin(origin); err != nil {
			return nil, err
		}
	}
	s.passed = make(map[string]bool, len(o.Pass))
	for _, name := range o.Pass {
		if err := CheckPassed(name); err != nil {
			return nil, err
		}
		s.passed[foldName(name)] = true
	}
	for name, up := range o.Upstreams {
		if err := remote.CheckURL(up.URL); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		s.backends[name] = &backend{name: name, o: up, http: remote.NewClient(up)}
	}
	for name, local := range o.Local {
		if s.backends[name] != nil {
			return nil, fmt.Errorf("two servers are called %q", name)
		}
		s.backends[name] = &backend{name: name, http: &http.Client{}, local: local}
	}
	for name := range s.backends {
		if !isPathName(name) {
			return nil, fmt.Errorf("%q cannot stand in a path: a name has letters, digits, - and _", name)
		}
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	if len(o.Local) > 0 || o.Invocations != nil {
		s.tasks.Go(s.expireSessions)
	}
	return s, nil
}

func isPathName(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_' && r != '.'
	}) && strings.Trim(name, ".") != ""
}

// ServerPath gives where the named server is reached; with invocations, GROUP and INVOCATION stand for
// one.
func (s *Server) ServerPath(server string) string {
	if s.o.Invocations != nil {
		server = "GROUP/INVOCATION/" + server
	}
	return "/" + s.o.Secret + "/mcp/" + server
}

// ServeHTTP answers one request: /secret/mcp/server, or /secret/mcp/session/server
// for an agent session with a gate of its own, or, where the owner has invocations,
// /secret/mcp/group/invocation/server and nothing else; what follows /~ is the address
// that a server of 2024-11-05 gave for messages.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	if status, why := s.guard.checkRequest(r); why != "" {
		writeRefusal(w, status, why)
		return
	}
	if name, ok := s.parseInvocation(r.URL.EscapedPath()); ok {
		s.serveOwner(w, r, name)
		return
	}
	named := s.guard.allowOrigin(h, r)
	route, messagePath, ok := s.parseRoute(r.URL.EscapedPath())
	if !ok {
		why := "There is no MCP server here."
		if isSignInPath(r.URL.Path) {
			why = "A client cannot sign in here; the owner signs in with: " + signInWith + "."
		}
		writeRefusal(w, http.StatusNotFound, why)
		return
	}
	if named && answerPreflight(w, r) {
		return
	}
	if s.isOwner(r) {
		writeRefusal(w, http.StatusForbidden, "The owner's token begins and ends invocations; no server is to see it.")
		return
	}
	rh := &requestHandler{s: s, w: w, r: r, route: route, backend: s.backends[route.server], messagePath: messagePath}
	switch r.Method {
	case http.MethodPost:
		rh.handlePost()
	case http.MethodGet:
		rh.handleGet()
	case http.MethodDelete:
		rh.handleDelete()
	default:
		h.Set("Allow", "GET, POST, DELETE")
		writeRefusal(w, http.StatusMethodNotAllowed, "MCP uses GET, POST and DELETE.")
	}
}

// parseRoute reads a path; messagePath begins with / and is not empty for a message address.
func (s *Server) parseRoute(path string) (at route, messagePath string, ok bool) {
	path, messagePath, _ = strings.Cut(path, "/~")
	if messagePath == "" {
		path = strings.TrimSuffix(path, "/") // which many write behind an address
	}
	parts := strings.Split(strings.TrimPrefix(path, "/"), "/")
	fewest, most := 3, 4
	if s.o.Invocations != nil {
		fewest, most = 5, 5
	}
	if len(parts) < fewest || len(parts) > most || !secretEqual(parts[0], s.o.Secret) || parts[1] != "mcp" {
		return route{}, "", false
	}
	last := len(parts) - 1
	for _, name := range parts[2:last] {
		if !isPathName(name) || len(name) > maxPathName {
			return route{}, "", false
		}
	}
	at = route{session: strings.Join(parts[2:last], "/"), server: parts[last]}
	return at, messagePath, s.backends[at.server] != nil
}

// maxPathName is how long what a client or an owner puts into a path may be, in bytes.
const maxPathName = 128

// isSignInPath reports a path at which a client looks for a sign-in (RFC 9728, RFC 8414),
// or which it supposes when it has found none (MCP 2025-03-26 basic/authorization).
func isSignInPath(path string) bool {
	return strings.HasPrefix(path, "/.well-known/") || path == "/register" || path == "/authorize" || path == "/token"
}

// runTask begins a task that the end of a lifetime waits for.
func (s *Server) runTask(in *lifetime, task func()) bool {
	if !s.beginTask(in) {
		return false
	}
	go func() { defer in.tasks.Done(); task() }()
	return true
}

// beginTask keeps the end waiting until tasks.Done; false when it has begun.
func (s *Server) beginTask(in *lifetime) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if in.ctx.Err() != nil {
		return false
	}
	in.tasks.Add(1)
	return true
}

// Close ends every session. Requests still being served end with it.
func (s *Server) Close() { s.closed.Do(s.closeSessions) }

func (s *Server) closeSessions() {
	s.mu.Lock()
	for name, run := range s.invocations {
		s.dropInvocation(name, run)
	}
	s.cancel()
	agents := slices.Collect(maps.Values(s.agents))
	s.mu.Unlock()
	for _, a := range agents {
		a.closeGate()
	}
	s.tasks.Wait()
	for _, b := range s.backends {
		b.http.CloseIdleConnections()
	}
}
