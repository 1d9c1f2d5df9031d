package reverse

import (
	"cmp"
	"container/list"
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/wire/frame"
	"github.com/clawai/clawai/proxy/remote"
)

// Options are the parameters of New. Secret, Port and Hosts are required. At least one of Upstreams
// and Local is required. Exactly one of Gate and Invocations is required.
type Options struct {
	Upstreams map[string]remote.Options // remote servers by their name in the path
	Local     map[string]Local          // local servers by their name in the path
	Secret    string                    // first part of every path; must be impossible to guess
	Port      string                    // port on which this server listens
	Hosts     []string                  // names and addresses of this server
	// Gate returns a new gate for an agent session at one server, or for one session of a local
	// server.
	Gate func(server string) (Gate, error)
	// Invocations takes the place of Gate. Then only clients with the path of a running invocation
	// are served.
	Invocations *Invocations

	Pass        []string // client headers to forward in addition to the standard ones; see CheckPassed
	Origins     []string // origins of web pages that may use this server
	Limits      frame.Limits
	DenyAsError bool
	Idle        time.Duration // how long an unused session is kept; default 1 h
	Patience    time.Duration // default 1 min; limits how long a client may take to send or read a message, and how long a server may take to acknowledge a message
	Sessions    int           // maximum number of sessions; default 1,000
}

// Gate is the gate of an agent session. End closes the gate and is called once.
type Gate struct {
	Session *gate.Session
	End     func()
}

// Server serves clients over HTTP. Close ends it.
type Server struct {
	o        Options
	guard    guard
	backends map[string]*backend
	passed   map[string]bool // Options.Pass, as folded names (foldName)
	idle     idleConns
	closed   sync.Once
	lifetime

	callers  sync.Mutex // held while the local session of a caller begins
	adopting sync.Mutex // held while a session of an earlier process is adopted

	mu          sync.Mutex
	agents      map[route]*agentSession
	sessions    map[string]*mcpSession // MCP sessions, by server and session id
	ended       map[string]bool        // ended sessions, by mcpSession.key
	invocations map[string]*invocation
	scopes      int // number of scopes so far; each request without a session gets one

	lastExpiry time.Time // time of the last run of expireIdle
}

// lifetime is the lifetime of the server or of an invocation. It covers the tasks that may last
// longer than their request.
type lifetime struct {
	ctx    context.Context // cancelled while Server.mu is held
	cancel context.CancelFunc
	tasks  sync.WaitGroup
}

// backend is one server that clients can use here.
type backend struct {
	o     remote.Options
	http  *http.Client
	local Local // a server in this process; nil for a remote server
}

// route is the agent session and the server in a path.
type route struct{ session, server string }

// New returns a server for the given upstreams.
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
		idle:        idleConns{peers: make(map[netip.Addr]*list.List), elements: make(map[net.Conn]*list.Element)},
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
		s.backends[name] = &backend{o: up, http: remote.NewClient(up)}
	}
	for name, local := range o.Local {
		if s.backends[name] != nil {
			return nil, fmt.Errorf("two servers are called %q", name)
		}
		s.backends[name] = &backend{http: &http.Client{}, local: local}
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

// ServerPath returns the path of the named server. With invocations the path contains the
// placeholders GROUP and INVOCATION.
func (s *Server) ServerPath(server string) string {
	if s.o.Invocations != nil {
		server = "GROUP/INVOCATION/" + server
	}
	return "/" + s.o.Secret + "/mcp/" + server
}

// ServeHTTP answers one request. The path is /secret/mcp/server, or /secret/mcp/session/server for
// an agent session with its own gate. With invocations the path is always
// /secret/mcp/group/invocation/server. For a server of 2024-11-05, the part after /~ is the
// server's address for messages.
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

// parseRoute parses a path. messagePath is the part after the characters /~. It is "" if the path
// does not have these characters.
func (s *Server) parseRoute(path string) (at route, messagePath string, ok bool) {
	path, messagePath, _ = strings.Cut(path, "/~")
	if messagePath == "" {
		path = strings.TrimSuffix(path, "/") // without the slash that many people add to an address
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

// maxPathName is the maximum length in bytes of a name that a client or the owner chooses for a
// path.
const maxPathName = 128

// isSignInPath reports whether clients look for a sign-in at this path (RFC 9728, RFC 8414) or try
// it by default (MCP 2025-03-26 basic/authorization).
func isSignInPath(path string) bool {
	return strings.HasPrefix(path, "/.well-known/") || path == "/register" || path == "/authorize" || path == "/token"
}

// runTask starts a task. The lifetime ends only after its tasks have ended. runTask returns false
// if the lifetime has ended.
func (s *Server) runTask(in *lifetime, task func()) bool {
	if !s.beginTask(in) {
		return false
	}
	go func() { defer in.tasks.Done(); task() }()
	return true
}

// beginTask counts a task of the lifetime, which ends only after in.tasks.Done is called. It
// returns false if the lifetime has ended.
func (s *Server) beginTask(in *lifetime) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if in.ctx.Err() != nil {
		return false
	}
	in.tasks.Add(1)
	return true
}

// Close ends every session and the requests in progress.
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
		a.gate.End()
	}
	s.tasks.Wait()
	for _, b := range s.backends {
		b.http.CloseIdleConnections()
	}
}
