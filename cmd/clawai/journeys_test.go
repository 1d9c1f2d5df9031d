//go:build unix

package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
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

func overStdio(t *testing.T, j journey, _ wire) *traveller {
	dir := t.TempDir()
	script := filepath.Join(dir, "script")
	var lines bytes.Buffer
	for _, line := range j.script() {
		lines.WriteString(line + "\n")
	}
	if err := os.WriteFile(script, lines.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	// Its folder is as little known as that of a server behind an address.
	tr := piped(t, j, dir, "--server", j.name, "--", "sh", "-c", `cd . && exec parityserver "$0"`, script)
	tr.heard = func() ([]string, []string) {
		src, _ := os.ReadFile(script + ".heard")
		return without(strings.Split(strings.TrimSuffix(string(src), "\n"), "\n")), tr.lines.all()
	}
	return tr.traveller
}

func overBridge(t *testing.T, j journey, w wire) *traveller {
	back := newParityBack(t, j, w)
	tr := piped(t, j, t.TempDir(), "--server", j.name, "--", back.URL+"/mcp")
	tr.heard = func() ([]string, []string) { return back.heard.all(), tr.lines.all() }
	return tr.traveller
}

// requestID matches the id of a fixture's request.
var requestID = regexp.MustCompile(`^\{"jsonrpc":"2.0","id":(\d+),`)

// waitAnswer waits for the answer to a request, where each gets one. A question is answered later
// than a ping, and on a stream of its own: the end of the session would withdraw it.
func (s *lineSet) waitAnswer(t *testing.T, j journey, line string) {
	t.Helper()
	if id := requestID.FindStringSubmatch(line); j.answered && id != nil {
		s.wait(t, `"id":`+id[1]+`,`)
	}
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
			if line == begin { // its id comes again; over HTTP the answers may change places
				lines.wait(t, `"id":0,`)
			}
			lines.waitAnswer(t, j, line)
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

func overReverse(t *testing.T, j journey, w wire) *traveller {
	back := newParityBack(t, j, w)
	dir := t.TempDir()
	cmd, _, out := launch(t, j, dir, "--listen", "127.0.0.1:0", "--upstream", j.name+"="+back.URL+"/mcp")
	said, err := out.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	c := &httpClient{t: t, address: strings.Fields(said)[1], lines: lineSet{came: make(chan struct{}, 1)}, endpoint: make(chan string, 1)}
	if w == twoWay {
		c.listen()
		at, err := url.Parse(c.address)
		if err != nil {
			t.Fatal(err)
		}
		select {
		case to := <-c.endpoint:
			c.address = at.Scheme + "://" + at.Host + to
		case <-time.After(patience):
			t.Fatal("the stream has named no address for messages")
		}
	}
	return &traveller{
		breaks: true, state: dir,
		say: func(line string) {
			c.hear(c.send(http.MethodPost, line))
			if line == begin { // its id comes again; on a stream of 2024-11-05 the answer comes when it may
				c.lines.wait(t, `"id":0,`)
			}
			c.lines.waitAnswer(t, j, line)
			if line == begun && w == streamable {
				c.listen()
			}
		},
		heard: func() ([]string, []string) { return back.heard.all(), c.lines.all() },
		end: func() {
			_ = cmd.Process.Signal(syscall.SIGTERM)
			c.streams.Wait()
			if err := cmd.Wait(); err != nil {
				t.Error(err)
			}
		},
	}
}

// httpClient is a client that speaks HTTP.
type httpClient struct {
	t        *testing.T
	address  string
	session  string
	lines    lineSet
	endpoint chan string // of a stream of 2024-11-05
	streams  sync.WaitGroup
}

// listen opens the server's stream.
func (c *httpClient) listen() {
	resp := c.send(http.MethodGet, "")
	c.streams.Go(func() { c.hear(resp) })
}

func (c *httpClient) send(method, body string) *http.Response {
	c.t.Helper()
	r, err := http.NewRequestWithContext(c.t.Context(), method, c.address, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if c.session != "" {
		r.Header.Set("Mcp-Session-Id", c.session)
	}
	client := http.Client{}
	if method == http.MethodPost {
		client.Timeout = patience
	}
	resp, err := client.Do(r)
	if err != nil {
		c.t.Fatal(err)
	}
	if body == begin {
		c.session = resp.Header.Get("Mcp-Session-Id")
	}
	return resp
}

func (c *httpClient) hear(resp *http.Response) {
	defer resp.Body.Close()
	if resp.Header.Get("Content-Type") != "text/event-stream" {
		body, _ := io.ReadAll(resp.Body)
		if len(body) > 0 && resp.StatusCode != http.StatusBadRequest { // which says what it is in HTTP's own way
			c.lines.add(string(body))
		}
		return
	}
	name := ""
	for in := bufio.NewReader(resp.Body); ; {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		line = strings.TrimSuffix(line, "\n")
		if event, ok := strings.CutPrefix(line, "event: "); ok {
			name = event
		}
		data, ok := strings.CutPrefix(line, "data: ")
		switch {
		case line == "":
			name = ""
		case ok && name == "endpoint":
			c.endpoint <- data
		case ok:
			c.lines.add(data)
		}
	}
}

// parityBack is the parity server over HTTP: what it says it says on its own
// stream.
type parityBack struct {
	*httptest.Server
	heard lineSet
	j     journey
	says  chan string // on the one stream of HTTP+SSE; nil: the server speaks Streamable HTTP
}

func newParityBack(t *testing.T, j journey, w wire) *parityBack {
	b := &parityBack{j: j}
	if w == twoWay {
		b.says = make(chan string, len(j.client)+len(j.server)+8)
	}
	b.Server = httptest.NewServer(b)
	t.Cleanup(func() { b.CloseClientConnections(); b.Close() })
	return b
}

func (b *parityBack) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case b.says != nil:
		b.serveTwoWay(w, r)
	case r.Method == http.MethodGet:
		w.Header().Set("Content-Type", "text/event-stream")
		for _, line := range b.j.script() {
			fmt.Fprintf(w, "data: %s\n\n", line)
		}
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	case r.Method == http.MethodPost:
		w.Header().Set("Mcp-Session-Id", "session-1")
		answer := parityAnswer(b.hear(r))
		if answer == "" {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, answer)
	}
}

// serveTwoWay serves what a server of 2024-11-05 does, and nothing newer.
func (b *parityBack) serveTwoWay(w http.ResponseWriter, r *http.Request) {
	const messages = "/messages"
	switch {
	case r.Method == http.MethodGet && r.URL.Path == "/mcp":
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "event: endpoint\ndata: %s?session=1\n\n", messages)
		for {
			w.(http.Flusher).Flush()
			select {
			case line := <-b.says:
				fmt.Fprintf(w, "event: message\ndata: %s\n\n", line)
			case <-r.Context().Done():
				return
			}
		}
	case r.Method == http.MethodPost && r.URL.Path == messages:
		body := b.hear(r)
		w.WriteHeader(http.StatusAccepted)
		if answer := parityAnswer(body); answer != "" {
			b.says <- answer
		}
		if string(body) == begun {
			for _, line := range b.j.script() {
				b.says <- line
			}
		}
	default:
		w.WriteHeader(http.StatusMethodNotAllowed)
	}
}

func (b *parityBack) hear(r *http.Request) []byte {
	body, _ := io.ReadAll(r.Body)
	b.heard.add(string(body))
	return body
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
	for late := time.After(patience); ; {
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
