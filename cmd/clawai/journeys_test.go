//go:build unix

package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// launch runs clawai for a journey, without a terminal to ask at.
func launch(t *testing.T, j journey, dir string, args ...string) (cmd *exec.Cmd, in io.WriteCloser, out *bufio.Reader) {
	t.Helper()
	cmd = exec.Command("clawai", append([]string{"proxy", "--ask", "never", "--policy", j.policy, "--state", dir}, args...)...)
	cmd.Env = append(os.Environ(), "HOME=/home/user", "CLAWAI_KEYCHAIN=off", "GORACE=atexit_sleep_ms=0")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Stderr = os.Stderr
	in, pipe := startPiped(t, cmd)
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	return cmd, in, bufio.NewReader(pipe)
}

func overStdio(t *testing.T, j journey) *traveller {
	dir := t.TempDir()
	script := filepath.Join(dir, "script")
	var lines bytes.Buffer
	for _, line := range append(slices.Clone(j.server), lastOfServer) {
		lines.WriteString(unbroken(line) + "\n")
	}
	if err := os.WriteFile(script, lines.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	tr := piped(t, j, dir, "--server", j.name, "--", "parityserver", script)
	tr.heard = func() ([]string, []string) {
		src, _ := os.ReadFile(script + ".heard")
		return without(strings.Split(strings.TrimSuffix(string(src), "\n"), "\n")), tr.lines.all()
	}
	return tr.traveller
}

func overBridge(t *testing.T, j journey) *traveller {
	back := newParityBack(t, j)
	tr := piped(t, j, t.TempDir(), "--server", j.name, "--", back.URL+"/mcp")
	tr.heard = func() ([]string, []string) { return back.heard.all(), tr.lines.all() }
	return tr.traveller
}

// pipedTraveller is a session whose client speaks on standard input and output.
type pipedTraveller struct {
	*traveller
	lines *lineSet
}

func piped(t *testing.T, j journey, dir string, args ...string) *pipedTraveller {
	cmd, in, out := launch(t, j, dir, args...)
	lines := &lineSet{came: make(chan struct{}, 1)}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			line, err := out.ReadString('\n')
			if err != nil {
				return
			}
			lines.add(strings.TrimSuffix(line, "\n"))
		}
	}()
	n := 0
	return &pipedTraveller{lines: lines, traveller: &traveller{
		state: dir,
		say: func(line string) {
			n++
			ping := fmt.Sprintf(`{"jsonrpc":"2.0","id":"ping%d","method":"ping"}`, n)
			if _, err := io.WriteString(in, line+"\n"+ping+"\n"); err != nil {
				t.Fatal(err)
			}
			lines.wait(t, fmt.Sprintf(`"id":"ping%d"`, n))
		},
		end: func() {
			_ = in.Close()
			<-done
			if err := cmd.Wait(); err != nil {
				t.Error(err)
			}
		},
	}}
}

func overReverse(t *testing.T, j journey) *traveller {
	back := newParityBack(t, j)
	dir := t.TempDir()
	cmd, _, out := launch(t, j, dir, "--listen", "127.0.0.1:0", "--upstream", j.name+"="+back.URL+"/mcp")
	said, err := out.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	address := strings.Fields(said)[1]
	lines := &lineSet{came: make(chan struct{}, 1)}
	hear := func(resp *http.Response) {
		defer resp.Body.Close()
		if resp.Header.Get("Content-Type") == "text/event-stream" {
			for in := bufio.NewReader(resp.Body); ; {
				line, err := in.ReadString('\n')
				if data, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "data: "); ok && err == nil {
					lines.add(data)
				}
				if err != nil {
					return
				}
			}
		}
		body, _ := io.ReadAll(resp.Body)
		if len(body) > 0 && resp.StatusCode != http.StatusBadRequest { // which says what it is in HTTP's own way
			lines.add(string(body))
		}
	}
	send := func(method, body string) *http.Response {
		r, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		if body != begin {
			r.Header.Set("Mcp-Session-Id", "session-1")
		}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		return resp
	}
	var streams sync.WaitGroup
	return &traveller{
		breaks: true, state: dir,
		say: func(line string) {
			hear(send(http.MethodPost, line))
			if line == begun {
				resp := send(http.MethodGet, "")
				streams.Go(func() { hear(resp) })
			}
		},
		heard: func() ([]string, []string) { return back.heard.all(), lines.all() },
		end: func() {
			_ = cmd.Process.Signal(syscall.SIGTERM)
			streams.Wait()
			if err := cmd.Wait(); err != nil {
				t.Error(err)
			}
		},
	}
}

// parityBack is the parity server over HTTP: what it says it says on its own
// stream.
type parityBack struct {
	*httptest.Server
	heard lineSet
	j     journey
}

func newParityBack(t *testing.T, j journey) *parityBack {
	b := &parityBack{j: j}
	b.Server = httptest.NewServer(b)
	t.Cleanup(func() { b.CloseClientConnections(); b.Close() })
	return b
}

func (b *parityBack) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Mcp-Session-Id", "session-1")
	switch r.Method {
	case http.MethodGet:
		w.Header().Set("Content-Type", "text/event-stream")
		for _, line := range append(slices.Clone(b.j.server), lastOfServer) {
			fmt.Fprintf(w, "data: %s\n\n", unbroken(line))
		}
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	case http.MethodPost:
		body, _ := io.ReadAll(r.Body)
		b.heard.add(string(body))
		answer := parityAnswer(body)
		if answer == "" {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, answer)
	}
}

// lineSet is what one side has heard.
type lineSet struct {
	mu    sync.Mutex
	lines []string
	came  chan struct{}
}

func (s *lineSet) add(line string) {
	s.mu.Lock()
	s.lines = append(s.lines, line)
	s.mu.Unlock()
	select {
	case s.came <- struct{}{}:
	default:
	}
}

func (s *lineSet) all() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return without(s.lines)
}

// without leaves out the pings by which a test knows where it is.
func without(lines []string) []string {
	return slices.DeleteFunc(slices.Clone(lines), func(line string) bool { return line == "" || strings.Contains(line, `"id":"ping`) })
}

func (s *lineSet) wait(t *testing.T, text string) {
	t.Helper()
	for late := time.After(20 * time.Second); ; {
		s.mu.Lock()
		there := slices.ContainsFunc(s.lines, func(line string) bool { return strings.Contains(line, text) })
		s.mu.Unlock()
		if there {
			return
		}
		select {
		case <-s.came:
		case <-late:
			t.Fatal("no answer with", text)
		}
	}
}
