package hub_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/catalogue"
	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/proxy/frame"
	"github.com/clawai/clawai/proxy/hub"
	"github.com/tidwall/gjson"
)

// keeping has every server's lists kept below state.
func keeping(state string) func(*hub.Options) {
	store := catalogue.New(state)
	return func(o *hub.Options) {
		for i, s := range o.Servers {
			o.Servers[i].Kept = func(client []byte) hub.Catalogue { return store.Of(append([]byte(s.ID+" "), client...)) }
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
		if _, ok := w.record.find(func(ev event.Event) bool { return ev.Kind == event.Listed && ev.Server == id && ev.Method == "tools/list" }); !ok {
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
	if got := w.call("1", "a__gone"); !strings.Contains(got, "a:gone") { // it answers as it does
		t.Error(got)
	}
	a.mu.Lock()
	if last := a.heard[len(a.heard)-1]; !strings.Contains(last, "tools/call") || !strings.Contains(a.heard[len(a.heard)-2], "tools/list") {
		t.Errorf("it was called before it had listed: %s", a.heard)
	}
	a.mu.Unlock()
	w.next("notifications/tools/list_changed")
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
	const leaves = rules + `
[[rule]]
action = "redact"
list = "**"
finds = ["secret"]
`
	_ = leaves
}

// A list that came in part, or with an error, is not kept; nor is one that its server has taken
// back.
func TestListsThatAreNotKept(t *testing.T) {
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
