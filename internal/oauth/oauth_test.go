package oauth_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/oauth"
)

// world is a resource server and its authorization server in one.
type world struct {
	t      testing.TB
	server *httptest.Server

	mu       sync.Mutex
	codes    map[string]url.Values // by code: what was asked for
	valid    string                // the access token that is good now
	scope    string                // of that token
	refresh  string
	n        int
	lives    int // seconds a token lives; 0: it does not expire
	needs    string
	resource string
	says     string // what the metadata calls it

	registered, signedIn, refreshed atomic.Int64
}

func newWorld(t testing.TB) *world {
	w := &world{t: t, codes: make(map[string]url.Values)}
	mux := http.NewServeMux()
	w.server = httptest.NewServer(mux)
	w.resource = w.server.URL + "/mcp"
	w.says = w.resource
	t.Cleanup(w.server.Close)
	mux.HandleFunc("/mcp", w.mcp)
	mux.HandleFunc("/.well-known/oauth-protected-resource/mcp", func(rw http.ResponseWriter, _ *http.Request) {
		answer(rw, map[string]any{"resource": w.says, "authorization_servers": []string{w.server.URL}})
	})
	mux.HandleFunc("/.well-known/oauth-authorization-server", func(rw http.ResponseWriter, _ *http.Request) {
		answer(rw, map[string]any{
			"issuer": w.server.URL, "authorization_endpoint": w.server.URL + "/authorize", "token_endpoint": w.server.URL + "/token",
			"registration_endpoint": w.server.URL + "/register", "code_challenge_methods_supported": []string{"S256"},
			"response_types_supported": []string{"code"}, "token_endpoint_auth_methods_supported": []string{"none"},
		})
	})
	mux.HandleFunc("/register", func(rw http.ResponseWriter, r *http.Request) {
		w.registered.Add(1)
		var asked map[string]any
		_ = json.NewDecoder(r.Body).Decode(&asked)
		asked["client_id"] = "client-1"
		asked["token_endpoint_auth_method"] = "none"
		rw.WriteHeader(http.StatusCreated)
		answer(rw, asked)
	})
	mux.HandleFunc("/authorize", w.authorize)
	mux.HandleFunc("/token", w.token)
	return w
}

func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

func (w *world) mcp(rw http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	metadata := fmt.Sprintf(`resource_metadata="%s/.well-known/oauth-protected-resource/mcp"`, w.server.URL)
	switch {
	case w.valid == "" || r.Header.Get("Authorization") != "Bearer "+w.valid:
		rw.Header().Set("WWW-Authenticate", `Bearer scope="read", `+metadata)
		rw.WriteHeader(http.StatusUnauthorized)
	case w.needs != "" && !strings.Contains(w.scope, w.needs):
		rw.Header().Set("WWW-Authenticate", fmt.Sprintf(`Bearer error="insufficient_scope", scope=%q, `, w.needs)+metadata)
		rw.WriteHeader(http.StatusForbidden)
	default:
		_, _ = io.WriteString(rw, "welcome")
	}
}

func (w *world) authorize(rw http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	if q.Get("code_challenge_method") != "S256" || q.Get("resource") != w.resource || q.Get("client_id") == "" {
		w.t.Errorf("asked for a code with %v", q)
	}
	w.mu.Lock()
	w.n++
	code := fmt.Sprintf("code-%d", w.n)
	w.codes[code] = q
	w.mu.Unlock()
	w.signedIn.Add(1)
	http.Redirect(rw, r, q.Get("redirect_uri")+"?"+url.Values{"code": {code}, "state": {q.Get("state")}}.Encode(), http.StatusFound)
}

func (w *world) token(rw http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	w.mu.Lock()
	defer w.mu.Unlock()
	if r.Form.Get("resource") != w.resource {
		w.t.Errorf("a token was asked for %q", r.Form.Get("resource"))
	}
	switch r.Form.Get("grant_type") {
	case "authorization_code":
		asked := w.codes[r.Form.Get("code")]
		sum := sha256.Sum256([]byte(r.Form.Get("code_verifier")))
		if asked == nil || base64.RawURLEncoding.EncodeToString(sum[:]) != asked.Get("code_challenge") {
			rw.WriteHeader(http.StatusBadRequest)
			answer(rw, map[string]string{"error": "invalid_grant"})
			return
		}
		w.scope = asked.Get("scope")
	case "refresh_token":
		if w.refresh == "" || r.Form.Get("refresh_token") != w.refresh {
			rw.WriteHeader(http.StatusBadRequest)
			answer(rw, map[string]string{"error": "invalid_grant", "error_description": "of " + r.Form.Get("refresh_token")})
			return
		}
		w.refreshed.Add(1)
	}
	w.n++
	w.valid, w.refresh = fmt.Sprintf("token-%d", w.n), fmt.Sprintf("refresh-%d", w.n)
	got := map[string]any{"access_token": w.valid, "token_type": "Bearer", "refresh_token": w.refresh, "scope": w.scope}
	if w.lives > 0 {
		got["expires_in"] = w.lives
	}
	answer(rw, got)
}

// client is a new process of the owner's.
func (w *world) client(dir string, bend func(*oauth.Options)) *oauth.Client {
	address, err := url.Parse(w.server.URL + "/mcp")
	if err != nil {
		w.t.Fatal(err)
	}
	o := oauth.Options{
		Server: address, Lock: filepath.Join(dir, "lock"), Wait: 10 * time.Second,
		Store: oauth.Files{Dir: filepath.Join(dir, "tokens"), Private: func(d string) error { return os.MkdirAll(d, 0o700) }},
		Browse: func(_ context.Context, page string) error {
			resp, err := http.Get(page)
			if err == nil {
				_ = resp.Body.Close()
			}
			return err
		},
	}
	if bend != nil {
		bend(&o)
	}
	return oauth.New(o)
}

// call makes a request the way the upstream does, and gives its status.
func (w *world) call(c *oauth.Client) (int, error) {
	for range 3 {
		r, err := http.NewRequest(http.MethodPost, w.server.URL+"/mcp", nil)
		if err != nil {
			return 0, err
		}
		if err := c.Apply(w.t.Context(), r); err != nil {
			return 0, err
		}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			return 0, err
		}
		_ = resp.Body.Close()
		if resp.StatusCode == 200 {
			return 200, nil
		}
		again, err := c.Challenged(w.t.Context(), resp)
		if err != nil || !again {
			return resp.StatusCode, err
		}
	}
	return 0, errors.New("challenged for ever")
}

func (w *world) welcome(c *oauth.Client) {
	w.t.Helper()
	if status, err := w.call(c); status != 200 || err != nil {
		w.t.Fatalf("HTTP %d, %v", status, err)
	}
}

func TestSigningInOnce(t *testing.T) {
	w, dir := newWorld(t), t.TempDir()
	w.welcome(w.client(dir, nil))
	w.welcome(w.client(dir, nil)) // the next process has the token
	if w.signedIn.Load() != 1 || w.registered.Load() != 1 {
		t.Errorf("signed in %d times, registered %d times", w.signedIn.Load(), w.registered.Load())
	}
	files, _ := filepath.Glob(filepath.Join(dir, "tokens", "*"))
	for _, f := range files {
		if info, err := os.Stat(f); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v %v", f, info.Mode(), err)
		}
	}
}

func TestRefresh(t *testing.T) {
	w, dir := newWorld(t), t.TempDir()
	w.lives = 1 // by the library's clock it has expired at once
	c := w.client(dir, nil)
	w.welcome(c)
	w.welcome(c)
	if w.refreshed.Load() == 0 || w.signedIn.Load() != 1 {
		t.Errorf("refreshed %d times, signed in %d times", w.refreshed.Load(), w.signedIn.Load())
	}
	w.mu.Lock()
	w.valid, w.lives = "revoked", 0 // refused though not expired
	w.mu.Unlock()
	w.welcome(c)
	if w.signedIn.Load() != 1 {
		t.Error("a refresh would have done")
	}
	w.mu.Lock()
	w.valid, w.refresh = "revoked", "revoked"
	w.mu.Unlock()
	w.welcome(c)
	if w.signedIn.Load() != 2 {
		t.Error("nobody signed in anew")
	}
}

func TestStepUpKeepsWhatWasGranted(t *testing.T) {
	w, dir := newWorld(t), t.TempDir()
	c := w.client(dir, nil)
	w.welcome(c)
	w.mu.Lock()
	w.needs = "write"
	w.mu.Unlock()
	w.welcome(w.client(dir, nil))
	got := strings.Fields(w.scope)
	slices.Sort(got)
	if !slices.Equal(got, []string{"read", "write"}) {
		t.Errorf("scope %q", w.scope)
	}
}

// Twenty requests of three processes that all need a sign-in lead to one.
func TestOneSignsIn(t *testing.T) {
	w, dir := newWorld(t), t.TempDir()
	var all sync.WaitGroup
	for range 3 {
		c := w.client(dir, nil)
		for range 7 {
			all.Go(func() { w.welcome(c) })
		}
	}
	all.Wait()
	if w.signedIn.Load() != 1 {
		t.Errorf("signed in %d times", w.signedIn.Load())
	}
}

func TestATokenStaysAtItsServer(t *testing.T) {
	w, dir := newWorld(t), t.TempDir()
	c := w.client(dir, nil)
	w.welcome(c)
	r, _ := http.NewRequest(http.MethodPost, "http://127.0.0.1:1/mcp", nil)
	if err := c.Apply(t.Context(), r); err == nil || r.Header.Get("Authorization") != "" {
		t.Errorf("%v, %v", err, r.Header)
	}
}

// Metadata that speaks of another resource is not followed (RFC 9728, section
// 3.3): if there is a token in the end, it is one for this server.
func TestAnotherResourceIsNotFollowed(t *testing.T) {
	w := newWorld(t)
	w.says = "https://else.example/mcp"
	if _, err := w.call(w.client(t.TempDir(), nil)); err != nil {
		t.Log(err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, asked := range w.codes {
		if asked.Get("resource") != w.resource {
			t.Errorf("a code was asked for %q", asked.Get("resource"))
		}
	}
}

func TestNobodySignsIn(t *testing.T) {
	w := newWorld(t)
	c := w.client(t.TempDir(), func(o *oauth.Options) {
		o.Wait, o.Browse = 50*time.Millisecond, func(context.Context, string) error { return nil }
	})
	if _, err := w.call(c); err == nil || !strings.Contains(err.Error(), "nobody signed in in time") {
		t.Error(err)
	}
}

// Whoever else knocks at the callback changes nothing.
func TestTheCallbackTakesOnlyItsOwn(t *testing.T) {
	w := newWorld(t)
	c := w.client(t.TempDir(), func(o *oauth.Options) {
		o.Browse = func(_ context.Context, page string) error {
			q, _ := url.Parse(page)
			back := q.Query().Get("redirect_uri")
			for _, knock := range []string{"?code=x&state=y", "?error=access_denied", "?error=access_denied&state=", "/else?code=x"} {
				resp, err := http.Get(back + knock)
				if err != nil || resp.StatusCode < 400 {
					t.Errorf("%s: %v %v", knock, resp, err)
				}
				_ = resp.Body.Close()
			}
			r, _ := http.NewRequest(http.MethodGet, back+"?code=x&state="+q.Query().Get("state"), nil)
			r.Host = "evil.example"
			if resp, err := http.DefaultClient.Do(r); err != nil || resp.StatusCode != http.StatusNotFound {
				t.Errorf("another host: %v %v", resp, err)
			} else {
				_ = resp.Body.Close()
			}
			resp, err := http.Get(page)
			if err == nil {
				_ = resp.Body.Close()
			}
			return err
		}
	})
	w.welcome(c)
}

func TestCheckPage(t *testing.T) {
	for _, bad := range []string{
		"", "javascript:alert(1)", "file:///etc/passwd", "http://h/", "ftp://h/", "https://h/$(id) x", "https://h/\"", "https:h",
		"https://h/`x`", "ms-settings:x", "https://h/a|b", "-x", "https://h/\u202e",
	} {
		if oauth.CheckPage(bad) == nil {
			t.Errorf("%q passes", bad)
		}
	}
	for _, good := range []string{"https://h/authorize?a=b&c=%20d", "http://127.0.0.1:8/x", "http://localhost/x", "http://[::1]:9/x"} {
		if err := oauth.CheckPage(good); err != nil {
			t.Errorf("%q: %v", good, err)
		}
	}
}

func TestKey(t *testing.T) {
	for in, want := range map[string]string{
		"HTTPS://Example.COM:443/Mcp?x=1#f": "https://example.com/Mcp", "http://h:80/": "http://h/", "http://[::1]:8/a": "http://[::1]:8/a",
	} {
		u, err := url.Parse(in)
		if err != nil {
			t.Fatal(err)
		}
		if got := oauth.Key(u); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

func TestFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "tokens")
	f := oauth.Files{Dir: dir, Private: func(d string) error { return os.MkdirAll(d, 0o700) }}
	if _, err := f.Load("https://h/"); !errors.Is(err, oauth.ErrNone) {
		t.Error(err)
	}
	if all, err := f.List(); len(all) != 0 || err != nil {
		t.Error(all, err)
	}
	if err := f.Save(oauth.Entry{Server: "https://h/", AccessToken: "a"}); err != nil {
		t.Fatal(err)
	}
	if e, err := f.Load("https://h/"); err != nil || e.AccessToken != "a" {
		t.Error(e, err)
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*"))
	if err := os.Chmod(files[0], 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Load("https://h/"); err == nil || !strings.Contains(err.Error(), "can be read by others") {
		t.Error(err)
	}
	if err := f.Delete("https://h/"); err != nil {
		t.Error(err)
	}
	if err := f.Delete("https://h/"); !errors.Is(err, oauth.ErrNone) {
		t.Error(err)
	}
}
