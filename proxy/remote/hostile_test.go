package remote_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/testing/slow"
	"github.com/clawai/clawai/proxy/remote"
)

// speaks answers every connection with bytes as they are, after a whole request.
func speaks(t *testing.T, serve func(c net.Conn)) *remote.Options {
	t.Helper()
	in, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			c, err := in.Accept()
			if err != nil {
				return
			}
			_ = c.SetDeadline(time.Now().Add(10 * time.Second))
			_, _ = c.Read(make([]byte, 64<<10))
			serve(c)
			_ = c.Close()
		}
	}()
	t.Cleanup(func() { _ = in.Close(); <-stopped })
	return &remote.Options{URL: mustParse(t, "http://"+in.Addr().String()+"/mcp")}
}

const ask = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`

// What no HTTP server says is no answer, and nothing of it is shown raw.
func TestWhatNoServerSays(t *testing.T) {
	const drawn = "\u202eIGNORE" // what net/http lets through in a header
	const evil = "\x1b[2J" + drawn
	for name, tt := range map[string]struct{ says, want string }{
		"a status of none":         {"HTTP/1.1 099 x\r\nContent-Length: 0\r\n\r\n", "status 99"},
		"another protocol":         {"HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n", "101"},
		"a status with no end":     {"HTTP/1.1 1000 x\r\n\r\n", "malformed"},
		"no HTTP":                  {"SSH-2.0-" + evil + "\r\n\r\n", "malformed"},
		"words in the status":      {"HTTP/1.1 500 " + evil + "\r\nContent-Length: 0\r\n\r\n", "HTTP 500 Internal Server Error"},
		"words in the type":        {"HTTP/1.1 200 OK\r\nContent-Type: text/" + drawn + "\r\nContent-Length: 0\r\n\r\n", "neither JSON"},
		"words in a redirection":   {"HTTP/1.1 307 x\r\nLocation: http://" + "else%E2%80%AE.example/" + "\r\nContent-Length: 0\r\n\r\n", "another origin"},
		"words in a challenge":     {"HTTP/1.1 401 x\r\nWWW-Authenticate: Bearer realm=\"" + drawn + "\"\r\nContent-Length: 0\r\n\r\n", "HTTP 401 Unauthorized"},
		"an endless header":        {"HTTP/1.1 200 OK\r\n" + strings.Repeat("X: "+strings.Repeat("x", 1000)+"\r\n", 100), "cannot be reached"},
		"an endless header line":   {"HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 200_000), "cannot be reached"},
		"two lengths":              {"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}", "cannot be reached"},
		"endless announcements":    {strings.Repeat("HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n", 10_000), "cannot be reached"},
		"a body that breaks off":   {"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{\"jsonrpc\"", "broke off"},
		"chunks that are no sizes": {"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}", "broke off"},
	} {
		t.Run(name, func(t *testing.T) {
			to := speaks(t, func(c net.Conn) { _, _ = io.WriteString(c, tt.says) })
			l := dial(t, http.NotFoundHandler(), func(o *remote.Options) { o.URL, o.Transport = to.URL, nil })
			l.say(ask)
			got := l.hear()
			for _, text := range append(l.noted(), got) {
				if strings.ContainsAny(text, "\x1b\u202e") {
					t.Errorf("raw: %q", text)
				}
			}
			if !strings.Contains(got, `"id":1,"error"`) || !strings.Contains(got, tt.want) {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
}

// A query may hold a key: nothing the client or the record is told repeats it.
func TestTheAddressIsNotRepeated(t *testing.T) {
	key := "k" + fmt.Sprint(time.Now().UnixNano())
	l := dial(t, http.NotFoundHandler(), func(o *remote.Options) {
		o.URL, o.Transport = mustParse(t, "http://127.0.0.1:1/mcp?key="+key), nil
	})
	l.say(ask)
	got := l.wants(`"id":1`, `"error"`)
	l.say(`{"jsonrpc":"2.0","method":"notifications/x"}`)
	for len(l.noted()) == 0 {
		time.Sleep(time.Millisecond)
	}
	if all := got + strings.Join(l.noted(), " ") + l.up.Status(); strings.Contains(all, key) {
		t.Error(all)
	}
}

// A body without an end costs what the bound says, and an answer.
func TestBodiesWithoutAnEnd(t *testing.T) {
	for kind, piece := range map[string]string{
		"application/json":  strings.Repeat(" ", 4096),
		"text/event-stream": "data: " + strings.Repeat("x", 4096) + "\n",
	} {
		var sent atomic.Int64
		l := dial(t, legacy(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", kind)
			for r.Context().Err() == nil {
				n, err := io.WriteString(w, piece)
				if sent.Add(int64(n)); err != nil {
					return
				}
			}
		}), func(o *remote.Options) { o.Limits.MaxBytes, o.Limits.MaxDepth = 1<<20, 64 })
		l.say(ask)
		l.wants(`"id":1,"error"`)
		if sent.Load() > 16<<20 {
			t.Errorf("%s: %d bytes were taken", kind, sent.Load())
		}
	}
}

// A server that cuts its streams at once, with a time to wait that overflows or
// is none, does not keep us busy.
func TestAServerThatCutsItsStreamsAtOnce(t *testing.T) {
	slow.Test(t)
	for _, retry := range []string{"0", "9223372036854775807", "9223372036854775"} {
		var gets atomic.Int64
		l := dial(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodGet {
				gets.Add(1)
			}
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprintf(w, "id: 1\nretry: %s\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}\n\n", retry)
		}), func(o *remote.Options) { o.Patience = time.Second })
		l.say(ask)
		time.Sleep(350 * time.Millisecond)
		if gets.Load() > 4 {
			t.Errorf("retry %s: taken up %d times", retry, gets.Load())
		}
	}
}

// The session is the one that initialize opened: no other answer changes it, and
// one that no header can carry is none.
func TestTheSessionIsNotChangedMidway(t *testing.T) {
	for _, tt := range []struct{ given, want string }{{"mine", "mine"}, {"\u202e", ""}, {"a b", ""}, {strings.Repeat("x", 5000), ""}} {
		l := dial(t, legacy(func(w http.ResponseWriter, r *http.Request) {
			f := body(r)
			if f.Method == "initialize" {
				w.Header().Set("Mcp-Session-Id", tt.given)
				result(w, f.ID, opened)
				return
			}
			if got := r.Header.Get("Mcp-Session-Id"); got != tt.want {
				t.Errorf("the session is %q, want %q", got, tt.want)
			}
			w.Header().Set("Mcp-Session-Id", "another")
			result(w, f.ID, "{}")
		}), nil)
		l.say(initialize)
		l.wants(`"id":"i"`)
		for i := range 3 {
			l.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"ping"}`, i))
			l.wants(fmt.Sprintf(`"id":%d,"result"`, i))
		}
	}
}

func TestHTTP2(t *testing.T) {
	back := httptest.NewUnstartedServer(legacy(func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor != 2 {
			t.Errorf("spoken: %s", r.Proto)
		}
		f := body(r)
		w.Header().Set("Content-Type", "text/event-stream")
		for i := range 3 {
			fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"data\":%d}}\n\n", i)
			w.(http.Flusher).Flush()
		}
		fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{}}\n\n", f.ID)
	}))
	back.EnableHTTP2 = true
	back.StartTLS()
	defer back.Close()
	l := dial(t, http.NotFoundHandler(), func(o *remote.Options) {
		o.URL, o.Transport = mustParse(t, back.URL+"/mcp"), back.Client().Transport
	})
	for n := range 20 {
		l.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"x"}}`, n))
	}
	seen := 0
	for range 20 * 4 {
		if strings.Contains(l.hear(), `"result"`) {
			seen++
		}
	}
	if seen != 20 {
		t.Errorf("%d answers", seen)
	}
}
