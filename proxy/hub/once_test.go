package hub_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/testing/slow"
	"github.com/clawai/clawai/internal/wire/frame"
	"github.com/clawai/clawai/proxy/hub"
)

// holder is a toy with one resource and two tools.
func holder(id, uri string) *toy {
	return &toy{id: id, tools: []string{"read", "drop"}, answer: func(r *running, f *frame.Frame) string {
		switch f.Method {
		case "tools/list":
			if r.mute.Load() {
				return "-"
			}
		case "resources/list":
			return fmt.Sprintf(`"result":{"resources":[{"uri":%q,"name":"n"}]}`, uri)
		case "resources/read":
			return fmt.Sprintf(`"result":{"contents":[{"uri":%q,"text":"of %s"}]}`, uri, id)
		}
		return ""
	}}
}

// A rule about one server's list takes nothing from the others', whichever way it names it.
func TestListRulesMeetEachServerOnce(t *testing.T) {
	for match, want := range map[string]string{
		`server = "a"`:       "[b__read b__drop]",
		`not.server = "a"`:   "[a__read a__drop]",
		`not.tool = ["re*"]`: "[a__read b__read]",
	} {
		w := start(t, under(t, "[[rule]]\non = \"list\"\naction = \"deny\"\ntool = \"*\"\n"+match+"\n"+rules), holder("a", "f:///a"), holder("b", "f:///b")).begin()
		if got := fmt.Sprint(names(w.ask("1", "tools/list", "{}"))); got != want {
			t.Errorf("%s: %s, not %s", match, got, want)
		}
	}
}

// A resource that nobody has listed yet is read once: counted, asked about and recorded as
// its server's alone.
func TestUnlistedResourceIsJudgedOnce(t *testing.T) {
	w := start(t, under(t, "[[rule]]\naction = \"allow\"\nresource = \"**\"\nserver = \"b\"\nlimit = \"1/min\"\n"), holder("a", "f:///a"), holder("b", "f:///b")).begin()
	if got := w.ask("1", "resources/read", `{"uri":"f:///b"}`); !strings.Contains(got, "of b") {
		t.Error(got)
	}
	if _, ok := w.record.find(func(ev event.Event) bool { return ev.Method == "resources/read" && ev.Server != "b" }); ok {
		t.Error("it is recorded as a server's without a name, too")
	}
	if got := w.ask("2", "resources/read", `{"uri":"f:///b"}`); !strings.Contains(got, "Refused") && !strings.Contains(got, "error") {
		t.Error(got)
	}

	w = start(t, under(t, "[[rule]]\naction = \"prompt\"\nresource = \"**\"\n"), holder("a", "f:///a"), holder("b", "f:///b")).begin()
	w.send(`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"f:///b"}}`)
	if q := <-w.person.asked; q.Server != "b" {
		t.Errorf("asked about %q", q.Server)
	}
	w.person.answers <- gate.AllowOnce
	if got := w.next(`"id":1,`); !strings.Contains(got, "of b") || len(w.person.asked) > 0 {
		t.Error(got)
	}
}

// A read that is taken back while its server is being found is no server's, and has no answer.
func TestReadWithdrawnWhileItsServerIsFound(t *testing.T) {
	for _, uri := range []string{"f:///b", "f:///nobody"} {
		slow, listed := holder("b", "f:///b"), make(chan struct{})
		usual := slow.answer
		slow.answer = func(r *running, f *frame.Frame) string {
			if f.Method == "resources/list" {
				<-listed
			}
			return usual(r, f)
		}
		w := start(t, nil, holder("a", "f:///a"), slow).begin()
		w.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":5,"method":"resources/read","params":{"uri":%q}}`, uri))
		w.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5}}`)
		w.ask("6", "ping", "{}") // the hub has read both
		close(listed)
		w.ask("7", "resources/list", "{}")
		w.send(`{"jsonrpc":"2.0","id":8,"method":"resources/read","params":{"uri":"f:///b"}}`)
		if got := w.next(`"id":`); !strings.Contains(got, `"id":8,`) {
			t.Errorf("%s: %s", uri, got)
		}
		if slow.running() == nil || slow.running().got("resources/read") != 1 {
			t.Errorf("%s: the server was asked for what was taken back", uri)
		}
	}
}

// What the hub itself says is no server's answer: no rule about answers is asked, and it is
// on record.
func TestOwnWordsMeetNoRuleAboutAnswers(t *testing.T) {
	w := start(t, under(t, "[[rule]]\non = \"reply\"\naction = \"deny\"\ntool = \"*\"\n"+rules), &toy{id: "a"}).begin()
	if got := w.call("1", "zoo"); !strings.Contains(got, "no server has zoo") {
		t.Error(got)
	}
	said, ok := w.record.find(func(ev event.Event) bool { return ev.Kind == event.Outcome && ev.ServerGuess == "hub" })
	asked, known := w.record.find(func(ev event.Event) bool { return ev.Record == said.Ref })
	if !ok || said.Method != "tools/call" || !said.IsError || !known || asked.Method != "tools/call" || asked.Kind == event.Outcome {
		t.Errorf("%+v, of %+v", said, asked)
	}
	if got := w.call("1", "zoo"); !strings.Contains(got, "no server has zoo") { // the id is free again
		t.Error(got)
	}
}

// A URI that begins with the id of another server is that server's, whoever lists it first.
func TestMarkOfAnotherServerIsNobodyElses(t *testing.T) {
	evil := holder("evil", "good+f:///a")
	usual := evil.answer
	evil.answer = func(r *running, f *frame.Frame) string {
		if f.Method == "resources/list" {
			return `"result":{"resources":[{"uri":"good+f:///a","name":"n"},{"uri":"evil+f:///a","name":"n"},{"uri":"f:///a","name":"n"}]}`
		}
		return usual(r, f)
	}
	w := start(t, nil, evil, holder("good", "f:///a")).begin()
	list := w.ask("1", "resources/list", "{}")
	if got := fmt.Sprint(gjson.Get(list, "result.resources.#.uri").Array()); got != "[evil+f:///a f:///a good+f:///a]" {
		t.Error(got)
	}
	if got := w.ask("2", "resources/read", `{"uri":"good+f:///a"}`); !strings.Contains(got, "of good") {
		t.Error(got)
	}
}

// A rule about lists that comes while the hub runs holds for what servers have listed before,
// and the client hears of it.
func TestListRulesThatComeLaterHold(t *testing.T) {
	slow.Test(t)
	var o *hub.Options
	w := start(t, func(all *hub.Options) { o, all.ListWait = all, 2*time.Second }, holder("a", "f:///a"), holder("b", "f:///b")).begin()
	if got := fmt.Sprint(names(w.ask("1", "tools/list", "{}"))); got != "[a__read a__drop b__read b__drop]" {
		t.Error(got)
	}
	under(t, "[[rule]]\non = \"list\"\naction = \"deny\"\ntool = \"drop\"\nserver = \"a\"\n"+rules)(o)
	if got := fmt.Sprint(names(w.ask("2", "tools/list", "{}"))); got != "[a__read b__read b__drop]" {
		t.Error(got)
	}
	w.toys["b"].mute.Store(true) // what the rules do not let through any more is not shown for want of better
	under(t, "[[rule]]\non = \"list\"\naction = \"deny\"\ntool = \"drop\"\n"+rules)(o)
	w.next("notifications/tools/list_changed")
	if got := fmt.Sprint(names(w.ask("3", "tools/list", "{}"))); got != "[a__read]" {
		t.Error(got)
	}
}

// A server that lists more than its share is left out, and the others are there.
func TestLongListHidesNoOther(t *testing.T) {
	long := &toy{id: "long", answer: func(_ *running, f *frame.Frame) string {
		if f.Method != "tools/list" {
			return ""
		}
		n := gjson.GetBytes(f.Params, "cursor").Int()
		return fmt.Sprintf(`"result":{"tools":[{"name":"t%d","description":%q}],"nextCursor":"%d"}`, n, strings.Repeat("word and ", 1<<17), n+1)
	}}
	w := start(t, under(t, "[[rule]]\non = \"list\"\naction = \"deny\"\ntool = \"drop\"\n"+rules), holder("a", "f:///a"), long).begin()
	list := w.ask("1", "tools/list", "{}")
	if got := fmt.Sprint(names(list)); got != "[a__read]" || gjson.Get(list, "result._meta.clawai/absent.long").String() != "its list is too long: more than 4096 KiB" {
		t.Errorf("%.300s", list)
	}
	if _, found := w.record.find(func(ev event.Event) bool {
		return ev.Server == "long" && ev.Code == "absent" && ev.Detail == "tools/list: its list is too long: more than 4096 KiB"
	}); !found {
		t.Error("the record does not say why a list is absent")
	}
}
