package oauthtest

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// Kind describes how a common provider differs from others. Each test provider
// is as strict as the one it is named after: it refuses a client's mistakes.
type Kind struct {
	Name     string
	Path     string                     // path of its issuer, with a slash at the end if the provider has one
	Document string                     // its metadata: "oauth" or "openid" (by RFC 8414), "append" (below the issuer), "" for none
	Resource func(server string) string // the resource in the server's metadata; nil: no such metadata
	Hint     bool                       // the challenge names the metadata; otherwise it is at the server's origin
	Status   int                        // status of a request without a token; 0: 401
	Methods  []string                   // token_endpoint_auth_methods_supported; nil: absent
	Client   string                     // how it registers a client: "echo" with the requested auth method, "bare" without a method, "post" or "basic" with a secret; "": not at all
	Issuer   string                     // iss in the answer: "said": also announced in the metadata; "unsaid": not announced; "slash": with one more slash; "": none
	Offline  bool                       // no refresh token without offline_access
	Form     bool                       // tokens are sent as a form
	Scopes   []string                   // scopes_supported of the resource; the challenge has none

	// Bend changes a JSON answer before it is sent: its members, its header or,
	// with a non-nil result, the complete text. path is the path of the
	// request.
	Bend func(path string, header http.Header, doc map[string]any) []byte
}

// Kinds returns eight kinds.
func Kinds() []Kind {
	exact := func(server string) string { return server }
	origin := func(server string) string { u, _ := url.Parse(server); return u.Scheme + "://" + u.Host }
	return []Kind{
		{Name: "google", Path: "/", Document: "openid", Resource: exact, Hint: true, Methods: []string{"client_secret_post", "client_secret_basic"}, Issuer: "unsaid"},
		{Name: "authentik", Path: "/application/o/tools/", Document: "append", Resource: exact, Hint: true, Methods: []string{"client_secret_basic", "client_secret_post"}, Client: "basic", Offline: true},
		{Name: "auth0", Path: "/", Document: "oauth", Resource: func(s string) string { return origin(s) + "/" }, Methods: []string{"client_secret_basic", "client_secret_post", "private_key_jwt"}, Client: "post", Offline: true},
		{Name: "keycloak", Path: "/realms/main", Document: "oauth", Resource: origin, Hint: true, Methods: []string{"private_key_jwt", "client_secret_basic", "none"}, Client: "echo", Issuer: "said", Scopes: []string{"read"}},
		{Name: "workos", Path: "", Document: "oauth", Resource: exact, Hint: true, Methods: []string{"none", "client_secret_post"}, Client: "bare"},
		{Name: "pydantic", Path: "/", Document: "oauth", Resource: func(s string) string { return s + "/" }, Hint: true, Client: "echo", Status: http.StatusForbidden},
		{Name: "github", Path: "/login/oauth", Document: "", Resource: func(s string) string { return strings.TrimSuffix(s, "/mcp") }, Hint: true, Form: true},
		{Name: "workers", Path: "", Document: "oauth", Resource: nil, Methods: []string{"client_secret_basic", "client_secret_post", "none"}, Client: "echo"},
	}
}

// Provider plays one kind: the authorization server, and an MCP server that
// uses it.
type Provider struct {
	Kind
	Server string // the address of the MCP server

	t      testing.TB
	as     *httptest.Server
	mu     sync.Mutex
	state  Played
	codes  map[string]url.Values
	clock  int
	secret string
}

// Played is the state of a provider so far, with settings for what comes next.
type Played struct {
	Pages     []url.Values // the query of each authorization page
	Refreshed int
	Outage    string        // failure of the token endpoint: one of Outages
	Tried     int           // requests to the token endpoint during the outage
	Late      time.Duration // the token endpoint changes the refresh token at once, but answers after this delay
	Lives     int           // lifetime of a token in seconds
	Needs     string        // a scope that the server requires
	Refuses   bool          // the server accepts no token

	access, scope, refresh string
	until                  time.Time
}

// The client that the owner has registered by hand, where the provider has no
// registration.
const (
	OwnedID     = "owned"
	OwnedSecret = "owned-s3cret"
)

// Play starts a provider. It ends with the test.
func Play(t testing.TB, k Kind) *Provider {
	p := &Provider{Kind: k, t: t, codes: make(map[string]url.Values), state: Played{Lives: 3600}, secret: "s3cret"}
	server := httptest.NewServer(http.HandlerFunc(p.resource))
	p.Server = server.URL + "/tools/mcp"
	p.as = server
	if k.Resource != nil { // otherwise the server's origin is its authorization server
		p.as = httptest.NewServer(http.HandlerFunc(p.authorization))
		t.Cleanup(p.as.Close)
	}
	t.Cleanup(server.Close)
	return p
}

// Change reads or changes the state.
func (p *Provider) Change(do func(*Played)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	do(&p.state)
}

// Revoke invalidates every token.
func (p *Provider) Revoke() {
	p.Change(func(s *Played) { s.access, s.refresh = "revoked", "revoked" })
}

func (p *Provider) issuer() string { return p.as.URL + p.Path }

func (p *Provider) base() string { return strings.TrimRight(p.issuer(), "/") }

// named returns the resource that token requests must name.
func (p *Provider) named() string {
	if p.Resource == nil {
		return p.Server
	}
	return p.Resource(p.Server)
}

// resource serves the MCP server and its metadata.
func (p *Provider) resource(w http.ResponseWriter, r *http.Request) {
	const metadata = "/.well-known/oauth-protected-resource"
	switch {
	case r.URL.Path == "/tools/mcp":
		p.serve(w, r, metadata+"/elsewhere")
	case p.Resource != nil && (p.Hint && r.URL.Path == metadata+"/elsewhere" || !p.Hint && r.URL.Path == metadata):
		p.answer(w, r, http.StatusOK, map[string]any{"resource": p.Resource(p.Server), "authorization_servers": []string{p.issuer()}, "scopes_supported": p.Scopes})
	case p.Resource == nil:
		p.authorization(w, r)
	default:
		http.NotFound(w, r)
	}
}

func (p *Provider) serve(w http.ResponseWriter, r *http.Request, metadata string) {
	p.mu.Lock()
	s := p.state
	p.mu.Unlock()
	challenge := "Bearer realm=x"
	if p.Hint && p.Resource != nil {
		challenge = fmt.Sprintf(`Bearer realm=x, resource_metadata="http://%s%s"`, r.Host, metadata)
	}
	bad := s.Refuses || s.access == "" || r.Header.Get("Authorization") != "Bearer "+s.access || time.Now().After(s.until)
	switch {
	case bad && r.Header.Get("Authorization") == "" && p.Status != 0:
		w.Header().Set("WWW-Authenticate", challenge)
		w.WriteHeader(p.Status)
	case bad:
		w.Header().Set("WWW-Authenticate", challenge)
		w.WriteHeader(http.StatusUnauthorized)
	case s.Needs != "" && !slices.Contains(strings.Fields(s.scope), s.Needs):
		w.Header().Set("WWW-Authenticate", fmt.Sprintf(`%s, error="insufficient_scope", scope=%q`, challenge, s.Needs))
		w.WriteHeader(http.StatusForbidden)
	default:
		fmt.Fprint(w, "welcome")
	}
}

// authorization serves the authorization server.
func (p *Provider) authorization(w http.ResponseWriter, r *http.Request) {
	path, inner := r.URL.Path, strings.TrimRight(p.Path, "/")
	documents := map[string]string{
		"oauth": "/.well-known/oauth-authorization-server" + inner, "openid": "/.well-known/openid-configuration" + inner,
		"append": inner + "/.well-known/openid-configuration",
	}
	switch {
	case p.Document != "" && path == documents[p.Document]:
		p.document(w, r)
	case path == inner+"/register" && p.Client != "":
		p.register(w, r)
	case path == inner+"/authorize":
		p.authorize(w, r)
	case path == inner+"/token" && r.Method == http.MethodPost:
		p.token(w, r)
	default:
		http.NotFound(w, r)
	}
}

func (p *Provider) document(w http.ResponseWriter, r *http.Request) {
	doc := map[string]any{
		"issuer": p.issuer(), "authorization_endpoint": p.base() + "/authorize", "token_endpoint": p.base() + "/token",
		"code_challenge_methods_supported": []string{"S256"}, "response_types_supported": []string{"code"},
	}
	if p.Client != "" {
		doc["registration_endpoint"] = p.base() + "/register"
	}
	if p.Methods != nil {
		doc["token_endpoint_auth_methods_supported"] = p.Methods
	}
	if p.Issuer == "said" {
		doc["authorization_response_iss_parameter_supported"] = true
	}
	if p.Offline {
		doc["scopes_supported"] = []string{"read", "offline_access"}
	}
	p.answer(w, r, http.StatusOK, doc)
}

func (p *Provider) register(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Method    string   `json:"token_endpoint_auth_method"`
		Redirects []string `json:"redirect_uris"`
	}
	if json.NewDecoder(r.Body).Decode(&asked) != nil || asked.Method == "" || len(p.Methods) > 0 && !slices.Contains(p.Methods, asked.Method) {
		p.answer(w, r, http.StatusBadRequest, map[string]any{"error": "invalid_client_metadata"})
		return
	}
	got := map[string]any{"client_id": "registered", "redirect_uris": asked.Redirects}
	switch p.Client {
	case "echo":
		got["token_endpoint_auth_method"] = asked.Method
	case "post":
		got["token_endpoint_auth_method"], got["client_secret"] = "client_secret_post", p.secret
	case "basic":
		got["token_endpoint_auth_method"], got["client_secret"] = "client_secret_basic", p.secret
	}
	p.answer(w, r, http.StatusCreated, got)
}

func (p *Provider) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	if q.Get("code_challenge_method") != "S256" || q.Get("resource") != p.named() || q.Get("response_type") != "code" {
		p.t.Errorf("%s: a page was asked %v", p.Name, q)
	}
	p.mu.Lock()
	code := fmt.Sprintf("code-%d", len(p.codes))
	p.codes[code] = q
	p.state.Pages = append(p.state.Pages, q)
	p.mu.Unlock()
	back := url.Values{"code": {code}, "state": {q.Get("state")}}
	switch p.Issuer {
	case "":
	case "slash":
		back.Set("iss", p.issuer()+"/")
	default:
		back.Set("iss", p.issuer())
	}
	http.Redirect(w, r, q.Get("redirect_uri")+"?"+back.Encode(), http.StatusFound)
}

// knows checks the client's authentication.
func (p *Provider) knows(r *http.Request) bool {
	id, secret, basic := r.BasicAuth()
	if !basic {
		id, secret = r.PostForm.Get("client_id"), r.PostForm.Get("client_secret")
	}
	switch p.Client {
	case "":
		return id == OwnedID && secret == OwnedSecret
	case "basic":
		return basic && id == "registered" && secret == p.secret
	case "post":
		return !basic && id == "registered" && secret == p.secret
	default: // a public client
		return r.Header.Get("Authorization") == "" && id == "registered" && secret == ""
	}
}

func (p *Provider) token(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	p.mu.Lock()
	s := &p.state
	if how := s.Outage; how != "" {
		s.Tried++
		p.mu.Unlock()
		p.failToken(w, r, how)
		return
	}
	defer p.mu.Unlock()
	refuse := func(status int, code string) { p.answer(w, r, status, map[string]any{"error": code}) }
	switch {
	case !p.knows(r):
		p.t.Errorf("%s: the client was not known: %v, Authorization %q", p.Name, r.PostForm, r.Header.Get("Authorization"))
		refuse(http.StatusUnauthorized, "invalid_client")
		return
	case r.PostForm.Get("resource") != p.named():
		p.t.Errorf("%s: a token was asked for %q, want %q", p.Name, r.PostForm.Get("resource"), p.named())
		refuse(http.StatusBadRequest, "invalid_target")
		return
	}
	switch r.PostForm.Get("grant_type") {
	case "authorization_code":
		asked := p.codes[r.PostForm.Get("code")]
		delete(p.codes, r.PostForm.Get("code"))
		sum := sha256.Sum256([]byte(r.PostForm.Get("code_verifier")))
		if asked == nil || base64.RawURLEncoding.EncodeToString(sum[:]) != asked.Get("code_challenge") || r.PostForm.Get("redirect_uri") != asked.Get("redirect_uri") {
			refuse(http.StatusBadRequest, "invalid_grant")
			return
		}
		p.codes[""] = nil // a code is known by its number
		s.scope = asked.Get("scope")
	default:
		if s.refresh == "" || r.PostForm.Get("refresh_token") != s.refresh {
			refuse(http.StatusBadRequest, "invalid_grant")
			return
		}
		s.Refreshed++
	}
	p.clock++
	s.access, s.until = fmt.Sprintf("token-%d", p.clock), time.Now().Add(time.Duration(s.Lives)*time.Second)
	s.refresh = fmt.Sprintf("refresh-%d", p.clock) // each is valid once
	if p.Offline && !slices.Contains(strings.Fields(s.scope), "offline_access") {
		s.refresh = ""
	}
	got := map[string]any{"access_token": s.access, "token_type": "Bearer", "expires_in": s.Lives, "scope": s.scope}
	if s.refresh != "" {
		got["refresh_token"] = s.refresh
	}
	time.Sleep(s.Late)
	if p.Form {
		form := url.Values{}
		for name, v := range got {
			form.Set(name, fmt.Sprint(v))
		}
		w.Header().Set("Content-Type", "application/x-www-form-urlencoded")
		fmt.Fprint(w, form.Encode())
		return
	}
	p.answer(w, r, http.StatusOK, got)
}

// answer sends doc as JSON, changed by the kind's Bend.
func (p *Provider) answer(w http.ResponseWriter, r *http.Request, status int, doc map[string]any) {
	w.Header().Set("Content-Type", "application/json")
	var whole []byte
	if p.Bend != nil {
		whole = p.Bend(r.URL.Path, w.Header(), doc)
	}
	w.WriteHeader(status)
	if whole == nil {
		_ = json.NewEncoder(w).Encode(doc)
		return
	}
	_, _ = w.Write(whole)
}

// outageAnswer is the answer of a failing token endpoint, or of something in
// front of it.
type outageAnswer struct {
	status     int
	kind, text string
}

// outageAnswers holds the answers by name.
var outageAnswers = map[string]outageAnswer{
	"status":       {http.StatusServiceUnavailable, "application/json", `{"error":"invalid_client"}`}, // the endpoint has lost its own store
	"page":         {http.StatusOK, "text/html", "<html>welcome to the hotel</html>"},                 // from a network that requires its own sign-in
	"moved":        {http.StatusNotFound, "text/html", "<html>nothing is here</html>"},
	"filter":       {http.StatusBadRequest, "text/html", "<html>nothing is here</html>"},
	"not found":    {http.StatusNotFound, "application/json", `{"timestamp":1,"status":404,"error":"Not Found","path":"/token"}`},
	"unknown code": {http.StatusNotFound, "application/json", `{"error":"not_found"}`},
	"forbidden":    {http.StatusForbidden, "application/json", `{"status":403,"error":"Forbidden"}`},
	"crowd":        {http.StatusForbidden, "application/json", `{"error":"rate_limit_exceeded"}`},
	"bad request":  {http.StatusBadRequest, "application/json", `{"status":400,"error":"Bad Request"}`},
	"plain":        {http.StatusBadRequest, "text/plain", "Bad Request"},
	"empty":        {http.StatusBadRequest, "", ""},
	"gateway":      {http.StatusUnauthorized, "", ""},
	"object":       {http.StatusBadRequest, "application/json", `{"error":{"code":"invalid_grant"}}`},
}

// Outages returns the names of the failures of a token endpoint, and whether a
// retry may get another answer.
func Outages() map[string]bool {
	all := map[string]bool{"hang-up": true, "status": true, "page": true}
	for name := range outageAnswers {
		if _, again := all[name]; !again {
			all[name] = false
		}
	}
	return all
}

// failToken plays a failing token endpoint. With "silence" it does not answer.
func (p *Provider) failToken(w http.ResponseWriter, r *http.Request, how string) {
	switch how {
	case "hang-up":
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			p.t.Error(err)
			return
		}
		_ = conn.Close()
	case "silence":
		<-r.Context().Done()
	default:
		plays := outageAnswers[how]
		w.Header()["Content-Type"] = nil
		if plays.kind != "" {
			w.Header().Set("Content-Type", plays.kind)
		}
		w.WriteHeader(plays.status)
		fmt.Fprint(w, plays.text)
	}
}
