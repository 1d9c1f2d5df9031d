//go:build e2e

package e2e

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"maps"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/ask/queue"
	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/state/audit"
	"github.com/clawai/clawai/internal/state/flow"
	"github.com/clawai/clawai/internal/testing/viewtest"
)

const dashboardPolicy = `
[flow]
level = "ask"

[server.fetch]
pin = "ask"

[[rule]]
action = "deny"
tool = "send_mail"
server = "mail"
after = ["untrusted", "private"]
description = "No mail after a stranger's text and private data"

[[rule]]
action = "deny"
tool = "*"
args.path = "**/.ssh/**"
description = "Keys and secrets stay shut"

[[rule]]
action = "prompt"
tool = ["edit_file", "write_file"]
server = "filesystem"
description = "Ask before a project file is written"

[[rule]]
action = "deny"
tool = "delete_branch"
description = "No branch is deleted"

[[rule]]
action = "deny"
tool = "drop_table"
server = "postgres"
description = "No table is dropped"

[[rule]]
action = "allow"
tool = "*"
description = "Everything else"
`

const paintedSession = "5f0c2a9e-1111-4222-8333-bbbbbbbbbbbb"

// week writes a record of some days into a home, with one session that has seen what strangers write
// and what is private.
func week(t *testing.T, s site) {
	t.Helper()
	state := filepath.Join(s.home, ".local/state/clawai")
	policyFile := filepath.Join(s.home, ".config/clawai/policy.toml")
	s.write(".claude.json", `{"mcpServers":{"filesystem":{"command":"npx","args":["-y","@modelcontextprotocol/server-filesystem","/srv"]},"fetch":{"command":"uvx","args":["mcp-server-fetch"]}}}`)
	if err := os.MkdirAll(state, 0o700); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(dashboardPolicy, "\n")
	ruleLine := func(text string) int {
		for i, line := range lines {
			if strings.Contains(line, `"`+text+`"`) {
				for ; lines[i] != "[[rule]]"; i-- {
				}
				return i + 1
			}
		}
		t.Fatal(text)
		return 0
	}
	l, err := audit.Open(filepath.Join(state, "audit"), audit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	now, random := time.Now(), rand.New(rand.NewPCG(1, 2))
	call := func(at time.Time, server, tool, args, policy, decision, rule, detail string) {
		e := event.Event{Kind: event.Decision, Time: at, Server: server, Direction: "client", Method: "tools/call", Subject: "tool", ID: []byte("1"), Names: []string{tool},
			Args: []byte(args), Policy: policy, Decision: decision, Stage: "policy", RuleFile: policyFile, RuleLine: ruleLine(rule), RuleText: rule, Detail: detail}
		if err := l.Record(&e); err != nil {
			t.Fatal(err)
		}
		if decision == "allow" {
			if err := l.Record(&event.Event{Kind: event.Outcome, Time: at.Add(time.Duration(5+random.IntN(400)) * time.Millisecond), Server: server, Direction: "server", Method: "tools/call", Ref: e.Record}); err != nil {
				t.Fatal(err)
			}
		}
	}
	for hour := 6 * 24; hour > 0; hour-- {
		at := now.Add(-time.Duration(hour) * time.Hour)
		if at.UTC().Hour() < 7 || at.UTC().Hour() > 20 {
			continue
		}
		for range 4 + random.IntN(30) {
			at = at.Add(time.Duration(random.IntN(90)) * time.Second)
			switch n := random.IntN(20); {
			case n < 9:
				call(at, "filesystem", "read_text_file", fmt.Sprintf(`{"path":"%s/projects/app/file%d.go"}`, s.home, n), "allow", "allow", "Everything else", "")
			case n < 13:
				call(at, "github", "list_issues", `{"owner":"acme","repo":"site"}`, "allow", "allow", "Everything else", "")
			case n < 16:
				call(at, "fetch", "fetch", `{"url":"https://go.dev/doc/effective_go"}`, "allow", "allow", "Everything else", "")
			case n < 18:
				call(at, "filesystem", "edit_file", `{"path":"`+s.home+`/projects/app/main.go"}`, "prompt", "allow", "Ask before a project file is written", "")
			case n < 19:
				call(at, "github", "delete_branch", `{"owner":"acme","repo":"site","branch":"main"}`, "deny", "deny", "No branch is deleted", "")
			default:
				call(at, "filesystem", "read_text_file", `{"path":"`+s.home+`/.ssh/id_ed25519"}`, "deny", "deny", "Keys and secrets stay shut", "")
			}
		}
	}
	hook := "hook claude-code PreToolUse, session " + paintedSession
	begin := now.Add(-9 * time.Minute)
	at := func(minutes float64) time.Time { return begin.Add(time.Duration(minutes * float64(time.Minute))) }
	call(at(0), "filesystem", "list_directory", `{"path":"`+s.home+`/projects/app"}`, "allow", "allow", "Everything else", hook)
	call(at(0.5), "filesystem", "read_text_file", `{"path":"`+s.home+`/projects/app/README.md"}`, "allow", "allow", "Everything else", hook)
	call(at(1), "fetch", "fetch", `{"url":"https://forum.example/thread/4711"}`, "allow", "allow", "Everything else", hook)
	call(at(2), "filesystem", "edit_file", `{"path":"`+s.home+`/projects/app/main.go"}`, "prompt", "allow", "Ask before a project file is written", hook)
	call(at(3), "mail", "read_inbox", `{"folder":"INBOX","limit":20}`, "allow", "allow", "Everything else", hook)
	call(at(4), "filesystem", "read_text_file", `{"path":"`+s.home+`/projects/app/CONTRIBUTORS"}`, "allow", "allow", "Everything else", hook)
	call(at(5), "github", "create_issue", `{"owner":"acme","repo":"site","title":"Build fails"}`, "prompt", "allow", "Ask before a project file is written", hook)
	call(at(6), "mail", "send_mail", `{"to":"eve@forum.example","subject":"invoice"}`, "deny", "deny", "No mail after a stranger's text and private data", hook)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	seen := flow.New(state, []string{"session:" + paintedSession})
	if err := seen.Add([]flow.Seen{{Kind: "untrusted", Source: "fetch fetch", At: at(1.1)}, {Kind: "private", Source: "mail read_inbox", At: at(3.1)}}); err != nil {
		t.Fatal(err)
	}
	seen.Close()
}

// TestDashboard holds, at the width of a desk and of a phone, light and dark, that the first page says
// what waits, what was refused last and what a session may no longer do, that every page fits and can
// be read, and that it says nothing on the console. With CLAWAI_SHOTS it remakes the pictures.
func TestDashboard(t *testing.T) {
	s := newSite(t, dashboardPolicy)
	week(t, s)
	answerBefore(t, s)
	d := deskBy(t, s, "dashboard")
	waits := d.ask(func(r *queue.Request) {
		offers(r)
		r.Deadline = time.Now().Add(10 * time.Minute)
	})
	b := newBrowser(t, 1280, 800)
	b.enter(d.link)
	for _, one := range []struct {
		name          string
		width, height int
		scheme        string
	}{{"desk", 1280, 800, "light"}, {"desk-dark", 1280, 800, "dark"}, {"phone", 390, 844, "light"}, {"phone-dark", 390, 844, "dark"}} {
		b.do(nil, "size", map[string]any{"width": one.width, "height": one.height})
		b.do(nil, "scheme", map[string]any{"scheme": one.scheme})
		b.do(nil, "goto", map[string]any{"url": d.origin + "/overview"})
		look := func(name string) {
			t.Helper()
			b.fits(one.name + ", " + name)
			var faint []string
			if b.do(&faint, "faint", nil); len(faint) > 0 {
				t.Errorf("%s, %s: %q can hardly be read", one.name, name, faint)
			}
			b.picture("dash-" + name + "-" + one.name)
		}
		first := b.wait("#view .cards", "Refused last")
		for _, want := range []string{"1 question", "files wants to write", "send_mail", "eve@forum.example", "claude-code", "may not use send_mail"} {
			if !strings.Contains(first, want) {
				t.Errorf("%s: at first sight there is no %q:\n%s", one.name, want, first)
			}
		}
		b.wait("#view", "Calls by hour")
		for _, selector := range []string{".card.asked", ".card.refused"} {
			if !b.sees(selector) {
				t.Errorf("%s: %s is not in sight", one.name, selector)
			}
		}
		look("overview")
		for _, to := range []struct{ name, path, sees string }{
			{"week", "/overview?since=7d", "calls"}, {"calls", "/calls?decision=refused", "delete_branch"}, {"sessions", "/sessions", "has seen"},
			{"timeline", "/timeline?session=session%3A" + paintedSession, "lethal trifecta"},
			{"rules", "/rules?since=7d", "Never used"}, {"servers", "/servers", "filesystem"}, {"answers", "/answers", "median"}, {"questions", "/", ""},
		} {
			b.do(nil, "goto", map[string]any{"url": d.origin + to.path})
			if to.sees == "" {
				b.opens(waits)
			} else {
				b.wait("#view", to.sees)
			}
			look(to.name)
		}
	}
	b.quiet(d.origin)
	waits.settle(queue.Expired, queue.Answer{}, "expired")
}

// TestDashboardShowsHostileText plays texts of strangers into the record, and holds that they are texts
// on each tab: no element is made of them, no script runs, and nothing leaves the screen.
func TestDashboardShowsHostileText(t *testing.T) {
	t.Parallel()
	s := newSite(t, dashboardPolicy)
	evil := `<img src=x onerror="document.title='pwned'"></script><script>alert(1)</script><svg onload=alert(1)><a href="javascript:alert(1)">` + "\u202e\x1b[2J\u200b\r\n'\"&"
	state := filepath.Join(s.home, ".local/state/clawai")
	if err := os.MkdirAll(state, 0o700); err != nil {
		t.Fatal(err)
	}
	l, err := audit.Open(filepath.Join(state, "audit"), audit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i, decision := range []string{"allow", "deny", "deny"} {
		args, _ := json.Marshal(map[string]string{"path": evil})
		name := evil
		if i == 2 {
			name += strings.Repeat("W", 1<<20)
		}
		if err := l.Record(&event.Event{Kind: event.Decision, Time: time.Now(), Server: evil, Direction: "client", Method: "tools/call", Subject: "tool", ID: []byte("1"), Names: []string{name},
			Args: args, Policy: decision, Decision: decision, Reason: evil, RuleFile: evil, RuleLine: 1, RuleText: evil, Detail: "hook " + evil[:9] + " PreToolUse, session " + evil}); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	seen := flow.New(state, []string{"session:" + evil})
	if err := seen.Add([]flow.Seen{{Kind: "untrusted", Source: evil, At: time.Now()}}); err != nil {
		t.Fatal(err)
	}
	seen.Close()
	d := deskBy(t, s, "dashboard")
	w := d.ask(func(r *queue.Request) { r.Client, r.Server = evil, "files" })
	b := newBrowser(t, 390, 844)
	b.enter(d.link)
	for _, path := range []string{"/overview", "/calls", "/sessions", "/timeline?session=" + url.QueryEscape("session:"+evil), "/rules", "/servers", "/answers", "/calls?text=" + url.QueryEscape(evil), "/calls?" + url.QueryEscape(evil) + "=1"} {
		b.do(nil, "goto", map[string]any{"url": d.origin + path})
		b.wait("#view", "")
		await(t, path+" is shown", func() bool { return b.text("#view") != "" })
		name, _, _ := strings.Cut(path, "?")
		b.do(nil, "run", map[string]any{"script": `document.querySelectorAll('#view details').forEach((one) => { one.open = true })`})
		text := strings.ReplaceAll(b.text("#view"), "\t", " ") // a browser tells the cells of a table apart by tabs
		viewtest.CheckHarmless(t, viewtest.Case{Name: name}, text)
		b.fits(name + " of a stranger")
		var made int
		if b.do(&made, "count", map[string]any{"selector": "#view img, #view script, #view iframe, #view style, #view [onload], #view [onerror], #view [style], #view a:not([href^='/'])"}); made > 0 {
			t.Errorf("%s: %d elements were made of texts", path, made)
		}
		var title string
		if b.do(&title, "title", nil); strings.Contains(title, "pwned") {
			t.Errorf("%s: a script ran", path)
		}
	}
	w.settle(queue.Expired, queue.Answer{}, "expired")
	var v struct {
		Console, Errors []string
		Dialogs, Open   int
	}
	b.do(&v, "seen", nil)
	for _, line := range v.Console {
		if !strings.Contains(line, "400") { // the filter that is refused
			t.Errorf("the console: %s", line)
		}
	}
	if len(v.Errors) > 0 || v.Dialogs > 0 || v.Open != 1 {
		t.Errorf("the page did what no page of ours does: %+v", v)
	}
}

// answerBefore writes questions that were answered, by a clock of its own.
func answerBefore(t *testing.T, s site) {
	t.Helper()
	now := time.Now().Add(-2 * time.Hour)
	q, err := queue.Open(filepath.Join(s.home, ".local/state/clawai/queue"), queue.Options{Clock: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	p, err := q.Attach(queue.Session{ID: "past", Server: "files", Client: "test-client 1.0", Project: "/home/ana/projects/garden", PID: os.Getpid()})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	d := &desk{t: t, s: s, q: q, p: p}
	for i, seconds := range []int{4, 9, 31, 7, 120, 14, 5, 60} {
		w := d.ask(func(r *queue.Request) {
			if i%3 == 0 {
				offers(r)
			}
			r.Deadline = now.Add(2 * time.Minute)
		})
		now = now.Add(time.Duration(seconds) * time.Second)
		switch {
		case seconds == 120:
			w.settle(queue.Expired, queue.Answer{}, "expired")
		case i%4 == 2:
			w.settle(queue.Denied, queue.Answer{Reply: gate.DenyOnce, Channel: "terminal", By: "ana"}, "denied")
		default:
			w.settle(queue.Approved, queue.Answer{Reply: gate.AllowOnce, Channel: "web", By: "ana"}, "went on")
		}
		now = now.Add(7 * time.Minute)
	}
}

// picture keeps a picture of the screen as shot does, in the colours that it has most, so that it is small.
func (b *browser) picture(name string) {
	b.t.Helper()
	dir := os.Getenv("CLAWAI_SHOTS")
	if dir == "" {
		return
	}
	path := filepath.Join(dir, name+".png")
	b.do(nil, "shot", map[string]any{"path": path})
	src, err := os.Open(path)
	if err != nil {
		b.t.Fatal(err)
	}
	full, err := png.Decode(src)
	if err := errors.Join(err, src.Close()); err != nil {
		b.t.Fatal(err)
	}
	often := map[color.Color]int{}
	area := full.Bounds()
	for y := area.Min.Y; y < area.Max.Y; y++ {
		for x := area.Min.X; x < area.Max.X; x++ {
			often[full.At(x, y)]++
		}
	}
	colors := slices.SortedFunc(maps.Keys(often), func(a, b color.Color) int {
		return cmp.Or(often[b]-often[a], cmp.Compare(fmt.Sprint(a), fmt.Sprint(b)))
	})
	few := image.NewPaletted(area, colors[:min(len(colors), 200)])
	draw.Draw(few, area, full, area.Min, draw.Src)
	var out bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&out, few); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(path, out.Bytes(), 0o644); err != nil {
		b.t.Fatal(err)
	}
}
