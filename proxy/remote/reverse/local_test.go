package reverse_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/proxy/remote/reverse"
)

// patience is how long a test waits for what must come.
const patience = time.Minute

// play is a local server of which each session says what the test has it say.
type play struct {
	t        testing.TB
	version  string        // that it settles on; "": it refuses
	sessions chan *playing // that have begun
	mu       sync.Mutex
	open     int
}

// playing is one session of it.
type playing struct {
	heard chan string
	out   io.Writer
	stop  chan struct{} // closed by the test: it ends by itself
}

func (p *play) run(ctx context.Context, _ *gate.Session, in io.ReadCloser, out io.Writer) {
	one := &playing{heard: make(chan string, 100), out: out, stop: make(chan struct{})}
	p.count(1)
	defer p.count(-1)
	p.sessions <- one
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for lines := bufio.NewScanner(in); lines.Scan(); {
			line := lines.Text()
			switch {
			case !strings.Contains(line, `"method":"initialize"`):
				one.heard <- line
			case p.version == "":
				one.say(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32600,"message":"no"}}`, idOf(line))
			default:
				one.say(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":%q}}`, idOf(line), p.version)
			}
		}
	}()
	select {
	case <-ended:
	case <-ctx.Done():
	case <-one.stop:
	}
	_ = in.Close()
	<-ended
}

func (p *play) count(n int) {
	p.mu.Lock()
	p.open += n
	p.mu.Unlock()
}

func (p *play) running() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.open
}

func (s *playing) say(format string, args ...any) {
	_, _ = fmt.Fprintf(s.out, format+"\n", args...)
}

// hears is the next line that the session is given.
func (s *playing) hears(t testing.TB) string {
	t.Helper()
	select {
	case line := <-s.heard:
		return line
	case <-time.After(patience):
		t.Fatal("the server heard nothing")
		return ""
	}
}

// local is a harness before a local server.
func local(t testing.TB, version string, bend ...func(*reverse.Options)) (*harness, *play) {
	p := &play{t: t, version: version, sessions: make(chan *playing, 10)}
	return newHarness(t, http.NotFoundHandler(), append(bend, func(o *reverse.Options) {
		o.Upstreams, o.Local = nil, map[string]reverse.Local{"s": p.run}
	})...), p
}

const hello = `{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"2025-06-18"}}`

// begin opens a session, and is its id.
func (w *harness) begin(p *play) (id string, s *playing) {
	w.t.Helper()
	resp := w.post(hello)
	id = resp.Header.Get("Mcp-Session-Id")
	if got := says(resp); len(id) < 20 || !strings.HasPrefix(got, `200 {"jsonrpc":"2.0","id":"i","result"`) {
		w.t.Fatalf("session %q: %s", id, got)
	}
	return id, <-p.sessions
}

// bare is a request that is no message.
func (w *harness) bare(method string, headers ...string) *http.Response {
	w.t.Helper()
	r := w.request(w.t.Context(), "", headers...)
	r.Method, r.Body, r.ContentLength = method, nil, 0
	r.Header.Del("Content-Type")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = resp.Body.Close() })
	return resp
}

// The door of a local server: what is wrong reaches no session.
func TestLocalDoor(t *testing.T) {
	w, p := local(t, "2025-06-18")
	id, s := w.begin(p)
	agent := strings.Replace(w.url, "/mcp/s", "/mcp/other/s", 1)
	for name, c := range map[string]struct {
		at, body string
		headers  []string
		want     string // how the answer begins
		code     string // that is on record; "" for none
	}{
		"no session":          {body: call(1, "x"), want: "400 {\"jsonrpc\":\"2.0\",\"id\":1,\"error\"", code: "no_session"},
		"none that is there":  {body: call(1, "x"), headers: []string{"Mcp-Session-Id", "x" + id}, want: "404 ", code: "no_session"},
		"of another path":     {at: agent, body: call(1, "x"), headers: []string{"Mcp-Session-Id", id}, want: "404 "},
		"begun by its id":     {body: hello, headers: []string{"Mcp-Session-Id", "x" + id}, want: "404 "},
		"without its headers": {body: modernCall("1", "x", "", ""), headers: []string{"Mcp-Session-Id", id}, want: "400 {\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32020", code: "header_mismatch"},
		"two ids":             {body: call(1, "x"), headers: []string{"Mcp-Session-Id", id, "Mcp-Session-Id", id}, want: "400 ", code: "header_twice"},
		"of no version":       {body: call(1, "x"), headers: []string{"Mcp-Session-Id", id, "Mcp-Protocol-Version", "x"}, want: "400 ", code: "version_unknown"},
		"another method":      {body: call(1, "x"), headers: []string{"Mcp-Session-Id", id, "Mcp-Method", "ping"}, want: "400 ", code: "header_mismatch"},
		"a page":              {body: call(1, "x"), headers: []string{"Mcp-Session-Id", id, "Origin", "https://evil.example"}, want: "403 "},
		"without the secret":  {at: strings.Replace(w.url, secret, "x"+secret, 1), body: hello, want: "404 "},
		"encoded":             {body: call(1, "x"), headers: []string{"Mcp-Session-Id", id, "Content-Encoding", "gzip"}, want: "415 "},
		"an array, after 2025-03-26, which the server refuses itself": {body: "[" + call(1, "x") + "]", headers: []string{"Mcp-Session-Id", id}, want: "400 "},
		"nonsense, which the server refuses itself":                   {body: `{"a":`, headers: []string{"Mcp-Session-Id", id}, want: "400 "},
	} {
		t.Run(name, func(t *testing.T) {
			r := w.request(t.Context(), c.body, c.headers...)
			if c.at != "" {
				r.URL, _ = r.URL.Parse(c.at)
			}
			resp, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			if got := says(resp); !strings.HasPrefix(got, c.want) {
				t.Error(got)
			}
			if c.code != "" && !w.record.has(c.code) {
				t.Errorf("no %s is on record", c.code)
			}
			if heard := strings.HasSuffix(name, "itself"); heard {
				s.hears(t)
			} else if len(s.heard) > 0 || len(p.sessions) > 0 {
				t.Error("a session heard of it")
			}
		})
	}
	for _, method := range []string{http.MethodGet, http.MethodDelete} {
		if got := says(w.bare(method, "Mcp-Session-Id", "x"+id)); !strings.HasPrefix(got, "404 ") {
			t.Error(method, got)
		}
	}
	if got := says(w.bare(http.MethodGet)); !strings.HasPrefix(got, "400 ") {
		t.Error(got)
	}
	for body, heard := range map[string]string{ // a body is one line, and one line is one message
		"{\"jsonrpc\":\"2.0\",\n\"method\":\"notifications/a\"}": `{"jsonrpc":"2.0", "method":"notifications/a"}`,
		`{"jsonrpc":"2.0","id":"s-1","result":{}}`:               `{"jsonrpc":"2.0","id":"s-1","result":{}}`,
	} {
		if got := says(w.post(body, "Mcp-Session-Id", id)); got != "202 " {
			t.Error(got)
		}
		if got := s.hears(t); got != heard {
			t.Error(got)
		}
	}
}

// events are what comes on a stream, without the empty lines.
func events(resp *http.Response) <-chan string {
	all := make(chan string, 100)
	go func() {
		defer close(all)
		for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
			if lines.Text() != "" {
				all <- lines.Text()
			}
		}
	}()
	return all
}

func next(t testing.TB, all <-chan string, want string) {
	t.Helper()
	select {
	case got, ok := <-all:
		if got != want || ok != (want != "") {
			t.Fatalf("%q, want %q", got, want)
		}
	case <-time.After(patience):
		t.Fatalf("%q has not come", want)
	}
}

// What a local server says leaves where it belongs: answers to who asked, progress beside
// it, the rest where the client listens, and what finds nobody waits.
func TestLocalStreams(t *testing.T) {
	w, p := local(t, "2025-06-18")
	id, s := w.begin(p)
	session := []string{"Mcp-Session-Id", id}
	asks := func(n int, token string) <-chan string {
		resp := make(chan *http.Response, 1)
		go func() {
			r, err := http.DefaultClient.Do(w.request(t.Context(), fmt.Sprintf(
				`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"x","_meta":{"progressToken":%s}}}`, n, token), session...))
			if err != nil {
				t.Error(err)
				r = &http.Response{Body: http.NoBody}
			}
			resp <- r
		}()
		s.hears(t)
		all := make(chan string, 100)
		go func() {
			defer close(all)
			for line := range events(<-resp) {
				all <- line
			}
		}()
		return all
	}

	s.say(`{"jsonrpc":"2.0","method":"held"}`)
	one, two := asks(1, `"a"`), asks(2, `"b"`)
	next(t, one, `data: {"jsonrpc":"2.0","method":"held"}`)
	s.say(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"a","progress":1}}`)
	next(t, one, `data: {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"a","progress":1}}`)
	s.say(`{"jsonrpc":"2.0","id":"s-1","method":"sampling/createMessage","params":{}}`) // it listens nowhere else
	next(t, two, `data: {"jsonrpc":"2.0","id":"s-1","method":"sampling/createMessage","params":{}}`)
	s.say(`{"jsonrpc":"2.0","id":2,"result":{}}` + "\n" + `{"jsonrpc":"2.0","id":1,"result":{}}`)
	next(t, one, `data: {"jsonrpc":"2.0","id":1,"result":{}}`)
	next(t, one, "")
	next(t, two, `data: {"jsonrpc":"2.0","id":2,"result":{}}`)
	next(t, two, "")

	older, newer := events(w.bare(http.MethodGet, session...)), events(w.bare(http.MethodGet, session...))
	three := asks(3, `3`)
	s.say(`{"jsonrpc":"2.0","id":"s-2","method":"roots/list"}`)
	next(t, newer, `data: {"jsonrpc":"2.0","id":"s-2","method":"roots/list"}`)
	if len(older) > 0 {
		t.Error("it was said twice")
	}

	// An id that waits for its answer is nobody else's.
	if got := says(w.post(call(3, "y"), session...)); !strings.Contains(got, "still in flight") || !w.record.has("duplicate_id") {
		t.Error(got)
	}
	// What is cancelled has no answer; one that comes is on record.
	if got := says(w.post(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}`, session...)); got != "202 " {
		t.Error(got)
	}
	next(t, three, "")
	s.say(`{"jsonrpc":"2.0","id":3,"result":{}}`)
	w.comes("the lost answer", func() bool { return w.record.has("unheard") })
}

// A batch of the one version that has them: each of its answers comes by itself.
func TestLocalBatch(t *testing.T) {
	w, p := local(t, "2025-03-26")
	id, s := w.begin(p)
	go func() {
		<-s.heard
		s.say(`{"jsonrpc":"2.0","id":2,"result":{}}`)
		s.say(`{"jsonrpc":"2.0","id":1,"result":{}}`)
	}()
	got := says(w.post("["+call(1, "x")+","+call(2, "x")+"]", "Mcp-Session-Id", id))
	if got != "200 data: {\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{}}\n\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\n" {
		t.Error(got)
	}
}

// However a session ends, what served it is gone, and nobody waits for it.
func TestLocalEnds(t *testing.T) {
	for name, end := range map[string]func(w *harness, id string, s *playing){
		"DELETE": func(w *harness, id string, _ *playing) {
			if got := says(w.bare(http.MethodDelete, "Mcp-Session-Id", id)); got != "204 " {
				w.t.Error(got)
			}
		},
		"the server itself": func(_ *harness, _ string, s *playing) { close(s.stop) },
		"shutdown":          func(w *harness, _ string, _ *playing) { w.proxy.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			w, p := local(t, "2025-06-18")
			id, s := w.begin(p)
			listens := events(w.bare(http.MethodGet, "Mcp-Session-Id", id))
			waits := make(chan string, 1)
			go func() {
				resp, err := http.DefaultClient.Do(w.request(t.Context(), call(1, "x"), "Mcp-Session-Id", id))
				if err != nil {
					waits <- err.Error()
					return
				}
				waits <- says(resp)
			}()
			s.hears(t)
			end(w, id, s)
			if got := <-waits; !strings.HasPrefix(got, "404 ") && name != "shutdown" {
				t.Error(got)
			}
			next(t, listens, "")
			w.comes("the end", func() bool { return p.running() == 0 })
			if got := says(w.post(call(2, "x"), "Mcp-Session-Id", id)); !strings.HasPrefix(got, "404 ") && name != "shutdown" {
				t.Error(got)
			}
		})
	}
	t.Run("idle", func(t *testing.T) { // nobody comes who could find it old
		w, p := local(t, "2025-06-18", func(o *reverse.Options) { o.Idle = 10 * time.Millisecond })
		w.begin(p)
		w.comes("the end", func() bool { return p.running() == 0 })
	})
	t.Run("idle, once its stream has ended", func(t *testing.T) {
		w, p := local(t, "2025-06-18", func(o *reverse.Options) { o.Idle = 10 * time.Millisecond })
		id, _ := w.begin(p)
		ctx, hangUp := context.WithCancel(t.Context())
		r := w.request(ctx, "", "Mcp-Session-Id", id)
		r.Method = http.MethodGet
		if _, err := http.DefaultClient.Do(r); err != nil { //nolint:bodyclose // hangUp does
			t.Fatal(err)
		}
		for range 3 { // one that is younger, and has no stream, says that it is time
			w.begin(p)
			w.comes("the end of the other", func() bool { return p.running() == 1 })
		}
		if got := says(w.post(`{"jsonrpc":"2.0","method":"notifications/a"}`, "Mcp-Session-Id", id)); got != "202 " {
			t.Error(got)
		}
		hangUp()
		w.comes("the end", func() bool { return p.running() == 0 })
	})
	t.Run("never begun", func(t *testing.T) {
		w, p := local(t, "")
		if got := says(w.post(hello)); !strings.Contains(got, `"message":"no"`) {
			t.Error(got)
		}
		w.comes("the end", func() bool { return p.running() == 0 })
	})
}

// A client may hang up as soon as it has read the answer that begins its session.
func TestLocalOutlivesItsConnection(t *testing.T) {
	w, p := local(t, "2025-06-18")
	for range 200 { // it is a matter of who is quicker
		carry := &http.Transport{}
		resp, err := carry.RoundTrip(w.request(t.Context(), hello))
		if err != nil {
			t.Fatal(err)
		}
		got, id := says(resp), resp.Header.Get("Mcp-Session-Id")
		carry.CloseIdleConnections()
		<-p.sessions
		if again := says(w.post(`{"jsonrpc":"2.0","method":"notifications/initialized"}`, "Mcp-Session-Id", id)); again != "202 " {
			t.Fatalf("%s, after %s", again, got)
		}
		w.bare(http.MethodDelete, "Mcp-Session-Id", id)
	}
}

// Of more sessions than there may be, the one that was not used for longest ends; where all
// are used, one more is told to wait.
func TestLocalBound(t *testing.T) {
	w, p := local(t, "2025-06-18", func(o *reverse.Options) { o.Sessions = 2 })
	first, _ := w.begin(p)
	second, _ := w.begin(p)
	third, _ := w.begin(p)
	w.comes("the end of the first", func() bool { return p.running() == 2 })
	if got := says(w.bare(http.MethodGet, "Mcp-Session-Id", first)); !strings.HasPrefix(got, "404 ") {
		t.Error(got)
	}
	for _, id := range []string{second, third} {
		w.bare(http.MethodGet, "Mcp-Session-Id", id)
	}
	if got := says(w.post(hello)); !strings.HasPrefix(got, "503 ") || p.running() != 2 {
		t.Error(got)
	}
}
