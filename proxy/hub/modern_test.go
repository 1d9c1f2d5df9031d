package hub_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/testing/slow"
	"github.com/clawai/clawai/internal/wire/frame"
	"github.com/clawai/clawai/proxy/hub"
	"github.com/tidwall/gjson"
)

// messageVersion is the _meta of a client of 2026-07-28 that can be asked, with more in it.
func messageVersion(more string) string {
	return `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":` +
		`{"elicitation":{"form":{}},"sampling":{},"roots":{}},"io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"}` + more + `}`
}

// asks sends a request of 2026-07-28 and returns its answer; members is the rest of its params.
func (w *harness) asks(id, method, members string) string {
	w.t.Helper()
	w.sends(id, method, members)
	return w.next(`"id":` + id + `,`)
}

func (w *harness) sends(id, method, members string) {
	w.t.Helper()
	if members != "" {
		members = "," + members
	}
	w.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":{%s%s}}`, id, method, messageVersion(""), members))
}

// newToy is a server that speaks 2026-07-28 and nothing else.
func newToy(id string, tools []string, answer func(r *running, f *frame.Frame) string) *toy {
	return &toy{id: id, tools: tools, answer: func(r *running, f *frame.Frame) string {
		if answer != nil {
			if said := answer(r, f); said != "" {
				return said
			}
		}
		switch {
		case !strings.Contains(string(f.Params), `"io.modelcontextprotocol/protocolVersion":"2026-07-28"`):
			return `"error":{"code":-32602,"message":"no version"}`
		case f.Method == "server/discover":
			return `"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true},"resources":{"subscribe":true}},"ttlMs":1,"cacheScope":"public"}`
		case f.Method == "subscriptions/listen":
			r.say(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":%s},"notifications":%s}}`,
				f.ID, gjson.GetBytes(f.Params, "notifications").Raw))
			return "-"
		case f.Method == "tools/call":
			return fmt.Sprintf(`"result":{"resultType":"complete","content":[{"type":"text","text":"%s:%s"}],"x":1.50}`, r.id, gjson.GetBytes(f.Params, "name").String())
		}
		return ""
	}}
}

// A client of 2026-07-28 finds out what the hub is, lists, and calls tools, of servers of its
// own version and of earlier ones: those are begun with initialize, and see nothing of the
// newer one. Each server is asked once what it speaks.
func TestModernClient(t *testing.T) {
	n, o := newToy("n", []string{"x"}, nil), &toy{id: "o", tools: []string{"y"}}
	w := start(t, nil, n, o)
	got := w.asks("1", "server/discover", "")
	for path, want := range map[string]string{
		"result.resultType":                     "complete",
		"result.supportedVersions":              `["2026-07-28","2025-11-25","2025-06-18","2025-03-26","2024-11-05"]`,
		"result.capabilities.tools.listChanged": "true",
		"result.ttlMs":                          "0",
		"result.cacheScope":                     "private",
		`result._meta.io\.modelcontextprotocol/serverInfo.name`:    "clawai hub",
		`result._meta.io\.modelcontextprotocol/serverInfo.version`: "test",
	} {
		if is := gjson.Get(got, path).String(); is != want {
			t.Errorf("%s is %s in %s", path, is, got)
		}
	}
	list := w.asks("2", "tools/list", "")
	if got := fmt.Sprint(names(list)); got != "[n__x o__y]" || gjson.Get(list, "result.resultType").String() != "complete" || gjson.Get(list, "result.cacheScope").String() != "private" || !gjson.Get(list, "result.ttlMs").Exists() {
		t.Error(list)
	}
	// The answer of a server of this version is not touched but for its id.
	if got := w.asks(`"s"`, "tools/call", `"name":"n__x","arguments":{"v": 1.0}`); got != `{"jsonrpc":"2.0","id":"s","result":{"resultType":"complete","content":[{"type":"text","text":"n:x"}],"x":1.50}}` {
		t.Error(got)
	}
	if got := n.got(messageVersion("")+`,"name":"x","arguments":{"v": 1.0}`, `"method":"tools/call"`); got != 1 {
		t.Errorf("%d calls as the client wrote them: %s", got, n.heard)
	}
	if got := w.asks("3", "tools/call", `"name":"o__y","arguments":{}`); got != `{"jsonrpc":"2.0","id":3,"result":{"resultType":"complete","content":[{"type":"text","text":"o:y"}]}}` {
		t.Error(got)
	}
	if got := o.got(`"_meta":{},"name":"y"`); got != 1 {
		t.Errorf("the server of an earlier version heard %s", o.heard)
	}
	if got := o.got(`"method":"initialize"`, `"protocolVersion":"2025-11-25"`, `"capabilities":{"elicitation":{"form":{}},"sampling":{},"roots":{}}`, `"clientInfo":{"name":"c"`); got != 1 {
		t.Errorf("it was begun %d times: %s", got, o.heard)
	}
	if a, b := n.got("server/discover"), o.got("server/discover"); a != 1 || b != 1 || n.got("initialize") != 0 {
		t.Errorf("asked what they speak %d and %d times", a, b)
	}
	// The rules see what they always see.
	if got := w.asks("4", "tools/call", `"name":"n__secret"`); strings.Contains(got, "n:secret") == false {
		t.Error(got)
	}
	w.toys["n"].running().say(`{"jsonrpc":"2.0","id":1,"method":"roots/list"}`)
	w.comes("the error", func() bool { return n.got(`"id":1,"error"`) == 1 })
}

// Every call meets the gate as it does from any other client: a denial has the form of the
// client's version whichever the server's is.
func TestModernClientMeetsTheGate(t *testing.T) {
	for _, y := range []*toy{newToy("a", nil, nil), {id: "a"}} {
		w := start(t, nil, y)
		got := w.asks("1", "tools/call", `"name":"a__secret"`)
		if !gjson.Get(got, "result.isError").Bool() || gjson.Get(got, "result.resultType").String() != "complete" || y.got("secret") != 0 {
			t.Error(got)
		}
		if ev, ok := w.record.find(func(ev event.Event) bool { return ev.Kind == event.Decision }); !ok || ev.Server != "a" || fmt.Sprint(ev.Names) != "[secret]" {
			t.Errorf("%+v", ev)
		}
	}
}

// What is not of the session's version is refused, each with what the specification says.
func TestModernRefusals(t *testing.T) {
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":`
	y := newToy("a", []string{"x"}, nil)
	w := start(t, nil, y)
	for i, c := range []struct{ method, params, want string }{
		{"tools/list", `{` + meta + `"1900-01-01","io.modelcontextprotocol/clientCapabilities":{}}}`, `"error":{"code":-32022,"message":"Unsupported protocol version","data":{"supported":["2026-07-28",`},
		{"tools/list", `{` + meta + `"1900-01-01"}}`, `"requested":"1900-01-01"}`},
		{"tools/list", `{` + meta + `"2026-07-28"}}`, `"code":-32602`},
		{"tools/call", `{"name":"x",` + meta + `"2026-07-28","io.modelcontextprotocol/clientCapabilities":[]}}`, `"code":-32602`},
		{"tools/list", `{}`, `"code":-32601`},
		{"initialize", `{"protocolVersion":"2025-06-18",` + messageVersion("") + `}`, `"code":-32601`},
		{"tools/list", `{` + messageVersion("") + `}`, `"a__x"`}, // from here on it is settled
		{"tools/list", `{}`, `"code":-32602`},
		{"tools/call", `{"name":"x"}`, `"code":-32602`},
		{"initialize", `{"protocolVersion":"2025-06-18","capabilities":{}}`, `"code":-32600`},
		{"resources/subscribe", `{"uri":"f:///x",` + messageVersion("") + `}`, `"code":-32601`},
		{"logging/setLevel", `{"level":"info",` + messageVersion("") + `}`, `"code":-32601`},
		{"ping", `{` + messageVersion("") + `}`, `"code":-32601`},
		{"resources/read", `{"uri":"f:///x",` + messageVersion("") + `}`, ``},
		{"tools/call", `{"name":"z",` + messageVersion("") + `}`, `"code":-32602`},
	} {
		if got := w.ask(fmt.Sprint(i), c.method, c.params); !strings.Contains(got, c.want) {
			t.Errorf("%s %s: %s", c.method, c.params, got)
		}
	}
	if y.got(`"1900-01-01"`)+y.got("tools/call") > 0 {
		t.Error("a server has got what was refused")
	}
	// In a session that began with initialize nothing has changed; to ask first settles nothing.
	w = start(t, nil, &toy{id: "a", tools: []string{"x"}})
	if got := w.asks("0", "server/discover", ""); !strings.Contains(got, "supportedVersions") {
		t.Error(got)
	}
	w.begin()
	if got := w.ask("1", "server/discover", "{"+messageVersion("")+"}"); !strings.Contains(got, `"code":-32601`) {
		t.Error(got)
	}
	if got := w.asks("2", "tools/list", ""); strings.Contains(got, "resultType") {
		t.Error(got)
	}
}

// asking is a server of an earlier version whose tools ask the client before they answer.
func asking(id string, questions ...string) *toy {
	return &toy{id: id, tools: []string{"x"}, answer: func(r *running, f *frame.Frame) string {
		if f.Method != "tools/call" {
			return ""
		}
		for i, q := range questions {
			r.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":"q%d",%s}`, i, q))
		}
		return "-"
	}}
}

const elicit = `"method":"elicitation/create","params":{"message":"who?","requestedSchema":{"type":"object","properties":{}}}`

// What a server of an earlier version asks its client by a request reaches one of 2026-07-28
// in the answer to its call, and the answer to the server comes with the call made again: the
// call itself is made once.
func TestRoundsWithEarlierServers(t *testing.T) {
	a := asking("a", elicit)
	w := start(t, nil, a)
	got := w.asks("1", "tools/call", `"name":"a__x","arguments":{"k":1}`)
	if gjson.Get(got, "result.resultType").String() != "input_required" || gjson.Get(got, "result.inputRequests.a-1.method").String() != "elicitation/create" ||
		gjson.Get(got, "result.inputRequests.a-1.params.message").String() != "[a] who?" {
		t.Fatal(got)
	}
	state := gjson.Get(got, "result.requestState").Raw
	// What is another call, or comes with an id in use, is none.
	if got := w.asks("2", "tools/call", `"name":"a__x","arguments":{"k":2},"requestState":`+state+`,"inputResponses":{"a-1":{"action":"accept"}}`); !strings.Contains(got, "other_call") {
		t.Error(got)
	}
	w.sends("3", "tools/call", `"name":"a__x","arguments":{"k":1},"requestState":`+state+`,"inputResponses":{"a-1":{"action":"accept","content":{}}}`)
	w.comes("the answer", func() bool {
		return a.got(`{"jsonrpc":"2.0","id":"q0","result":{"action":"accept","content":{}}}`) == 1
	})
	// It asks again, twice; the client answers one question first, and while it is away the other
	// is taken back and the call answered.
	r := a.running()
	r.say(`{"jsonrpc":"2.0","id":"q1",` + elicit + `}`)
	got = w.next(`"id":3`)
	state = gjson.Get(got, "result.requestState").Raw
	r.say(`{"jsonrpc":"2.0","id":"q2","method":"roots/list"}`)
	w.comes("the second question", func() bool {
		_, ok := w.record.find(func(ev event.Event) bool { return ev.Method == "roots/list" })
		return ok
	})
	w.sends("4", "tools/call", `"name":"a__x","arguments":{"k":1},"requestState":`+state+`,"inputResponses":{"a-2":{"action":"decline"}}`)
	got = w.next(`"id":4`)
	if gjson.Get(got, "result.inputRequests.a-3.method").String() != "roots/list" || gjson.Get(got, "result.inputRequests.a-2").Exists() {
		t.Fatal(got)
	}
	w.comes("the refusal", func() bool { return a.got(`"id":"q1"`, "decline") == 1 })
	r.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"q2"}}`)
	id := gjson.Get(a.line("tools/call"), "id").Raw
	r.say(`{"jsonrpc":"2.0","id":` + id + `,"result":{"content":[]}}`)
	w.comes("the answer", func() bool {
		_, ok := w.record.find(func(ev event.Event) bool { return ev.Kind == event.Outcome && ev.Method == "tools/call" })
		return ok
	})
	state = gjson.Get(got, "result.requestState").Raw
	if got := w.asks("5", "tools/call", `"name":"a__x","arguments":{"k":1},"requestState":`+state+`,"inputResponses":{"a-3":{"roots":[]}}`); got != `{"jsonrpc":"2.0","id":5,"result":{"resultType":"complete","content":[]}}` {
		t.Error(got)
	}
	// Too late, and of nobody's.
	if got := w.asks("6", "tools/call", `"name":"a__x","arguments":{"k":1},"requestState":`+state+`,"inputResponses":{"a-3":{"roots":[]}}`); !strings.Contains(got, "late_form") {
		t.Error(got)
	}
	if n := a.got("tools/call"); n != 1 {
		t.Errorf("the call was made %d times", n)
	}
	if n := a.got("roots/list") + a.got(`"id":"q2"`); n != 0 {
		t.Error("an answer came to a question that was taken back")
	}
}

// A server that does not know server/discover is begun as before, whether it says nothing to it
// or ends; one that has run is told of with its instructions.
func TestServersThatDoNotKnowDiscover(t *testing.T) {
	slow.Test(t)
	silent := &toy{id: "silent", tools: []string{"x"}, answer: func(_ *running, f *frame.Frame) string {
		switch f.Method {
		case "server/discover":
			return "-"
		case "initialize":
			return `"result":{"protocolVersion":"2025-06-18","capabilities":{},"instructions":"use it"}`
		}
		return ""
	}}
	brittle := &toy{id: "brittle", tools: []string{"x"}, answer: func(r *running, f *frame.Frame) string {
		if f.Method == "server/discover" {
			r.die()
			return "-"
		}
		return ""
	}}
	w := start(t, func(o *hub.Options) { o.Servers[0].Timeout = 3 * time.Second }, silent, brittle)
	if got := w.asks("0", "server/discover", ""); strings.Contains(got, "instructions") {
		t.Error(got)
	}
	n := 0
	w.comes("both", func() bool {
		n++
		return fmt.Sprint(names(w.asks(fmt.Sprint(n), "tools/list", ""))) == "[silent__x brittle__x]"
	})
	if got := gjson.Get(w.asks(`"d"`, "server/discover", ""), "result.instructions").String(); got != "[silent] use it" {
		t.Error(got)
	}
}

// A server that is asked to tell of changes has nothing to do by that: it is stopped.
func TestIdleModernServerIsStopped(t *testing.T) {
	a := newToy("a", []string{"x"}, nil)
	w := start(t, func(o *hub.Options) { o.Servers[0].Idle = 20 * time.Millisecond }, a)
	w.asks("1", "tools/call", `"name":"a__x"`)
	w.comes("the stop", a.running().closed.Load)
	if got := w.asks("2", "tools/call", `"name":"a__x"`); !strings.Contains(got, "a:x") {
		t.Error(got)
	}
}

// A server of 2026-07-28 asks by itself: its question reaches the client as it is, but that the
// server is named to whoever reads it, and what comes back reaches the server as it is.
func TestRoundsOfModernServers(t *testing.T) {
	a := newToy("a", nil, func(_ *running, f *frame.Frame) string {
		if f.Method == "tools/call" && !gjson.GetBytes(f.Params, "inputResponses").Exists() {
			return `"result":{"resultType":"input_required","inputRequests":{"k":{` + elicit + `}},"requestState":"its own"}`
		}
		return ""
	})
	w := start(t, nil, a)
	if got := w.asks("1", "tools/call", `"name":"a__x"`); got != `{"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","inputRequests":{"k":{`+strings.Replace(elicit, "who", "[a] who", 1)+`}},"requestState":"its own"}}` {
		t.Error(got)
	}
	if got := w.asks("2", "tools/call", `"name":"a__x","requestState":"its own","inputResponses":{"k":{"action":"decline"}}`); !strings.Contains(got, "a:x") {
		t.Error(got)
	}
	if a.got(`"requestState":"its own","inputResponses":{"k":{"action":"decline"}}`) != 1 {
		t.Error(a.heard)
	}
}

// A client that does not come back keeps neither server nor call: both are told.
func TestClientThatStaysAway(t *testing.T) {
	hub.SetAwayFor(t, time.Millisecond)
	a := asking("a", elicit)
	w := start(t, nil, a)
	state := gjson.Get(w.asks("1", "tools/call", `"name":"a__x"`), "result.requestState").Raw
	id := gjson.Get(a.line("tools/call"), "id").Raw
	w.comes("the end", func() bool {
		return a.got(`"id":"q0"`, `"error"`) == 1 && a.got("notifications/cancelled", `"requestId":`+id) == 1
	})
	if got := w.asks("2", "tools/call", `"name":"a__x","requestState":`+state+`,"inputResponses":{"a-1":{"action":"accept"}}`); !strings.Contains(got, "late_form") {
		t.Error(got)
	}
	if n := a.got("tools/call"); n != 1 {
		t.Errorf("the call was made %d times", n)
	}
}

// Progress goes to a client that waits, under the token of the request that it waits for.
func TestProgressOfRounds(t *testing.T) {
	a := asking("a", elicit)
	w := start(t, nil, a)
	send := func(id, token, more string) {
		w.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"a__x",%s%s}}`, id, messageVersion(`,"progressToken":`+token), more))
	}
	send("1", `"one"`, "")
	state := gjson.Get(w.next(`"id":1`), "result.requestState").Raw
	own := gjson.Get(a.line("tools/call"), "id").Raw
	progress := func(n int) {
		a.running().say(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":%d}}`, own, n))
	}
	progress(1)
	a.running().say(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
	w.comes("what follows it", func() bool {
		_, ok := w.record.find(func(ev event.Event) bool { return ev.Method == "notifications/tools/list_changed" })
		return ok
	})
	send("2", `"two"`, `,"requestState":`+state+`,"inputResponses":{"a-1":{"action":"accept","content":{}}}`)
	w.comes("the answer", func() bool { return a.got(`"id":"q0"`, `"accept"`) == 1 })
	progress(2)
	if got := w.next("notifications/progress"); !strings.Contains(got, `"progressToken":"two","progress":2`) {
		t.Error(got)
	}
}

// A server that asks when nobody can be asked is told so: without a call that waits, by a
// client that has not said that it can, in what has no such answers.
func TestServersWithNobodyToAsk(t *testing.T) {
	a := asking("a", `"method":"sampling/createMessage","params":{"messages":[{"role":"user","content":{"type":"text","text":"hi"}}],"maxTokens":1}`)
	w := start(t, nil, a)
	w.asks("1", "tools/list", "")
	a.running().say(`{"jsonrpc":"2.0","id":9,"method":"roots/list"}`)
	w.comes("the error", func() bool { return a.got(`"id":9`, `"error"`, "while it waits for a call") == 1 })
	w.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"a__x","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`)
	w.comes("the error", func() bool { return a.got(`"id":"q0"`, `"error"`) == 1 })
	// The server ends while its client is away: the client hears of it when it comes back.
	state := gjson.Get(w.asks("3", "tools/call", `"name":"a__x"`), "result.requestState").Raw
	a.running().die()
	w.next(`"id":2,"error"`)
	if got := w.asks("4", "tools/call", `"name":"a__x","requestState":`+state+`,"inputResponses":{"a-3":{"role":"assistant"}}`); !strings.Contains(got, `"error"`) || !strings.Contains(got, "server a") {
		t.Error(got)
	}
}

// The gate's own question to such a client takes the same way.
func TestModernClientAnswersTheGate(t *testing.T) {
	for _, y := range []*toy{newToy("a", nil, nil), {id: "a"}} {
		w := start(t, nil, y)
		w.sends("1", "tools/call", `"name":"a__ask"`)
		q := <-w.person.asked
		if q.Client == nil {
			t.Errorf("%s: the client cannot be asked", y.id)
		}
		w.person.answers <- gate.AllowOnce
		if got := w.next(`"id":1`); !strings.Contains(got, "a:ask") {
			t.Error(got)
		}
	}
}

// line is the last line with all these words that the toy has heard.
func (y *toy) line(word string) (last string) {
	y.mu.Lock()
	defer y.mu.Unlock()
	for _, line := range y.heard {
		if strings.Contains(line, word) {
			last = line
		}
	}
	return last
}
