package oauthtest

import (
	"crypto"
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

// ProviderKind describes how one real provider differs from others. The imitated provider is as
// strict as the real one, so it also refuses the same mistakes of a client.
type ProviderKind struct {
	Name string
	Path string // path of the issuer; it ends with a slash if the real provider's path does
	// Document says where the metadata are: "oauth" or "openid" (RFC 8414), or "append" (below the
	// issuer). It is "" if there are no metadata.
	Document string
	// Resource returns the value of the member resource in the MCP server's metadata. It is nil if
	// the server has no such metadata.
	Resource func(server string) string
	// Hint says that the challenge contains the address of the MCP server's metadata. Without it, a
	// client must look for them at the server's origin.
	Hint    bool
	Status  int      // status of the answer to a request without a token; 0 means 401
	Methods []string // value of token_endpoint_auth_methods_supported; nil if it is absent
	// Client says how the provider registers a client: "echo" repeats the requested auth method,
	// "bare" names no method, "post" and "basic" give a secret. It is "" if the provider registers
	// no clients.
	Client string
	// Issuer says whether the authorization answer has the parameter iss. With "said" the metadata
	// announce it, with "unsaid" they do not, and with "slash" its value has an extra slash at the
	// end. It is "" if there is no iss.
	Issuer  string
	Offline bool     // the provider gives no refresh token without the scope offline_access
	Form    bool     // the token endpoint answers with a form instead of JSON
	Scopes  []string // scopes_supported of the resource; the challenge has no scopes
	// Device is the name of the member with the page's address in the answer for a device code. It
	// is "" if the provider has no device codes.
	Device   string
	Audience string   // the audience that assertions must have: "issuer" or "token"
	NoTarget bool     // the provider refuses the parameter resource
	Unlisted bool     // the metadata do not say that the provider supports PKCE
	Fixed    bool     // the provider sends browsers only to Played.Callback
	Allows   []string // scopes that a client may get; nil for all
	Polite   bool     // the provider refuses with HTTP status 200

	// Bend can change the members and the header of a JSON answer before it is sent. If its result
	// is not nil, the result is sent instead of the members. path is the path of the request.
	Bend func(path string, header http.Header, doc map[string]any) []byte
}

// Kinds returns one kind for each real provider.
func Kinds() []ProviderKind {
	exact := func(server string) string { return server }
	origin := func(server string) string { u, _ := url.Parse(server); return u.Scheme + "://" + u.Host }
	const uri, google = "verification_uri", "verification_url"
	return []ProviderKind{
		{Name: "google", Path: "/", Document: "openid", Resource: exact, Hint: true, Methods: []string{"client_secret_post", "client_secret_basic"}, Issuer: "unsaid", Device: google, Audience: "token"},
		{Name: "authentik", Path: "/application/o/tools/", Document: "append", Resource: exact, Hint: true, Methods: []string{"client_secret_basic", "client_secret_post"}, Client: "basic", Offline: true, Device: uri, Audience: "issuer"},
		{Name: "auth0", Path: "/", Document: "oauth", Resource: func(s string) string { return origin(s) + "/" }, Methods: []string{"client_secret_basic", "client_secret_post", "private_key_jwt"}, Client: "post", Offline: true, Device: uri, Audience: "issuer"},
		{Name: "keycloak", Path: "/realms/main", Document: "oauth", Resource: origin, Hint: true, Methods: []string{"private_key_jwt", "client_secret_basic", "none"}, Client: "echo", Issuer: "said", Scopes: []string{"read"}, Device: uri, Audience: "issuer"},
		{Name: "workos", Path: "", Document: "oauth", Resource: exact, Hint: true, Methods: []string{"none", "client_secret_post"}, Client: "bare", Device: uri, Audience: "issuer"},
		{Name: "pydantic", Path: "/", Document: "oauth", Resource: func(s string) string { return s + "/" }, Hint: true, Client: "echo", Status: http.StatusForbidden, Audience: "issuer"},
		{Name: "github", Path: "/login/oauth", Document: "", Resource: func(s string) string { return strings.TrimSuffix(s, "/mcp") }, Hint: true, Form: true, Polite: true, Audience: "issuer"},
		{Name: "workers", Path: "", Document: "oauth", Resource: nil, Methods: []string{"client_secret_basic", "client_secret_post", "none"}, Client: "echo", Audience: "issuer"},
		{Name: "entra", Path: "/tenant/v2.0", Document: "append", Resource: exact, Hint: true, Methods: []string{"client_secret_post", "private_key_jwt", "client_secret_basic"}, Offline: true, Unlisted: true, NoTarget: true, Device: uri, Audience: "token", Allows: []string{"api://tools/use", "api://tools/.default", "write"}},
		{Name: "okta", Path: "/oauth2/default", Document: "oauth", Resource: exact, Hint: true, Methods: []string{"client_secret_basic", "client_secret_post", "private_key_jwt", "none"}, Offline: true, Device: uri, Audience: "token", Fixed: true, Scopes: []string{"read"}},
		{Name: "slack", Path: "", Document: "oauth", Resource: origin, Hint: true, Methods: []string{"client_secret_post"}, Fixed: true, Polite: true, Audience: "issuer"},
		{Name: "salesforce", Path: "", Document: "oauth", Resource: exact, Hint: true, Methods: []string{"client_secret_post", "client_secret_basic", "private_key_jwt"}, Fixed: true, Audience: "issuer", Scopes: []string{"mcp_api", "refresh_token"}},
		{Name: "atlassian", Path: "", Document: "oauth", Resource: nil, Methods: []string{"client_secret_basic", "client_secret_post", "none"}, Client: "echo", Offline: true, Audience: "issuer"},
	}
}

// FindKind returns the kind with this name. It panics if there is none.
func FindKind(name string) ProviderKind {
	all := Kinds()
	return all[slices.IndexFunc(all, func(k ProviderKind) bool { return k.Name == name })]
}

// Provider imitates a real provider. It consists of an authorization server, and of an MCP server
// that uses it.
type Provider struct {
	ProviderKind
	Server string       // address of the MCP server
	Next   http.Handler // handles requests with a valid token; the default answers "welcome"

	t      testing.TB
	as     *httptest.Server
	mu     sync.Mutex
	state  Played
	codes  map[string]url.Values
	clock  int
	secret string

	trusted crypto.PublicKey
	used    map[string]bool // the used assertions, by their jti
}

// Played is the state of a provider. A test can also set fields that control the next answers.
type Played struct {
	Pages     []url.Values // the query of each request for the authorization page
	Refreshed int
	Outage    string // name of the outage (see Outages) that the token endpoint has now; "" for none
	Tried     int    // number of requests to the token endpoint during the outage
	// Late delays the answer of the token endpoint. The endpoint replaces the refresh token before
	// this delay.
	Late     time.Duration
	Lives    int    // lifetime of a token in seconds
	Needs    string // a scope that the MCP server requires
	Refuses  bool   // the MCP server refuses every token
	Bare     bool   // requests must not name a resource, as an owner can demand in the settings
	Callback string // the only address to which browsers are sent; "" for any address
	// the error code that ends the wait for a device code; "" if the owner of the account enters
	// the code
	Ends    string
	Pending []string     // error codes for the first polls with the device code
	Online  bool         // the provider refuses the scope offline_access
	Granted []url.Values // the form of each request for which a token was issued
	Devices int          // number of requests for a device code

	access, scope, refresh string
	until                  time.Time
}

// The id and the secret of a client that the owner has registered by hand. They are for providers
// that do not register clients themselves.
const (
	OwnedID     = "owned"
	OwnedSecret = "owned-s3cret"
)

// Play starts a provider on loopback servers. The servers end with the test.
func Play(t testing.TB, k ProviderKind) *Provider { return PlayOn(t, k, httptest.NewServer) }

// PlayOn is like Play, but it calls the function start to start each server.
func PlayOn(t testing.TB, k ProviderKind, start func(http.Handler) *httptest.Server) *Provider {
	p := &Provider{ProviderKind: k, t: t, codes: make(map[string]url.Values), state: Played{Lives: 3600}, secret: "s3cret"}
	server := start(http.HandlerFunc(p.resource))
	p.Server = server.URL + "/tools/mcp"
	p.as = server
	if k.Resource != nil { // without this metadata, the authorization server is at the MCP server's origin
		p.as = start(http.HandlerFunc(p.authorization))
		t.Cleanup(p.as.Close)
	}
	t.Cleanup(server.Close)
	return p
}

// Change calls the function do with the state. The function may read or change the state.
func (p *Provider) Change(do func(*Played)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	do(&p.state)
}

// Revoke makes all tokens invalid.
func (p *Provider) Revoke() {
	p.Change(func(s *Played) { s.access, s.refresh = "revoked", "revoked" })
}

// Issued returns the issuer of the authorization server.
func (p *Provider) Issued() string { return p.issuer() }

func (p *Provider) issuer() string { return p.as.URL + p.Path }

func (p *Provider) base() string { return strings.TrimRight(p.issuer(), "/") }

// named returns the resource that requests for tokens must name.
func (p *Provider) named() string {
	if p.Resource == nil {
		return p.Server
	}
	return p.Resource(p.Server)
}

// resource handles requests to the MCP server, also those for its metadata.
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
		scheme := "http"
		if r.TLS != nil {
			scheme = "https"
		}
		challenge = fmt.Sprintf(`Bearer realm=x, resource_metadata="%s://%s%s"`, scheme, r.Host, metadata)
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
	case p.Next != nil:
		p.Next.ServeHTTP(w, r)
	default:
		fmt.Fprint(w, "welcome")
	}
}

// authorization handles the requests to the authorization server.
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
	case path == inner+"/device" && p.Device != "" && r.Method == http.MethodPost:
		p.device(w, r)
	case path == inner+"/token" && r.Method == http.MethodPost:
		p.token(w, r)
	default:
		http.NotFound(w, r)
	}
}

func (p *Provider) document(w http.ResponseWriter, r *http.Request) {
	doc := map[string]any{
		"issuer": p.issuer(), "authorization_endpoint": p.base() + "/authorize", "token_endpoint": p.base() + "/token",
		"response_types_supported": []string{"code"},
	}
	if !p.Unlisted {
		doc["code_challenge_methods_supported"] = []string{"S256"}
	}
	if p.Device != "" {
		doc["device_authorization_endpoint"] = p.base() + "/device"
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
	if q.Get("code_challenge_method") != "S256" || q.Get("response_type") != "code" {
		p.t.Errorf("%s: a page was asked %v", p.Name, q)
	}
	p.mu.Lock()
	code := fmt.Sprintf("code-%d", len(p.codes))
	p.codes[code] = q
	p.state.Pages = append(p.state.Pages, q)
	s := p.state
	p.mu.Unlock()
	if (p.Fixed || s.Callback != "") && q.Get("redirect_uri") != s.Callback {
		w.WriteHeader(http.StatusBadRequest) // an error, so the browser does not return to the client
		return
	}
	back := url.Values{"code": {code}, "state": {q.Get("state")}}
	if refused := p.refuseTerms(q, s); refused != "" {
		back = url.Values{"error": {refused}, "state": {q.Get("state")}}
	}
	switch p.Issuer {
	case "":
	case "slash":
		back.Set("iss", p.issuer()+"/")
	default:
		back.Set("iss", p.issuer())
	}
	http.Redirect(w, r, q.Get("redirect_uri")+"?"+back.Encode(), http.StatusFound)
}

// refuseTerms returns the error code for a request with a wrong resource or wrong scopes, or "" if
// the provider accepts both.
func (p *Provider) refuseTerms(form url.Values, s Played) string {
	switch {
	case p.NoTarget && form.Has("resource"):
		return "invalid_target"
	case p.NoTarget || s.Bare:
		if form.Has("resource") {
			p.t.Errorf("%s: the resource was named, and the owner wants none: %v", p.Name, form)
		}
	case form.Get("resource") != p.named():
		p.t.Errorf("%s: asked for %q, want %q", p.Name, form.Get("resource"), p.named())
		return "invalid_target"
	}
	for _, scope := range strings.Fields(form.Get("scope")) {
		if scope == "offline_access" && s.Online || scope != "offline_access" && p.Allows != nil && !slices.Contains(p.Allows, scope) {
			return "invalid_scope"
		}
	}
	return ""
}

// device handles a request for a device code.
func (p *Provider) device(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.knows(r) {
		p.refuse(w, r, http.StatusUnauthorized, "invalid_client")
		return
	}
	if refused := p.refuseTerms(r.PostForm, p.state); refused != "" {
		p.refuse(w, r, http.StatusBadRequest, refused)
		return
	}
	p.state.Devices++
	p.state.scope = r.PostForm.Get("scope")
	p.answer(w, r, http.StatusOK, map[string]any{
		"device_code": fmt.Sprintf("device-%d", p.state.Devices), "user_code": "WDJB-MJHT", p.Device: p.base() + "/enter",
		"verification_uri_complete": p.base() + "/enter?user_code=WDJB-MJHT", "expires_in": 600, "interval": 1,
	})
}

// refuse writes an answer with an error code.
func (p *Provider) refuse(w http.ResponseWriter, r *http.Request, status int, code string) {
	if p.Polite {
		status = http.StatusOK
	}
	p.answer(w, r, status, map[string]any{"error": code})
}

// knows reports whether the client's authentication is valid.
func (p *Provider) knows(r *http.Request) bool {
	id, secret, basic := r.BasicAuth()
	if !basic {
		id, secret = r.PostForm.Get("client_id"), r.PostForm.Get("client_secret")
	}
	switch {
	case r.PostForm.Has("client_assertion"):
		audience := map[string]string{"issuer": p.issuer(), "token": p.base() + "/token"}[p.Audience]
		return id == OwnedID && secret == "" && p.verifyAssertion(r.PostForm, audience)
	case id == OwnedID:
		return secret == OwnedSecret
	}
	switch p.Client {
	case "basic":
		return basic && id == "registered" && secret == p.secret
	case "post":
		return !basic && id == "registered" && secret == p.secret
	default: // a client without a secret
		return p.Client != "" && r.Header.Get("Authorization") == "" && id == "registered" && secret == ""
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
	switch {
	case !p.knows(r):
		// A client may send an assertion for the other audience first, and then repeat the request
		// with the same code. So this is not a mistake of the client.
		if !r.PostForm.Has("client_assertion") {
			p.t.Errorf("%s: the client was not known: %v, Authorization %q", p.Name, r.PostForm, r.Header.Get("Authorization"))
		}
		p.refuse(w, r, http.StatusUnauthorized, "invalid_client")
		return
	case p.refuseTerms(r.PostForm, p.state) != "":
		p.refuse(w, r, http.StatusBadRequest, p.refuseTerms(r.PostForm, p.state))
		return
	}
	grant := r.PostForm.Get("grant_type")
	switch grant {
	case "authorization_code":
		asked := p.codes[r.PostForm.Get("code")]
		delete(p.codes, r.PostForm.Get("code"))
		sum := sha256.Sum256([]byte(r.PostForm.Get("code_verifier")))
		if asked == nil || base64.RawURLEncoding.EncodeToString(sum[:]) != asked.Get("code_challenge") || r.PostForm.Get("redirect_uri") != asked.Get("redirect_uri") {
			p.refuse(w, r, http.StatusBadRequest, "invalid_grant")
			return
		}
		p.codes[""] = nil // this entry increases len(p.codes), so that the next code is not code-0 again
		s.scope = asked.Get("scope")
	case "urn:ietf:params:oauth:grant-type:device_code":
		code := s.Ends
		if len(s.Pending) > 0 {
			code, s.Pending = s.Pending[0], s.Pending[1:]
		}
		if r.PostForm.Get("device_code") != fmt.Sprintf("device-%d", s.Devices) {
			code = "invalid_grant"
		}
		if code != "" {
			p.refuse(w, r, http.StatusBadRequest, code)
			return
		}
	case "client_credentials":
		s.scope = r.PostForm.Get("scope")
	default:
		if s.refresh == "" || r.PostForm.Get("refresh_token") != s.refresh {
			p.refuse(w, r, http.StatusBadRequest, "invalid_grant")
			return
		}
		s.Refreshed++
	}
	s.Granted = append(s.Granted, r.PostForm)
	p.clock++
	s.access, s.until = fmt.Sprintf("token-%d", p.clock), time.Now().Add(time.Duration(s.Lives)*time.Second)
	s.refresh = fmt.Sprintf("refresh-%d", p.clock) // each refresh token is valid once
	if grant == "client_credentials" || p.Offline && !slices.Contains(strings.Fields(s.scope), "offline_access") {
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

// answer writes doc as JSON. Before that, Bend can change it.
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

// outageAnswer is the answer of a token endpoint that fails, or of a proxy in front of it.
type outageAnswer struct {
	status     int
	kind, text string
}

// outageAnswers has the answers, by the name of the outage.
var outageAnswers = map[string]outageAnswer{
	// Here the database of the endpoint has failed.
	"status": {http.StatusServiceUnavailable, "application/json", `{"error":"invalid_client"}`},
	// A network that requires its own sign-in sends this page.
	"page":         {http.StatusOK, "text/html", "<html>welcome to the hotel</html>"},
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

// Outages returns the names of the outages. The value is true if a later attempt can succeed.
func Outages() map[string]bool {
	all := map[string]bool{"hang-up": true, "status": true, "page": true}
	for name := range outageAnswers {
		if _, again := all[name]; !again {
			all[name] = false
		}
	}
	return all
}

// failToken answers like a token endpoint during an outage. The parameter how is the name of the
// outage. For "silence" it gives no answer.
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
