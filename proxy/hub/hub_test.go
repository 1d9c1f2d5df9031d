package hub_test

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/testing/slow"
	"github.com/clawai/clawai/internal/wire/frame"
	"github.com/clawai/clawai/proxy/hub"
	"github.com/tidwall/gjson"
)

// Of a call nothing changes but its id, its name and its progress token; and what the
// server is sent is what was judged and recorded.
func TestCallReachesItsServerAsJudged(t *testing.T) {
	a := &toy{id: "a", tools: []string{"do"}}
	w := start(t, nil, a, &toy{id: "b", tools: []string{"do"}}).begin()
	w.send(`{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"arguments":{"n":1.50,"name":"a__do","id":"x"} , "name":"\u0061__do","_meta":{"progressToken":"tok","own":"tok"}}}`)
	if got := w.next(`"id":"x"`); !strings.Contains(got, "a:do") {
		t.Error(got)
	}
	const want = `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"arguments":{"n":1.50,"name":"a__do","id":"x"} , "name":"do","_meta":{"progressToken":2,"own":"tok"}}}`
	if a.got(want) != 1 || w.toys["b"].starts.Load() != 0 {
		t.Errorf("%q, and b was started %d times", a.heard, w.toys["b"].starts.Load())
	}
	ev, ok := w.record.find(func(ev event.Event) bool { return ev.Kind == event.Decision && ev.Method == "tools/call" })
	if !ok || ev.Server != "a" || !slices.Equal(ev.Names, []string{"do"}) || ev.Digest != sha256.Sum256([]byte(want)) {
		t.Errorf("%+v", ev)
	}
}

// Rules see the server and the name that the tool has there.
func TestRulesJudgeTheOriginalName(t *testing.T) {
	w := start(t, func(o *hub.Options) { o.Servers[0].Prefix = "b-is-not-a" }, &toy{id: "a", tools: []string{"secret"}}, &toy{id: "b", tools: []string{"secret"}}).begin()
	if got := w.call("1", "b-is-not-a__secret"); !strings.Contains(got, "Refused by the owner's policy") || w.toys["a"].got("tools/call") > 0 {
		t.Error(got)
	}
	if got := w.call("2", "b__secret"); !strings.Contains(got, "b:secret") {
		t.Error(got)
	}
	if got := w.call("3", "a__secret"); !strings.Contains(got, `"isError":true`) || w.toys["a"].got("tools/call") > 0 {
		t.Error(got)
	}
}

// A client that leaves before its list is there is not told of a wait that nobody had.
func TestListOfAClientThatLeaves(t *testing.T) {
	slow.Test(t)
	a := &toy{id: "a", answer: func(_ *running, f *frame.Frame) string {
		if f.Method == "tools/list" {
			return "-"
		}
		return ""
	}}
	w := start(t, nil, a).begin()
	w.send(`{"jsonrpc":"2.0","id":"1","method":"tools/list"}`)
	w.comes("the request", func() bool { return a.got("tools/list") > 0 })
	_ = w.in.Close()
	if list := w.next(`"id":"1"`); gjson.Get(list, "result._meta.clawai/absent.a").String() != "the session is over" {
		t.Error(list)
	}
}

// A bad server is left out in time, the others are there, and so is the reason; what comes
// later is told of.
func TestOneBadServerSpoilsNoList(t *testing.T) {
	slow.Test(t)
	free := make(chan struct{})
	var toys []*toy
	for i := range 10 {
		toys = append(toys, &toy{id: fmt.Sprintf("s%d", i), tools: []string{"x", "y"}})
	}
	toys[2].answer = func(_ *running, f *frame.Frame) string {
		if f.Method == "tools/list" {
			<-free
		}
		return ""
	}
	toys[4].answer = func(r *running, _ *frame.Frame) string { r.die(); return "-" }
	toys[6].answer = func(r *running, f *frame.Frame) string {
		if f.Method == "tools/list" {
			r.say("garbage")
			r.say(`{"jsonrpc":"2.0","id":` + string(f.ID) + `,"result":{"tools":[{"name":"q"}],"tools":[{"name":"p"}]}}`)
			return "-"
		}
		return ""
	}
	toys[8].opened = func() error { return errNotThere }
	w := start(t, func(o *hub.Options) { o.ListWait = 2 * time.Second }, toys...).begin()
	list := w.ask("1", "tools/list", "{}")
	if got, want := fmt.Sprint(names(list)), "[s0__x s0__y s1__x s1__y s3__x s3__y s5__x s5__y s7__x s7__y s9__x s9__y]"; got != want {
		t.Errorf("%s, not %s", got, want)
	}
	for id, why := range map[string]string{"s2": "no answer within", "s4": "it ended: exit code 3", "s6": "refused", "s8": "it is not there"} {
		if got := gjson.Get(list, "result._meta.clawai/absent."+id).String(); !strings.Contains(got, why) {
			t.Errorf("%s: %q", id, got)
		}
	}
	if strings.Count(list, "absent") != 1 || gjson.Get(list, "result._meta.clawai/absent.s0").Exists() {
		t.Error(list)
	}
	if !strings.Contains(list, `{"name":"s0__x","description":"[s0] does it","x":1.50}`) {
		t.Error(list)
	}
	close(free)
	w.next("notifications/tools/list_changed")
	if got := names(w.ask("2", "tools/list", "{}")); !slices.Contains(got, "s2__y") || slices.Contains(got, "s4__x") {
		t.Error(got)
	}
	if got := w.call("3", "s2__x"); !strings.Contains(got, "s2:x") {
		t.Error(got)
	}
	if toys[0].starts.Load() != 1 || toys[0].got("tools/list") != 1 {
		t.Error("a server is asked again for what it has said")
	}
}

func TestPagesAreFollowedToAnEnd(t *testing.T) {
	page := func(result func(cursor string) string) func(*running, *frame.Frame) string {
		return func(_ *running, f *frame.Frame) string {
			if f.Method != "tools/list" {
				return ""
			}
			return `"result":` + result(gjson.GetBytes(f.Params, "cursor").String())
		}
	}
	w := start(t, nil,
		&toy{id: "a", answer: page(func(cursor string) string {
			if cursor == "" {
				return `{"tools":[{"name":"1"}],"nextCursor":"\u0032"}`
			}
			return `{"tools":[{"name":"2"},{"no":1}]}`
		})},
		&toy{id: "b", answer: page(func(string) string { return `{"tools":[{"name":"x"}],"nextCursor":"again"}` })},
	)
	list := w.begin().ask("1", "tools/list", "{}")
	if got := fmt.Sprint(names(list)); got != "[a__1 a__2]" || !strings.Contains(list, `{"b":"its list has no end"}`) {
		t.Error(list)
	}
}

// A name that could mean two means none.
func TestNamesThatCollideAreLeftOut(t *testing.T) {
	w := start(t, nil, &toy{id: "a", tools: []string{"twice", "once", "twice"}}).begin()
	if got := fmt.Sprint(names(w.ask("1", "tools/list", "{}"))); got != "[a__once]" {
		t.Error(got)
	}
	if got := w.call("2", "a__twice"); w.toys["a"].got("tools/call") > 0 || !strings.Contains(got, "error") && !strings.Contains(got, "isError") {
		t.Error(got)
	}
}

func TestHiddenToolsCannotBeCalled(t *testing.T) {
	hide := func(o *hub.Options) { o.Servers[0].Offers = func(tool string) bool { return tool != "hidden" } }
	w := start(t, hide, &toy{id: "a", tools: []string{"hidden", "shown"}}).begin()
	w.call("1", "a__hidden")
	if got := fmt.Sprint(names(w.ask("2", "tools/list", "{}"))); got != "[a__shown]" {
		t.Error(got)
	}
	w.call("3", "a__hidden")
	if w.toys["a"].got("tools/call") > 0 {
		t.Error("a hidden tool was called")
	}
}

// What was cut to fit is called as it is.
func TestLongNamesFindTheirTool(t *testing.T) {
	long := strings.Repeat("long_", 20)
	w := start(t, nil, &toy{id: "a", tools: []string{long, long + "er", "with.dot"}}).begin()
	for i, name := range names(w.ask("1", "tools/list", "{}")) {
		want := []string{long, long + "er", "with.dot"}[i]
		if got := w.call(fmt.Sprint(i+2), name); len(name) > 50 || !strings.Contains(got, "a:"+want+`"`) {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestWhatNobodyHas(t *testing.T) {
	w := start(t, nil, &toy{id: "a"})
	if got := w.ask("1", "tools/list", "{}"); !strings.Contains(got, "before initialize") {
		t.Error(got)
	}
	if got := w.ask("2", "server/discover", "{}"); !strings.Contains(got, "-32601") {
		t.Error(got)
	}
	w.begin()
	for method, want := range map[string]string{
		"ping": `"result":{}`, "tasks/list": "-32601", "some/thing": `"error"`, "tasks/get": "names a task that no call", "prompts/list": `"prompts":[]`,
	} {
		if got := w.ask("7", method, `{"taskId":"t"}`); !strings.Contains(got, want) {
			t.Errorf("%s: %s", method, got)
		}
	}
	if got := w.call("8", "zoo__x"); !strings.Contains(got, "Refused") {
		t.Error(got) // the rules of this test deny every name with __
	}
	if got := w.call("9", "zoo"); !strings.Contains(got, "no server has zoo") {
		t.Error(got)
	}
	w.send(`{"jsonrpc":"2.0","id":10,"method":"ping","method":"ping"}`)
	w.next(`"id":10`, `"error"`)
	if _, ok := w.record.find(func(ev event.Event) bool { return ev.Method == "some/thing" }); !ok {
		t.Error("a method that nobody has is not recorded")
	}
}

func TestResourcesGoByTheirURI(t *testing.T) {
	lists := func(uris ...string) func(*running, *frame.Frame) string {
		return func(r *running, f *frame.Frame) string {
			switch f.Method {
			case "resources/list":
				var all []string
				for _, uri := range uris {
					all = append(all, fmt.Sprintf(`{"uri":%q,"name":"n"}`, uri))
				}
				return `"result":{"resources":[` + strings.Join(all, ",") + `]}`
			case "resources/templates/list":
				return fmt.Sprintf(`"result":{"resourceTemplates":[{"uriTemplate":"x://%s/{n}","name":"t"}]}`, r.id)
			case "resources/read", "completion/complete", "prompts/get":
				return fmt.Sprintf(`"result":{"contents":[],"by":%q,"what":%s}`, r.id, f.Params)
			}
			return ""
		}
	}
	w := start(t, nil, &toy{id: "a", answer: lists("f:///1", "f:///both")}, &toy{id: "b", answer: lists("f:///2", "f:///both")}).begin()
	read := func(id, uri, by, as string) {
		t.Helper()
		got := w.ask(id, "resources/read", fmt.Sprintf(`{"uri":%q}`, uri))
		if gjson.Get(got, "result.by").String() != by || by != "" && gjson.Get(got, "result.what.uri").String() != as {
			t.Errorf("%s: %s", uri, got)
		}
	}
	read("1", "f:///2", "b", "f:///2") // nobody has listed anything yet
	if got := w.ask("2", "resources/list", "{}"); fmt.Sprint(gjson.Get(got, "result.resources.#.uri").Array()) != "[f:///1 f:///both f:///2 b+f:///both]" {
		t.Error(got)
	}
	read("3", "f:///1", "a", "f:///1")
	read("4", "f:///both", "a", "f:///both")
	read("5", "b+f:///both", "b", "f:///both")
	read("6", "x://b/7", "b", "x://b/7")
	read("7", "f:///none", "", "")
	if w.toys["a"].got("f:///none")+w.toys["b"].got("f:///none") > 0 {
		t.Error("servers are shown URIs of others")
	}
	got := w.ask("8", "completion/complete", `{"ref":{"type":"ref/resource","uri":"x://b/{n}"},"argument":{"name":"n","value":""}}`)
	if gjson.Get(got, "result.by").String() != "b" {
		t.Error(got)
	}
	got = w.ask("9", "completion/complete", `{"ref":{"type":"ref/prompt","name":"b__p"},"argument":{"name":"n","value":""}}`)
	if gjson.Get(got, "result.by").String() != "b" || gjson.Get(got, "result.what.ref.name").String() != "p" {
		t.Error(got)
	}
	if got = w.ask("10", "prompts/get", `{"name":"a__p"}`); gjson.Get(got, "result.what.name").String() != "p" {
		t.Error(got)
	}
}
