package oauth_test

import (
	"context"
	"errors"
	"fmt"
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

	"github.com/clawai/clawai/internal/state/access"

	"github.com/clawai/clawai/internal/testing/accesstest"

	"github.com/clawai/clawai/internal/state/oauth"
	"github.com/clawai/clawai/internal/testing/oauthtest"
	"github.com/clawai/clawai/internal/testing/slow"
)

// world is a server that wants a sign-in.
type world struct {
	*oauthtest.Server
	t testing.TB
}

func newWorld(t testing.TB) *world { return &world{oauthtest.New(t), t} }

// client is a new process of the owner's.
func (w *world) client(dir string, bend func(*oauth.Options)) *oauth.Client {
	address, err := url.Parse(w.Resource)
	if err != nil {
		w.t.Fatal(err)
	}
	o := oauth.Options{
		Server: address, Lock: filepath.Join(dir, "lock"), Wait: 10 * time.Second, Pages: -1,
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
		r, err := http.NewRequest(http.MethodPost, w.Resource, nil)
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
			c.Accepted(r)
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
	if w.SignedIn.Load() != 1 || w.Registered.Load() != 1 {
		t.Errorf("signed in %d times, registered %d times", w.SignedIn.Load(), w.Registered.Load())
	}
	files, _ := filepath.Glob(filepath.Join(dir, "tokens", "*"))
	for _, f := range files {
		info, err := os.Stat(f)
		if err == nil {
			err = access.CheckOpen(f, info)
		}
		if err != nil {
			t.Error(err)
		}
	}
}

func TestRefresh(t *testing.T) {
	w, dir := newWorld(t), t.TempDir()
	w.Change(func(s *oauthtest.State) { s.Lives = 1 }) // by the library's clock it has expired at once
	c := w.client(dir, nil)
	w.welcome(c)
	w.welcome(c)
	if w.Refreshed.Load() == 0 || w.SignedIn.Load() != 1 {
		t.Errorf("refreshed %d times, signed in %d times", w.Refreshed.Load(), w.SignedIn.Load())
	}
	w.Change(func(s *oauthtest.State) { s.Valid, s.Lives = "revoked", 0 }) // refused though not expired
	w.welcome(c)
	if w.SignedIn.Load() != 1 {
		t.Error("a refresh would have done")
	}
	w.Change(func(s *oauthtest.State) { s.Valid, s.Refresh = "revoked", "revoked" })
	w.welcome(c)
	if w.SignedIn.Load() != 2 {
		t.Error("nobody signed in anew")
	}
}

func TestStepUpKeepsWhatWasGranted(t *testing.T) {
	w, dir := newWorld(t), t.TempDir()
	c := w.client(dir, nil)
	w.welcome(c)
	w.Change(func(s *oauthtest.State) { s.Needs = "write" })
	w.welcome(w.client(dir, nil))
	var got []string
	w.Change(func(s *oauthtest.State) { got = strings.Fields(s.Scope) })
	slices.Sort(got)
	if !slices.Equal(got, []string{"read", "write"}) {
		t.Errorf("scope %q", got)
	}
}

// A client that the owner registered stays the one, also when a wider scope is
// wanted by a process that was not told of it. An address is its document.
func TestAClientOfTheOwners(t *testing.T) {
	const document = "https://me.example/client.json"
	for name, id := range map[string]string{"id": "mine", "document": document, "document unread": document, "host": "https://me.example"} {
		t.Run(name, func(t *testing.T) {
			w, dir := newWorld(t), t.TempDir()
			w.Bend = func(path string, doc map[string]any) {
				delete(doc, "registration_endpoint")
				if name == "document" && strings.HasSuffix(path, "authorization-server") {
					doc["client_id_metadata_document_supported"] = true
				}
			}
			asked := func() (id string) {
				w.Change(func(s *oauthtest.State) { id = s.Codes[fmt.Sprintf("code-%d", 2*w.SignedIn.Load()-1)].Get("client_id") })
				return id
			}
			w.welcome(w.client(dir, func(o *oauth.Options) { o.ClientID = id }))
			if got := asked(); got != id {
				t.Errorf("signed in as %q", got)
			}
			w.Change(func(s *oauthtest.State) { s.Needs = "write" })
			w.welcome(w.client(dir, nil))
			if got := asked(); got != id || w.SignedIn.Load() != 2 || w.Registered.Load() != 0 {
				t.Errorf("then as %q, %d sign-ins, %d registrations", got, w.SignedIn.Load(), w.Registered.Load())
			}
		})
	}
}

// A server that lets nobody register says so, and clawai what to do.
func TestNoRegistration(t *testing.T) {
	w := newWorld(t)
	for name, bend := range map[string]func(doc map[string]any){
		"none":    func(doc map[string]any) { delete(doc, "registration_endpoint") },
		"refused": func(doc map[string]any) { doc["registration_endpoint"] = w.URL + "/nothing" },
	} {
		w.Bend = func(path string, doc map[string]any) {
			if strings.HasSuffix(path, "authorization-server") {
				bend(doc)
			}
		}
		if _, err := w.call(w.client(t.TempDir(), nil)); err == nil || !strings.Contains(err.Error(), "clawai auth login --client-id ID") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Twenty requests of three processes that all need a sign-in lead to one.
func TestOneSignsIn(t *testing.T) {
	slow.Test(t)
	w, dir := newWorld(t), t.TempDir()
	var all sync.WaitGroup
	for range 3 {
		c := w.client(dir, nil)
		for range 7 {
			all.Go(func() { w.welcome(c) })
		}
	}
	all.Wait()
	if w.SignedIn.Load() != 1 {
		t.Errorf("signed in %d times", w.SignedIn.Load())
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
	w.Bend = func(path string, doc map[string]any) {
		if strings.Contains(path, "resource") {
			doc["resource"] = "https://else.example/mcp"
		}
	}
	if _, err := w.call(w.client(t.TempDir(), nil)); err != nil {
		t.Log(err)
	}
	w.Change(func(s *oauthtest.State) {
		for _, asked := range s.Codes {
			if asked.Get("resource") != w.Resource {
				t.Errorf("a code was asked for %q", asked.Get("resource"))
			}
		}
	})
}

// Metadata that names no authorization server leaves it to the server's own origin.
func TestMetadataWithoutAnAuthorizationServer(t *testing.T) {
	for name, servers := range map[string]any{"null": nil, "none": []string{}} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.Bend = func(path string, doc map[string]any) {
				if strings.Contains(path, "resource") {
					doc["authorization_servers"] = servers
				}
			}
			w.welcome(w.client(t.TempDir(), nil))
		})
	}
}

// The query of a server's address may hold a key. Without metadata the address is the resource, and
// the page's address is seen by other programs.
func TestAKeyInTheAddressStaysThere(t *testing.T) {
	w, dir, page := newWorld(t), t.TempDir(), ""
	w.Bend = func(path string, doc map[string]any) {
		if strings.Contains(path, "resource") {
			doc["resource"] = "https://elsewhere.example/"
		}
	}
	_, err := w.call(w.client(dir, func(o *oauth.Options) {
		o.Server.RawQuery = "api_key=s3cret"
		browse := o.Browse
		o.Browse = func(ctx context.Context, at string) error { page = at; return browse(ctx, at) }
	}))
	files, _ := filepath.Glob(filepath.Join(dir, "tokens", "*.json"))
	for _, file := range files {
		kept, _ := os.ReadFile(file)
		page += string(kept)
	}
	if !strings.Contains(page, "resource=") || strings.Contains(page, "s3cret") {
		t.Error(err, page)
	}
}

// A 403 to a call without a token asks for metadata. Where that stalls the call has its 403 all the
// same, and the calls that come next do not ask.
func TestA403BeforeMetadataThatStalls(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	var asked atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/mcp" {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		asked.Add(1)
		<-r.Context().Done()
	}))
	defer server.Close()
	w := &world{&oauthtest.Server{URL: server.URL, Resource: server.URL + "/mcp"}, t}
	c, began := w.client(t.TempDir(), nil), time.Now()
	for range 3 {
		if status, err := w.call(c); status != http.StatusForbidden || err != nil {
			t.Errorf("HTTP %d, %v", status, err)
		}
	}
	if took := time.Since(began); took > 9*time.Second || asked.Load() > 2 {
		t.Errorf("three calls took %v and asked %d times", took, asked.Load())
	}
}

func TestNobodySignsIn(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	w := newWorld(t)
	c := w.client(t.TempDir(), func(o *oauth.Options) {
		// The time holds for what is asked before, too, which takes a while on a busy machine.
		o.Wait, o.Browse = 3*time.Second, func(context.Context, string) error { return nil }
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
			for _, empty := range []string{"?state=", "?code=&state=", "?error=&state="} {
				if resp, err := http.Get(back + empty + q.Query().Get("state")); err != nil || resp.StatusCode != http.StatusBadRequest {
					t.Errorf("%s: %v %v", empty, resp, err)
				} else {
					_ = resp.Body.Close()
				}
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
		"https://h/`x`", "ms-settings:x", "https://bank.example@h/", "https://a:b@h/", "http://localhost@127.0.0.1/x", "https://h/a|b", "-x", "https://h/\u202e",
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
		if got := oauth.ServerKey(u); got != want {
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
	if err := f.Save(oauth.StoredSignIn{Server: "https://h/", AccessToken: "a"}); err != nil {
		t.Fatal(err)
	}
	if e, err := f.Load("https://h/"); err != nil || e.AccessToken != "a" {
		t.Error(e, err)
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*"))
	if err := accesstest.Share(files[0]); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Load("https://h/"); err == nil || !strings.Contains(err.Error(), "others can open it") {
		t.Error(err)
	}
	for name, text := range map[string]string{"cut.json": `{"server":`, "empty.json": "{}"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Save(oauth.StoredSignIn{Server: "https://i/"}); err != nil {
		t.Fatal(err)
	}
	for _, store := range []oauth.Store{f, oauth.Either{f}} { // one that cannot be read hides no other
		all, err := store.List()
		if _, ok := errors.AsType[*oauth.DamageError](err); !ok || len(all) != 1 || all[0].Server != "https://i/" {
			t.Error(all, err)
		}
		for _, want := range []string{"cut.json: the stored sign-in cannot be read (unexpected end", "empty.json: the stored sign-in cannot be read (it names no server); remove it and sign in again", "others can open it"} {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %s", err, want)
			}
		}
	}
	if err := f.Delete("https://h/"); err != nil {
		t.Error(err)
	}
	if err := f.Delete("https://h/"); !errors.Is(err, oauth.ErrNone) {
		t.Error(err)
	}
}
