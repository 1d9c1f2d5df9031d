package reverse_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/wire/frame"
	"github.com/clawai/clawai/proxy/remote/reverse"
	"github.com/tidwall/gjson"
)

// says26 is a message of 2026-07-28; meta is more of its _meta, params the rest of its params,
// each with a comma before.
func says26(id, method, meta, params string) string {
	if id != "" {
		id = `"id":` + id + `,`
	}
	return `{"jsonrpc":"2.0",` + id + `"method":"` + method + `","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
		`"io.modelcontextprotocol/clientCapabilities":{}` + meta + `}` + params + `}}`
}

// mirrored are the headers of such a message, without one, and with more.
func mirrored(message, without string, more ...string) (headers []string) {
	name := gjson.Get(message, "params.name").String() + gjson.Get(message, "params.uri").String()
	for _, h := range [][2]string{
		{"Mcp-Protocol-Version", gjson.Get(message, `params._meta.io\.modelcontextprotocol/protocolVersion`).String()},
		{"Mcp-Method", gjson.Get(message, "method").String()}, {"Mcp-Name", name},
	} {
		if h[0] != without && h[1] != "" {
			headers = append(headers, h[0], h[1])
		}
	}
	return append(headers, more...)
}

// asks is the response to such a message, as it comes.
func (w *harness) asks(ctx context.Context, message string) <-chan *http.Response {
	came := make(chan *http.Response, 1)
	go func() {
		resp, err := http.DefaultClient.Do(w.request(ctx, message, mirrored(message, "")...))
		if err != nil {
			resp = &http.Response{Body: http.NoBody}
		}
		came <- resp
	}()
	return came
}

const logs26 = `,"io.modelcontextprotocol/logLevel":"info"`

// begun is the session that has begun by a message, which it was given.
func (p *play) begun() *playing {
	p.t.Helper()
	select {
	case s := <-p.sessions:
		return s
	case <-time.After(patience):
		p.t.Fatal("no session has begun")
		return nil
	}
}

// Without a session a request says in its headers what it is, and all of them are there: what is
// wrong reaches no server. A session id counts for nothing, and nobody is given one.
func TestCallerDoor(t *testing.T) {
	w, p := local(t, "2025-06-18")
	call := says26("1", "tools/call", "", `,"name":"x","arguments":{"region":"east","deep":{"n":42},"none":null}`)
	read := says26("1", "resources/read", "", `,"uri":"f:///x"`)
	type try struct {
		body, without string
		more          []string
		want, code    string
	}
	const mismatch = `400 {"jsonrpc":"2.0","id":1,"error":{"code":-32020`
	try1 := func(t *testing.T, c try) {
		t.Helper()
		if got := says(w.post(c.body, mirrored(c.body, c.without, c.more...)...)); !strings.HasPrefix(got, c.want) {
			t.Error(got)
		}
		if c.code != "" && !w.record.has(c.code) {
			t.Errorf("no %s is on record", c.code)
		}
		if len(p.sessions) > 0 {
			t.Error("a session has begun")
		}
	}
	for name, c := range map[string]try{
		"no version":      {body: call, without: "Mcp-Protocol-Version", want: mismatch, code: "header_mismatch"},
		"no method":       {body: call, without: "Mcp-Method", want: mismatch},
		"no name":         {body: call, without: "Mcp-Name", want: mismatch},
		"no URI":          {body: read, without: "Mcp-Name", want: mismatch},
		"another name":    {body: call, without: "Mcp-Name", more: []string{"Mcp-Name", "y"}, want: mismatch},
		"another version": {body: call, without: "Mcp-Protocol-Version", more: []string{"Mcp-Protocol-Version", "2026-07-29"}, want: mismatch},
		"a notification":  {body: says26("", "notifications/cancelled", "", `,"requestId":1`), want: "202 ", code: "no_session"},
		"an answer":       {body: `{"jsonrpc":"2.0","id":1,"result":{}}`, more: []string{"Mcp-Protocol-Version", "2026-07-28"}, want: "400 "},
	} {
		t.Run(name, func(t *testing.T) { try1(t, c) })
	}

	// What repeats an argument is missed, too, once the tool was listed.
	came := w.asks(t.Context(), says26("1", "tools/list", "", ""))
	s := p.begun()
	s.say(`{"jsonrpc":"2.0","id":%s,"result":{"resultType":"complete","tools":[{"name":"x","inputSchema":{"type":"object","properties":{`+
		`"region":{"type":"string","x-mcp-header":"Region"},"deep":{"type":"object","properties":{"n":{"type":"integer","x-mcp-header":"N"}}},`+
		`"none":{"type":"string","x-mcp-header":"None"},"absent":{"type":"string","x-mcp-header":"Absent"}}}}]}}`, idOf(s.hears(t)))
	if resp := <-came; resp.Header.Get("Mcp-Session-Id") != "" || !strings.HasPrefix(says(resp), `200 {"jsonrpc":"2.0","id":1,"result"`) {
		t.Error(resp.Header)
	}
	for name, c := range map[string]try{
		"no argument":      {body: call, more: []string{"Mcp-Param-N", "42"}, want: mismatch},
		"no inner one":     {body: call, more: []string{"Mcp-Param-Region", "east"}, want: mismatch},
		"another argument": {body: call, more: []string{"Mcp-Param-Region", "west", "Mcp-Param-N", "42"}, want: mismatch},
		"one that is null": {body: call, more: []string{"Mcp-Param-Region", "east", "Mcp-Param-N", "42", "Mcp-Param-None", ""}, want: mismatch},
	} {
		t.Run(name, func(t *testing.T) {
			try1(t, c)
			if len(s.heard) > 0 {
				t.Error("the server heard of it")
			}
		})
	}
	go func() { s.say(`{"jsonrpc":"2.0","id":%s,"result":{}}`, idOf(<-s.heard)) }()
	if got := says(w.post(call, mirrored(call, "", "Mcp-Param-Region", "east", "Mcp-Param-N", "42", "Mcp-Session-Id", "x")...)); got != `200 {"jsonrpc":"2.0","id":1,"result":{}}` {
		t.Error(got)
	}
}

// An id that is longer for the server must not make a message too long for it.
func TestCallerFits(t *testing.T) {
	w, p := local(t, "2025-06-18", func(o *reverse.Options) {
		o.Limits = frame.DefaultLimits()
		o.Limits.MaxBytes = len(says26("1", "tools/call", "", `,"name":"x"`))
	})
	for n := range 11 {
		message := says26("1", "tools/call", "", `,"name":"x"`)
		came := w.asks(t.Context(), message)
		if n == 9 {
			if got := says(<-came); !strings.HasPrefix(got, "413 ") || !w.record.has(frame.CodeTooLong) {
				t.Fatal(got)
			}
			return
		}
		if n == 0 {
			p.sessions <- p.begun()
		}
		s := <-p.sessions
		p.sessions <- s
		s.say(`{"jsonrpc":"2.0","id":%s,"result":{}}`, idOf(s.hears(t)))
		says(<-came)
	}
	t.Error("ten ids have no two digits")
}

// Two clients of one caller with the same ids and tokens: each gets what is its own, under what
// it has asked by, and what is about no request is on record.
func TestCallerStreams(t *testing.T) {
	w, p := local(t, "2025-06-18")
	call := says26(`"a"`, "tools/call", `,"progressToken":7`, `,"name":"x","arguments":{"v":1.0}`)
	logging := strings.Replace(call, `,"progressToken":7`, `,"progressToken":7`+logs26, 1)
	first := w.asks(t.Context(), call)
	s := p.begun()
	if got, want := s.hears(t), strings.NewReplacer(`"id":"a"`, `"id":1`, `"progressToken":7`, `"progressToken":1`).Replace(call); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	second := w.asks(t.Context(), logging)
	s.hears(t)
	third := w.asks(t.Context(), call)
	s.hears(t)
	const progress = `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":1.0}}`
	const log = `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}`
	s.say(progress, "2")
	s.say(log)
	s.say(progress, "1")
	s.say(progress, "4") // nobody's
	w.comes("what is nobody's", func() bool { return w.record.has("unheard") })
	s.say(`{"jsonrpc":"2.0","id":2,"result":{"n":2}}` + "\n" + `{"jsonrpc":"2.0","id":1,"result":{"n":1}}` + "\n" + `{"jsonrpc":"2.0","id":3,"result":{"n":3}}`)
	one, two := events(<-first), events(<-second)
	next(t, two, "data: "+fmt.Sprintf(progress, "7"))
	next(t, two, "data: "+log)
	next(t, two, `data: {"jsonrpc":"2.0","id":"a","result":{"n":2}}`)
	next(t, two, "")
	next(t, one, "data: "+fmt.Sprintf(progress, "7"))
	next(t, one, `data: {"jsonrpc":"2.0","id":"a","result":{"n":1}}`)
	next(t, one, "")
	if got := says(<-third); got != `200 {"jsonrpc":"2.0","id":"a","result":{"n":3}}` {
		t.Error(got)
	}
	lost := len(w.record.coded("unheard"))
	s.say(log) // nobody wants it any more
	w.comes("the lost message", func() bool { return len(w.record.coded("unheard")) == lost+1 })
}

// coded are the records with a code.
func (r *record) coded(code string) (ids []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, ev := range r.events {
		if ev.Code == code {
			ids = append(ids, ev.Record)
		}
	}
	return ids
}

// A listen is a stream, under the id that its client gave it, to its end.
func TestCallerListens(t *testing.T) {
	w, p := local(t, "2025-06-18")
	listen := says26(`"l"`, "subscriptions/listen", logs26, `,"notifications":{"toolsListChanged":true}`)
	came, other := w.asks(t.Context(), listen), w.asks(t.Context(), strings.Replace(listen, `"l"`, `0`, 1))
	s := p.begun()
	ids := map[string]string{} // of the server, by those of the clients
	for range 2 {
		got := s.hears(t)
		ids[gjson.Get(got, "id").Raw] = ""
	}
	if _, both := ids["1"]; !both || len(ids) != 2 {
		t.Fatal(ids)
	}
	const changed = `{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":%s}}}`
	const over = `{"jsonrpc":"2.0","id":%s,"result":{"resultType":"complete","_meta":{"io.modelcontextprotocol/subscriptionId":%[1]s}}}`
	for id := range ids {
		s.say(changed, id)
	}
	l, zero := <-came, <-other
	if kind := l.Header.Get("Content-Type") + l.Header.Get("X-Accel-Buffering"); kind != "text/event-streamno" {
		t.Error(kind)
	}
	for id, stream := range map[string]<-chan string{`"l"`: events(l), `0`: events(zero)} {
		next(t, stream, "data: "+fmt.Sprintf(changed, id))
		defer next(t, stream, "")
		defer next(t, stream, "data: "+fmt.Sprintf(over, id))
	}
	lost := len(w.record.coded("unheard"))
	s.say(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}`) // belongs on no such stream
	s.say(changed, `"l"`)                                                                            // a client's id is not the server's
	w.comes("what is lost", func() bool { return len(w.record.coded("unheard")) == lost+2 })
	for id := range ids {
		s.say(over, id)
	}
}

// Whoever hangs up cancels, and what comes then is on record. The id is nobody else's.
func TestCallerHangsUp(t *testing.T) {
	for name, begin := range map[string]func(s *playing){
		"before anything came": func(*playing) {},
		"in a stream": func(s *playing) {
			s.say(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			w, p := local(t, "2025-06-18")
			ctx, hangUp := context.WithCancel(t.Context())
			came := w.asks(ctx, says26("5", "tools/call", `,"progressToken":7`, `,"name":"x"`))
			s := p.begun()
			s.hears(t)
			begin(s)
			hangUp()
			if got := s.hears(t); !strings.HasPrefix(got, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,`) {
				t.Error(got)
			}
			_ = (<-came).Body.Close()
			again := w.asks(t.Context(), says26("5", "tools/call", "", `,"name":"x"`))
			s.hears(t)
			s.say(`{"jsonrpc":"2.0","id":1,"result":{"late":true}}` + "\n" + `{"jsonrpc":"2.0","id":2,"result":{}}`)
			if got := says(<-again); got != `200 {"jsonrpc":"2.0","id":5,"result":{}}` || !w.record.has("unheard") {
				t.Error(got)
			}
		})
	}
}

// Errors have the status that the specification gives them; a denial is none.
func TestCallerStatus(t *testing.T) {
	w, p := local(t, "2025-06-18")
	var s *playing
	for _, c := range []struct {
		unfit      bool
		code, want string
	}{
		{false, "-32601", "404"}, {false, "-32022", "400"}, {false, "-32021", "400"}, {true, "-32602", "400"},
		{false, "-32602", "200"}, {false, "-32001", "200"}, {false, "-32600", "200"},
	} {
		message := says26("1", "tools/call", "", `,"name":"x"`)
		if c.unfit {
			message = strings.Replace(message, `"io.modelcontextprotocol/clientCapabilities":{}`, `"io.modelcontextprotocol/clientCapabilities":1`, 1)
		}
		came := w.asks(t.Context(), message)
		if s == nil || c.unfit { // which is another caller's
			one := p.begun()
			if s == nil {
				s = one
			}
			one.say(`{"jsonrpc":"2.0","id":%s,"error":{"code":%s,"message":"no"}}`, idOf(one.hears(t)), c.code)
		} else {
			s.say(`{"jsonrpc":"2.0","id":%s,"error":{"code":%s,"message":"no"}}`, idOf(s.hears(t)), c.code)
		}
		if got := says(<-came); got != c.want+` {"jsonrpc":"2.0","id":1,"error":{"code":`+c.code+`,"message":"no"}}` {
			t.Error(got)
		}
	}
}

// One caller is one path, one address, and one client by its own word: whoever differs in any
// has a session of his own.
func TestCallersAreKeptApart(t *testing.T) {
	w, p := local(t, "2025-06-18")
	var all []*playing
	ask := func(path, peer, meta string) (began bool) {
		message := says26("1", "tools/call", meta, `,"name":"x"`)
		r := w.request(t.Context(), message, mirrored(message, "")...)
		r.URL.Path, r.RemoteAddr = path, peer
		answered := make(chan struct{})
		go func() { defer close(answered); w.proxy.ServeHTTP(httptest.NewRecorder(), r) }()
		w.comes("the request", func() bool {
			select {
			case s := <-p.sessions:
				all, began = append(all, s), true
			default:
			}
			for _, s := range all {
				select {
				case line := <-s.heard:
					s.say(`{"jsonrpc":"2.0","id":%s,"result":{}}`, idOf(line))
					return true
				default:
				}
			}
			return false
		})
		<-answered
		return began
	}
	path := w.proxy.ServerPath("s")
	for _, c := range []struct {
		path, peer, meta string
		began            bool
	}{
		{path, "192.0.2.1:5", "", true},
		{path, "192.0.2.1:6", "", false},
		{path, "192.0.2.1:6", `,"progressToken":1` + logs26, false},
		{path, "192.0.2.2:5", "", true},
		{strings.Replace(path, "/mcp/s", "/mcp/agent/s", 1), "192.0.2.1:5", "", true},
		{path, "192.0.2.1:5", `,"io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"}`, true},
		{path, "192.0.2.1:5", "", false},
	} {
		if began := ask(c.path, c.peer, c.meta); began != c.began {
			t.Errorf("%+v: began %v", c, began)
		}
	}
}

// However it ends, what served a caller is gone, nobody waits for it, and the next request
// begins another.
func TestCallerEnds(t *testing.T) {
	for name, end := range map[string]func(w *harness, s *playing){
		"the server itself": func(_ *harness, s *playing) { close(s.stop) },
		"shutdown":          func(w *harness, _ *playing) { w.proxy.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			w, p := local(t, "2025-06-18")
			message := says26("1", "tools/call", "", `,"name":"x"`)
			came := w.asks(t.Context(), message)
			s := p.begun()
			s.hears(t)
			end(w, s)
			if got := says(<-came); !strings.HasPrefix(got, "503 ") {
				t.Error(got)
			}
			w.comes("the end", func() bool { return p.running() == 0 })
			if name == "shutdown" {
				return
			}
			came = w.asks(t.Context(), message)
			s = p.begun()
			s.say(`{"jsonrpc":"2.0","id":%s,"result":{}}`, idOf(s.hears(t)))
			if got := says(<-came); !strings.HasPrefix(got, "200 ") {
				t.Error(got)
			}
		})
	}
	t.Run("idle", func(t *testing.T) {
		w, p := local(t, "2025-06-18", func(o *reverse.Options) { o.Idle = 10 * time.Millisecond })
		ctx, hangUp := context.WithCancel(t.Context())
		came := w.asks(ctx, says26("1", "subscriptions/listen", "", ""))
		s := p.begun()
		s.hears(t)
		for range 3 { // one that is younger, and for which nobody waits, says that it is time
			w.begin(p)
			w.comes("the end of the other", func() bool { return p.running() == 1 })
		}
		hangUp()
		_ = (<-came).Body.Close()
		w.comes("the end", func() bool { return p.running() == 0 })
	})
	t.Run("one too many", func(t *testing.T) {
		w, p := local(t, "2025-06-18", func(o *reverse.Options) { o.Sessions = 1 })
		w.begin(p)
		message := says26("1", "tools/call", "", `,"name":"x"`)
		came := w.asks(t.Context(), message)
		s := p.begun()
		w.comes("the end of the session", func() bool { return p.running() == 1 })
		if got := says(w.post(hello)); !strings.HasPrefix(got, "503 ") { // the caller waits
			t.Error(got)
		}
		s.say(`{"jsonrpc":"2.0","id":%s,"result":{}}`, idOf(s.hears(t)))
		if got := says(<-came); !strings.HasPrefix(got, "200 ") {
			t.Error(got)
		}
	})
}

// A stream on which nothing is said says that it is there; whoever reads events does not see it.
func TestStreamsStayAlive(t *testing.T) {
	defer reverse.KeepAlive(time.Millisecond)()
	w, p := local(t, "2025-06-18")
	id, _ := w.begin(p)
	next(t, events(w.bare(http.MethodGet, "Mcp-Session-Id", id)), ":")
	came := w.asks(t.Context(), says26(`"l"`, "subscriptions/listen", "", ""))
	s := p.begun()
	s.hears(t)
	s.say(`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":1}}}`)
	stream := events(<-came)
	next(t, stream, `data: {"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":"l"}}}`)
	next(t, stream, ":")
	if got := says(w.post(call(1, "x"))); !strings.HasPrefix(got, "400 ") {
		t.Error(got)
	}
}
