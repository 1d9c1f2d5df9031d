package hub_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/mcp/pin"
	"github.com/clawai/clawai/internal/session/pinning"
	"github.com/clawai/clawai/internal/session/screening"
	"github.com/clawai/clawai/internal/state/catalogue"
	"github.com/clawai/clawai/internal/testing/slow"
	"github.com/clawai/clawai/internal/wire/frame"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/proxy/hub"
	"github.com/tidwall/gjson"
)

// keeping has every server's lists kept below state.
func keeping(state string) func(*hub.Options) {
	if err := os.WriteFile(filepath.Join(state, "record.key"), bytes.Repeat([]byte("k"), 32), 0o600); err != nil {
		panic(err)
	}
	return func(o *hub.Options) {
		for i, s := range o.Servers {
			o.Servers[i].Kept = func(client []byte) hub.Catalogue {
				return catalogue.NewEntry(state, append([]byte(s.ID+" "), client...))
			}
		}
	}
}

// files are those that are kept.
func files(t *testing.T, state string) []string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(state, "catalogue", "*.list"))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// leave ends the session, and with it everything that is written.
func (w *harness) leave() {
	w.t.Helper()
	_ = w.in.Close()
	w.end()
}

// again is a toy as another process would have it.
func again(y *toy) *toy { return &toy{id: y.id, tools: y.tools, answer: y.answer} }

// other is a second page, prompts and two things more than a toy has.
func other(_ *running, f *frame.Frame) string {
	switch f.Method {
	case "tools/list":
		if gjson.GetBytes(f.Params, "cursor").String() == "2" {
			return `"result":{"tools":[{"name":"two"}],"_meta":{"x":1}}`
		}
		return `"result":{"tools":[{"name":"one", "inputSchema":{"type":"object"}}],"nextCursor":"2"}`
	case "prompts/list":
		return `"result":{"prompts":[{"name":"p"}]}`
	}
	return ""
}

// A second session lists what the first was told, and starts nobody before a call; then that
// server alone. What a server does not know it is not asked again.
func TestListsAreKept(t *testing.T) {
	state := t.TempDir()
	a, b := &toy{id: "a", tools: []string{"read"}}, &toy{id: "b", answer: other}
	ask := func(w *harness) (all string) {
		for i, method := range []string{"tools/list", "prompts/list", "resources/list", "resources/templates/list"} {
			all += w.ask(fmt.Sprint(100+i), method, "{}")
		}
		return all
	}
	w := start(t, keeping(state), a, b).begin()
	want := ask(w)
	w.leave()
	if !strings.Contains(want, `"b__two"`) || !strings.Contains(want, `"b__p"`) || len(files(t, state)) != 2 {
		t.Fatal(files(t, state), want)
	}

	a, b = again(a), again(b)
	w = start(t, keeping(state), a, b).begin()
	if got := ask(w); got != want {
		t.Errorf("%s, not %s", got, want)
	}
	if a.starts.Load()+b.starts.Load() != 0 {
		t.Errorf("started %d and %d times to be listed", a.starts.Load(), b.starts.Load())
	}
	for _, id := range []string{"a", "b"} {
		if _, ok := w.record.find(func(ev event.Event) bool {
			return ev.Kind == event.Listed && ev.Server == id && ev.Method == "tools/list"
		}); !ok {
			t.Errorf("the list of %s is not on record", id)
		}
		if _, ok := w.record.find(func(ev event.Event) bool { return ev.Code == "kept" && ev.Server == id }); !ok {
			t.Errorf("that the list of %s was kept is not on record", id)
		}
	}
	if got := w.call("1", "b__two"); !strings.Contains(got, "b:two") || a.starts.Load() != 0 || b.starts.Load() != 1 {
		t.Errorf("started %d and %d times: %s", a.starts.Load(), b.starts.Load(), got)
	}
	if got := ask(w); got != want || a.starts.Load() != 0 {
		t.Errorf("%s, not %s", got, want)
	}
	w.leave()
	for _, line := range w.rest() {
		if strings.Contains(line, "list_changed") {
			t.Error("nothing has changed: ", line)
		}
	}
}

// rest are the lines that nobody has asked for, of a session that is over.
func (w *harness) rest() (all []string) {
	for line := range w.lines {
		all = append(all, line)
	}
	return all
}

// What a server lists by now is compared before it gets the call, told of, and kept.
func TestKeptListsAreCompared(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	a := &toy{id: "a", tools: []string{"read", "gone"}}
	w := start(t, keeping(state), a).begin()
	w.list()
	w.leave()

	a = &toy{id: "a", tools: []string{"read", "secret"}}
	w = start(t, keeping(state), a).begin()
	if got := w.list(); got != "[a__read a__gone]" || a.starts.Load() != 0 {
		t.Fatalf("started %d times: %s", a.starts.Load(), got)
	}
	if got := w.call("1", "a__gone"); !strings.Contains(got, `"error"`) || !strings.Contains(got, "it does not list this any more") || a.got("tools/call") != 0 {
		t.Error(got)
	}
	w.next("notifications/tools/list_changed")
	if got := w.call("2", "a__read"); !strings.Contains(got, "a:read") {
		t.Error(got)
	}
	if got := w.call("3", "a__gone"); !strings.Contains(got, "a:gone") { // a name that no list has is the server's to know
		t.Error(got)
	}
	a.mu.Lock()
	if last := a.heard[len(a.heard)-1]; !strings.Contains(last, "tools/call") || !slices.ContainsFunc(a.heard, func(line string) bool { return strings.Contains(line, "tools/list") }) {
		t.Errorf("it was called before it had listed: %s", a.heard)
	}
	a.mu.Unlock()
	if got := w.list(); got != "[a__read a__secret]" {
		t.Error(got)
	}
	w.leave()

	a = again(a)
	w = start(t, keeping(state), a).begin()
	if got := w.list(); got != "[a__read a__secret]" || a.starts.Load() != 0 {
		t.Errorf("started %d times: %s", a.starts.Load(), got)
	}
}

// A server that cannot say any more what it lists gets no call that was made for what it listed.
func TestKeptListsThatCannotBeCompared(t *testing.T) {
	for name, y := range map[string]*toy{
		"it refuses": {answer: func(_ *running, f *frame.Frame) string {
			if f.Method == "tools/list" {
				return `"error":{"code":-32000,"message":"no"}`
			}
			return ""
		}},
		"its list has no end": {answer: func(_ *running, f *frame.Frame) string {
			if f.Method == "tools/list" {
				return `"result":{"tools":[],"nextCursor":"x"}`
			}
			return ""
		}},
		"it does not start": {opened: func() error { return errNotThere }},
	} {
		t.Run(name, func(t *testing.T) {
			state := t.TempDir()
			w := start(t, keeping(state), &toy{id: "a", tools: []string{"read"}}).begin()
			w.list()
			w.leave()
			y.id = "a"
			w = start(t, keeping(state), y).begin()
			if got := w.list(); got != "[a__read]" {
				t.Fatal(got)
			}
			if got := w.call("1", "a__read"); !strings.Contains(got, `"error"`) || y.got("tools/call") != 0 {
				t.Error(got)
			}
			if got := w.ask("2", "tools/list", "{}"); !strings.Contains(got, `"clawai/absent":{"a":`) {
				t.Errorf("its list is as fresh as before: %s", got)
			}
		})
	}
}

// Rules see what was kept as they see what a server says: those in force now, and what it said
// before those of then changed it.
func TestRulesSeeKeptLists(t *testing.T) {
	hidden := &toy{id: "a", tools: []string{"read", "secret"}, answer: func(_ *running, f *frame.Frame) string {
		if f.Method == "tools/list" {
			return `"result":{"tools":[{"name":"read","description":"see ghp_0123456789abcdefghijklmnopqrstuvwxyzAB"},{"name":"secret"}]}`
		}
		return ""
	}}
	for name, with := range map[string]struct {
		set  func(*hub.Options)
		want string
	}{
		"all":          {under(t, rules), "[a__read a__secret]"},
		"allowed":      {underOf(t, rules, policy.Options{HideDenied: true}), "[a__read]"},
		"lists":        {under(t, "[[rule]]\naction = \"deny\"\non = \"list\"\ntool = \"**\"\nfind = [\"secret\"]\n"+rules), "[a__secret]"},
		"nothing goes": {under(t, "[[rule]]\naction = \"deny\"\non = \"list\"\ntool = \"**\"\n"+rules), "[]"},
	} {
		t.Run(name, func(t *testing.T) {
			for first, before := range map[string]func(*hub.Options){"the same": with.set, "others": under(t, "[[rule]]\naction = \"deny\"\non = \"list\"\ntool = \"read\"\n"+rules)} {
				state := t.TempDir()
				set := func(rules func(*hub.Options)) func(*hub.Options) {
					return func(o *hub.Options) { keeping(state)(o); rules(o) }
				}
				w := start(t, set(before), again(hidden)).begin()
				w.list()
				w.leave()
				y := again(hidden)
				w = start(t, set(with.set), y).begin()
				if got := w.list(); got != with.want || y.starts.Load() != 0 {
					t.Errorf("kept under %s, started %d times: %s, not %s", first, y.starts.Load(), got, with.want)
				}
			}
		})
	}
}

// underOf is under with options of the policy.
func underOf(t *testing.T, rules string, as policy.Options) func(*hub.Options) {
	p, err := policy.Parse("test.toml", []byte(rules), as)
	if err != nil {
		t.Fatal(err)
	}
	return func(o *hub.Options) { o.Gate.SetPolicy(p) }
}

// Other rules in a session that has started nobody are asked of what was kept.
func TestOtherRulesSeeKeptLists(t *testing.T) {
	slow.Test(t)
	state := t.TempDir()
	a := &toy{id: "a", tools: []string{"read", "write"}}
	w := start(t, keeping(state), a).begin()
	w.list()
	w.leave()
	a = again(a)
	var guard *gate.Session
	w = start(t, func(o *hub.Options) { keeping(state)(o); guard = o.Gate }, a).begin()
	w.list()
	under(t, "[[rule]]\naction = \"deny\"\non = \"list\"\ntool = \"write\"\n"+rules)(&hub.Options{Gate: guard})
	w.next("notifications/tools/list_changed")
	if got := w.list(); got != "[a__read]" || a.starts.Load() != 0 {
		t.Errorf("started %d times: %s", a.starts.Load(), got)
	}
}

// pinned is a gate that holds servers to what was approved below state.
func pinned(t *testing.T, state string) func(*hub.Options) {
	pins := pinning.NewSession(pinning.NewStore(state, ""), func(context.Context, string, []pin.Difference) (bool, bool) { return false, false }, func() {})
	t.Cleanup(pins.Close)
	p, err := policy.Parse("test.toml", []byte("[server.a]\npin = \"first\"\n"+rules), policy.Options{})
	if err != nil {
		t.Fatal(err)
	}
	guard, err := gate.New(gate.Options{
		Policy: p, Recorder: &record{}, Approver: &person{}, AskPerMinute: 10000,
		Concluder: gate.None{}, Inspector: screening.New("hub", nil, pins), Labels: gate.None{}, Releases: gate.None{},
	})
	if err != nil {
		t.Fatal(err)
	}
	return func(o *hub.Options) { keeping(state)(o); o.Gate.Close(); o.Gate = guard }
}

// A tool that is another by now than was approved gets no call, though what was kept is what was
// approved; and one that was never approved is shown to nobody, kept or not.
func TestPinsHoldKeptLists(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	listing := func(tools string) *toy {
		return &toy{id: "a", answer: func(_ *running, f *frame.Frame) string {
			if f.Method == "tools/list" {
				return `"result":{"tools":[` + tools + `]}`
			}
			return ""
		}}
	}
	const approved = `{"name":"read","description":"reads","inputSchema":{"type":"object","properties":{"path":{"type":"string"}}}}`
	const changed = `{"name":"read","description":"reads","inputSchema":{"type":"object","properties":{"path":{"type":"string"},"to":{"type":"string"}}}}`
	w := start(t, pinned(t, state), listing(approved)).begin()
	if got := w.list(); got != "[a__read]" {
		t.Fatal(got)
	}
	w.leave()

	y := listing(changed + `,{"name":"more"}`)
	w = start(t, pinned(t, state), y).begin()
	if got := w.list(); got != "[a__read]" || y.starts.Load() != 0 {
		t.Fatalf("started %d times: %s", y.starts.Load(), got)
	}
	if got := w.call("1", "a__read"); !strings.Contains(got, "is not the one that the owner has approved") || y.got("tools/call") != 0 {
		t.Error(got)
	}
	w.next("notifications/tools/list_changed")
	if got := w.list(); got != "[]" {
		t.Error(got)
	}
	w.leave()

	y = again(y)
	w = start(t, pinned(t, state), y).begin()
	if got := w.list(); got != "[]" || y.starts.Load() != 0 {
		t.Errorf("started %d times: %s", y.starts.Load(), got)
	}
	if got := w.call("1", "a__more"); !strings.Contains(got, "the owner has not approved this") || y.got("tools/call") != 0 {
		t.Error(got)
	}
}

// A server may list something else to another client, or in another version.
func TestListsAreKeptForOneClient(t *testing.T) {
	state := t.TempDir()
	y := newToy("a", []string{"read"}, nil)
	session := func(begin func(*harness)) (listed string, started int32) {
		y = again(y)
		y.tools = []string{"read"}
		w := start(t, keeping(state), y)
		begin(w)
		defer w.leave()
		return w.next(`"id":"list"`), y.starts.Load()
	}
	earlier := func(can string) func(*harness) {
		return func(w *harness) {
			w.send(`{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":` + can + `,"clientInfo":{"name":"c","version":"1"}}}`)
			w.next(`"id":"i"`)
			w.send(`{"jsonrpc":"2.0","id":"list","method":"tools/list"}`)
		}
	}
	modern := func(w *harness) { w.sends(`"list"`, "tools/list", "") }
	for _, c := range []struct {
		who    string
		begin  func(*harness)
		starts int32
	}{
		{"a client", earlier(`{"roots":{}}`), 1}, {"it again", earlier(`{"roots":{}}`), 0},
		{"one that can more", earlier(`{"roots":{},"sampling":{}}`), 1},
		{"one of 2026-07-28", modern, 1}, {"it again", modern, 0}, {"the first", earlier(`{"roots":{}}`), 0},
	} {
		if got, started := session(c.begin); !strings.Contains(got, `"a__read"`) || started != c.starts {
			t.Errorf("%s: started %d times, not %d: %s", c.who, started, c.starts, got)
		}
	}
}

// A list that came in part, or with an error, is not kept; nor is one that its server has taken
// back.
func TestListsThatAreNotKept(t *testing.T) {
	slow.Test(t)
	hub.SetRelistAfter(t, time.Hour)
	partial := func(_ *running, f *frame.Frame) string {
		switch cursor := gjson.GetBytes(f.Params, "cursor"); {
		case f.Method != "tools/list":
			return ""
		case cursor.Exists():
			return `"error":{"code":-32601,"message":"no"}`
		}
		return `"result":{"tools":[{"name":"read"}],"nextCursor":"2"}`
	}
	for name, of := range map[string]struct {
		answer func(*running, *frame.Frame) string
		then   func(*harness, *toy)
	}{
		"in part": {answer: partial},
		"an error": {answer: func(_ *running, f *frame.Frame) string {
			if f.Method == "tools/list" {
				return `"error":{"code":-32000,"message":"no"}`
			}
			return ""
		}},
		"refused by the reader of frames": {answer: func(_ *running, f *frame.Frame) string {
			if f.Method == "tools/list" {
				return `"result":{"tools":[{"name":"read","name":"write"}]}`
			}
			return ""
		}},
		"changed between its pages": {answer: func(r *running, f *frame.Frame) string {
			if f.Method == "tools/list" && !strings.Contains(string(f.Params), "cursor") {
				return `"result":{"tools":[{"name":"read"}],"nextCursor":"2"}`
			} else if f.Method == "tools/list" {
				r.say(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
			}
			return ""
		}, then: func(w *harness, y *toy) {
			w.next("notifications/tools/list_changed")
			if before := y.got("tools/list"); len(w.list()) == 0 || y.got("tools/list") == before {
				w.t.Error("it is not asked again")
			}
		}},
		"taken back": {then: func(w *harness, y *toy) {
			y.running().say(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
			w.next("notifications/tools/list_changed")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			state := t.TempDir()
			y := &toy{id: "a", tools: []string{"read"}, answer: of.answer}
			w := start(t, func(o *hub.Options) { keeping(state)(o); o.Servers[0].Timeout = patience }, y).begin()
			w.ask("1", "tools/list", "{}")
			if of.then != nil {
				of.then(w, y)
			}
			w.leave()
			y = &toy{id: "a", tools: []string{"new"}}
			w = start(t, keeping(state), y).begin()
			if got := w.list(); got != "[a__new]" || y.starts.Load() != 1 {
				t.Errorf("started %d times: %s", y.starts.Load(), got)
			}
		})
	}
}

// What a server says in the place of an answer, and the gate refuses, is no part of what is kept;
// nor is it held, however often it comes.
func TestRefusedAnswersAreNotKept(t *testing.T) {
	const often = 64
	state := t.TempDir()
	y := &toy{id: "a", tools: []string{"read"}, answer: func(r *running, f *frame.Frame) string {
		if f.Method == "tools/list" {
			for i := range often { // an array of requests, which this version of the protocol does not know
				r.say(fmt.Sprintf(`[{"jsonrpc":"2.0","id":%s,"method":"tools/list","params":{"tools":[{"name":"other%d"}]}}]`, f.ID, i))
			}
		}
		return ""
	}}
	w := start(t, keeping(state), y).begin()
	if got := w.list(); got != "[a__read]" {
		t.Error(got)
	}
	w.leave()
	y = again(y)
	w = start(t, keeping(state), y).begin()
	if got := w.list(); got != "[a__read]" || y.starts.Load() != 0 {
		t.Errorf("started %d times: %s", y.starts.Load(), got)
	}
}

// An array of one answer is that answer.
func TestAnArrayOfOneAnswer(t *testing.T) {
	y := &toy{id: "a", tools: []string{"read"}, answer: func(r *running, f *frame.Frame) string {
		if f.Method == "tools/list" {
			r.say(fmt.Sprintf(`[{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"other"}]}}]`, f.ID))
		}
		return ""
	}}
	if got := start(t, keeping(t.TempDir()), y).begin().list(); got != "[a__other]" {
		t.Error(got)
	}
}

// Of two answers that come together the first is the one, and what is kept.
func TestSecondAnswersAreNotKept(t *testing.T) {
	state := t.TempDir()
	y := &toy{id: "a", answer: func(r *running, f *frame.Frame) string {
		if f.Method != "tools/list" {
			return ""
		}
		answer := `{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":%q}]}}`
		r.say(fmt.Sprintf(answer+"\n"+answer, f.ID, "read", f.ID, "other"))
		return "-"
	}}
	w := start(t, keeping(state), y).begin()
	if got := w.list(); got != "[a__read]" {
		t.Error(got)
	}
	w.leave()
	y = again(y)
	w = start(t, keeping(state), y).begin()
	if got := w.list(); got != "[a__read]" || y.starts.Load() != 0 {
		t.Errorf("started %d times: %s", y.starts.Load(), got)
	}
}

// What a server calls changed right after its start is kept again, though its client does not
// list it again; however often it does so, it is asked once.
func TestListsAreKeptAgain(t *testing.T) {
	slow.Test(t)
	hub.SetRelistAfter(t, time.Millisecond)
	state := t.TempDir()
	restless := func(r *running, f *frame.Frame) string {
		if f.Method == "tools/call" {
			r.say(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
		}
		return ""
	}
	for range 2 { // it is listed by the client, then to be compared
		var place atomic.Value
		kept := func() bool {
			at, _ := place.Load().(hub.Catalogue)
			return at != nil && strings.Contains(string(at.Load()), "tools/list ")
		}
		y := &toy{id: "a", tools: []string{"read"}, answer: restless}
		w := start(t, func(o *hub.Options) {
			keeping(state)(o)
			at := o.Servers[0].Kept
			o.Servers[0].Kept = func(client []byte) hub.Catalogue { one := at(client); place.Store(one); return one }
		}, y).begin()
		w.list()
		w.comes("the first list", kept)
		w.call("1", "a__read")
		w.next("notifications/tools/list_changed")
		w.comes("the second list", func() bool { return y.got("tools/list") == 2 && kept() })
		w.call("2", "a__read")
		w.next("notifications/tools/list_changed")
		if got := y.got("tools/list"); got != 2 || kept() {
			t.Errorf("it was asked %d times", got)
		}
		w.list()
		w.comes("what the client has asked for", kept)
		w.leave()
	}
	y := &toy{id: "a", tools: []string{"read"}}
	w := start(t, keeping(state), y).begin()
	if got := w.list(); got != "[a__read]" || y.starts.Load() != 0 {
		t.Errorf("started %d times: %s", y.starts.Load(), got)
	}
}

// What lies where lists are kept is believed when it is ours, and as it was.
func TestKeptFilesThatAreNotOurs(t *testing.T) {
	for name, spoil := range map[string]func(t *testing.T, path string){
		"torn":       func(t *testing.T, path string) { change(t, path, func(b []byte) []byte { return b[:len(b)/2] }) },
		"empty":      func(t *testing.T, path string) { change(t, path, func([]byte) []byte { return nil }) },
		"a bit":      func(t *testing.T, path string) { change(t, path, func(b []byte) []byte { b[len(b)-9] ^= 1; return b }) },
		"by another": func(t *testing.T, path string) { change(t, path, func(b []byte) []byte { b[0] ^= 1; return b }) },
	} {
		t.Run(name, func(t *testing.T) {
			state := t.TempDir()
			w := start(t, keeping(state), &toy{id: "a", tools: []string{"read"}}).begin()
			w.list()
			w.leave()
			spoil(t, files(t, state)[0])
			y := &toy{id: "a", tools: []string{"new"}}
			w = start(t, keeping(state), y).begin()
			if got := w.list(); got != "[a__new]" || y.starts.Load() != 1 {
				t.Errorf("started %d times: %s", y.starts.Load(), got)
			}
			w.leave()
			y = &toy{id: "a"}
			if got := start(t, keeping(state), y).begin().list(); got != "[a__new]" || y.starts.Load() != 0 {
				t.Errorf("it is not kept anew: started %d times: %s", y.starts.Load(), got)
			}
		})
	}
}

func change(t *testing.T, path string, to func([]byte) []byte) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, to(b), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}
