// Package oauthtest imitates an MCP server that requires a sign-in, and the authorization server
// that it names. Both run in the process of the test.
package oauthtest

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// Server is both servers. A test must set the fields before the first request. If another process
// sends the requests, the test must set them inside Change.
type Server struct {
	URL      string // address of the authorization server; also its issuer
	Resource string // address of the MCP server

	Next     http.Handler                          // handles requests with a valid token; the default answers "welcome"
	Bend     func(path string, doc map[string]any) // changes a metadata document before it is sent
	Returns  func(back url.Values)                 // changes the query with which the browser returns to the client
	Redirect func(path string) string              // returns the address of a redirect with status 307; "" for no redirect
	// Stream imitates a server of version 2024-11-05. It answers POST with status 405, and its
	// event stream requires a token.
	Stream bool
	Evil   string // the answer to a registration at /evil

	Registered, SignedIn, Refreshed atomic.Int64

	t     testing.TB
	mu    sync.Mutex
	state State
	n     int
}

// State is the common state of both servers. A test must change it only inside Change.
type State struct {
	Codes   map[string]url.Values // the authorization request of each code
	Valid   string                // the only valid access token
	Scope   string                // scope of the valid token
	Refresh string
	Lives   int    // lifetime of a token in seconds; 0 means that tokens do not expire
	Needs   string // the scope that a token must have
}

// New starts both servers on one loopback port. They end with the test.
func New(t testing.TB) *Server {
	s := &Server{t: t, state: State{Codes: make(map[string]url.Values)}}
	mux := http.NewServeMux()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.Redirect != nil {
			if to := s.Redirect(r.URL.Path); to != "" {
				http.Redirect(w, r, to, http.StatusTemporaryRedirect)
				return
			}
		}
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	s.URL, s.Resource = server.URL, server.URL+"/mcp"
	mux.HandleFunc("/mcp", s.mcp)
	mux.HandleFunc("/.well-known/oauth-protected-resource/mcp", func(w http.ResponseWriter, r *http.Request) {
		s.document(w, r, map[string]any{"resource": s.Resource, "authorization_servers": []string{s.URL}})
	})
	mux.HandleFunc("/.well-known/oauth-authorization-server", func(w http.ResponseWriter, r *http.Request) {
		s.document(w, r, map[string]any{
			"issuer": s.URL, "authorization_endpoint": s.URL + "/authorize", "token_endpoint": s.URL + "/token",
			"registration_endpoint": s.URL + "/register", "code_challenge_methods_supported": []string{"S256"},
			"response_types_supported": []string{"code"}, "token_endpoint_auth_methods_supported": []string{"none"},
		})
	})
	mux.HandleFunc("/register", s.register)
	mux.HandleFunc("/evil", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, s.Evil)
	})
	mux.HandleFunc("/authorize", s.authorize)
	mux.HandleFunc("/token", s.token)
	return s
}

// Change calls the function do with the common state. The function can read or change the state.
func (s *Server) Change(do func(*State)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	do(&s.state)
}

func (s *Server) document(w http.ResponseWriter, r *http.Request, doc map[string]any) {
	if s.Bend != nil {
		s.Bend(r.URL.Path, doc)
	}
	answer(w, doc)
}

func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

func (s *Server) mcp(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	state := s.state
	s.mu.Unlock()
	metadata := fmt.Sprintf(`resource_metadata="%s/.well-known/oauth-protected-resource/mcp"`, s.URL)
	switch {
	case s.Stream && r.Method == http.MethodPost:
		w.WriteHeader(http.StatusMethodNotAllowed)
	case state.Valid == "" || r.Header.Get("Authorization") != "Bearer "+state.Valid:
		w.Header().Set("WWW-Authenticate", `Bearer scope="read", `+metadata)
		w.WriteHeader(http.StatusUnauthorized)
	case state.Needs != "" && !strings.Contains(state.Scope, state.Needs):
		w.Header().Set("WWW-Authenticate", fmt.Sprintf(`Bearer error="insufficient_scope", scope=%q, `, state.Needs)+metadata)
		w.WriteHeader(http.StatusForbidden)
	case s.Next != nil:
		s.Next.ServeHTTP(w, r)
	default:
		_, _ = io.WriteString(w, "welcome")
	}
}

func (s *Server) register(w http.ResponseWriter, r *http.Request) {
	s.Registered.Add(1)
	var asked map[string]any
	_ = json.NewDecoder(r.Body).Decode(&asked)
	asked["client_id"] = "client-1"
	asked["token_endpoint_auth_method"] = "none"
	w.WriteHeader(http.StatusCreated)
	answer(w, asked)
}

func (s *Server) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	if q.Get("code_challenge_method") != "S256" || q.Get("resource") != s.Resource || q.Get("client_id") == "" {
		s.t.Errorf("asked for a code with %v", q)
	}
	s.mu.Lock()
	s.n++
	code := fmt.Sprintf("code-%d", s.n)
	s.state.Codes[code] = q
	s.mu.Unlock()
	s.SignedIn.Add(1)
	back := url.Values{"code": {code}, "state": {q.Get("state")}}
	if s.Returns != nil {
		s.Returns(back)
	}
	http.Redirect(w, r, q.Get("redirect_uri")+"?"+back.Encode(), http.StatusFound)
}

func (s *Server) token(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.Form.Get("resource") != s.Resource {
		s.t.Errorf("a token was asked for %q", r.Form.Get("resource"))
	}
	switch r.Form.Get("grant_type") {
	case "authorization_code":
		asked := s.state.Codes[r.Form.Get("code")]
		sum := sha256.Sum256([]byte(r.Form.Get("code_verifier")))
		if asked == nil || base64.RawURLEncoding.EncodeToString(sum[:]) != asked.Get("code_challenge") {
			w.WriteHeader(http.StatusBadRequest)
			answer(w, map[string]string{"error": "invalid_grant"})
			return
		}
		s.state.Scope = asked.Get("scope")
	case "refresh_token":
		if s.state.Refresh == "" || r.Form.Get("refresh_token") != s.state.Refresh {
			w.WriteHeader(http.StatusBadRequest)
			answer(w, map[string]string{"error": "invalid_grant", "error_description": "of " + r.Form.Get("refresh_token")})
			return
		}
		s.Refreshed.Add(1)
	}
	s.n++
	s.state.Valid, s.state.Refresh = fmt.Sprintf("token-%d", s.n), fmt.Sprintf("refresh-%d", s.n)
	got := map[string]any{"access_token": s.state.Valid, "token_type": "Bearer", "refresh_token": s.state.Refresh, "scope": s.state.Scope}
	if s.state.Lives > 0 {
		got["expires_in"] = s.state.Lives
	}
	answer(w, got)
}
