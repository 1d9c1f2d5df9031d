package reverse_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/session/screening"
	"github.com/clawai/clawai/internal/testing/slow"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/proxy"
	"github.com/clawai/clawai/proxy/remote"
	"github.com/clawai/clawai/proxy/remote/reverse"
)

const token = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"

// What the server answers to a call: three times the same value, in three forms.
const carries = `{"content":[{"type":"text","text":"key=` + token + ` end"},{"type":"text","text":"{\"a\":\"` + token + `\"}"}],"structuredContent":{"k":"` + token + `"}}`

// screenedGate is a gate with one rule about replies.
func screenedGate(t *testing.T, action string, r gate.Recorder) *gate.Session {
	t.Helper()
	p, err := policy.Parse("p.toml", []byte(`
[[rule]]
on = "reply"
action = "`+action+`"
tool = "*"
find = ["secret"]
description = "No keys"

[[rule]]
action = "allow"
tool = "*"
`), policy.Options{})
	if err != nil {
		t.Fatal(err)
	}
	g, err := gate.New(gate.Options{
		Policy: p, Recorder: r, Approver: &person{make(chan gate.Question, 9), nil}, AskTimeout: 1,
		Concluder: gate.None{}, Inspector: screening.New("s", nil, nil), Labels: gate.None{}, Releases: gate.None{},
	})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// answering is a server that answers as one body or as an event of a stream.
func answering(events bool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		body, _ := io.ReadAll(r.Body)
		said := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, idOf(string(body)), carries)
		if events {
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprintf(w, "id: 1\ndata: %s\n\n", said)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, said)
	})
}

// pipes is a server at the end of two pipes.
type pipes struct {
	io.Reader
	io.Writer
	done chan struct{}
}

func (p *pipes) Done() <-chan struct{}       { return p.done }
func (p *pipes) Close(context.Context) error { return p.Reader.(io.Closer).Close() }
func (p *pipes) Status() string              { return "" }

// pumped has the pump carry one call to a server and gives what the client got.
func pumped(t *testing.T, g *gate.Session, up proxy.Upstream) string {
	t.Helper()
	in, client := io.Pipe()
	out, fromProxy := io.Pipe()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = proxy.Run(t.Context(), proxy.Options{ClientIn: in, ClientOut: fromProxy, Server: up, Gate: g, Name: "s"})
	}()
	fmt.Fprintln(client, call(1, "ok"))
	got, err := bufio.NewReader(out).ReadString('\n')
	_ = client.Close()
	go func() { _, _ = io.Copy(io.Discard, out) }()
	<-ended
	_ = fromProxy.Close()
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// The same answer comes to the same, by whatever way it comes: what is judged is a
// message, and nothing of it goes on before.
func TestAReplyIsTheSameByEveryWay(t *testing.T) {
	slow.Test(t)
	stdio := func(t *testing.T, g *gate.Session) string {
		in, toServer := io.Pipe()
		fromServer, out := io.Pipe()
		go func() {
			line, _ := bufio.NewReader(in).ReadString('\n')
			fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", idOf(line), carries)
		}()
		return pumped(t, g, &pipes{fromServer, toServer, make(chan struct{})})
	}
	bridge := func(events bool) func(*testing.T, *gate.Session) string {
		return func(t *testing.T, g *gate.Session) string {
			server := httptest.NewServer(answering(events))
			defer server.Close()
			to, _ := url.Parse(server.URL)
			up, err := remote.Dial(remote.Options{URL: to, Transport: &http.Transport{DisableCompression: true}})
			if err != nil {
				t.Fatal(err)
			}
			defer server.CloseClientConnections()
			return pumped(t, g, up)
		}
	}
	front := func(events bool) func(*testing.T, *gate.Session) string {
		return func(t *testing.T, g *gate.Session) string {
			w := newHarness(t, answering(events), func(o *reverse.Options) {
				o.Gate = func(string) (reverse.Gate, error) { return reverse.Gate{Session: g, End: g.Close}, nil }
			})
			return says(w.post(call(1, "ok")))
		}
	}
	for way, carry := range map[string]func(*testing.T, *gate.Session) string{
		"stdio": stdio, "bridge, a body": bridge(false), "bridge, an event": bridge(true),
		"in front, a body": front(false), "in front, an event": front(true),
	} {
		for action, want := range map[string][]string{
			"redact": {`"io.github.clawai/reply":{"changed":["redact"],"finds":{"secret":3}`, `key=[clawai:withheld secret 1] end`, `{\"a\":\"[clawai:withheld secret 1]\"}`, `"structuredContent":{"k":"[clawai:withheld secret 1]"}`},
			"deny":   {"Withheld: what came back from the tool", "No keys", "The tool did run", `"isError":true`},
			"prompt": {"Withheld: what came back from the tool", "The tool did run", `"isError":true`},
			"fence":  {`"text":"[clawai:untrusted `, ` begin: `, carries[len(`{"content":[`):strings.Index(carries, `],"struct`)], ` end]"}],"structuredContent"`},
			"warn":   {`[clawai:warning: in what follows, from the server \"s\", was found: secret]`},
			"allow":  {carries},
		} {
			t.Run(way+"/"+action, func(t *testing.T) {
				r := &record{}
				got := carry(t, screenedGate(t, action, r))
				for _, part := range want {
					if !strings.Contains(got, part) {
						t.Errorf("no %s in\n%s", part, got)
					}
				}
				secret := action == "fence" || action == "warn" || action == "allow"
				if strings.Contains(got, token) != secret {
					t.Errorf("the client got %s", got)
				}
				finds := 0
				r.mu.Lock()
				for _, ev := range r.events {
					finds = max(finds, len(ev.Finds))
					if strings.Contains(fmt.Sprint(ev.Finds), token) {
						t.Errorf("recorded %q", ev.Finds)
					}
				}
				r.mu.Unlock()
				if finds != 3 {
					t.Errorf("recorded %d finds", finds)
				}
			})
		}
	}
}

// An error without an id that comes with a request is about it, also in a stream that stays
// open and in an array.
func TestAnErrorWithoutAnID(t *testing.T) {
	const failure = `{"jsonrpc":"2.0","id":null,"error":{"code":-5,"message":"no"}}`
	for _, said := range []string{failure, "[" + failure + "]"} {
		for _, events := range []bool{true, false} {
			t.Run(fmt.Sprintf("%.1s/%t", said, events), func(t *testing.T) {
				w := newHarness(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					body, _ := io.ReadAll(r.Body)
					if strings.Contains(string(body), "notifications/") {
						w.WriteHeader(http.StatusAccepted)
						return
					}
					if !events {
						w.Header().Set("Content-Type", "application/json")
						io.WriteString(w, said)
						return
					}
					w.Header().Set("Content-Type", "text/event-stream")
					fmt.Fprintf(w, "data: %s\n\n", said)
					_ = http.NewResponseController(w).Flush()
					<-r.Context().Done()
				}))
				_ = w.post(`{"jsonrpc":"2.0","method":"notifications/initialized"}`).Body.Close()
				ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
				defer cancel()
				resp, err := http.DefaultClient.Do(w.request(ctx, call(1, "ok")))
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = resp.Body.Close() }()
				line := ""
				for in := bufio.NewReader(resp.Body); !strings.Contains(line, "jsonrpc"); {
					if line, err = in.ReadString('\n'); err != nil {
						break
					}
				}
				if !strings.Contains(line, `"id":1`) || !strings.Contains(line, "-5") {
					t.Errorf("heard %q", line)
				}
				w.comes("the repair in the record", func() bool { return w.record.has("repaired") })
			})
		}
	}
}

// On the stream that belongs to no request it is about none: the call that waits gets its own
// answer.
func TestAnErrorWithoutAnIDOnTheOwnStream(t *testing.T) {
	listens, release := make(chan struct{}), make(chan struct{})
	w := newHarness(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			w.Header().Set("Content-Type", "text/event-stream")
			_ = http.NewResponseController(w).Flush()
			close(listens)
			<-release
			fmt.Fprint(w, "data: {\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-5,\"message\":\"another's\"}}\n\n")
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
			return
		}
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Mcp-Session-Id", "S1")
		if strings.Contains(string(body), "tools/call") {
			close(release)
			time.Sleep(300 * time.Millisecond)
		}
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"},"content":[]}}`, idOf(string(body)))
	}))
	says(w.post(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`))
	r := w.request(t.Context(), "", "Mcp-Session-Id", "S1")
	r.Method, r.Body, r.ContentLength = http.MethodGet, nil, 0
	r.Header.Del("Content-Type")
	r.Header.Set("Accept", "text/event-stream")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	<-listens
	if got := says(w.post(call(1, "ok"), "Mcp-Session-Id", "S1")); strings.Contains(got, "another's") || !strings.Contains(got, `"result"`) {
		t.Errorf("the call has %s", got)
	}
	w.comes("what was dropped, in the record", func() bool { return w.record.has("id") })
}
