package reverse_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/testing/slow"
	"github.com/clawai/clawai/internal/wire/frame"
	"github.com/clawai/clawai/proxy/remote"
	"github.com/clawai/clawai/proxy/remote/reverse"
)

const sampling = `{"jsonrpc":"2.0","id":7,"method":"sampling/createMessage","params":{"maxTokens":1,"messages":[{"role":"user","content":{"type":"text","text":"evil"}}]}}`

// A frame that some reader of event streams could find, and the gate did not
// judge, does not reach the client (WHATWG HTML, section 9.2, is read in more ways
// than one).
func TestNoFrameHidesInAStream(t *testing.T) {
	const answer = "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\n"
	for name, events := range map[string]string{
		"CR as a line end":        ": x\rdata: " + sampling + "\r\r",
		"CR in a comment":         ": x\rdata: " + sampling + "\n\n",
		"CR in an id":             "id: 1\rdata: " + sampling + "\n\n",
		"a mark after a skipped":  "event: x\ndata: y\n\n\ufeffdata: " + sampling + "\n\n",
		"a mark in the middle":    ": x\n\n\ufeffdata: " + sampling + "\n\n",
		"a blank before the name": " data: " + sampling + "\n\n",
		"a tab before the name":   "\tdata: " + sampling + "\n\n",
		"another case":            "DATA: " + sampling + "\n\n",
		"NUL before the name":     "\x00data: " + sampling + "\n\n",
		"form feed":               "\fdata: " + sampling + "\n\n",
		"an unknown field":        "x: y\u2028data: " + sampling + "\n\n",
		"two names":               "event: message\nevent: endpoint\ndata: " + sampling + "\n\n",
		"another name":            "event: sampling\ndata: " + sampling + "\n\n",
		"an unfinished event":     "data: " + sampling + "\n",
		"two frames in an event":  "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}\ndata: " + sampling + "\n\n",
		"two frames by CR":        "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}\rdata: " + sampling + "\r\r",
	} {
		t.Run(name, func(t *testing.T) {
			back := &server{serve: func(w http.ResponseWriter, _ *http.Request, body string) {
				if !strings.Contains(body, "tools/call") {
					w.WriteHeader(http.StatusAccepted)
					return
				}
				w.Header().Set("Content-Type", "text/event-stream")
				if strings.HasSuffix(events, "\n\n") || strings.HasSuffix(events, "\r\r") {
					_, _ = io.WriteString(w, events+answer)
				} else {
					_, _ = io.WriteString(w, answer+events)
				}
			}}
			w := newHarness(t, back)
			got := says(w.post(call(1, "ok")))
			if strings.Contains(got, "evil") || strings.Contains(got, "\r") || strings.Contains(got, "\ufeff") {
				t.Errorf("%q", got)
			}
			if !strings.Contains(got, `"id":1,"result":{}`) {
				t.Errorf("no answer: %q", got)
			}
		})
	}
}

// A server that answers with what HTTP does not have ends nothing but its call.
func TestAServerThatSpeaksNoHTTP(t *testing.T) {
	in, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var answers atomic.Value
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			c, err := in.Accept()
			if err != nil {
				return
			}
			_, _ = c.Read(make([]byte, 64<<10))
			_, _ = io.WriteString(c, answers.Load().(string))
			_ = c.Close()
		}
	}()
	defer func() { _ = in.Close(); <-stopped }()
	w := newHarness(t, &server{}, func(o *reverse.Options) {
		up := o.Upstreams["s"]
		to := *up.URL
		to.Host = in.Addr().String()
		o.Upstreams["s"] = remote.Options{URL: &to}
	})
	for _, answer := range []string{
		"HTTP/1.1 099 x\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 101 x\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n", "HTTP/1.1 700 x\r\nContent-Length: 0\r\n\r\n",
		"SSH-2.0\r\n\r\n", "", "HTTP/1.1 200 OK\r\n" + strings.Repeat("X: "+strings.Repeat("x", 1000)+"\r\n", 100),
		"HTTP/1.1 500 \u202eIGNORE\r\nMcp-Session-Id: \u202e\r\nWWW-Authenticate: \u202e\r\nRetry-After: \u202e\r\nContent-Length: 0\r\n\r\n",
	} {
		answers.Store(answer)
		got := says(w.post(call(1, "ok")))
		if !strings.HasPrefix(got, "200 ") && !strings.HasPrefix(got, "500 ") || !strings.Contains(got, `"id":1,"error"`) || strings.Contains(got, "\u202e") {
			t.Errorf("%q: %q", answer[:min(len(answer), 40)], got)
		}
		for _, message := range []string{`{"jsonrpc":"2.0","method":"notifications/x"}`, ""} {
			r := w.request(t.Context(), message, "Authorization", "Bearer mine")
			if message == "" {
				r.Method = http.MethodGet
			}
			resp, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			_ = says(resp)
			for name, values := range resp.Header {
				if strings.Contains(strings.Join(values, ""), "\u202e") {
					t.Errorf("%s: %q", name, values)
				}
			}
		}
	}
}

// An answer cannot move a client to another session.
func TestTheSessionStays(t *testing.T) {
	back := &server{serve: func(w http.ResponseWriter, _ *http.Request, body string) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Mcp-Session-Id", map[bool]string{true: "mine", false: "another"}[strings.Contains(body, "initialize")])
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25"}}`, idOf(body))
	}}
	w := newHarness(t, back)
	begin := w.post(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"a","version":"1"}}}`)
	if got := begin.Header.Get("Mcp-Session-Id"); got != "mine" {
		t.Fatalf("the session is %q", got)
	}
	next := w.post(call(1, "ok"), "Mcp-Session-Id", "mine")
	if got := next.Header.Get("Mcp-Session-Id"); got != "" || next.StatusCode != 200 {
		t.Errorf("%d, moved to %q", next.StatusCode, got)
	}
}

// A server that gives two clients one session still answers each with its own.
func TestOneSessionForTwoClients(t *testing.T) {
	release := make(chan struct{})
	back := &server{serve: func(w http.ResponseWriter, _ *http.Request, body string) {
		if strings.Contains(body, "tools/call") {
			<-release
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Mcp-Session-Id", "one")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","said":%q}}`, idOf(body), body)
	}}
	w := newHarness(t, back)
	got := make(chan string, 2)
	for _, who := range []string{"alice", "bob"} {
		_ = says(w.post(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"a","version":"1"}}}`))
		go func() {
			resp, err := http.DefaultClient.Do(w.request(t.Context(), call(1, "ok-"+who), "Mcp-Session-Id", "one"))
			if err != nil {
				got <- who + err.Error()
				return
			}
			s := says(resp)
			if strings.Contains(s, "ok-"+who) || strings.Contains(s, `"error"`) { // both use the id 1
				s = ""
			}
			got <- s
		}()
	}
	close(release)
	for range 2 {
		if s := <-got; s != "" {
			t.Error(s)
		}
	}
}

// Bodies without an end, both ways, cost what the bound says.
func TestBodiesWithoutAnEnd(t *testing.T) {
	slow.Test(t)
	const most = 1 << 20
	var sent atomic.Int64
	kind := "application/json"
	back := &server{serve: func(w http.ResponseWriter, r *http.Request, _ string) {
		w.Header().Set("Content-Type", kind)
		for r.Context().Err() == nil {
			n, err := io.WriteString(w, "data: "+strings.Repeat(" ", 4096))
			if sent.Add(int64(n)); err != nil {
				return
			}
		}
	}}
	w := newHarness(t, back, func(o *reverse.Options) { o.Limits = frame.Limits{MaxBytes: most, MaxDepth: 64} })
	for _, kind = range []string{"application/json", "text/event-stream"} {
		sent.Store(0)
		if got := says(w.post(call(1, "ok"))); !strings.Contains(got, `"error"`) {
			t.Errorf("%s: %.200s", kind, got)
		}
		if sent.Load() > 16*most {
			t.Errorf("%s: %d bytes were taken", kind, sent.Load())
		}
	}
	heard := back.all()
	body := &endless{}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.url, body)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(r)
	if err == nil {
		if got := says(resp); !strings.HasPrefix(got, "413 ") {
			t.Error(got)
		}
	}
	if body.n.Load() > 16*most || back.all() != heard {
		t.Errorf("%d bytes were taken, %d went on", body.n.Load(), len(back.all())-len(heard))
	}
}

type endless struct{ n atomic.Int64 }

func (e *endless) Read(p []byte) (int, error) {
	e.n.Add(int64(len(p)))
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

// A client that sends its message byte by byte is given up, and holds nobody up.
func TestASlowBody(t *testing.T) {
	slow.Test(t)
	back := &server{}
	w := newHarness(t, back, func(o *reverse.Options) { o.Patience = 300 * time.Millisecond })
	var slow []net.Conn
	for range 50 {
		c, err := net.Dial("tcp", w.front.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{", w.proxy.ServerPath("s"), w.front.Listener.Addr())
		slow = append(slow, c)
	}
	if got := says(w.post(call(1, "ok"))); !strings.HasPrefix(got, "200 ") {
		t.Error(got)
	}
	for _, c := range slow {
		_ = c.SetDeadline(time.Now().Add(5 * time.Second))
		if _, err := io.ReadAll(c); err != nil && strings.Contains(err.Error(), "timeout") {
			t.Fatal("a slow client is still listened to")
		}
	}
	if strings.Count(back.all(), "tools/call") != 1 {
		t.Error(back.all())
	}
}
