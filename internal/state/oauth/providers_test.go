package oauth_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"

	"github.com/clawai/clawai/internal/state/oauth"
	"github.com/clawai/clawai/internal/testing/exectest"
	"github.com/clawai/clawai/internal/testing/oauthtest"
	"github.com/clawai/clawai/internal/testing/slow"
)

// owner is a person with a browser at one provider.
type owner struct {
	*oauthtest.Provider
	t        *testing.T
	dir      string
	callback string // where browsers come back, at a provider that wants one address
	begun    bool   // the sign-in that the provider's rules need
}

func newOwner(t *testing.T, k oauthtest.ProviderKind) *owner {
	o := &owner{Provider: oauthtest.Play(t, k), t: t, dir: t.TempDir()}
	if k.Fixed {
		o.fixCallback()
	}
	return o
}

// fixCallback registers one address at the provider.
func (o *owner) fixCallback() {
	o.callback = "localhost:" + exectest.ReservePort(o.t)
	o.Change(func(s *oauthtest.Played) { s.Callback = "http://" + o.callback + "/callback" })
}

// settings are what docs/providers.md says of a provider.
func (o *owner) settings() (x oauth.Options) {
	if o.Client == "" {
		x.ClientID, x.ClientSecret = oauthtest.OwnedID, oauthtest.OwnedSecret
	}
	x.Callback = o.callback
	if o.NoTarget {
		x.NoResource, x.Scopes = true, []string{"api://tools/use"}
	}
	return x
}

// process is a new process of the owner's. At a provider with rules the owner has signed in before.
func (o *owner) process() *oauth.Client {
	x := o.settings()
	if (x.Callback != "" || x.NoResource) && !o.begun {
		o.begun = true
		if err := o.login(x); err != nil {
			o.t.Fatal(err)
		}
	}
	return o.client(oauth.Options{ClientID: x.ClientID, ClientSecret: x.ClientSecret})
}

// client fills in what every process has.
func (o *owner) client(x oauth.Options) *oauth.Client {
	server, err := url.Parse(o.Server)
	if err != nil {
		o.t.Fatal(err)
	}
	x.Server, x.Lock, x.Wait, x.Pages, x.ReadFile = server, filepath.Join(o.dir, "lock"), 20*time.Second, -1, os.ReadFile
	x.Store = o.store()
	if x.Browse == nil {
		x.Browse = func(_ context.Context, page string) error {
			resp, err := http.Get(page)
			if err == nil {
				_ = resp.Body.Close()
			}
			return err
		}
	}
	return oauth.New(x)
}

func (o *owner) store() oauth.Files {
	return oauth.Files{Dir: filepath.Join(o.dir, "tokens"), Private: func(d string) error { return os.MkdirAll(d, 0o700) }}
}

// stored is the one sign-in.
func (o *owner) stored() oauth.StoredSignIn {
	o.t.Helper()
	all, err := o.store().List()
	if err != nil || len(all) != 1 {
		o.t.Fatal(all, err)
	}
	return all[0]
}

// login is "clawai auth login" with options.
func (o *owner) login(x oauth.Options) error { return o.loginWithin(x, 20*time.Second) }

func (o *owner) loginWithin(x oauth.Options, wait time.Duration) error {
	resp, err := http.Post(o.Server, "application/json", nil)
	if err != nil {
		return err
	}
	_ = resp.Body.Close()
	x.Anew = true
	ctx, cancel := context.WithTimeout(o.t.Context(), wait)
	defer cancel()
	return o.client(x).SignIn(ctx, resp, "")
}

// call makes a request as the upstream does.
func (o *owner) call(c *oauth.Client) error {
	for range 3 {
		r, err := http.NewRequest(http.MethodPost, o.Server, nil)
		if err != nil {
			return err
		}
		if err := c.Apply(o.t.Context(), r); err != nil {
			return err
		}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			return err
		}
		_ = resp.Body.Close()
		if resp.StatusCode == http.StatusOK {
			c.Accepted(r)
			return nil
		}
		if again, err := c.Challenged(o.t.Context(), resp); err != nil || !again {
			return errors.Join(errors.New(resp.Status), err)
		}
	}
	return errors.New("challenged for ever")
}

func (o *owner) pass(c *oauth.Client) {
	o.t.Helper()
	if err := o.call(c); err != nil {
		o.t.Fatal(err)
	}
}

func (o *owner) pages(want int) {
	o.t.Helper()
	o.Change(func(s *oauthtest.Played) {
		if len(s.Pages) != want {
			o.t.Errorf("%d pages were opened, want %d", len(s.Pages), want)
		}
	})
}

// expire lets the token that comes next expire at once by the client's clock.
func (o *owner) expire() { o.Change(func(s *oauthtest.Played) { s.Lives = 1 }) }

func (o *owner) heal() {
	o.Change(func(s *oauthtest.Played) { s.Lives, s.Outage, s.Tried, s.Late = 3600, "", 0, 0 })
}

// Thirteen providers, as they are in the wild, and what happens to a sign-in in its life.
func TestProviders(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	situations := map[string]func(o *owner){
		"sign-in": func(o *owner) {
			o.pass(o.process())
			o.pass(o.process())
			o.pages(1)
		},
		"refresh": func(o *owner) {
			o.expire()
			o.pass(o.process())
			o.heal()
			before := 0
			o.Change(func(s *oauthtest.Played) { before = s.Refreshed })
			o.pass(o.process())
			o.Change(func(s *oauthtest.Played) {
				if s.Refreshed != before+1 {
					o.t.Errorf("refreshed %d times", s.Refreshed-before)
				}
			})
			o.pages(1)
		},
		"step-up": func(o *owner) {
			o.pass(o.process())
			o.Change(func(s *oauthtest.Played) { s.Needs = "write" })
			o.pass(o.process())
			o.pages(2)
			o.Change(func(s *oauthtest.Played) {
				before, now := strings.Fields(s.Pages[0].Get("scope")), strings.Fields(s.Pages[1].Get("scope"))
				for _, scope := range append(before, "write") {
					if !slices.Contains(now, scope) {
						o.t.Errorf("the second page asks for %q, the first asked for %q", now, before)
					}
				}
			})
		},
		"refused for ever": func(o *owner) {
			c := o.process()
			o.pass(c)
			o.Change(func(s *oauthtest.Played) { s.Refuses, s.Refreshed = true, 0 })
			for range 3 {
				for _, one := range []*oauth.Client{c, o.process()} {
					if err := o.call(one); err == nil || !strings.Contains(err.Error(), "clawai auth login ") || !strings.HasSuffix(err.Error(), " "+o.Server) {
						o.t.Errorf("refused, the call gets %v", err)
					}
				}
			}
			o.Change(func(s *oauthtest.Played) {
				if s.Refuses = false; s.Refreshed != 1 {
					o.t.Errorf("refreshed %d times", s.Refreshed)
				}
			})
			o.pass(o.process()) // which proves the token
			o.Change(func(s *oauthtest.Played) { s.Refuses = true })
			_ = o.call(o.process())
			o.Change(func(s *oauthtest.Played) {
				if s.Refreshed != 2 {
					o.t.Errorf("refreshed %d times in all", s.Refreshed)
				}
			})
			o.pages(1)
		},
		"revoked": func(o *owner) {
			o.pass(o.process())
			o.Revoke()
			o.pass(o.process())
			o.pages(2)
		},
	}
	for _, outage := range []string{"status", "hang-up", "page", "moved", "filter"} {
		situations["outage by "+outage] = func(o *owner) {
			o.expire()
			o.pass(o.process())
			time.Sleep(1100 * time.Millisecond) // by the server's clock, too
			o.Change(func(s *oauthtest.Played) { s.Outage = outage })
			began := time.Now()
			out, ok := errors.AsType[*oauth.OutageError](o.call(o.process()))
			if !ok || !strings.Contains(out.Error(), "call again") {
				o.t.Errorf("%v", out)
			}
			if took := time.Since(began); took > 15*time.Second {
				o.t.Errorf("the call took %v", took)
			}
			o.Change(func(s *oauthtest.Played) {
				if passes := oauthtest.Outages()[outage]; !passes && s.Tried > 2 || passes && s.Tried < 2 { // two ways to show a secret
					o.t.Errorf("tried %d times", s.Tried)
				}
			})
			o.heal()
			o.pass(o.process())
			o.pages(1)
		}
	}
	for _, kind := range oauthtest.Kinds() {
		for name, play := range situations {
			t.Run(kind.Name+"/"+name, func(t *testing.T) {
				t.Parallel()
				play(newOwner(t, kind))
			})
		}
	}
}

// A token is asked for a resource that the server is in, and for no other.
func TestMatchResource(t *testing.T) {
	const server = "https://Host.example/tools/mcp"
	for id, want := range map[string]bool{
		"https://host.example/tools/mcp": true, "https://host.example/tools/mcp/": true, "https://host.example:443/tools/": true,
		"https://host.example/tools": true, "https://host.example/": true, "https://host.example": true, "HTTPS://HOST.example": true,
		"https://host.example/tools/m": false, "https://host.example/tool": false, "https://host.example/tools/mcp/more": false,
		"https://host.example/Tools": false, "https://host.example/tools/mcp?x=1": false, "https://host.example/#x": false,
		"http://host.example/tools/mcp": false, "https://host.example:444/": false, "https://else.example/tools/mcp": false,
		"https://host.example.else.example/": false, "https://user@host.example/": false, "/tools/mcp": false, "": false, "https://": false,
		"https://host.example/tools/../tools/mcp": false, "https://host.example/tools%2fmcp": false,
	} {
		u, err := url.Parse(server)
		if err != nil {
			t.Fatal(err)
		}
		if err := oauth.MatchResource(id, u); (err == nil) != want {
			t.Errorf("%q: %v, want %v", id, err, want)
		}
	}
}

// Who sends the browser back must be who was asked, byte for byte (RFC 9207 section 2.4).
func TestAnIssuerIsNotNormalized(t *testing.T) {
	k := oauthtest.FindKind("keycloak")
	k.Issuer = "slash"
	o := newOwner(t, k)
	if err := o.call(o.process()); err == nil || !strings.Contains(err.Error(), "another issuer") {
		t.Error(err)
	}
}

// What metadata was not followed is the reason why a sign-in fails later.
func TestDroppedMetadataIsNamed(t *testing.T) {
	k := oauthtest.FindKind("workos")
	k.Resource = func(string) string { return "https://else.example/mcp" }
	o := newOwner(t, k)
	err := o.call(o.process())
	if err == nil || strings.Count(err.Error(), "https://else.example/mcp") != 1 {
		t.Fatal(err)
	}
	for _, useless := range []string{`\n`, "--client-id"} { // a client at the wrong server helps nobody
		if strings.Contains(err.Error(), useless) {
			t.Errorf("%v", err)
		}
	}
}

// Metadata that is there and cannot be read is named, too.
func TestUnreadMetadataIsNamed(t *testing.T) {
	for text, reason := range map[string]string{"<html>": "holds no metadata", `["x"]`: "holds no metadata", `{"resource":7}`: "holds no metadata"} {
		k := oauthtest.FindKind("workos")
		k.Bend = func(path string, _ http.Header, _ map[string]any) []byte {
			if strings.Contains(path, "protected-resource") {
				return []byte(text)
			}
			return nil
		}
		o := newOwner(t, k)
		if err := o.call(o.process()); err == nil || strings.Count(err.Error(), reason) != 1 {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// A registration that says no method is for one that the server lists.
func TestRegistrationsWithoutAMethod(t *testing.T) {
	const none, post, basic = "none", "client_secret_post", "client_secret_basic"
	for _, tt := range []struct {
		listed []string
		takes  string
		secret bool
		method any // that the answer says
	}{
		{[]string{none}, "bare", true, nil},
		{[]string{none}, "bare", true, ""},
		{[]string{none, "private_key_jwt"}, "bare", true, nil},
		{[]string{none}, "bare", false, nil},
		{[]string{none, post}, "post", true, nil},
		{[]string{none, basic, post}, "post", true, nil},
		{[]string{none, basic}, "basic", true, nil},
		{[]string{none, post}, "bare", false, nil},
		{[]string{post}, "post", true, nil},
		{[]string{basic}, "basic", true, nil},
		{[]string{none, post}, "basic", true, basic}, // what it says holds
		{[]string{none, post}, "bare", true, none},
		{nil, "basic", true, nil},
	} {
		t.Run(fmt.Sprint(tt), func(t *testing.T) {
			t.Parallel()
			k := oauthtest.FindKind("workos")
			k.Methods, k.Client = tt.listed, tt.takes
			k.Bend = func(path string, _ http.Header, doc map[string]any) []byte {
				if path == "/register" {
					doc["token_endpoint_auth_method"] = tt.method
					if tt.secret && doc["client_secret"] == nil {
						doc["client_secret"] = "useless"
					}
				}
				return nil
			}
			o := newOwner(t, k)
			o.expire()
			o.pass(o.process())
			o.heal()
			o.pass(o.process())
			o.pages(1)
		})
	}
}

// A sign-in of an earlier version, whose entry names no resource and shows a public client
// by Basic, is renewed.
func TestAnEntryOfAnEarlierVersion(t *testing.T) {
	k := oauthtest.FindKind("workos")
	o := newOwner(t, k)
	o.expire()
	o.pass(o.process())
	e := o.stored()
	e.Resource, e.AuthStyle = "", 2
	if err := o.store().Save(e); err != nil {
		t.Fatal(err)
	}
	o.heal()
	o.pass(o.process())
	o.pages(1)
}

// The SDK does not take the slash off an issuer; when it does, issuerAddresses can go.
func TestTheSDKKeepsTheSlashOfAnIssuer(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/.well-known/oauth-authorization-server" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"issuer":"http://` + r.Host + `/","code_challenge_methods_supported":["S256"]}`))
	}))
	defer server.Close()
	if meta, err := auth.GetAuthServerMetadata(t.Context(), server.URL+"/", server.Client()); meta != nil || err != nil {
		t.Errorf("the SDK finds %v, %v: use its discovery in place of ours", meta, err)
	}
}

// Whoever waits behind a refresh that fails has its answer, and does not wait as long again.
func TestCallsShareAnOutage(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	o := newOwner(t, oauthtest.FindKind("workos"))
	o.expire()
	c := o.process()
	o.pass(c)
	time.Sleep(1100 * time.Millisecond)
	o.Change(func(s *oauthtest.Played) { s.Outage = "status" })
	failed := make(chan error, 8)
	for range cap(failed) {
		go func() { failed <- o.call(c) }()
	}
	for range cap(failed) {
		if _, ok := errors.AsType[*oauth.OutageError](<-failed); !ok {
			t.Error("a call has another error than the outage")
		}
	}
	o.Change(func(s *oauthtest.Played) {
		if s.Tried > 6 {
			t.Errorf("the endpoint was asked %d times", s.Tried)
		}
	})
	o.pages(1)
}

// Only the words by which a token endpoint takes a sign-in back end it. What a gateway, a framework
// or a page says in its place keeps it, and opens no page.
func TestRefusalsThatAreNoneOfTheSignIn(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	o := newOwner(t, oauthtest.FindKind("workos"))
	o.expire()
	o.pass(o.process())
	time.Sleep(1100 * time.Millisecond)
	for outage, passes := range oauthtest.Outages() {
		o.Change(func(s *oauthtest.Played) { s.Outage, s.Tried = outage, 0 })
		if out, ok := errors.AsType[*oauth.OutageError](o.call(o.process())); !ok {
			t.Errorf("%s: %v", outage, out)
		}
		o.Change(func(s *oauthtest.Played) {
			if passes != (s.Tried > 1) {
				t.Errorf("%s: tried %d times", outage, s.Tried)
			}
		})
	}
	o.heal()
	o.pass(o.process())
	o.pages(1)
}

// A token endpoint that changes the refresh token at once, and is slow to say so, is waited for:
// the token that it gave is lost to whoever asks again with the one before.
func TestALateAnswerIsWaitedFor(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	o := newOwner(t, oauthtest.FindKind("workos"))
	o.expire()
	o.pass(o.process())
	o.heal()
	o.Change(func(s *oauthtest.Played) { s.Late = 7 * time.Second })
	o.pass(o.process())
	o.pages(1)
}

// A call that its client cancels takes no refresh token along: the answer to the one that was sent
// is still waited for, and the call that comes next has the token.
func TestACancelledCallKeepsTheSignIn(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	o := newOwner(t, oauthtest.FindKind("workos"))
	o.expire()
	o.pass(o.process())
	o.heal()
	o.Change(func(s *oauthtest.Played) { s.Late = 4 * time.Second })
	c := o.process()
	r, err := http.NewRequest(http.MethodPost, o.Server, nil)
	if err != nil {
		t.Fatal(err)
	}
	short, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	began := time.Now()
	_ = c.Apply(short, r)
	if took := time.Since(began); took > 3900*time.Millisecond {
		t.Errorf("the call took %v", took)
	}
	o.pass(c)
	o.pages(1)
}

// A token endpoint that does not answer holds up the calls of one moment, and not each in its turn:
// those that come next hear of it at once.
func TestSilenceIsRemembered(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	o := newOwner(t, oauthtest.FindKind("workos"))
	o.expire()
	c := o.process()
	o.pass(c)
	time.Sleep(1100 * time.Millisecond)
	o.Change(func(s *oauthtest.Played) { s.Outage = "silence" })
	began := time.Now()
	for range 3 { // each begins when the one before has failed
		if _, ok := errors.AsType[*oauth.OutageError](o.call(c)); !ok {
			t.Error("a call has another error than the outage")
		}
	}
	if took := time.Since(began); took > 25*time.Second {
		t.Errorf("three calls took %v", took)
	}
	o.Change(func(s *oauthtest.Played) {
		if s.Tried != 1 {
			t.Errorf("the endpoint was asked %d times", s.Tried)
		}
	})
	o.pages(1)
}

// Answers that a library reads not at all, and a browser's client does, sign in and are renewed;
// the refresh token that came with them is kept.
func TestAnswersInAnotherForm(t *testing.T) {
	set := func(at, name string, value any) func(string, http.Header, map[string]any) []byte {
		return func(path string, _ http.Header, doc map[string]any) []byte {
			if strings.HasSuffix(path, at) {
				doc[name] = value
			}
			return nil
		}
	}
	typed := func(kind string) func(string, http.Header, map[string]any) []byte {
		return func(_ string, header http.Header, _ map[string]any) []byte {
			if header["Content-Type"] = nil; kind != "" {
				header.Set("Content-Type", kind)
			}
			return nil
		}
	}
	number := func(text string) json.RawMessage { return json.RawMessage(text) }
	for name, bend := range map[string]func(string, http.Header, map[string]any) []byte{
		"issued with a fraction": set("/register", "client_id_issued_at", number("1700000000.25")),
		"issued with a power":    set("/register", "client_id_issued_at", number("1.7e9")),
		"expires at 0.0":         set("/register", "client_secret_expires_at", number("0.0")),
		"keys":                   set("/register", "jwks", map[string]any{"keys": []any{}}),
		"scopes as a list":       set("/register", "scope", []string{"read"}),
		"a page of terms":        set("/register", "tos_uri", nil),
		"lives 3600.0":           set("/token", "expires_in", number("3600.0")),
		"lives 3599.5":           set("/token", "expires_in", number("3599.5")),
		"lives in a text":        set("/token", "expires_in", "3600.0"),
		"lives a word":           set("/token", "expires_in", "long"),
		"granted as a list":      set("/token", "scope", []string{"read"}),
		"plain":                  typed("text/plain; charset=utf-8"),
		"a form":                 typed("application/x-www-form-urlencoded"),
		"octets":                 typed("binary/octet-stream"),
		"a kind of JSON":         typed("application/oauth-protected-resource+json"),
		"a page":                 typed("text/html"),
		"no type":                typed(""),
		"behind a mark": func(_ string, _ http.Header, doc map[string]any) []byte {
			text, _ := json.Marshal(doc)
			return append([]byte("\ufeff\n"), text...)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := oauthtest.FindKind("workos")
			k.Bend = bend
			o := newOwner(t, k)
			c := o.process()
			o.pass(c)
			for range 2 {
				o.Change(func(s *oauthtest.Played) { s.Refuses = true })
				_ = o.call(c)
				o.Change(func(s *oauthtest.Played) { s.Refuses = false })
				o.pass(c)
			}
			o.Change(func(s *oauthtest.Played) {
				if s.Refreshed != 2 {
					t.Errorf("refreshed %d times", s.Refreshed)
				}
			})
			o.pages(1)
		})
	}
}

// Processes that wait for each other share an outage as the calls of one do: where each would
// try anew in its turn, the last one waits longer than its client does.
func TestProcessesShareAnOutage(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	o := newOwner(t, oauthtest.FindKind("workos"))
	o.expire()
	o.pass(o.process())
	time.Sleep(1100 * time.Millisecond)
	o.Change(func(s *oauthtest.Played) { s.Outage = "status" })
	failed := make(chan error, 6)
	for range cap(failed) {
		c := o.process()
		go func() { failed <- o.call(c) }()
	}
	for range cap(failed) {
		if _, ok := errors.AsType[*oauth.OutageError](<-failed); !ok {
			t.Error("a call has another error than the outage")
		}
	}
	o.Change(func(s *oauthtest.Played) {
		if s.Tried > 6 {
			t.Errorf("the endpoint was asked %d times", s.Tried)
		}
	})
	o.heal()
	o.pass(o.process()) // a call of afterwards tries at once
}
