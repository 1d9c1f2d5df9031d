//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/clawai/clawai/internal/testing/oauthtest"
)

// browserProgram is a browser whose owner signs in at once. It keeps what it was
// started with beside HOME.
func browserProgram() {
	group, _ := syscall.Getpgid(0)
	appendLine(filepath.Join(os.Getenv("HOME"), "browser"), fmt.Appendf(nil, "%q group %t", os.Args[1:], group == os.Getpid()))
	if os.Getenv("NO_SIGN_IN") != "" {
		return
	}
	resp, err := http.Get(os.Args[1])
	if err != nil {
		panic(err)
	}
	_ = resp.Body.Close()
}

// owner runs commands with a state of their own.
type owner struct {
	*running
	server *oauthtest.Server
}

func newOwner(t *testing.T) *owner {
	server := oauthtest.New(t)
	next := newBackServer(t)
	server.Change(func(*oauthtest.State) { server.Next = next })
	r := prepareClawai(t, "--", server.Resource)
	r.cmd.Env = append(r.cmd.Env, "BROWSER=browser", "CLAWAI_STATE_DIR="+r.path("state"))
	return &owner{r, server}
}

// clawai runs a command to its end.
func (o *owner) clawai(code int, args ...string) string {
	o.t.Helper()
	cmd := exec.Command("clawai", args...)
	cmd.Env = o.cmd.Env
	out, err := cmd.CombinedOutput()
	if got := cmd.ProcessState.ExitCode(); got != code {
		o.t.Fatalf("clawai %v: exit code %d, %v, %s", args, got, err, out)
	}
	return string(out)
}

// tokens are what the server gave, which nobody but the store may hold.
func (o *owner) tokens() (all []string) {
	o.server.Change(func(s *oauthtest.State) { all = []string{s.Valid, s.Refresh} })
	return all
}

func TestAuth(t *testing.T) {
	o := newOwner(t)
	said := o.clawai(0, "auth", "login", o.server.Resource)
	if !strings.Contains(said, "Your browser opens a page of 127.0.0.1") || !strings.Contains(said, "Signed in at 127.0.0.1") {
		t.Error(said)
	}
	seen := o.read("browser")
	if strings.Count(seen, "\n") != 1 || !strings.HasPrefix(seen, `["`+o.server.URL+`/authorize?`) || !strings.HasSuffix(seen, "\"] group true\n") || strings.Count(seen, `" "`) > 0 {
		t.Errorf("the browser was started with %s", seen)
	}
	var list []map[string]any
	if err := json.Unmarshal([]byte(o.clawai(0, "auth", "list", "--json")), &list); err != nil || len(list) != 1 || list[0]["server"] != o.server.Resource || list[0]["renews"] != true {
		t.Errorf("%v %v", list, err)
	}
	if text := o.clawai(0, "auth", "list"); !strings.Contains(text, o.server.Resource) || !strings.Contains(text, "renewed when it expires") {
		t.Error(text)
	}
	for _, text := range []string{said, o.clawai(0, "auth", "list"), o.clawai(0, "auth", "list", "--json")} {
		for _, secret := range o.tokens() {
			if strings.Contains(text, secret) {
				t.Errorf("a token is shown: %s", text)
			}
		}
	}

	o.start() // the proxy has the token, and asks nobody
	o.call("1", "hello")
	o.wants(`"id":1,"result"`)
	if o.server.SignedIn.Load() != 1 {
		t.Error("signed in again")
	}
	_ = o.in.Close()
	o.code(inTime)
	o.quiet()
	var stored []string
	_ = filepath.Walk(o.dir, func(path string, info os.FileInfo, err error) error {
		if err == nil && !info.IsDir() && strings.Contains(path, "/oauth/") {
			stored = append(stored, strings.TrimPrefix(path, o.dir+"/"))
			if info.Mode().Perm() != 0o600 {
				t.Errorf("%s: %v", path, info.Mode())
			}
		}
		return nil
	})
	o.keeps(o.tokens(), stored...)

	if text := o.clawai(0, "auth", "logout", o.server.Resource); !strings.Contains(text, "Signed out of "+o.server.Resource) {
		t.Error(text)
	}
	o.keeps(o.tokens())
	o.clawai(1, "auth", "logout", o.server.Resource)
	if text := o.clawai(0, "auth", "list"); !strings.Contains(text, "Signed in nowhere") {
		t.Error(text)
	}
}

// The proxy itself opens the browser when a server asks for a sign-in.
func TestAProxySignsIn(t *testing.T) {
	o := newOwner(t)
	o.start()
	o.call("1", "hello")
	o.wants(`"id":1,"result"`)
	if o.server.SignedIn.Load() != 1 {
		t.Errorf("signed in %d times", o.server.SignedIn.Load())
	}
	_ = o.in.Close()
	o.code(inTime)
	o.quiet()
}

// Without a browser the owner is told the page, and the agent is not.
func TestWithoutABrowser(t *testing.T) {
	o := newOwner(t)
	o.cmd.Env = append(o.cmd.Env, "BROWSER=no-such-browser")
	o.start()
	o.call("1", "hello")
	if line := o.wants(`"id":1,"error"`, "the server wants a sign-in", "sign in with: clawai auth login"); strings.Contains(line, "authorize") {
		t.Error(line)
	}
	login := exec.Command("clawai", "auth", "login", o.server.Resource)
	login.Env = o.cmd.Env
	out, err := login.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := login.Start(); err != nil {
		t.Fatal(err)
	}
	text := make([]byte, 0, 4096)
	for !strings.Contains(string(text), "/authorize?") || text[len(text)-1] != '\n' {
		n, err := out.Read(text[len(text):cap(text)])
		if text = text[:len(text)+n]; err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	_, page, _ := strings.Cut(strings.TrimSpace(string(text)), "sign in:\n")
	resp, err := http.Get(page)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if err := login.Wait(); err != nil {
		t.Error(err)
	}
	o.call("2", "hello")
	o.wants(`"id":2,"result"`) // the proxy that runs finds the token
}

// Nobody signs in, or the server does not let them.
// TestTheScreensOfSigningIn: what a person sees who signs in, looks, and signs out.
func TestTheScreensOfSigningIn(t *testing.T) {
	sizes(t, func(t *testing.T, rows, cols int) {
		o := newOwner(t)
		host := strings.TrimPrefix(o.server.URL, "http://")
		for _, s := range []struct {
			args []string
			sees string
		}{
			{[]string{"auth", "login", o.server.Resource}, "\nSigned in at 127.0.0.1"},
			{[]string{"auth", "list"}, host},
			{[]string{"auth", "logout", o.server.Resource}, "Signed out"},
			{[]string{"auth", "list"}, "Signed in nowhere"},
		} {
			w := watchAs(t, o.dir, append(append([]string{"TZ=UTC"}, colorful...), o.cmd.Env...), rows, cols, s.args...)
			w.sees(s.sees)
			w.leaves(0)
		}
	})
}

func TestAuthThatFails(t *testing.T) {
	o := newOwner(t)
	o.server.Change(func(*oauthtest.State) {
		o.server.Returns = func(v url.Values) { v.Set("error", "access_denied\x1b[2J") }
	})
	if text := o.clawai(1, "auth", "login", o.server.Resource); !strings.Contains(text, "not signed in: ") || strings.Contains(text, "\x1b") {
		t.Errorf("%q", text)
	}
	plain := newBackServer(t)
	plain.Start()
	if text := o.clawai(0, "auth", "login", plain.URL+"/mcp"); !strings.Contains(text, "wants no sign-in") {
		t.Error(text)
	}
	o.clawai(1, "auth", "login", "http://127.0.0.1:1/mcp")
}

// A server of 2024-11-05 may ask for a sign-in only where its stream is opened.
func TestAuthAtAStream(t *testing.T) {
	o := newOwner(t)
	o.server.Change(func(*oauthtest.State) { o.server.Stream = true })
	if said := o.clawai(0, "auth", "login", o.server.Resource); !strings.Contains(said, "Signed in at 127.0.0.1") {
		t.Error(said)
	}
	nothing := httptest.NewServer(http.NotFoundHandler())
	defer nothing.Close()
	if said := o.clawai(1, "auth", "login", nothing.URL+"/mcp"); !strings.Contains(said, "HTTP 404 Not Found; is this the address of an MCP server?") {
		t.Error(said)
	}
}

// A sign-in that does not succeed leaves the one before.
func TestASignInThatFailsTakesNothingAway(t *testing.T) {
	o := newOwner(t)
	o.clawai(0, "auth", "login", o.server.Resource)
	before := o.clawai(0, "auth", "list", "--json")
	o.server.Change(func(*oauthtest.State) {
		o.server.Returns = func(back url.Values) { back.Set("code", "another") }
	})
	o.clawai(1, "auth", "login", o.server.Resource)
	if after := o.clawai(0, "auth", "list", "--json"); after != before {
		t.Errorf("before %s, after %s", before, after)
	}
	o.server.Change(func(*oauthtest.State) { o.server.Returns = nil })
	o.clawai(0, "auth", "login", o.server.Resource)
	if o.clawai(0, "auth", "list", "--json") == before {
		t.Error("a sign-in that succeeds does not take the other's place")
	}
}
