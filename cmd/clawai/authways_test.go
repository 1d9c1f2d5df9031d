//go:build unix

package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/testing/oauthtest"
)

// newOwnerAt is an owner at a provider with rules of its own.
func newOwnerAt(t *testing.T, kind string) (*owner, *oauthtest.Provider) {
	p := oauthtest.Play(t, oauthtest.FindKind(kind))
	p.Next = newBackServer(t)
	r := prepareClawai(t, "--", p.Server)
	r.cmd.Env = append(r.cmd.Env, "BROWSER=no-such-browser", "CLAWAI_STATE_DIR="+r.path("state"))
	return &owner{running: r}, p
}

// renews lets a proxy renew the token and call the server.
func (o *owner) renews(p *oauthtest.Provider) {
	o.t.Helper()
	before := 0
	p.Change(func(s *oauthtest.Played) { before, s.Lives = len(s.Granted), 3600 })
	o.start()
	o.call("1", "hello")
	o.wants(`"id":1,"result"`)
	_ = o.in.Close()
	o.code(inTime)
	p.Change(func(s *oauthtest.Played) {
		if len(s.Granted) != before+1 {
			o.t.Errorf("%d tokens were given to the proxy, want 1", len(s.Granted)-before)
		}
	})
}

func (o *owner) options() (words []string) {
	o.t.Helper()
	var list []struct{ Options []string }
	if err := json.Unmarshal([]byte(o.clawai(0, "auth", "list", "--json")), &list); err != nil || len(list) != 1 {
		o.t.Fatal(list, err)
	}
	return list[0].Options
}

// visit opens a page on another machine, where the callback cannot be shown, and returns the
// address at which that browser ends.
func visit(t *testing.T, page string) string {
	t.Helper()
	elsewhere := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	r, err := http.NewRequestWithContext(context.Background(), http.MethodGet, page, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := elsewhere.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	return resp.Header.Get("Location")
}

// A person without a browser here pastes the address; a wrong one gets another try, and none is
// shown.
func TestALoginByAPastedAddress(t *testing.T) {
	o, p := newOwnerAt(t, "keycloak")
	p.Change(func(s *oauthtest.Played) { s.Lives = 1 })
	w := watchAs(t, o.dir, o.cmd.Env, 40, 900, "auth", "login", "--no-browser", p.Server)
	w.sees("Open this page to sign in:", "The address that the browser was sent to (it is not shown):", "clawai auth login --device "+p.Server)
	_, page, _ := strings.Cut(w.screen.Text(), "to sign in:\n")
	page, _, _ = strings.Cut(page, "\n")
	at := visit(t, strings.TrimSpace(page))
	old := strings.Replace(at, "state=", "state=OLD", 1)
	w.types(old + "\r")
	w.sees("Not taken: this address is of another sign-in")
	w.types(at + "\r")
	w.sees("Signed in at ")
	w.leaves(0)
	u, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	if code := u.Query().Get("code"); strings.Contains(w.screen.Text(), "code="+code) {
		t.Errorf("the code is shown:\n%s", w.screen.Text())
	}
	o.renews(p)
}

// A browser that comes back by itself ends the wait for a pasted address, and the terminal is as it
// was.
func TestABrowserEndsTheWaitForAnAddress(t *testing.T) {
	o, p := newOwnerAt(t, "workos")
	w := watchAs(t, o.dir, o.cmd.Env, 40, 900, "auth", "login", p.Server)
	w.sees("It could not be opened.", "(it is not shown):")
	_, page, _ := strings.Cut(w.screen.Text(), "to sign in:\n")
	page, _, _ = strings.Cut(page, "\n")
	resp, err := http.Get(strings.TrimSpace(page))
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	w.sees("Signed in at ")
	w.leaves(0)
}

// Ctrl-C leaves nothing behind.
func TestALoginThatIsLeft(t *testing.T) {
	o, p := newOwnerAt(t, "workos")
	w := watchAs(t, o.dir, o.cmd.Env, 40, 900, "auth", "login", "--no-browser", p.Server)
	w.sees("(it is not shown):")
	w.types("\x03")
	w.leaves(130)
	if text := o.clawai(0, "auth", "list"); !strings.Contains(text, "Signed in nowhere") {
		t.Error(text)
	}
}

// Without a terminal and a browser there is a way that works, and the error names it.
func TestALoginWithoutATerminal(t *testing.T) {
	o, p := newOwnerAt(t, "workos")
	p.Change(func(s *oauthtest.Played) { s.Lives = 1 })
	if text := o.clawai(1, "auth", "login", "--no-browser", p.Server); !strings.HasSuffix(text, "clawai auth login --device "+p.Server+"\n") {
		t.Error(text)
	}
	text := o.clawai(0, "auth", "login", "--device", p.Server)
	for _, want := range []string{"Enter the code:\nWDJB-MJHT\n", "/enter?user_code=WDJB-MJHT\n", "/enter\n", "Signed in at "} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in %s", want, text)
		}
	}
	if got := strings.Join(o.options(), " "); got != "--device" {
		t.Error(got)
	}
	if text := o.clawai(0, "auth", "list"); !strings.Contains(text, "\n  --device\n") {
		t.Error(text)
	}
	o.renews(p)
}

// A call that needs the owner says which command, with what was chosen before.
func TestAProxyWithoutABrowserSaysHowToSignIn(t *testing.T) {
	o, p := newOwnerAt(t, "workos")
	o.clawai(0, "auth", "login", "--device", p.Server)
	p.Revoke()
	o.start()
	o.call("1", "hello")
	o.wants(`"id":1,"error"`, "clawai auth login --device "+p.Server)
	o.clawai(0, "auth", "login", "--device", p.Server)
	o.call("2", "hello")
	o.wants(`"id":2,"result"`)
}

// Entra as docs/providers.md says: its own client, scopes by hand, no resource. A proxy keeps to it.
func TestALoginByHand(t *testing.T) {
	o, p := newOwnerAt(t, "entra")
	p.Change(func(s *oauthtest.Played) { s.Lives = 1 })
	o.write("secret", oauthtest.OwnedSecret)
	by := []string{"--client-id", oauthtest.OwnedID, "--client-secret-file", o.path("secret"), "--device"}
	if text := o.clawai(1, append(append([]string{"auth", "login"}, by...), "--scope", "api://tools/use", p.Server)...); !strings.Contains(text, "--no-resource") {
		t.Error(text)
	}
	o.clawai(0, append(append([]string{"auth", "login"}, by...), "--scope", "api://tools/use", "--no-resource", p.Server)...)
	if got := strings.Join(o.options(), " "); got != "--device --client-id owned --client-secret-file FILE --scope api://tools/use --no-resource" {
		t.Error(got)
	}
	o.renews(p)
}

// A client signs in itself, with its key.
func TestALoginOfAClient(t *testing.T) {
	o, p := newOwnerAt(t, "okta")
	p.Change(func(s *oauthtest.Played) { s.Lives = 1 })
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	o.write("key.pem", string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})))
	p.Trust(key.Public())
	o.clawai(0, "auth", "login", "--client-credentials", "--client-id", oauthtest.OwnedID, "--client-key", o.path("key.pem"), p.Server)
	if text := o.clawai(0, "auth", "list"); !strings.Contains(text, "renewed when it expires") || !strings.Contains(text, "--client-key "+o.path("key.pem")) {
		t.Error(text)
	}
	o.renews(p)
}

// The browser comes back to the one address that is registered, and its port may be in use.
func TestALoginWithACallback(t *testing.T) {
	o, p := newOwnerAt(t, "slack")
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	callback := strings.Replace(taken.Addr().String(), "127.0.0.1", "localhost", 1)
	p.Change(func(s *oauthtest.Played) { s.Lives, s.Callback = 1, "http://"+callback+"/callback" })
	o.write("secret", oauthtest.OwnedSecret)
	o.cmd.Env = append(o.cmd.Env, "BROWSER=browser")
	by := []string{"auth", "login", "--client-id", oauthtest.OwnedID, "--client-secret-file", o.path("secret"), "--callback", callback, p.Server}
	if text := o.clawai(1, by...); !strings.Contains(text, "the port of the callback "+callback+" cannot be had") {
		t.Error(text)
	}
	_ = taken.Close()
	o.clawai(0, by...)
	time.Sleep(1100 * time.Millisecond)
	p.Change(func(s *oauthtest.Played) { s.Needs = "write" })
	p.Change(func(s *oauthtest.Played) { s.Lives = 3600 })
	o.start()
	o.call("1", "hello")
	o.wants(`"id":1,"result"`) // a wider scope, by the same callback
}
