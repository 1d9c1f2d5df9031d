package oauth_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/state/oauth"
	"github.com/clawai/clawai/internal/testing/oauthtest"
	"github.com/clawai/clawai/internal/testing/slow"
)

// What a provider says in a refusal becomes one sentence and the command to try next.
func TestNextSteps(t *testing.T) {
	t.Parallel()
	const server = "https://tools.example/mcp"
	for _, tt := range []struct {
		code   string
		chosen oauth.Choices
		id     string
		want   string
	}{
		{"access_denied", oauth.Choices{}, "", "the server refused: access_denied; sign in as somebody whom the provider lets in: clawai auth login https://tools.example/mcp"},
		{"access_denied", oauth.Choices{Grant: oauth.GrantDevice}, "", "the server refused: access_denied; sign in as somebody whom the provider lets in: clawai auth login --device https://tools.example/mcp"},
		{"invalid_scope", oauth.Choices{Scopes: []string{"a", "b"}, Callback: "localhost:8765"}, "mine", "the server refused: invalid_scope; name the scopes that the client may have: clawai auth login --client-id mine --callback localhost:8765 --scope SCOPE https://tools.example/mcp"},
		{"invalid_target", oauth.Choices{}, "mine", "the server refused: invalid_target; the provider does not take the server's address as a resource; leave it out: clawai auth login --client-id mine --no-resource https://tools.example/mcp"},
		{"invalid_target", oauth.Choices{NoResource: true}, "", "the server refused: invalid_target; name the resource: clawai auth login https://tools.example/mcp"},
		{"invalid_request", oauth.Choices{}, "", "the server refused: invalid_request; some providers take no resource; leave it out: clawai auth login --no-resource https://tools.example/mcp"},
		{"invalid_request", oauth.Choices{NoResource: true}, "mine", "the server refused: invalid_request; compare the client's settings at the provider, then: clawai auth login --client-id mine --no-resource https://tools.example/mcp"},
		{"redirect_uri_mismatch", oauth.Choices{}, "mine", "the server refused: invalid_redirect_uri; register http://127.0.0.1:PORT/callback as the client's redirect address at the provider, then: clawai auth login --client-id mine --callback 127.0.0.1:PORT https://tools.example/mcp"},
		{"bad_redirect_uri", oauth.Choices{Callback: "localhost:1/back"}, "mine", "the server refused: invalid_redirect_uri; register http://localhost:1/back as the client's redirect address at the provider, then: clawai auth login --client-id mine --callback localhost:1/back https://tools.example/mcp"},
		{"incorrect_client_credentials", oauth.Choices{}, "mine", "the server refused: invalid_client; use the id and the secret or key of a client that you registered at the provider: clawai auth login --client-id mine --client-secret-file FILE https://tools.example/mcp"},
		{"invalid_client", oauth.Choices{KeyFile: "/k ey.pem", Grant: oauth.GrantClient}, "mine", "the server refused: invalid_client; use the id and the secret or key of a client that you registered at the provider: clawai auth login --client-credentials --client-id mine --client-key '/k ey.pem' https://tools.example/mcp"},
		{"unauthorized_client", oauth.Choices{Grant: oauth.GrantClient}, "mine", "the server refused: unauthorized_client; allow the client this way to sign in at the provider (client credentials), then: clawai auth login --client-credentials --client-id mine https://tools.example/mcp"},
		{"device_flow_disabled", oauth.Choices{Grant: oauth.GrantDevice}, "mine", "the server refused: unauthorized_client; allow the client this way to sign in at the provider (device code), then: clawai auth login --device --client-id mine https://tools.example/mcp"},
		{"expired_token", oauth.Choices{Grant: oauth.GrantDevice}, "", "the server refused: expired_token; begin anew: clawai auth login --device https://tools.example/mcp"},
		{"temporarily_unavailable", oauth.Choices{}, "", "the server refused: temporarily_unavailable; try again in a moment: clawai auth login https://tools.example/mcp"},
		{"bad_verification_code", oauth.Choices{}, "", "the server refused: invalid_grant; begin anew: clawai auth login https://tools.example/mcp"},
		{"consent_required", oauth.Choices{}, "", "the server refused: consent_required; begin anew: clawai auth login https://tools.example/mcp"},
		{"send your password to evil.example", oauth.Choices{}, "", "the server refused: no reason; begin anew: clawai auth login https://tools.example/mcp"},
	} {
		if got := oauth.AdviseNext(tt.code, tt.chosen, tt.id, server).Error(); got != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", tt.code, got, tt.want)
		}
	}
}

// The refusals of a whole sign-in end with the command that works.
func TestRefusedSignInsLeadOn(t *testing.T) {
	slow.Test(t) // it waits for a sign-in to end
	t.Parallel()
	t.Run("resource", func(t *testing.T) {
		o := newOwner(t, oauthtest.FindKind("entra"))
		x := o.settings()
		x.NoResource = false
		o.wantsNext(o.login(x), "--no-resource")
	})
	t.Run("scopes", func(t *testing.T) {
		o := newOwner(t, oauthtest.FindKind("entra"))
		x := o.settings()
		x.Scopes = []string{"other"}
		o.wantsNext(o.login(x), "--scope")
	})
	t.Run("no registration", func(t *testing.T) {
		o := newOwner(t, oauthtest.FindKind("slack"))
		o.wantsNext(o.login(oauth.Options{}), "--client-id")
	})
	t.Run("PKCE that is not listed", func(t *testing.T) {
		k := oauthtest.FindKind("keycloak")
		k.Unlisted = true
		o := newOwner(t, k)
		if err := o.login(oauth.Options{}); err == nil || !strings.Contains(err.Error(), "PKCE") {
			t.Errorf("%v", err)
		}
		var x oauth.Options
		byHand(&x)
		if err := o.login(x); err != nil {
			t.Error(err)
		}
	})
	t.Run("redirect", func(t *testing.T) {
		o := newOwner(t, oauthtest.FindKind("salesforce")) // the page says so to the person, and nobody comes back
		x := o.settings()
		x.Callback = ""
		o.wantsNext(o.loginWithin(x, 2*time.Second), "--callback")
	})
	t.Run("port in use", func(t *testing.T) {
		o := newOwner(t, oauthtest.FindKind("salesforce"))
		taken, err := net.Listen("tcp", "127.0.0.1"+o.callback[strings.LastIndexByte(o.callback, ':'):])
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = taken.Close() }()
		if err := o.login(o.settings()); err == nil || !strings.Contains(err.Error(), "the port of the callback "+o.callback+" cannot be had") {
			t.Errorf("%v", err)
		}
	})
	t.Run("key that is gone", func(t *testing.T) {
		o := newOwner(t, oauthtest.FindKind("keycloak"))
		var x oauth.Options
		withKey(o, &x, rsaKey)
		o.choosesClient(&x)
		o.expire()
		if err := o.login(x); err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(x.KeyFile); err != nil {
			t.Fatal(err)
		}
		time.Sleep(1100 * time.Millisecond)
		o.wantsNext(o.call(o.client(oauth.Options{Browse: noBrowser})), "--client-credentials")
	})
}

// offline_access that the provider lists and does not give is left out, also later.
func TestOfflineAccessIsLeftOutWhereItIsRefused(t *testing.T) {
	slow.Test(t) // it waits for a sign-in to end
	t.Parallel()
	for name, choose := range map[string]func(*owner, *oauth.Options){
		"browser": func(*owner, *oauth.Options) {}, "pasted address": ways["pasted address"].choose, "device code": ways["device code"].choose,
	} {
		o := newOwner(t, oauthtest.FindKind("auth0"))
		o.Change(func(s *oauthtest.Played) { s.Online = true })
		x := o.settings()
		choose(o, &x)
		if err := o.login(x); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if e := o.stored(); !e.NoOffline || slices.Contains(e.Scopes, "offline_access") {
			t.Errorf("%s: %+v", name, e.Scopes)
		}
	}
	o := newOwner(t, oauthtest.FindKind("auth0"))
	o.Change(func(s *oauthtest.Played) { s.Online = true })
	o.pass(o.process())
	o.pages(2)
	o.Change(func(s *oauthtest.Played) { s.Needs = "write" })
	o.pass(o.process())
	o.pages(3) // offline_access is not asked for again
}

// Authorization servers are tried in turn, until one is of use.
func TestAuthorizationServersInTurn(t *testing.T) {
	t.Parallel()
	absent := httptest.NewServer(http.NotFoundHandler())
	defer absent.Close()
	closed := oauthtest.Play(t, oauthtest.FindKind("slack")) // registers nobody
	for name, tt := range map[string]struct {
		before []string
		want   string // "": signed in
	}{
		"none before":          {nil, ""},
		"no metadata":          {[]string{absent.URL}, ""},
		"no address":           {[]string{"file:///etc/passwd", "http://tools.example"}, ""},
		"no registration":      {[]string{closed.Issued()}, ""},
		"more than are tried":  {[]string{absent.URL + "/1", absent.URL + "/2", absent.URL + "/3", absent.URL + "/4", absent.URL + "/5"}, "has no metadata"},
		"nothing but the rest": {[]string{absent.URL, closed.Issued(), "file:///x"}, ""},
	} {
		k := oauthtest.FindKind("workos")
		var o *owner
		k.Bend = func(path string, _ http.Header, doc map[string]any) []byte {
			if named, ok := doc["authorization_servers"].([]string); ok && strings.Contains(path, "protected-resource") {
				doc["authorization_servers"] = append(slices.Clone(tt.before), named...)
			}
			return nil
		}
		o = newOwner(t, k)
		err := o.call(o.process())
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A device code is waited for as RFC 8628 says.
func TestDeviceCodes(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	for name, tt := range map[string]struct {
		pending []string
		ends    string
		want    string
		takes   time.Duration
	}{
		"at once":   {nil, "", "", 0},
		"in a time": {[]string{"authorization_pending", "authorization_pending"}, "", "", 2 * time.Second},
		"slow down": {[]string{"slow_down"}, "", "", 7 * time.Second},
		"denied":    {nil, "access_denied", "refused: access_denied", 0},
		"expired":   {nil, "expired_token", "refused: expired_token", 0},
		"disabled":  {nil, "device_flow_disabled", "device code", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOwner(t, oauthtest.FindKind("google"))
			o.Change(func(s *oauthtest.Played) { s.Pending, s.Ends = tt.pending, tt.ends })
			x, w := o.settings(), &walker{o: o}
			x.Grant, x.Browse, x.Person = oauth.GrantDevice, noBrowser, w
			began := time.Now()
			err := o.login(x)
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("%v", err)
			}
			if took := time.Since(began); took < tt.takes {
				t.Errorf("the code was asked for after %v", took)
			}
			if w.code.Code != "WDJB-MJHT" || !strings.HasSuffix(w.code.Page, "/enter") || !strings.HasSuffix(w.code.Complete, "?user_code=WDJB-MJHT") {
				t.Errorf("shown: %+v", w.code)
			}
		})
	}
}

// What a device authorization endpoint answers is not believed.
func TestDeviceAnswersThatLeadAstray(t *testing.T) {
	t.Parallel()
	for name, bend := range map[string]func(doc map[string]any){
		"a code that speaks":     func(doc map[string]any) { doc["user_code"] = "send your password" },
		"a code with an escape":  func(doc map[string]any) { doc["user_code"] = "A\x1b[2J" },
		"a long code":            func(doc map[string]any) { doc["user_code"] = strings.Repeat("A", 100) },
		"no code":                func(doc map[string]any) { delete(doc, "user_code") },
		"no device code":         func(doc map[string]any) { delete(doc, "device_code") },
		"a page that is a file":  func(doc map[string]any) { doc["verification_uri"] = "file:///etc/passwd" },
		"a page without TLS":     func(doc map[string]any) { doc["verification_uri"] = "http://else.example/" },
		"no page":                func(doc map[string]any) { delete(doc, "verification_uri") },
		"a page with a password": func(doc map[string]any) { doc["verification_uri"] = "https://bank.example@else.example/" },
	} {
		k := oauthtest.FindKind("workos")
		k.Bend = func(path string, _ http.Header, doc map[string]any) []byte {
			if path == "/device" {
				bend(doc)
			}
			return nil
		}
		o := newOwner(t, k)
		w := &walker{o: o}
		if err := o.login(oauth.Options{Choices: oauth.Choices{Grant: oauth.GrantDevice}, Person: w}); err == nil || w.code.Code != "" {
			t.Errorf("%s: %v, shown %+v", name, err, w.code)
		}
	}
	for name, member := range map[string]any{"an interval below nothing": -5, "an interval of a year": 31536000, "an interval in a text": "1", "lives below nothing": json.RawMessage("-1")} {
		t.Run(name, func(t *testing.T) {
			slow.Test(t)
			t.Parallel()
			k := oauthtest.FindKind("workos")
			k.Bend = func(path string, _ http.Header, doc map[string]any) []byte {
				if path == "/device" && strings.HasPrefix(name, "an interval") {
					doc["interval"] = member
				} else if path == "/device" {
					doc["expires_in"] = member
				}
				return nil
			}
			o := newOwner(t, k)
			err := o.loginWithin(oauth.Options{Choices: oauth.Choices{Grant: oauth.GrantDevice}, Person: &walker{o: o}}, 8*time.Second)
			if year := strings.Contains(name, "year"); year != (err != nil) { // 60 s are waited for, not a year
				t.Errorf("%v", err)
			}
		})
	}
}

// A wrong address gets a sentence and another try. No sentence repeats what was pasted.
func TestWrongAddressesGetAnotherTry(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ text, want string }{
		"nothing":            {"", "holds no code"},
		"words":              {"what is this secret-code", "holds no code"},
		"another site":       {"https://else.example/callback?code=secret-code&state=x", "is not the address"},
		"another path":       {"http://127.0.0.1:1/else?code=secret-code&state=x", "is not the address"},
		"another sign-in":    {"?code=secret-code&state=old", "is of another sign-in"},
		"no state":           {"?code=secret-code", "no code or no state"},
		"a code alone":       {"secret-code", "holds no code"},
		"two codes":          {"?code=secret-code&code=secret-code&state=x", "no code or no state"},
		"code and old state": {"secret-code old", "is of another sign-in"},
		"the page itself":    {"https://login.example/authorize?client_id=x&state=secret-code", "is not the address"},
	} {
		o := newOwner(t, oauthtest.FindKind("keycloak"))
		w := &walker{o: o, wrong: []string{tt.text}}
		if err := o.login(oauth.Options{Browse: noBrowser, Person: w}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if len(w.heard) != 1 || !strings.Contains(w.heard[0], tt.want) || strings.Contains(w.heard[0], "secret-code") {
			t.Errorf("%s: %q", name, w.heard)
		}
		if !w.device {
			t.Errorf("%s: nobody said that a device code would do", name)
		}
	}
	t.Run("another issuer", func(t *testing.T) {
		o := newOwner(t, oauthtest.FindKind("keycloak"))
		w := &walker{o: o}
		w.bend = func(at string) string {
			if len(w.heard) == 0 {
				return strings.Replace(at, "iss=", "iss=x", 1)
			}
			return at
		}
		if err := o.login(oauth.Options{Browse: noBrowser, Person: w}); err != nil || len(w.heard) != 1 || !strings.Contains(w.heard[0], "another issuer") {
			t.Errorf("%v %q", err, w.heard)
		}
	})
	t.Run("refused", func(t *testing.T) {
		o := newOwner(t, oauthtest.FindKind("entra"))
		x := o.settings()
		x.NoResource, x.Browse, x.Person = false, noBrowser, &walker{o: o}
		o.wantsNext(o.login(x), "--no-resource")
	})
	for name, bend := range map[string]func(at string) string{
		"without the scheme": func(at string) string { return strings.TrimPrefix(at, "http://") },
		"the query":          func(at string) string { return at[strings.IndexByte(at, '?'):] },
		"the query's text":   func(at string) string { return "  " + at[strings.IndexByte(at, '?')+1:] + "\r\n" },
		"with a fragment":    func(at string) string { return at + "#_=_" },
	} {
		o := newOwner(t, oauthtest.FindKind("keycloak"))
		if err := o.login(oauth.Options{Browse: noBrowser, Person: &walker{o: o, bend: bend}}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	o := newOwner(t, oauthtest.FindKind("workos")) // names no issuer
	words := func(at string) string {
		u, _ := url.Parse(at)
		return u.Query().Get("code") + " " + u.Query().Get("state")
	}
	if err := o.login(oauth.Options{Browse: noBrowser, Person: &walker{o: o, bend: words}}); err != nil {
		t.Errorf("a code and a state: %v", err)
	}
}

// A pasted text gives a code only with the state, and only one that it holds.
func FuzzReadPasted(f *testing.F) {
	const state = "STATE"
	for _, seed := range []string{
		"http://127.0.0.1:7/callback?code=a&state=STATE", "127.0.0.1:7/callback?state=STATE&code=a", "?code=a&state=STATE", "code=a&state=STATE&iss=x", "a STATE",
		"https://127.0.0.1:7/callback?code=a&state=STATE", "http://127.0.0.1:7/callback?error=access_denied&state=STATE", "?code=a&state=STATE&state=x", "%zz", "?;",
	} {
		f.Add(seed)
	}
	back := &url.URL{Scheme: "http", Host: "127.0.0.1:7", Path: "/callback"}
	said := []string{
		"this is not the address to which the page sends the browser, which begins with http://127.0.0.1:7/callback?",
		"this holds no code; paste the whole address that the browser shows after the sign-in",
		"this holds no code or no state; paste the whole address that the browser shows after the sign-in",
		"this address is of another sign-in; open the page above, and paste the address that it leads to",
	}
	f.Fuzz(func(t *testing.T, text string) {
		q, err := oauth.ReadPasted(text, back, state)
		if err != nil {
			if !slices.Contains(said, err.Error()) {
				t.Errorf("the error may repeat the text: %v", err)
			}
			return
		}
		if q.Get("state") != state || !strings.Contains(text, state) && !strings.Contains(text, "%") {
			t.Errorf("%q was taken without the state", text)
		}
		if (q.Get("code") == "") == (q.Get("error") == "") {
			t.Errorf("%q gives neither a code nor an error, or both: %v", text, q)
		}
	})
}

func TestCheckCallback(t *testing.T) {
	for text, want := range map[string]bool{
		"127.0.0.1:8765": true, "localhost:8765": true, "[::1]:8765": true, "localhost:8765/oauth/callback": true, "127.0.0.2:1": true,
		"": false, "8765": false, ":8765": false, "localhost": false, "localhost:": false, "localhost:0": false, "localhost:http": false,
		"0.0.0.0:8765": false, "[::]:8765": false, "192.0.2.1:8765": false, "tools.example:8765": false, "localhost.tools.example:1": false,
		"a@localhost:8765": false, "localhost:8765?x=1": false, "localhost:8765#x": false, "localhost:8765/%2e": false, "localhost:8765:1": false,
	} {
		if err := oauth.CheckCallback(text); (err == nil) != want {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// A key that cannot sign says why.
func TestClientKeys(t *testing.T) {
	t.Parallel()
	small, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Fatal(err)
	}
	other, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	read := func(file string) string {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	good := read(writeKey(t, t.TempDir(), rsaKey))
	for name, tt := range map[string]struct{ text, want string }{
		"nothing":   {"", "holds no private key"},
		"text":      {"hello", "holds no private key"},
		"two keys":  {good + good, "two keys"},
		"small":     {read(writeKey(t, t.TempDir(), small)), "1024 bits"},
		"curve":     {read(writeKey(t, t.TempDir(), other)), "P-256"},
		"encrypted": {"-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n", "encrypted"},
		"damaged":   {"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", "cannot be read"},
	} {
		o := newOwner(t, oauthtest.FindKind("keycloak"))
		x := oauth.Options{ClientID: oauthtest.OwnedID}
		x.Grant, x.KeyFile = oauth.GrantClient, filepath.Join(t.TempDir(), "key.pem")
		if err := os.WriteFile(x.KeyFile, []byte(tt.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := o.login(x); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What the owner chose is shown as the options that lead there again, without a secret.
func TestOptions(t *testing.T) {
	e := oauth.StoredSignIn{ClientID: "mine", ClientSecret: "s3cret", ByHand: true}
	e.Choices = oauth.Choices{Grant: oauth.GrantClient, Scopes: []string{"a", "b"}, NoResource: true, Callback: "localhost:1", KeyFile: "/k", KeyID: "it's"}
	const want = `[--client-credentials --client-id mine --client-secret-file FILE --client-key /k --client-key-id 'it'\''s' --callback localhost:1 --scope 'a b' --no-resource]`
	if got := fmt.Sprint(e.Options()); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	// Nothing of a server's address runs where the command is pasted.
	const hostile = "https://tools.example/$(id);reboot&x'y"
	if got, want := oauth.AdviseNext("expired_token", oauth.Choices{}, "", hostile).Error(), `clawai auth login 'https://tools.example/$(id);reboot&x'\''y'`; !strings.HasSuffix(got, want) {
		t.Errorf("got %s\nwant %s", got, want)
	}
	plain := oauth.StoredSignIn{ClientID: "registered", ClientSecret: "s3cret"}
	if got := plain.Options(); len(got) != 0 {
		t.Errorf("%q", got)
	}
}
