package hub_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/wire/frame"
	"github.com/tidwall/gjson"
)

// begins introduces a client that can be asked.
func (w *harness) begins() *harness {
	w.t.Helper()
	w.send(`{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{},"roots":{}},"clientInfo":{"name":"c","version":"1"}}}`)
	w.next(`"id":"i"`)
	w.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return w
}

// A client that has introduced itself gets a server that knows 2026-07-28 alone: each of its
// requests says in the client's name what that version wants, and nothing else of it changes.
func TestEarlierClientOfModernServer(t *testing.T) {
	n := modernWatchable("n", "f:///x")
	w := start(t, nil, n, &toy{id: "o", tools: []string{"y"}}).begins()
	if got := fmt.Sprint(names(w.ask("1", "tools/list", "{}"))); got != "[n__x o__y]" {
		t.Error(got)
	}
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{},"roots":{}},"io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"}`
	w.ask("2", "tools/call", `{"name":"n__x","arguments":{"v": 1.0}}`)
	if n.got(`"params":{`+meta+`},"name":"x","arguments":{"v": 1.0}}`) != 1 {
		t.Error(n.line("tools/call"))
	}
	w.ask("3", "logging/setLevel", `{"level":"error"}`)
	w.ask("4", "tools/call", `{"name":"n__x","_meta":{"progressToken":"p","a":1.0}}`)
	if n.got(meta+`,"io.modelcontextprotocol/logLevel":"error","progressToken":`, `"a":1.0},`) != 0 || n.got(meta+`,"io.modelcontextprotocol/logLevel":"error","progressToken":`, `"a":1.0}}`) != 1 {
		t.Error(n.line("tools/call"))
	}
	// What that version subscribes to in another way.
	if got := w.ask("5", "resources/subscribe", `{"uri":"f:///x"}`); got != `{"jsonrpc":"2.0","id":5,"result":{}}` {
		t.Error(got)
	}
	own := gjson.Get(n.line(`"resourceSubscriptions":["f:///x"]`), "id").Raw
	n.running().say(`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":` + own + `},"uri":"f:///x"}}`)
	w.next("resources/updated", "f:///x")
	if got := w.ask("6", "resources/unsubscribe", `{"uri":"f:///x"}`); got != `{"jsonrpc":"2.0","id":6,"result":{}}` || n.got("notifications/cancelled", `"requestId":`+own) != 1 {
		t.Error(got)
	}
	if n.got("notifications/initialized")+n.got("setLevel")+n.got(`"method":"resources/`) != n.got("resources/list")+n.got("resources/templates/list") {
		t.Error(n.heard)
	}
}

// What such a server asks in an answer is asked of the client by requests, and its call is made
// again with what it says, until there is an answer; a call meets the gate each time.
func TestRoundsOfEarlierClients(t *testing.T) {
	n := newToy("n", []string{"x"}, func(_ *running, f *frame.Frame) string {
		switch answers := gjson.GetBytes(f.Params, "inputResponses"); {
		case f.Method != "tools/call":
		case strings.Contains(string(f.Params), "forever"):
			return `"result":{"resultType":"input_required","requestState":"s"}`
		case !answers.Exists():
			return `"result":{"resultType":"input_required","inputRequests":{"k":{` + elicit + `},"r":{"method":"roots/list"}},"requestState":"its \u0041"}`
		}
		return ""
	})
	w := start(t, nil, n).begins()
	ask := func(id string) (form, roots string) {
		w.send(`{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"n__x","arguments":{}}}`)
		return gjson.Get(w.next("elicitation/create", `"message":"[n] who?"`), "id").Raw, gjson.Get(w.next("roots/list"), "id").Raw
	}
	form, roots := ask("1")
	w.send(`{"jsonrpc":"2.0","id":` + roots + `,"result":{"roots":[]}}`)
	w.send(`{"jsonrpc":"2.0","id":` + form + `,"result":{"action":"accept","content":{"a":1.0}}}`)
	if got := w.next(`"id":1`); !strings.Contains(got, "n:x") {
		t.Error(got)
	}
	if n.got(`"requestState":"its \u0041","inputResponses":{"r":{"roots":[]},"k":{"action":"accept","content":{"a":1.0}}}`, `"name":"x"`) != 1 {
		t.Error(n.line("tools/call"))
	}
	// A client that cannot show a form has not answered it; one that gives no roots ends the call.
	form, roots = ask("2")
	w.send(`{"jsonrpc":"2.0","id":` + form + `,"error":{"code":-32601,"message":"no"}}`)
	w.send(`{"jsonrpc":"2.0","id":` + roots + `,"error":{"code":-32601,"message":"no"}}`)
	if got := w.next(`"id":2`); !strings.Contains(got, "has not answered what server n asks") {
		t.Error(got)
	}
	// One that takes its call back is asked for nothing: it is not made again.
	before := n.got("tools/call")
	form, roots = ask("3")
	w.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}`)
	w.send(`{"jsonrpc":"2.0","id":` + form + `,"result":{"action":"decline"}}`)
	w.send(`{"jsonrpc":"2.0","id":` + roots + `,"result":{"roots":[]}}`)
	if got := w.ask("4", "tools/call", `{"name":"n__x","arguments":{"forever":1}}`); !strings.Contains(got, "again and again") {
		t.Error(got)
	}
	if got := n.got("tools/call") - before; got != 1+11 {
		t.Errorf("%d calls", got)
	}
	// A server that ends while its client thinks ends the call.
	ask("5")
	n.running().die()
	if got := w.next(`"id":5,"error"`); !strings.Contains(got, "server n") {
		t.Error(got)
	}
}
