//go:build unix

package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/testing/slow"
)

// hubOverHTTP is a clawai proxy --listen --hub, before servers that each have started a
// process of their own.
type hubOverHTTP struct {
	*serving
	changed chan struct{} // the client was told that tools have changed
}

func serveHub(t *testing.T, setting string, servers ...string) *hubOverHTTP {
	t.Helper()
	r := prepareClawai(t, "--listen", "127.0.0.1:0", "--hub")
	r.configure(setting, servers...)
	return &hubOverHTTP{serve(t, r, 1), make(chan struct{}, 100)}
}

// configure puts these servers into config.toml. What each is, and has started, is in a file
// that is called as it is.
func (r *running) configure(setting string, servers ...string) {
	r.t.Helper()
	text := "list = \"allowed\"\n[hub]\nlist_wait = \"1m\"\n" + setting + "\n" // these wait for a busy machine
	for _, id := range servers {
		r.write(id+".json", `{"tools":[[{"name":"read","inputSchema":{"type":"object"}},{"name":"write","inputSchema":{"type":"object"}}]]}`)
		text += fmt.Sprintf("[upstream.%s]\ncommand = [\"sh\", \"-c\", 'echo $$ >>%s; sleep 3600 & echo $! >>%[2]s; exec listserver %s']\n", id, r.path(id), r.path(id+".json"))
	}
	r.write("config.toml", text)
}

// pids are the processes that a server was in so far.
func (r *running) pids(server string) (all []int) {
	for _, line := range strings.Fields(r.read(server)) {
		pid, err := strconv.Atoi(line)
		if err != nil {
			r.t.Fatal(err)
		}
		all = append(all, pid)
	}
	return all
}

// leaves waits until a server, and what it had started, is gone.
func (r *running) leaves(server string) {
	r.t.Helper()
	all := r.pids(server)
	if len(all) < 2 {
		r.t.Fatalf("%s was not started: %v", server, all)
	}
	for late := time.After(patience); slices.ContainsFunc(all, alive); {
		select {
		case <-late:
			r.t.Fatalf("%s is left: %v", server, all)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// connect is a client of this version.
func (h *hubOverHTTP) connect(version string) *mcp.ClientSession {
	h.t.Helper()
	c := mcp.NewClient(&mcp.Implementation{Name: "t", Version: "1"}, &mcp.ClientOptions{
		ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { h.changed <- struct{}{} },
	})
	s, err := c.Connect(h.t.Context(), &mcp.StreamableClientTransport{Endpoint: h.at["hub"], MaxRetries: -1}, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		h.t.Fatal(err)
	}
	if got := s.InitializeResult().ProtocolVersion; got != version {
		h.t.Fatalf("the client speaks %s, not %s", got, version)
	}
	return s
}

// lists waits until the client is shown these tools, and asks only when it is told of a change.
func (h *hubOverHTTP) lists(c *mcp.ClientSession, want string) {
	h.t.Helper()
	for {
		all, err := c.ListTools(h.t.Context(), nil)
		if err != nil {
			h.t.Fatal(err)
		}
		var names []string
		for _, one := range all.Tools {
			names = append(names, one.Name)
		}
		if got := strings.Join(names, " "); got == want {
			return
		}
		select {
		case <-h.changed:
		case <-time.After(patience):
			h.t.Fatalf("no change was told of; the tools are %s, want %s", names, want)
		}
	}
}

// A client that is connected is told of servers that come and go, and of rules that change;
// nothing is left of what went. A session ends with its client; where there is none, its servers
// end when nobody has come for a while.
func TestHubOverHTTPFollows(t *testing.T) {
	slow.Test(t)
	for version, setting := range map[string]string{"2025-11-25": "", "2026-07-28": `session_idle = "5s"`} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			h := serveHub(t, setting, "one", "two")
			c := h.connect(version)
			h.lists(c, "one__read one__write two__read two__write")
			h.configure(setting, "two", "three")
			h.lists(c, "two__read two__write three__read three__write")
			h.leaves("one")
			if all := h.pids("two"); len(all) != 2 || !alive(all[0]) || !alive(all[1]) {
				t.Errorf("two was started anew: %v", all)
			}
			h.write("policy.toml", "[[rule]]\naction = \"deny\"\nserver = \"two\"\ntool = \"write\"\n"+allowTools)
			h.lists(c, "two__read three__read three__write")
			got, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: "three__write"})
			if err != nil || got.IsError {
				t.Error(got, err)
			}
			if got, err = c.CallTool(t.Context(), &mcp.CallToolParams{Name: "two__write"}); err != nil || !got.IsError {
				t.Error(got, err)
			}
			if err := c.Close(); err != nil {
				t.Error(err)
			}
			h.leaves("two")
			h.leaves("three")
			h.ends(syscall.SIGTERM)
			h.quiet()
		})
	}
}

// inFlight is a client that has a stream open and a call that no server answers.
func (h *hubOverHTTP) inFlight(ctx context.Context) (stream, answer <-chan string) {
	h.t.Helper()
	c := ownClient(h.t)
	var session string
	send := func(method, body string) (*http.Response, error) {
		r, err := http.NewRequestWithContext(ctx, method, h.at["hub"], strings.NewReader(body))
		if err != nil {
			return nil, err
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		if session != "" {
			r.Header.Set("Mcp-Session-Id", session)
		}
		return c.Do(r)
	}
	resp, err := send(http.MethodPost, begin)
	if err != nil {
		h.t.Fatal(err)
	}
	_ = resp.Body.Close()
	session = resp.Header.Get("Mcp-Session-Id")
	all := func(resp *http.Response, err error) <-chan string {
		text := make(chan string, 1)
		go func() {
			if err == nil {
				var body []byte
				body, err = io.ReadAll(bufio.NewReader(resp.Body))
				_ = resp.Body.Close()
				text <- fmt.Sprintf("%d %s %v", resp.StatusCode, body, err)
				return
			}
			text <- err.Error()
		}()
		return text
	}
	stream = all(send(http.MethodGet, ""))
	read, err := send(http.MethodPost, callOf(1, "two__read")) // which starts it
	if got := <-all(read, err); !strings.Contains(got, "called read") {
		h.t.Fatal(got)
	}
	called := make(chan string, 1)
	go func() { called <- <-all(send(http.MethodPost, callOf(2, "one__hang"))) }()
	for late := time.After(patience); h.calls("one") == 0; {
		select {
		case got := <-called:
			h.t.Fatalf("the call has an answer: %s", got)
		case <-late:
			h.t.Fatal("the call is not on record")
		case <-time.After(5 * time.Millisecond):
		}
	}
	return stream, called
}

// calls are those of a server that are on record.
func (r *running) calls(server string) (n int) {
	for _, e := range r.records(event.Decision) {
		if e.Server == server && e.Method == "tools/call" {
			n++
		}
	}
	return n
}

// By a signal the hub ends with all that it has started, in time; what was in flight is
// answered, and the session is closed on record.
func TestHubOverHTTPEndsInTime(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	h := serveHub(t, "", "one", "two")
	stream, answer := h.inFlight(t.Context())
	h.ends(syscall.SIGTERM)
	if got := <-answer; !strings.HasPrefix(got, `200 {"jsonrpc":"2.0","id":2,"error"`) {
		t.Error(got)
	}
	if got := <-stream; got != "200  <nil>" {
		t.Error(got)
	}
	h.leaves("one")
	h.leaves("two")
	if begun, ended := h.records(event.Start), h.records(event.End); len(begun) != len(ended) {
		t.Errorf("%d starts and %d ends are on record", len(begun), len(ended))
	}
	h.quiet()
}

// A client that vanishes, without a word, leaves nothing running for long.
func TestHubOverHTTPClientVanishes(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	h := serveHub(t, `session_idle = "5s"`, "one", "two")
	ctx, vanish := context.WithCancel(t.Context())
	h.inFlight(ctx)
	vanish()
	h.leaves("one")
	h.leaves("two")
	h.ends(syscall.SIGTERM)
}

// Nothing is left of a hub that is killed.
func TestHubOverHTTPIsKilled(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	h := serveHub(t, "", "one", "two")
	stream, answer := h.inFlight(t.Context())
	_ = h.cmd.Process.Kill()
	<-h.exited
	<-stream
	<-answer
	h.leaves("one")
	h.leaves("two")
}
