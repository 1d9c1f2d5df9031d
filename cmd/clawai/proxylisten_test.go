//go:build unix

package main

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/testing/slow"
)

// serving is a clawai proxy --listen with the addresses it told.
type serving struct {
	*running
	at map[string]string // by server
}

// serve starts it for servers, as NAME=URL.
func serve(t *testing.T, r *running, servers int) *serving {
	t.Helper()
	s := &serving{r.start(), map[string]string{}}
	for range servers {
		name, at, _ := strings.Cut(strings.TrimSpace(s.next()), "  ")
		s.at[name] = at
	}
	return s
}

func (s *serving) post(at, body string, client *http.Client) string {
	s.t.Helper()
	resp, err := client.Post(at, "application/json", strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(resp.Body)
	return fmt.Sprintf("%d %s", resp.StatusCode, text)
}

func callOf(id int, tool string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q}}`, id, tool)
}

// ownClient keeps its connections to itself.
func ownClient(t testing.TB) *http.Client {
	carry := &http.Transport{}
	t.Cleanup(carry.CloseIdleConnections)
	return &http.Client{Transport: carry, Timeout: patience}
}

func (s *serving) ends(by syscall.Signal) {
	s.t.Helper()
	_ = s.cmd.Process.Signal(by)
	if code := s.code(inTime); code != 0 {
		s.t.Errorf("exit code %d after %v (stderr %s)", code, by, s.read("stderr"))
	}
}

// Two servers, each at its path, one gate for each agent session; the secret of
// the path outlives the process, and a policy that changes reaches open gates.
func TestListen(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	one, two := newBackServer(t), newBackServer(t)
	one.Start()
	two.Start()
	c := ownClient(t)
	args := []string{"--listen", "127.0.0.1:0", "--upstream", "one=" + one.URL + "/mcp", "--upstream", "two=" + two.URL + "/mcp"}
	prepared := prepareClawai(t, args...)
	if err := os.Mkdir(prepared.path("state"), 0o700); err != nil {
		t.Fatal(err)
	}
	prepared.write("state/listen.json", `{"two":"http://127.0.0.1:1/OLDSECRET/mcp/two"}`)
	s := serve(t, prepared, 2)
	if got := s.post(s.at["one"], callOf(1, "first"), c); !strings.HasPrefix(got, `200 {"jsonrpc":"2.0","id":1,"result"`) {
		t.Error(got)
	}
	secret := strings.TrimSpace(s.read("state/listen.secret"))
	if info, err := os.Stat(s.path("state/listen.secret")); err != nil || info.Mode().Perm() != 0o600 || len(secret) < 16 {
		t.Errorf("%v, %v, %q", info, err, secret)
	}
	if _, err := os.Stat(s.path("state/listen.json")); !errors.Is(err, fs.ErrNotExist) {
		t.Error("an older clawai's file with the secret is still there:", err)
	}
	if got := s.post(strings.Replace(s.at["two"], "/mcp/two", "/mcp/agent-7/two", 1), callOf(1, "second"), c); !strings.HasPrefix(got, "200 ") {
		t.Error(got)
	}
	if got := s.post(strings.Replace(s.at["two"], secret, "guess", 1), callOf(1, "third"), c); !strings.HasPrefix(got, "404 ") {
		t.Error(got)
	}
	_, first := one.requests()
	_, second := two.requests()
	if !strings.Contains(first, "first") || strings.Contains(first, "second") || !strings.Contains(second, "second") || strings.Contains(first+second, "third") {
		t.Errorf("one heard %s, two heard %s", first, second)
	}

	s.write("policy.toml", strings.Replace(allowTools, "allow", "deny", 1))
	s.recorded(event.Policy, "policy_loaded")
	for name, at := range s.at {
		if got := s.post(at, callOf(2, "fourth"), c); !strings.HasPrefix(got, "200 ") || !strings.Contains(got, `"isError":true`) {
			t.Error(name, got)
		}
	}
	s.write("policy.toml", "nonsense")
	s.recorded(event.Policy, "policy_kept")
	if got := s.post(s.at["one"], callOf(3, "fifth"), c); !strings.Contains(got, `"isError":true`) {
		t.Error(got)
	}
	if _, texts := one.requests(); strings.Contains(texts, "fourth") || strings.Contains(texts, "fifth") {
		t.Error(texts)
	}
	s.ends(syscall.SIGTERM)
	s.quiet()

	s.write("policy.toml", allowTools)
	again := &running{t: t, dir: s.dir, exited: make(chan struct{})}
	fresh := prepareClawai(t, args...)
	again.cmd = fresh.cmd
	again.cmd.Args[3], again.cmd.Args[5] = s.path("policy.toml"), s.path("state")
	next := serve(t, again, 2)
	if path := func(at string) string { u, _ := url.Parse(at); return u.Path }; path(next.at["one"]) != path(s.at["one"]) {
		t.Errorf("the path changed: %s, %s", s.at["one"], next.at["one"])
	}
	next.ends(syscall.SIGINT)
}

// Signals end it in time, also with streams open and calls in flight.
func TestListenEndsInTime(t *testing.T) {
	back := newBackServer(t)
	release := make(chan struct{})
	begun := make(chan struct{}, 10)
	back.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.(http.Flusher).Flush()
		begun <- struct{}{}
		select {
		case <-release:
		case <-r.Context().Done():
		}
	})
	back.Start()
	defer close(release)
	s := serve(t, prepareClawai(t, "--listen", "127.0.0.1:0", "--upstream", "s="+back.URL), 1)
	for i := range 5 {
		go func() {
			if resp, err := ownClient(t).Post(s.at["s"], "application/json", strings.NewReader(callOf(i, "slow"))); err == nil {
				_, _ = io.Copy(io.Discard, resp.Body)
				_ = resp.Body.Close()
			}
		}()
		<-begun
	}
	s.ends(syscall.SIGTERM)
}

// A client whose question still waits when the proxy is told to end gets an error with words: an
// empty answer could be taken for one.
func TestListenEndsBesideAQuestion(t *testing.T) {
	back := newBackServer(t)
	back.Start()
	r := prepareClawai(t, "--listen", "127.0.0.1:0", "--upstream", "s="+back.URL)
	r.cmd.Env = append(r.cmd.Env, "CLAWAI_ASK_NOBODY=wait", "CLAWAI_ASK_NOTIFY=false")
	r.write("policy.toml", strings.Replace(allowTools, "allow", "prompt", 1))
	s, got := serve(t, r, 1), make(chan string)
	go func() { got <- s.post(s.at["s"], callOf(1, "write"), ownClient(t)) }()
	s.waiting(1)
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	if text := <-got; !strings.HasPrefix(text, `200 {"jsonrpc":"2.0","id":1,`) || !strings.Contains(text, "the session ended meanwhile") {
		t.Error(text)
	}
	s.ends(syscall.SIGTERM)
}

// Secrets in a header file and in an address reach the server and nothing else.
func TestSecretsOfListen(t *testing.T) {
	back := newBackServer(t)
	back.Start()
	secrets := []string{fmt.Sprintf("s3cr3t-h-%d", time.Now().UnixNano()), fmt.Sprintf("s3cr3t-q-%d", time.Now().UnixNano())}
	r := prepareClawai(t, "--header-file", "", "--listen", "127.0.0.1:0", "--upstream", "s=env:WHERE")
	r.cmd.Args[7] = r.path("headers")
	r.write("headers", "Authorization: Bearer "+secrets[0]+"\n")
	r.cmd.Env = append(r.cmd.Env, "WHERE="+back.URL+"/mcp?key="+secrets[1])
	s := serve(t, r, 1)
	if got := s.post(s.at["s"], callOf(1, "x"), ownClient(t)); !strings.HasPrefix(got, "200 ") {
		t.Error(got)
	}
	all, _ := back.requests()
	if all[0].Header.Get("Authorization") != "Bearer "+secrets[0] || all[0].URL.Query().Get("key") != secrets[1] {
		t.Errorf("%s %v", all[0].URL, all[0].Header)
	}
	back.CloseClientConnections()
	back.Close()
	if got := s.post(s.at["s"], callOf(2, "x"), ownClient(t)); !strings.Contains(got, "cannot be reached") || strings.Contains(got, "s3cr3t") {
		t.Error(got)
	}
	s.keeps(secrets, "headers")
	s.ends(syscall.SIGTERM)
	s.keeps(secrets, "headers")
}

// With a certificate it speaks TLS, and nothing else.
func TestListenWithTLS(t *testing.T) {
	back := newBackServer(t)
	back.StartTLS() // for its certificate, which is for 127.0.0.1
	pair := back.TLS.Certificates[0]
	key, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	r := prepareClawai(t, "--listen", "127.0.0.1:0", "--upstream", "s="+back.URL+"/mcp", "--tls-cert", "", "--tls-key", "")
	r.cmd.Args[11], r.cmd.Args[13] = r.path("cert.pem"), r.path("key.pem")
	r.write("cert.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: pair.Certificate[0]})))
	r.write("key.pem", string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key})))
	r.cmd.Env = append(r.cmd.Env, "SSL_CERT_FILE="+r.path("cert.pem"))
	s := serve(t, r, 1)
	if !strings.HasPrefix(s.at["s"], "https://127.0.0.1:") {
		t.Fatal(s.at)
	}
	roots := x509.NewCertPool()
	roots.AddCert(back.Certificate())
	carry := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: true}
	defer carry.CloseIdleConnections()
	if got := s.post(s.at["s"], callOf(1, "x"), &http.Client{Transport: carry}); !strings.HasPrefix(got, "200 ") {
		t.Error(got)
	}
	if got := s.post(strings.Replace(s.at["s"], "https:", "http:", 1), callOf(1, "x"), ownClient(t)); !strings.HasPrefix(got, "400 ") {
		t.Error(got)
	}
	old := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MaxVersion: tls.VersionTLS11, MinVersion: tls.VersionTLS10}} //nolint:gosec // what must fail
	if _, err := (&http.Client{Transport: old}).Get(s.at["s"]); err == nil {
		t.Error("an old TLS passes")
	}
	s.ends(syscall.SIGTERM)
}

// A client that sends its header byte by byte is given up.
func TestASlowHeader(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	back := newBackServer(t)
	back.Start()
	s := serve(t, prepareClawai(t, "--listen", "127.0.0.1:0", "--upstream", "s="+back.URL), 1)
	u, err := url.Parse(s.at["s"])
	if err != nil {
		t.Fatal(err)
	}
	c, err := net.Dial("tcp", u.Host)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: %s\r\nX-Slow: ", u.Path, u.Host)
	_ = c.SetDeadline(time.Now().Add(patience))
	if got, err := io.ReadAll(c); err != nil || !bytes.HasPrefix(got, []byte("HTTP/1.1 408")) && len(got) > 0 {
		t.Errorf("%q, %v", got, err)
	}
	s.ends(syscall.SIGTERM)
}

// A header beyond the bound is refused before anything is read of it.
func TestALargeHeader(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	back := newBackServer(t)
	back.Start()
	s := serve(t, prepareClawai(t, "--listen", "127.0.0.1:0", "--upstream", "s="+back.URL), 1)
	r, err := http.NewRequest(http.MethodPost, s.at["s"], strings.NewReader(callOf(1, "x")))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-Large", strings.Repeat("a", 100<<10))
	resp, err := ownClient(t).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if all, _ := back.requests(); resp.StatusCode != http.StatusRequestHeaderFieldsTooLarge || len(all) > 0 {
		t.Errorf("HTTP %d, and the server heard %d requests", resp.StatusCode, len(all))
	}
	s.ends(syscall.SIGTERM)
}

// A client that makes up a name for each call, or begins a session for it, has a gate for each,
// and yet asks its owner no more often.
func TestListenAsksNoMoreOften(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	back := newBackServer(t)
	back.Start()
	r := prepareClawai(t, "--listen", "127.0.0.1:0", "--upstream", "one="+back.URL+"/mcp", "--ask", "console")
	r.cmd.Env = append(r.cmd.Env, "CLAWAI_ASK_PER_MINUTE=2", "CLAWAI_ASK_NOBODY=deny", "CLAWAI_ASK_NOTIFY=false")
	r.write("policy.toml", strings.Replace(allowTools, "allow", "prompt", 1))
	s, c := serve(t, r, 1), ownClient(t)
	for n, want := range []string{"nobody", "nobody", "too many questions within a minute", "too many questions within a minute"} {
		at := strings.Replace(s.at["one"], "/mcp/one", fmt.Sprintf("/mcp/made-up-%d/one", n), 1)
		if got := s.post(at, callOf(1, "write"), c); !strings.Contains(got, want) {
			t.Errorf("question %d: %s, want %s", n+1, got, want)
		}
		time.Sleep(1100 * time.Millisecond) // those within a second count as one
	}
	s.ends(syscall.SIGTERM)
}
