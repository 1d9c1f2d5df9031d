package hub_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/testing/slow"
	"github.com/clawai/clawai/internal/wire/frame"
	"github.com/tidwall/gjson"
)

// watchable is a server of an earlier version with a resource that can be subscribed to.
func watchable(id, uri string) *toy {
	return &toy{id: id, tools: []string{"x"}, answer: func(_ *running, f *frame.Frame) string {
		switch f.Method {
		case "resources/list":
			return fmt.Sprintf(`"result":{"resources":[{"uri":%q,"name":"n"}]}`, uri)
		case "resources/subscribe", "resources/unsubscribe":
			return `"result":{}`
		}
		return ""
	}}
}

// modernWatchable is one of 2026-07-28.
func modernWatchable(id, uri string) *toy {
	return newToy(id, []string{"x"}, func(_ *running, f *frame.Frame) string {
		if f.Method == "resources/list" {
			return fmt.Sprintf(`"result":{"resultType":"complete","resources":[{"uri":%q,"name":"n"}],"ttlMs":0,"cacheScope":"public"}`, uri)
		}
		return ""
	})
}

const subscription = `_meta.io\.modelcontextprotocol/subscriptionId`

// A client of 2026-07-28 is told of what it listens for, of lists and resources, by servers of
// both ways, under the id of its request; of nothing that it has not asked for, or that the
// rules do not let it read; and of nothing more when it has taken the request back.
func TestListen(t *testing.T) {
	slow.Test(t)
	o, n := watchable("o", "f:///old"), modernWatchable("n", "f:///new")
	w := start(t, under(t, "[[rule]]\naction = \"deny\"\nresource = \"f:///secret\"\nserver = \"o\"\n"+rules), o, n)
	w.asks("1", "tools/list", "")
	say := func(y *toy, line string) { y.running().say(`{"jsonrpc":"2.0",` + line + `}`) }
	// Nobody listens.
	say(o, `"method":"notifications/tools/list_changed"`)
	w.sends(`"l"`, "subscriptions/listen", `"notifications":{"toolsListChanged":true,"resourceSubscriptions":["f:///old","f:///new","f:///secret","f:///nowhere","f:///new"]}`)
	ack := w.next("notifications/")
	if gjson.Get(ack, "method").String() != "notifications/subscriptions/acknowledged" || gjson.Get(ack, "params."+subscription).Raw != `"l"` ||
		gjson.Get(ack, "params.notifications").Raw != `{"toolsListChanged":true,"resourceSubscriptions":["f:///old","f:///new"]}` {
		t.Fatal(ack)
	}
	if got := o.got("resources/subscribe", "f:///old") + n.got("subscriptions/listen", `"resourceSubscriptions":["f:///new"]`); got != 2 || o.got("secret") != 0 {
		t.Errorf("%d servers watch: %s %s", got, o.heard, n.heard)
	}
	if ev, ok := w.record.find(func(ev event.Event) bool { return ev.Kind == event.Decision && fmt.Sprint(ev.Names) == "[f:///new]" }); !ok || ev.Server != "n" {
		t.Errorf("it is judged as %+v", ev)
	}
	say(o, `"method":"notifications/resources/updated","params":{"uri":"f:///old"}`)
	if got := w.next("resources/updated"); gjson.Get(got, "params."+subscription).Raw != `"l"` || gjson.Get(got, "params.uri").String() != "f:///old" {
		t.Error(got)
	}
	own := gjson.Get(n.line(`"resourceSubscriptions":["f:///new"]`), "id").Raw
	say(n, `"method":"notifications/resources/updated","params":{"_meta":{"a":1.0,"io.modelcontextprotocol/subscriptionId":`+own+`},"uri":"f:///new/part"}`)
	if got := w.next("resources/updated"); gjson.Get(got, "params._meta").Raw != `{"a":1.0,"io.modelcontextprotocol/subscriptionId":"l"}` || gjson.Get(got, "params.uri").String() != "f:///new/part" {
		t.Error(got)
	}
	lists := gjson.Get(n.line(`"toolsListChanged":true`), "id").Raw
	for _, tell := range []func(){
		func() {
			say(n, `"method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":`+lists+`}}`)
		},
		func() { say(o, `"method":"notifications/tools/list_changed"`) },
	} {
		tell()
		if got := w.next("tools/list_changed"); gjson.Get(got, "params."+subscription).Raw != `"l"` {
			t.Error(got)
		}
	}
	// Taken back: the servers are told, and the client of nothing more.
	w.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"l"}}`)
	w.comes("the end", func() bool {
		return o.got("resources/unsubscribe", "f:///old") == 1 && n.got("notifications/cancelled", `"requestId":`+own) == 1
	})
	say(o, `"method":"notifications/resources/updated","params":{"uri":"f:///old"}`)
	say(o, `"method":"notifications/tools/list_changed"`)
	w.sends("2", "subscriptions/listen", `"notifications":{"promptsListChanged":true}`)
	if got := w.next("notifications/"); !strings.Contains(got, "acknowledged") || gjson.Get(got, "params.notifications").Raw != `{"promptsListChanged":true}` {
		t.Error(got)
	}
	w.sends(`"l"`, "subscriptions/listen", `"notifications":{"resourcesListChanged":true}`) // an id that is free again
	if got := w.next("notifications/"); gjson.Get(got, "params.notifications").Raw != `{"resourcesListChanged":true}` {
		t.Error(got)
	}
	// For nothing: it is over at once.
	w.sends("3", "subscriptions/listen", `"notifications":{"resourceSubscriptions":["f:///nowhere"]}`)
	if got := w.next(`"id":3`); gjson.Get(got, "result."+subscription).Raw != "3" || gjson.Get(got, "result.resultType").String() != "complete" {
		t.Error(got)
	}
	for i, filter := range []string{``, `"notifications":[]`, `"notifications":{"resourceSubscriptions":[1]}`} {
		if got := w.asks(fmt.Sprint(10+i), "subscriptions/listen", filter); !strings.Contains(got, `"error"`) {
			t.Error(got)
		}
	}
}

// A server that ends, or takes back what it has agreed to, ends what the client listens for
// there: it may ask anew.
func TestListenEndsWithItsServer(t *testing.T) {
	for _, y := range []*toy{watchable("a", "f:///x"), modernWatchable("a", "f:///x")} {
		w := start(t, nil, y)
		listens := func(id string) {
			w.sends(id, "subscriptions/listen", `"notifications":{"toolsListChanged":true,"resourceSubscriptions":["f:///x"]}`)
			if got := w.next("notifications/"); !strings.Contains(got, `"resourceSubscriptions":["f:///x"]`) {
				t.Error(got)
			}
		}
		listens("1")
		if own := y.line("subscriptions/listen"); own != "" {
			y.running().say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + gjson.Get(own, "id").Raw + `}}`)
			w.next(`"id":1,"result"`)
			listens("1") // whose id is free again
		}
		y.running().die()
		if got := w.next(`"id":1,"result"`); gjson.Get(got, "result."+subscription).Raw != "1" {
			t.Error(got)
		}
	}
}
