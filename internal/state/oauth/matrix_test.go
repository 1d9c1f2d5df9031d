package oauth_test

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/state/oauth"
	"github.com/clawai/clawai/internal/testing/oauthtest"
	"github.com/clawai/clawai/internal/testing/slow"
)

// walker is the owner at a terminal whose browser is on another machine.
type walker struct {
	o      *owner
	page   string
	wrong  []string               // what is pasted before the address
	bend   func(at string) string // changes the address that is pasted
	heard  []string               // what was said of each wrong text
	device bool                   // the page was shown with the news that a code would do
	code   oauth.DeviceCode
}

func (w *walker) ShowPage(page string, device bool) error {
	w.page, w.device = page, device
	return nil
}

func (w *walker) ReadAddress(ctx context.Context, why error) (string, error) {
	if why != nil {
		w.heard = append(w.heard, why.Error())
	}
	if len(w.wrong) > 0 {
		text := w.wrong[0]
		w.wrong = w.wrong[1:]
		return text, nil
	}
	there := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, w.page, nil)
	if err != nil {
		return "", err
	}
	resp, err := there.Do(r)
	if err != nil {
		return "", err
	}
	_ = resp.Body.Close()
	at := resp.Header.Get("Location")
	if w.bend != nil {
		at = w.bend(at)
	}
	return at, nil
}

func (w *walker) ShowCode(code oauth.DeviceCode) error {
	w.code = code
	return nil
}

var errNoBrowser = errors.New("no browser here")

func noBrowser(context.Context, string) error { return errNoBrowser }

// writeKey makes a key of a client and its file.
func writeKey(t testing.TB, dir string, key any) string {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "client.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// way is a column of the matrix: how the owner signs in, and what must hold afterwards.
type way struct {
	choose func(o *owner, x *oauth.Options)
	holds  func(o *owner) // looks at all that was asked
	needs  func(k oauthtest.ProviderKind) bool
}

// eachGrant calls look with the form of every request that got a token.
func (o *owner) eachGrant(look func(form map[string][]string)) {
	o.Change(func(s *oauthtest.Played) {
		if len(s.Granted) < 3 {
			o.t.Errorf("%d tokens were given, want those of the sign-in, the refresh and the wider scope", len(s.Granted))
		}
		for _, form := range s.Granted {
			look(form)
		}
	})
}

func (o *owner) eachPage(look func(page map[string][]string)) {
	o.Change(func(s *oauthtest.Played) {
		for _, page := range s.Pages {
			look(page)
		}
	})
}

func byHand(x *oauth.Options) {
	x.ClientID, x.ClientSecret = oauthtest.OwnedID, oauthtest.OwnedSecret
}

func withKey(o *owner, x *oauth.Options, key crypto.Signer) {
	x.ClientID, x.ClientSecret, x.KeyFile = oauthtest.OwnedID, "", writeKey(o.t, o.dir, key)
	o.Trust(key.Public())
}

func (o *owner) wantsAssertions() {
	o.eachGrant(func(form map[string][]string) {
		if len(form["client_assertion"]) != 1 || form["client_secret"] != nil {
			o.t.Errorf("a token was given to %v", form)
		}
	})
}

var ways = map[string]way{
	"browser": {},
	"pasted address": {choose: func(o *owner, x *oauth.Options) {
		x.Browse, x.Person = noBrowser, &walker{o: o, wrong: []string{"", "https://tools.example/?code=x&state=y"}}
	}},
	"device code": {choose: func(o *owner, x *oauth.Options) {
		x.Grant, x.Browse, x.Person, x.Callback = oauth.GrantDevice, noBrowser, &walker{o: o}, ""
		o.Change(func(s *oauthtest.Played) { s.Pending = []string{"authorization_pending"} })
	}, holds: func(o *owner) { o.pages(0) }, needs: func(k oauthtest.ProviderKind) bool { return k.Device != "" }},
	"fixed callback": {choose: func(o *owner, x *oauth.Options) {
		if o.callback == "" {
			o.fixCallback()
		}
		x.Callback = o.callback
	}, holds: func(o *owner) {
		o.eachPage(func(page map[string][]string) {
			if page["redirect_uri"][0] != "http://"+o.callback+"/callback" {
				o.t.Errorf("a page was asked for %v", page)
			}
		})
	}},
	"scopes": {choose: func(o *owner, x *oauth.Options) {
		if x.Scopes == nil {
			x.Scopes = []string{"mine", "other"}
		}
	}, holds: func(o *owner) {
		want := o.settings().Scopes
		if want == nil {
			want = []string{"mine", "other"}
		}
		o.eachPage(func(page map[string][]string) {
			asked := strings.Fields(page["scope"][0])
			for _, scope := range want {
				if !slices.Contains(asked, scope) {
					o.t.Errorf("a page was asked for %v", page)
				}
			}
			if slices.Contains(asked, "read") || slices.Contains(asked, "mcp_api") {
				o.t.Errorf("a page was asked for scopes that nobody chose: %q", asked)
			}
		})
	}},
	"no resource": {choose: func(o *owner, x *oauth.Options) {
		x.NoResource = true
		o.Change(func(s *oauthtest.Played) { s.Bare = true })
	}},
	"client credentials by secret": {choose: func(o *owner, x *oauth.Options) {
		byHand(x)
		o.choosesClient(x)
	}, holds: func(o *owner) { o.pages(0) }},
	"client credentials by key of P-256": {choose: func(o *owner, x *oauth.Options) {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			o.t.Fatal(err)
		}
		withKey(o, x, key)
		o.choosesClient(x)
	}, holds: func(o *owner) {
		o.pages(0)
		o.wantsAssertions()
	}},
	"client credentials by key of RSA": {choose: func(o *owner, x *oauth.Options) {
		withKey(o, x, rsaKey)
		o.choosesClient(x)
	}, holds: func(o *owner) {
		o.pages(0)
		o.wantsAssertions()
	}},
	"browser, client with a key": {choose: func(o *owner, x *oauth.Options) { withKey(o, x, rsaKey) }, holds: (*owner).wantsAssertions},
}

var rsaKey, _ = rsa.GenerateKey(rand.Reader, 2048)

func (o *owner) choosesClient(x *oauth.Options) {
	x.Grant, x.Browse, x.Callback = oauth.GrantClient, noBrowser, ""
	if o.NoTarget {
		x.Scopes = []string{"api://tools/.default"}
	}
}

// Each provider × each way to sign in: the sign-in, a call, a refresh and a wider scope hold to what
// the owner chose, and no step is left to guessing.
func TestWaysToSignIn(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	for _, k := range oauthtest.Kinds() {
		for name, way := range ways {
			t.Run(k.Name+"/"+name, func(t *testing.T) {
				t.Parallel()
				o := newOwner(t, k)
				x := o.settings()
				if way.choose != nil {
					way.choose(o, &x)
				}
				o.expire()
				err := o.login(x)
				if way.needs != nil && !way.needs(k) {
					o.wantsNext(err, "--no-browser")
					x.Grant, x.Callback = oauth.GrantCode, o.callback
					if err := o.login(x); err != nil {
						t.Error(err)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				o.heal()
				o.pass(o.client(oauth.Options{Browse: noBrowser})) // a refresh
				o.Change(func(s *oauthtest.Played) { s.Needs = "write" })
				o.widen(x)
				if way.holds != nil {
					way.holds(o)
				}
			})
		}
	}
}

// widen makes a call that needs a wider scope. A process without the owner says what the owner has
// to do where it cannot do it.
func (o *owner) widen(x oauth.Options) {
	o.t.Helper()
	err := o.call(o.client(oauth.Options{Browse: x.Browse}))
	switch {
	case x.Browse == nil || x.Grant == oauth.GrantClient:
		if err != nil {
			o.t.Fatal(err)
		}
	default:
		way := "--no-browser"
		if x.Grant == oauth.GrantDevice || o.Device != "" {
			way = "--device"
		}
		text := o.wantsNext(err, way)
		if !strings.Contains(text, "write") {
			o.t.Errorf("the next step does not ask for the wider scope: %s", text)
		}
		_, scopes, _ := strings.Cut(text, "--scope ")
		if quoted, _, found := strings.Cut(strings.TrimPrefix(scopes, "'"), "'"); found {
			x.Scopes = strings.Fields(quoted)
		} else {
			x.Scopes = strings.Fields(scopes)[:1]
		}
		if err := o.login(x); err != nil {
			o.t.Fatal(err)
		}
	}
	o.pass(o.client(oauth.Options{Browse: noBrowser}))
}

// wantsNext wants an error whose last words are the command to try next.
func (o *owner) wantsNext(err error, option string) string {
	o.t.Helper()
	if err == nil {
		o.t.Fatal("no error")
	}
	_, command, found := strings.Cut(err.Error(), "clawai auth login ")
	if !found || !strings.Contains(" "+command, " "+option+" ") || !strings.HasSuffix(command, " "+o.Server) {
		o.t.Errorf("the next step is not %s: %v", option, err)
	}
	return command
}
