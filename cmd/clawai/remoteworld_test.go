//go:build unix

package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// backServer is a remote server of the session era that the test plays: it
// answers every request, and keeps what it heard.
type backServer struct {
	*httptest.Server
	forgets bool // keeps nothing
	mu      sync.Mutex
	heard   []*http.Request
	said    []string
}

func newBackServer(t testing.TB) *backServer {
	b := &backServer{}
	b.Server = httptest.NewUnstartedServer(b)
	b.EnableHTTP2 = true
	t.Cleanup(b.Close)
	return b
}

func (b *backServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	if !b.forgets {
		b.mu.Lock()
		b.heard, b.said = append(b.heard, r), append(b.said, string(body))
		b.mu.Unlock()
	}
	_, rest, request := strings.Cut(string(body), `"id":`)
	switch {
	case r.Method == http.MethodDelete:
	case r.Method == http.MethodGet:
		w.WriteHeader(http.StatusMethodNotAllowed)
	case !request:
		w.WriteHeader(http.StatusAccepted)
	default:
		id, _, _ := strings.Cut(rest, ",")
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Mcp-Session-Id", "session-1")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"b","version":"1"},"content":[]}}`, id)
	}
}

// requests are those heard so far, as METHOD body.
func (b *backServer) requests() (all []*http.Request, texts string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, r := range b.heard {
		texts += r.Method + " " + b.said[i] + "\n"
	}
	return b.heard, texts
}

// prepareClawai makes the folders and a command line of clawai proxy.
func prepareClawai(t testing.TB, args ...string) *running {
	t.Helper()
	r := &running{t: t, dir: t.TempDir(), exited: make(chan struct{})}
	r.write("policy.toml", allowTools)
	r.cmd = exec.Command("clawai", append([]string{"proxy", "--policy", r.path("policy.toml"), "--state", r.path("state")}, args...)...)
	r.cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0", "CLAWAI_CONFIG_DIR="+r.dir, "CLAWAI_KEYCHAIN=off", "HOME="+r.dir, "XDG_STATE_HOME=")
	return r
}

func (r *running) say(line string) {
	r.t.Helper()
	if _, err := io.WriteString(r.in, line+"\n"); err != nil {
		r.t.Fatal(err)
	}
}

// wants is the next line, which holds all of parts.
func (r *running) wants(parts ...string) string {
	r.t.Helper()
	line := r.next()
	for _, p := range parts {
		if !strings.Contains(line, p) {
			r.t.Fatalf("%s, want %s (stderr %s)", line, p, r.read("stderr"))
		}
	}
	return line
}

// keeps says that no file below the run's folder holds any of the secrets, apart
// from those named, and neither does the process's command line.
func (r *running) keeps(secrets []string, but ...string) {
	r.t.Helper()
	check := func(where, text string) {
		for _, s := range secrets {
			if strings.Contains(text, s) {
				r.t.Errorf("%s holds a secret: %s", where, text)
			}
		}
	}
	if line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", r.cmd.Process.Pid)); err == nil {
		check("the command line", string(line))
	}
	_ = filepath.Walk(r.dir, func(path string, info os.FileInfo, err error) error {
		if err != nil || info.IsDir() {
			return nil
		}
		for _, b := range but {
			if path == r.path(b) {
				return nil
			}
		}
		src, _ := os.ReadFile(path)
		check(path, string(src))
		return nil
	})
}

const begin = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
