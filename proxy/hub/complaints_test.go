package hub_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/clawai/clawai/internal/state/servers"
	"github.com/clawai/clawai/internal/state/upstream"
	"github.com/clawai/clawai/internal/testing/hostile"
	"github.com/clawai/clawai/internal/testing/slow"
	"github.com/clawai/clawai/internal/wire/frame"
	"github.com/clawai/clawai/proxy/hub"
)

func TestHundredCallsStartOneServer(t *testing.T) {
	a := &toy{id: "a", tools: []string{"x"}}
	w := start(t, nil, a).begin()
	for n := range 100 {
		if got := w.call(fmt.Sprint(n), "a__x"); !strings.Contains(got, "a:x") {
			t.Fatal(got)
		}
	}
	if a.starts.Load() != 1 || a.got("tools/call") != 100 {
		t.Errorf("%d starts for %d calls", a.starts.Load(), a.got("tools/call"))
	}
}

// Whatever a server writes, its client gets frames only, and the others answer; so does the
// server itself, when it goes on.
func TestHostileServerHarmsNoOther(t *testing.T) {
	a, b := &toy{id: "a", tools: []string{"x"}}, &toy{id: "b", tools: []string{"x"}}
	w := start(t, nil, a, b).begin()
	w.call(`"begin"`, "a__x")
	for i, c := range hostile.Frames() {
		a.running().say(c.Line)
		// An answer that names no call is for the one that waits, if it is read so late.
		nameless := gjson.Get(c.Line, "id").Type == gjson.Null && (gjson.Get(c.Line, "error").Exists() || gjson.Get(c.Line, "result").Exists())
		for _, name := range []string{"a", "b"} {
			id := fmt.Sprintf("%q", fmt.Sprint(name, "-", i))
			w.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"%s__x","arguments":{}}}`, id, name))
			for line := ""; !strings.Contains(line, `"id":`+id+`,`); {
				line = w.next()
				if _, err := frame.Parse([]byte(line), frame.DefaultLimits()); err != nil {
					t.Errorf("%s: the client gets %.200s: %v", c.Name, line, err)
				}
				if strings.Contains(line, id) && !strings.Contains(line, name+":x") && (name == "b" || !nameless) {
					t.Errorf("%s: %s", c.Name, line)
				}
			}
		}
	}
	if a.starts.Load() != 1 || b.starts.Load() != 1 {
		t.Errorf("started %d and %d times", a.starts.Load(), b.starts.Load())
	}
}

// A change of what a server has is told of once, and the next list has it, of every kind.
func TestChangesAreSeen(t *testing.T) {
	slow.Test(t)
	for kind, c := range map[string]struct{ list, entry string }{
		"tools":     {"tools/list", `{"tools":[{"name":"%s"}]}`},
		"prompts":   {"prompts/list", `{"prompts":[{"name":"%s"}]}`},
		"resources": {"resources/list", `{"resources":[{"uri":"f:///%s","name":"n"}]}`},
	} {
		a := &toy{id: "a"}
		has := make(chan string, 1)
		now := "old"
		a.answer = func(_ *running, f *frame.Frame) string {
			if f.Method != c.list {
				return ""
			}
			select {
			case now = <-has:
			default:
			}
			return `"result":` + fmt.Sprintf(c.entry, now)
		}
		w := start(t, nil, a, &toy{id: "b"}).begin()
		if got := w.ask("1", c.list, "{}"); !strings.Contains(got, "old") {
			t.Errorf("%s: %s", kind, got)
		}
		has <- "new"
		a.running().say(`{"jsonrpc":"2.0","method":"notifications/` + kind + `/list_changed"}`)
		w.next("notifications/" + kind + "/list_changed")
		if got := w.ask("2", c.list, "{}"); !strings.Contains(got, "new") || strings.Contains(got, "old") {
			t.Errorf("%s: %s", kind, got)
		}
	}
}

// Of one server the names may be bare: they are what the server calls them, called or listed,
// and rules judge that server and that name.
func TestBareNames(t *testing.T) {
	bare := func(o *hub.Options) { o.Servers[0].Prefix = "" }
	w := start(t, bare, &toy{id: "a", tools: []string{"do", "b__do", "with.dot", "secret"}}, &toy{id: "b", tools: []string{"do"}}).begin()
	if got := w.call("1", "later"); !strings.Contains(got, "a:later") { // which it has not listed yet
		t.Error(got)
	}
	if got := w.call("2", "b__do"); !strings.Contains(got, "b:do") {
		t.Error(got)
	}
	list := w.ask("3", "tools/list", "{}")
	all := names(list)
	if len(all) != 5 || all[0] != "do" || strings.Contains(all[1], "__") || strings.Contains(all[2], "__") || all[4] != "b__do" {
		t.Fatal(list)
	}
	for i, want := range []string{"a:do", "", "a:with.dot", "Refused by the owner's policy", "b:do"} {
		if got := w.call(fmt.Sprint(i+4), all[i]); !strings.Contains(got, want) {
			t.Errorf("%s: %s", all[i], got)
		}
	}
	if w.toys["a"].got(`"name":"secret"`) > 0 || w.toys["a"].got(`"name":"b__do"`) > 0 { // which the rules deny for what it is
		t.Error("a call crossed that the rules deny")
	}
	if got := w.call("9", "zoo__x"); strings.Contains(got, `"result":{"content":[{"type":"text","text":"a:`) || w.toys["a"].got("zoo__x") > 0 {
		t.Error(got)
	}
}

// What clients make of a name when the hub's entry is called "hub", and what they then take.
var clientRules = map[string]struct {
	before  string
	longest int
	takes   string
}{
	"Claude Code": {"mcp__hub__", 64, `^[A-Za-z0-9_-]+$`},
	"Cursor":      {"hub", 60, `^[A-Za-z0-9_-]+$`},
	"VS Code":     {"mcp_hub_", 64, `^[A-Za-z0-9_-]+$`},
	"Codex":       {"mcp__hub__", 64, `^[A-Za-z0-9_-]+$`},
	"Gemini CLI":  {"mcp_hub_", 63, `^[A-Za-z_][A-Za-z0-9_.-]*$`},
	"Zed":         {"hub_", 64, `^[A-Za-z0-9_-]+$`},
}

// The tools of all servers that are known, behind one hub: each is shown under a name of its
// own that every client takes, the same in whatever order the servers stand; and so it is when
// ids are as long as they may be, and when one server is bare.
func TestRealNames(t *testing.T) {
	slow.Test(t)
	starts := slow.Rounds(8, 1000)
	known, err := servers.LoadCatalogue()
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct{ name, more, bare string }{
		{"as they are called", "", ""},
		{"the longest ids", "-0123456789-012345678", ""},
		{"one that is bare", "", "github"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var toys []*toy
			count, cut := 0, 0
			for _, s := range known {
				id := s.ID + c.more
				y := &toy{id: strings.TrimRight(id[:min(len(id), 20)], "_")}
				if err := upstream.CheckID(y.id); err != nil {
					t.Error(err)
				}
				for _, e := range s.Tools.ListEffects() {
					y.tools = append(y.tools, e.Tools...)
				}
				toys, count = append(toys, y), count+len(y.tools)
			}
			first := realNames(t, toys, c.bare)
			for range starts {
				r.Shuffle(len(toys), func(i, j int) { toys[i], toys[j] = toys[j], toys[i] })
				if !maps.Equal(first, realNames(t, toys, c.bare)) {
					t.Fatal("the order of the servers changes names")
				}
			}
			if len(first) != count {
				t.Errorf("%d names for %d tools", len(first), count)
			}
			for client, rule := range clientRules {
				takes := regexp.MustCompile(rule.takes)
				for name := range first {
					if shown := rule.before + name; len(shown) > rule.longest || !takes.MatchString(shown) {
						t.Errorf("%s does not take %q", client, shown)
					}
				}
			}
			for name := range first {
				if len(name) == upstream.Budget {
					cut++
				}
			}
			t.Logf("%d tools of %d servers, of which %d names are as long as may be; %d starts", count, len(toys), cut, starts+1)
		})
	}
}

// realNames are those that a hub of these servers lists, one of them bare, with what each says
// of itself, which is whose it is.
func realNames(t *testing.T, toys []*toy, bare string) map[string]string {
	t.Helper()
	w := start(t, func(o *hub.Options) {
		for i := range o.Servers {
			if o.Servers[i].ID == bare {
				o.Servers[i].Prefix = ""
			}
		}
	}, toys...).begin()
	all := map[string]string{}
	list := gjson.Get(w.ask("1", "tools/list", "{}"), "result.tools").Array()
	for _, one := range list {
		all[one.Get("name").String()] = one.Get("description").String()
	}
	if len(all) != len(list) {
		t.Errorf("%d names for %d entries", len(all), len(list))
	}
	_ = w.in.Close()
	w.end()
	return all
}
