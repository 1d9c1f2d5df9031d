package remote_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/clawai/clawai/proxy/remote"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// tools is a real server with one tool whose argument is mirrored in a header.
func tools() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "tools", Version: "1"}, nil)
	s.AddTool(&mcp.Tool{Name: "greet", InputSchema: json.RawMessage(
		`{"type":"object","properties":{"who":{"type":"string","x-mcp-header":"Who"},"deep":{"type":"object","properties":{"n":{"type":"integer","x-mcp-header":"N"}}}}}`),
	}, func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "greetings: " + string(r.Params.Arguments)}}}, nil
	})
	return s
}

func streamable(o *mcp.StreamableHTTPOptions) http.Handler {
	s := tools()
	return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, o)
}

func TestASession(t *testing.T) {
	for name, o := range map[string]*mcp.StreamableHTTPOptions{
		"event streams": {}, "JSON": {JSONResponse: true}, "without sessions": {Stateless: true},
	} {
		t.Run(name, func(t *testing.T) {
			l := dial(t, streamable(o), nil)
			l.say(initialize)
			l.wants(`"id":"i"`, `"protocolVersion":"2025-11-25"`)
			l.say(initiated)
			l.say(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
			l.wants(`"id":1`, `"greet"`)
			l.say(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"greet","arguments":{"who":"you"}}}`)
			l.wants(`"id":2`, `greetings`, `you`)
		})
	}
}

func TestTheSSETransport(t *testing.T) {
	s := tools()
	l := dial(t, mcp.NewSSEHandler(func(*http.Request) *mcp.Server { return s }, nil), nil)
	l.say(strings.Replace(initialize, "2025-11-25", "2024-11-05", 1))
	l.wants(`"id":"i"`, `"serverInfo"`)
	l.say(initiated)
	for i := range 20 {
		l.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"greet","arguments":{"who":"%d"}}}`, i, i))
	}
	for range 20 {
		l.wants(`greetings`)
	}
}

func TestTheModernEra(t *testing.T) {
	var headers atomic.Pointer[http.Header]
	server := streamable(&mcp.StreamableHTTPOptions{Stateless: true})
	l := dial(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := r.Header.Clone()
		headers.Store(&h)
		server.ServeHTTP(w, r)
	}), nil)
	l.say(modern(1, "server/discover", ""))
	l.wants(`"id":1`, `"result"`)
	l.say(modern(2, "tools/list", ""))
	l.wants(`"id":2`, `"greet"`)
	l.say(modern(3, "tools/call", `"name":"greet","arguments":{"who":"Zoë","deep":{"n":7}}`))
	l.wants(`"id":3`, `greetings`)
	h := *headers.Load()
	for name, want := range map[string]string{
		"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "greet",
		"Mcp-Param-Who": "=?base64?Wm/Dqw==?=", "Mcp-Param-N": "7", "Mcp-Session-Id": "",
	} {
		if got := h.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// A number is an integer by its value, and a header has it in digits.
func TestIntegersInHeaders(t *testing.T) {
	var header atomic.Pointer[[]string]
	server := streamable(&mcp.StreamableHTTPOptions{Stateless: true})
	l := dial(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		values := r.Header.Values("Mcp-Param-N")
		header.Store(&values)
		server.ServeHTTP(w, r)
	}), nil)
	l.say(modern(0, "tools/list", ""))
	l.wants(`"id":0`, `"greet"`)
	for i, c := range []struct{ number, want, answer string }{
		{"42", "42", `"result"`}, {"42.0", "42", `"result"`}, {"1e3", "1000", `"result"`}, {"4.2E+1", "42", `"result"`},
		{"0", "0", `"result"`}, {"-0.0", "0", `"result"`}, {"-7", "-7", `"result"`},
		{"9007199254740991", "9007199254740991", `"result"`}, {"-9007199254740991.0", "-9007199254740991", `"result"`},
		{"null", "", `"result"`},
		// What no header may hold is the server's to refuse.
		{"9007199254740992", "", `-32020`}, {"42.5", "", `-32020`}, {"1e400", "", `-32020`}, {"[1]", "", `-32020`},
	} {
		l.say(modern(i+1, "tools/call", `"name":"greet","arguments":{"deep":{"n":`+c.number+`}}`))
		l.wants(fmt.Sprintf(`"id":%d`, i+1), c.answer)
		if got := strings.Join(*header.Load(), ", "); got != c.want {
			t.Errorf("%s: %q, want %q", c.number, got, c.want)
		}
	}
}

// A client that gives a modern request up hangs up on the server.
func TestAModernCancellationHangsUp(t *testing.T) {
	begun, over := make(chan struct{}), make(chan struct{})
	l := dial(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if body(r).Method != "tools/call" {
			t.Errorf("the cancellation was sent as a message")
		}
		w.Header().Set("Content-Type", "text/event-stream")
		w.(http.Flusher).Flush()
		close(begun)
		<-r.Context().Done()
		close(over)
	}), nil)
	l.say(modern(1, "tools/call", `"name":"slow"`))
	<-begun
	l.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	<-over
	l.silent()
}

func TestALegacyCancellationIsAMessage(t *testing.T) {
	cancelled, release := make(chan string, 1), make(chan struct{})
	l := dial(t, legacy(func(w http.ResponseWriter, r *http.Request) {
		f := body(r)
		switch f.Method {
		case "tools/call":
			w.Header().Set("Content-Type", "text/event-stream")
			w.(http.Flusher).Flush()
			<-release
		case "notifications/cancelled":
			cancelled <- string(f.Params)
			close(release)
			w.WriteHeader(http.StatusAccepted)
		}
	}), nil)
	l.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow"}}`)
	l.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	if got := <-cancelled; !strings.Contains(got, `"requestId":1`) {
		t.Errorf("the server heard %s", got)
	}
	l.silent()
}

// A stream that is cut before the answer is taken up where it was cut.
func TestAStreamIsResumed(t *testing.T) {
	const frames = 50
	var next, gets atomic.Int64
	serve := func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "text/event-stream")
		for i := next.Add(1); i <= frames; i = next.Add(1) {
			fmt.Fprintf(w, "id: e%d\nretry: 1\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"data\":%d}}\n\n", i, i)
			if i%7 == 0 {
				return // cut
			}
		}
		fmt.Fprint(w, "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\n")
	}
	l := dial(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.Method {
		case http.MethodPost:
			serve(w)
		case http.MethodGet:
			gets.Add(1)
			if want := fmt.Sprintf("e%d", next.Load()); r.Header.Get("Last-Event-ID") != want {
				t.Errorf("resumed at %q, want %q", r.Header.Get("Last-Event-ID"), want)
			}
			serve(w)
		}
	}), nil)
	l.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow"}}`)
	for i := 1; i <= frames; i++ {
		l.wants(fmt.Sprintf(`"data":%d}`, i))
	}
	if got := l.hear(); got != `{"jsonrpc":"2.0","id":1,"result":{}}` {
		t.Errorf("the answer is %s", got)
	}
	if gets.Load() != frames/7 {
		t.Errorf("resumed %d times", gets.Load())
	}
}

// A session that the server has forgotten is begun anew, once, and the call is
// sent again.
func TestAForgottenSessionIsBegunAnew(t *testing.T) {
	var sessions atomic.Int64
	var calls atomic.Int64
	l := dial(t, legacy(func(w http.ResponseWriter, r *http.Request) {
		f := body(r)
		live := fmt.Sprintf("s%d", sessions.Load())
		switch {
		case f.Method == "initialize":
			if r.Header.Get("Mcp-Session-Id") != "" {
				t.Error("initialize carries a session")
			}
			w.Header().Set("Mcp-Session-Id", fmt.Sprintf("s%d", sessions.Add(1)))
			result(w, f.ID, opened)
		case r.Header.Get("Mcp-Session-Id") != live:
			w.WriteHeader(http.StatusNotFound)
		case f.Method == "notifications/initialized":
			w.WriteHeader(http.StatusAccepted)
		case calls.Add(1) == 3:
			sessions.Add(1) // the server was started again
			w.WriteHeader(http.StatusNotFound)
		default:
			result(w, f.ID, `{"content":[]}`)
		}
	}), nil)
	l.say(initialize)
	l.wants(`"id":"i"`)
	l.say(initiated)
	for i := range 6 {
		l.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"x"}}`, i))
		if got := l.hear(); !strings.Contains(got, fmt.Sprintf(`"id":%d,"result"`, i)) {
			t.Errorf("call %d: %s", i, got)
		}
	}
	if notes := strings.Join(l.noted(), "\n"); strings.Count(notes, "session_renewed") != 1 {
		t.Errorf("notes: %s", notes)
	}
}

func TestTheServersOwnStream(t *testing.T) {
	listening := make(chan struct{})
	l := dial(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.Method {
		case http.MethodGet:
			if r.Header.Get("Mcp-Session-Id") != "s" || r.Header.Get("Mcp-Protocol-Version") != "2025-11-25" {
				t.Errorf("listening without session or version: %v", r.Header)
			}
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, ": hello\n\ndata: {\"jsonrpc\":\"2.0\",\"id\":9,\n")
			fmt.Fprint(w, "data: \"method\":\"ping\"}\n\n")
			w.(http.Flusher).Flush()
			close(listening)
			<-r.Context().Done()
		case http.MethodPost:
			f := body(r)
			if f.Method == "initialize" {
				w.Header().Set("Mcp-Session-Id", "s")
				result(w, f.ID, opened)
				return
			}
			w.WriteHeader(http.StatusAccepted)
		}
	}), nil)
	l.say(initialize)
	l.wants(`"id":"i"`)
	l.say(initiated)
	<-listening
	if got := l.hear(); got != `{"jsonrpc":"2.0","id":9, "method":"ping"}` {
		t.Errorf("heard %s", got)
	}
}

// Whatever a server answers with that is no answer, the client gets one.
func TestFailuresAreAnswered(t *testing.T) {
	answer := `{"jsonrpc":"2.0","id":1,"result":{}}`
	tests := []struct {
		name  string
		serve http.HandlerFunc
		want  string
	}{
		{"500", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) }, "HTTP 500"},
		{"an error with the id", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(400)
			fmt.Fprint(w, `{"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"no"}}`)
		}, `{"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"no"}}`},
		{"an error under another id", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(400)
			fmt.Fprint(w, `{"jsonrpc":"2.0","id":"x","error":{"code":-32020,"message":"no"}}`)
		}, `{"jsonrpc":"2.0","id":1,"error":{"code":-32020,"message":"no"}}`},
		{"text", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/plain")
			fmt.Fprint(w, answer)
		}, "neither JSON nor an event stream"},
		{"no type", func(w http.ResponseWriter, _ *http.Request) {
			w.Header()["Content-Type"] = nil
			fmt.Fprint(w, answer)
		}, "neither JSON nor an event stream"},
		{"two types", func(w http.ResponseWriter, _ *http.Request) {
			w.Header()["Content-Type"] = []string{"application/json", "text/event-stream"}
			fmt.Fprint(w, answer)
		}, "neither JSON nor an event stream"},
		{"another character set", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json; charset=utf-16")
			for _, b := range []byte(answer) {
				_, _ = w.Write([]byte{b, 0})
			}
		}, "something else"},
		{"an encoding", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Encoding", "br")
			fmt.Fprint(w, answer)
		}, "encoded"},
		{"a gzip that is none", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Encoding", "gzip")
			fmt.Fprint(w, answer)
		}, "not the gzip"},
		{"a gzip of too much", func(w http.ResponseWriter, _ *http.Request) {
			zipped(w, `{"jsonrpc":"2.0","id":1,"result":{"x":"`+strings.Repeat("x", 1<<20)+`"}}`)
		}, "longer than"},
		{"an error under null", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(422)
			fmt.Fprint(w, `{"jsonrpc":"2.0","id":null,"error":{"code":-32602,"message":"path is missing"}}`)
		}, `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"path is missing"}}`},
		{"an error without an id, 200", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, `{"jsonrpc":"2.0","error":{"code":-32602,"message":"path is missing"}}`)
		}, "path is missing"},
		{"an error in an array", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(400)
			fmt.Fprint(w, `[{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"path is missing"}}]`)
		}, "path is missing"},
		{"too many", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "30")
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(429)
			fmt.Fprint(w, `{"error":"rate_limited","message":"slow down"}`)
		}, "HTTP 429 Too Many Requests, and wants no call before (Retry-After) 30 s: slow down"},
		{"422 in other words", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/problem+json")
			w.WriteHeader(422)
			fmt.Fprint(w, `{"detail":[{"loc":["body"],"msg":"field required"}]}`)
		}, "HTTP 422 Unprocessable Entity: field required"},
		{"words", func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "no \x1b[2J\nroom "+strings.Repeat("é", 500), http.StatusServiceUnavailable)
		}, "HTTP 503 Service Unavailable: no"},
		{"a page", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			w.WriteHeader(502)
			fmt.Fprint(w, "<h1>bad gateway</h1>")
		}, "HTTP 502 Bad Gateway."},
		{"nothing", func(http.ResponseWriter, *http.Request) {}, "neither JSON"},
		{"accepted", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(202) }, "HTTP 202"},
		{"somebody else's answer", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, `{"jsonrpc":"2.0","id":2,"result":{}}`)
		}, "something else"},
		{"a stream without an answer", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, ": x\n\n")
		}, "ended before the answer"},
		{"a broken connection", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "cannot be reached"},
		{"an endless header", func(w http.ResponseWriter, _ *http.Request) {
			for i := range 2000 {
				w.Header().Set(fmt.Sprintf("X-%d", i), strings.Repeat("x", 100))
			}
		}, "cannot be reached"},
		{"another origin", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "http://127.0.0.1:1/mcp")
			w.WriteHeader(307)
		}, "another origin"},
		{"a method that changes", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "/other")
			w.WriteHeader(302)
		}, "turns POST into GET"},
		{"too long", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":1,"result":{"x":%q}}`, strings.Repeat("x", 9000))
		}, "longer than"},
		{"too long an event", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, "data: "+strings.Repeat("x", 100_000))
		}, "longer than allowed"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := dial(t, legacy(tt.serve), func(o *remote.Options) {
				o.Transport = nil
				o.Limits.MaxBytes, o.Limits.MaxDepth = 8000, 64
			})
			l.say(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
			if got := l.wants(`"id":1`); !strings.Contains(got, tt.want) || !strings.Contains(got, `"error"`) {
				t.Errorf("answered %s, want %s", got, tt.want)
			}
			l.silent()
		})
	}
}

// Credentials never leave the origin they are for.
func TestNothingGoesToAnotherOrigin(t *testing.T) {
	foreign := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("%s %s reached another origin with %v", r.Method, r.URL, r.Header)
	}))
	defer foreign.Close()
	for _, status := range []int{301, 302, 303, 307, 308} {
		l := dial(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", foreign.URL+"/mcp")
			w.WriteHeader(status)
		}), func(o *remote.Options) { o.Header = http.Header{"Authorization": {"Bearer t"}} })
		l.say(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
		l.wants(`"id":1`, `"error"`)
	}
	l := dial(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "event: endpoint\ndata: %s/messages\n\n", foreign.URL)
	}), nil)
	l.say(initialize)
	l.wants(`"id":"i"`, `"error"`)
}

func TestCheckURL(t *testing.T) {
	for _, bad := range []string{"", "ftp://h/", "http://", "https://u:p@h/", "https://h/#f", "file:///etc/passwd"} {
		l := mustParse(t, bad)
		if remote.CheckURL(l) == nil {
			t.Errorf("%q passes", bad)
		}
	}
	if err := remote.CheckURL(mustParse(t, "https://h/mcp?x=1")); err != nil {
		t.Error(err)
	}
}
