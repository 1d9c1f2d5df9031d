//go:build linux || darwin

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/state/audit"
	"github.com/clawai/clawai/internal/testing/slow"
	"github.com/clawai/clawai/internal/testing/termtest"
)

// day is a record that a test writes, one event after the other.
type day struct {
	home   string
	at     time.Time
	events []*event.Event
	refs   []int // of each event, which one it is a reply to; -1: none
}

func (d *day) add(after time.Duration, e event.Event) int {
	d.at = d.at.Add(after)
	e.Time = d.at
	d.events, d.refs = append(d.events, &e), append(d.refs, -1)
	return len(d.events) - 1
}

// call is a decision, and its reply after a time when there is one.
func (d *day) call(after time.Duration, server, tool, args, policy, decision, rule string, took time.Duration) *event.Event {
	e := event.Event{
		Kind: event.Decision, Server: server, Direction: "client", Method: "tools/call", Subject: "tool", ID: []byte(fmt.Sprint(len(d.events))),
		Names: []string{tool}, Args: []byte(strings.ReplaceAll(args, "~", d.home)), Policy: policy, Decision: decision,
		RuleFile: d.home + "/.config/clawai/policy.toml", RuleLine: 7, RuleText: rule,
	}
	i := d.add(after, e)
	if took > 0 {
		d.reply(i, took, false)
	}
	return d.events[i]
}

func (d *day) reply(to int, took time.Duration, failed bool) {
	i := d.add(took, event.Event{Kind: event.Outcome, Server: d.events[to].Server, Direction: "server", Method: "tools/call", IsError: failed})
	d.refs[i] = to
}

// write records the day: a reply quotes the id that its call was given.
func (d *day) write(t *testing.T) {
	t.Helper()
	l, err := audit.Open(filepath.Join(d.home, ".local", "state", "clawai", "audit"), audit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range d.events {
		if d.refs[i] >= 0 {
			e.Ref = d.events[d.refs[i]].Record
		}
		if err := l.Record(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

// aDay is what a person's agent did over midnight, with something of everything.
func aDay(t *testing.T) string {
	d := &day{home: t.TempDir(), at: time.Date(2026, 11, 22, 23, 58, 3, 0, time.UTC)}
	const ms = time.Millisecond
	d.add(0, event.Event{Kind: event.Start, Server: "filesystem", Detail: "clawai 1.0; command npx -y @modelcontextprotocol/server-filesystem; policy " + d.home + "/.config/clawai/policy.toml, revision 0123456789ab"})
	list := d.add(ms, event.Event{Kind: event.Decision, Server: "filesystem", Direction: "client", Method: "tools/list", ID: []byte("1"), Subject: "method", Names: []string{"tools/list"}, Policy: "allow", Decision: "allow", Code: "ungoverned"})
	listed := d.add(31*ms, event.Event{Kind: event.Listed, Server: "filesystem", Method: "tools/list", Declared: []string{"read_text_file", "write_file", "edit_file"}})
	d.refs[listed] = list
	d.call(time.Second, "filesystem", "read_text_file", `{"path":"~/projects/app/main.go"}`, "allow", "allow", "Reading below projects", 12*ms)
	d.call(9*time.Second, "filesystem", "read_text_file", `{"path":"~/.ssh/id_ed25519"}`, "deny", "deny", "Keys and secrets stay shut", 0)
	d.add(4*time.Second, event.Event{Kind: event.Answered, Server: "filesystem", Answer: "once", Channel: "terminal", By: "anna", Waited: 3200 * ms, Policy: "prompt"})
	d.call(ms, "filesystem", "write_file", `{"content":"package app\n","path":"~/projects/app/a/rather/deep/folder/with/names/handler_test.go"}`, "prompt", "allow", "Writing is asked for", 1240*ms)
	asked := d.call(40*time.Second, "filesystem", "write_file", `{"path":"/etc/hosts","content":"x"}`, "prompt", "deny", "Writing is asked for", 0)
	asked.Code, asked.Reason = "not_answered", "nobody answered in time"
	d.call(90*time.Second, "github", "create_pull_request_review_comment", `{"owner":"acme","repo":"site","pull_number":7,"body":"Nice"}`, "allow", "allow", "", 890*ms)
	d.call(2*time.Second, "fetch", "fetch", `{"url":"https://example.org/a/long/path?with=query","max_length":5000}`, "allow", "allow", "", 14*time.Second)
	d.call(time.Second, "ops", "run_command", `{"command":"go test ./... && rm -rf ~/projects/app/bin"}`, "deny", "deny", "No removing", 0)
	d.call(time.Second, "filesystem", "read_text_file", `{"path":"~/projects/app/gone.go"}`, "allow", "allow", "Reading below projects", 0)
	d.reply(len(d.events)-1, 3*ms, true)
	watched := d.call(time.Second, "weather", "forecast", `{"city":"Köln"}`, "deny", "allow", "", 7*ms)
	watched.Stage, watched.Code, watched.RuleLine, watched.RuleFile = "observe", "not_enforced", 0, ""
	d.call(time.Second, "日本語", "\x1b[31mred\u202e", `{"path":"\u001b[2J\u202ex"}`, "deny", "deny", "", 0)
	d.call(time.Second, "filesystem", "list_directory", `{"path":"~"}`, "allow", "allow", "", 0)
	d.add(time.Second, event.Event{Kind: event.End, Server: "filesystem", Detail: "server: exit code 0; clawai's exit code 0"})
	d.write(t)
	return d.home
}

var recordID = regexp.MustCompile(`\b[0-9a-hjkmnp-tv-z]{10}-(\d+)\b`)

// golden holds what a command leaves on a screen to a file of testdata/screens, at both
// sizes.
func golden(t *testing.T, home string, env []string, name string, code int, args ...string) {
	t.Helper()
	sizes(t, func(t *testing.T, rows, cols int) {
		w := watchAs(t, home, append(append([]string{"TZ=UTC"}, colorful...), env...), rows, cols, args...)
		w.leaves(code)
		path := filepath.Join("testdata", "screens", fmt.Sprintf("%s-%dx%d.txt", name, cols, rows))
		lasting := func(shown string) string {
			return strings.ReplaceAll(recordID.ReplaceAllString(shown, "k3f9x2m7qa-$1"), home, "/home/user")
		}
		if *update {
			time.Sleep(time.Second) // for what was written last to be on the screen
			if err := os.WriteFile(path, []byte(lasting(w.screen.Text())), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !w.screen.Wait(5*time.Second, func(shown string) bool { return lasting(shown) == string(want) }) {
			t.Errorf("the screen is\n%s\nwant\n%s", lasting(w.screen.Text()), want)
		}
	})
}

func TestTheScreenOfLog(t *testing.T) {
	golden(t, aDay(t), nil, "log", 0, "log", "--no-pager")
}

func TestTheScreenOfLogStats(t *testing.T) {
	golden(t, aDay(t), nil, "log-stats", 0, "log", "stats")
}

// manyServers is a home folder with clients whose servers are in every state.
func manyServers(t *testing.T) *wrapHome {
	t.Helper()
	h := newWrapHome(t)
	t.Setenv("PATH", filepath.Dir(h.bin)+":"+os.Getenv("PATH"))
	h.write(".config/clawai/policy.toml", "[[rule]]\naction = \"allow\"\ntool = \"read_*\"\nserver = \"filesystem\"\n\n[[rule]]\naction = \"deny\"\ntool = \"*\"\nserver = \"jira\"\n")
	h.write(".claude.json", `{"mcpServers":{
		"filesystem":{"command":"npx","args":["-y","@modelcontextprotocol/server-filesystem","/srv"]},
		"a-server-with-quite-a-long-name-of-its-own":{"command":"npx","args":["long"]},
		"signs-in":{"type":"http","url":"https://example.org/mcp"}},
		"projects":{"/srv/app":{"mcpServers":{"git":{"command":"uvx","args":["mcp-server-git"]}}}}}`)
	h.write(".cursor/mcp.json", `{"mcpServers":{"github":{"command":"npx","args":["gh"]},"weather\u001b[31m\u202e":{"command":"npx","args":["w"]},"watched":{"command":"npx","args":["x"]}}}`)
	h.write(".codeium/windsurf/mcp_config.json", `{"mcpServers":{`)
	for _, args := range [][]string{{"filesystem", "github"}, {"watched", "--observe"}} {
		if out, errs, code := h.run(append(append([]string{"wrap"}, args...), "--yes")...); code != 0 {
			t.Fatalf("%v: exit %d, %s%s", args, code, out, errs)
		}
	}
	text := readHome(t, h.dir, ".cursor/mcp.json")
	h.write(".cursor/mcp.json", strings.Replace(text, "\"github\",", "\"github\",\"--ask\",\"never\",", 1))
	return h
}

func TestTheScreenOfStatus(t *testing.T) {
	h := manyServers(t)
	golden(t, h.dir, h.env, "status", 0, "status")
}

func TestTheScreenOfDoctor(t *testing.T) {
	h := manyServers(t)
	golden(t, h.dir, append(h.env, "CLAWAI_ASK=console"), "doctor", 1, "doctor")
}

func TestTheScreenOfLeaks(t *testing.T) {
	h := newWrapHome(t)
	t.Setenv("PATH", filepath.Dir(h.bin)+":"+os.Getenv("PATH"))
	h.write(".cursor/mcp.json", `{"mcpServers":{
		"web":{"command":"uvx","args":["mcp-server-fetch"]},
		"files":{"command":"npx","args":["-y","@modelcontextprotocol/server-filesystem","/srv"]},
		"slack":{"command":"npx","args":["-y","@modelcontextprotocol/server-slack"]},
		"mail":{"command":"npx","args":["-y","@gongrzhe/server-gmail-autoauth-mcp"]}}}`)
	golden(t, h.dir, append(h.env, "CLAWAI_ASK=console"), "doctor-flow", 0, "doctor")
}

// Help breaks at words, under its own column.
func TestTheScreenOfHelp(t *testing.T) {
	golden(t, t.TempDir(), nil, "help", 0, "--help")
	golden(t, t.TempDir(), nil, "help-replay", 0, "policy", "replay", "--help")
}

// What init tells breaks at words, and commands to paste stay whole.
func TestTheScreenOfTheEndOfInit(t *testing.T) {
	sizes(t, func(t *testing.T, rows, cols int) {
		at, home := fmt.Sprintf("%dx%d", cols, rows), newcomer(t)
		h := &wrapHome{t: t, dir: home}
		h.write(".cursor/mcp.json", `{"mcpServers":{
			"a-server-of-a-long-name":{"command":"npx","args":["a"]},
			"another-server-of-a-long-name":{"command":"npx","args":["b"]},
			"remote":{"url":"https://tools.example.org/a/rather/long/path/of/an/address/mcp"}}}`)
		w := watchAs(t, home, colorful, rows, cols, "init", "--yes", "--mode", "ask", "--client", "cursor")
		w.sees("whether everything is in order")
		w.leaves(0)
		termtest.Golden(t, "screens/init-end-"+at+".txt", w.screen.Text)
	})
}

// The demo's record is what clawai log shows on the same screen; its words stay whole.
func TestTheScreenOfDemo(t *testing.T) {
	sizes(t, func(t *testing.T, rows, cols int) {
		home := t.TempDir()
		if err := os.Mkdir(filepath.Join(home, "tmp"), 0o700); err != nil {
			t.Fatal(err)
		}
		w := watchAs(t, home, colorful, rows, cols, "demo")
		w.sees("clawai asks: let it through?", "Esc deny")
		w.types("\r")
		w.sees("\nThe record of it, as clawai log shows it:\n", "  ~/.ssh/id_ed25519 · Keys and secrets s",
			"\nVerified: 17 lines, chained, none changed.\n\nNext: ", "clawai init.\nIt finds the servers", "clawai\nin front, asking before it writes.\n")
		w.leaves(0)
		if shown := w.screen.Text(); strings.Contains(shown, "tools/call") {
			t.Errorf("lines are as in a pipe:\n%s", shown)
		}
	})
}

// What the colors say is said where they are wanted, and nowhere else.
func TestColors(t *testing.T) {
	slow.Test(t)
	day, h, w := aDay(t), manyServers(t), workbench(t)
	for _, tt := range []struct {
		home   string
		env    []string
		colors []string
		args   []string
		code   int
	}{
		{day, nil, []string{"2", "31", "32", "33", "1"}, []string{"log", "--no-pager"}, 0},
		{day, nil, []string{"31", "32", "33", "1"}, []string{"log", "stats"}, 0},
		{h.dir, h.env, []string{"31", "32", "33", "1"}, []string{"status"}, 0},
		{h.dir, h.env, []string{"31", "32", "2", "1"}, []string{"unwrap", "github", "--dry-run"}, 0},
		{w.dir, nil, []string{"31", "2", "33"}, []string{"policy", "lint"}, 1},
		{w.dir, nil, []string{"33", "1"}, []string{"policy", "explain", "--tool", "write_file"}, 0},
		{w.dir, nil, []string{"31", "32", "33"}, []string{"policy", "test", ".config/clawai/policy.toml", "--fixture-dir", "projects/app/policy-tests", "--root", "/"}, 1},
		{w.dir, nil, []string{"31", "32", "33", "1"}, []string{"policy", "diff", ".config/clawai/policy.toml", "new.toml"}, 1},
		{w.dir, nil, []string{"31", "32", "33", "1"}, []string{"policy", "replay", "new.toml"}, 1},
		{w.dir, nil, []string{"33"}, []string{"policy", "coverage", "--policy", ".config/clawai/policy.toml", "--fixture", "projects/app/policy-tests/reads.json", "--root", "/"}, 0},
		{w.dir, nil, []string{"33", "1"}, []string{"log", "explain", asked(t, w)}, 0},
		{h.dir, append(h.env, "CLAWAI_ASK=console"), []string{"31", "32", "33"}, []string{"doctor"}, 1},
	} {
		shows := func(want bool, env, args []string) {
			t.Helper()
			w := watchAs(t, tt.home, append(append(append([]string{}, colorful...), tt.env...), env...), 40, 120, args...)
			w.leaves(tt.code)
			for _, color := range tt.colors {
				if !w.screen.Wait(5*time.Second, func(shown string) bool { return strings.TrimSpace(shown) != "" }) || w.screen.Styled(color) != want {
					t.Errorf("%v %v: color %s is shown: %v", env, args, color, !want)
				}
			}
		}
		shows(true, nil, tt.args)
		shows(false, []string{"NO_COLOR=1"}, tt.args)
		shows(false, []string{"CLICOLOR_FORCE=1"}, append([]string{"--color", "never"}, tt.args...))
		shows(false, nil, append(tt.args, "--color=never"))
		shows(true, []string{"NO_COLOR=1"}, append(tt.args, "--color", "always"))
	}
}

// A terminal gets the log through the person's pager, which may be left at any time; no
// pager is no hindrance.
func TestLogIsPaged(t *testing.T) {
	home := aDay(t)
	for _, tt := range []struct {
		name  string
		env   []string
		args  []string
		paged bool
	}{
		{"by PAGER, with options", []string{"PAGER=sed -e 's/^/paged:/'"}, nil, true},
		{"not with --no-pager", []string{"PAGER=sed s/^/paged:/"}, []string{"--no-pager"}, false},
		{"not the stored lines", []string{"PAGER=sed s/^/paged:/"}, []string{"--json"}, false},
		{"not with an empty PAGER", []string{"PAGER="}, nil, false},
		{"not where there is no less", []string{"PATH=/nowhere"}, nil, false},
	} {
		w := watchAs(t, home, append(append([]string{}, colorful...), tt.env...), 24, 80, append([]string{"log"}, tt.args...)...)
		w.sees("filesystem")
		w.leaves(0)
		if got := strings.Contains(w.screen.Text(), "paged:"); got != tt.paged {
			t.Errorf("%s: paged is %v\n%s", tt.name, got, w.screen.Text())
		}
	}
	w := watchAs(t, home, append([]string{"PAGER=head -n 1"}, colorful...), 24, 80, "log")
	w.sees("Sunday")
	w.leaves(0)
	for _, args := range [][]string{{"log", "--tool", "no_such"}, {"log", "stats", "--tool", "no_such"}} {
		w = watchAs(t, home, append([]string{"PAGER=sed s/^/paged:/"}, colorful...), 24, 80, args...)
		w.sees("No record matches.")
		w.leaves(0)
	}
}

// What does not fit is scrolled by less, which a short record does not stay in.
func TestLogInLess(t *testing.T) {
	if _, err := exec.LookPath("less"); err != nil {
		t.Skip("there is no less")
	}
	d := &day{home: t.TempDir(), at: time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)}
	for i := range 100 {
		d.call(time.Second, "files", fmt.Sprintf("tool_%d", i), `{}`, "deny", "deny", "Größe", 0)
	}
	d.write(t)
	w := watchAs(t, d.home, append([]string{"TZ=UTC"}, colorful...), 24, 80, "log")
	w.sees("tool_21", "Größe · files")
	if strings.Contains(w.screen.Text(), "tool_50") {
		t.Error("nothing waits at the end of the screen")
	}
	w.types("q")
	<-w.ended
	if code := w.cmd.ProcessState.ExitCode(); code != 0 {
		t.Errorf("exit code %d\n%s", code, w.screen.Text())
	}
}

// In a terminal that follows, a call is there at once, and its reply ends its line.
func TestLogFollowsOnATerminal(t *testing.T) {
	home := t.TempDir()
	dir := filepath.Join(home, ".local", "state", "clawai", "audit")
	l, err := audit.Open(dir, audit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	at := time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)
	record := func(e *event.Event, after time.Duration) string {
		e.Time = at.Add(after)
		if err := l.Record(e); err != nil {
			t.Fatal(err)
		}
		return e.Record
	}
	next := func(tool string, after time.Duration) string {
		e := call(tool, `{"path":"/x"}`, "allow")
		e.ID = []byte("1")
		return record(e, after)
	}
	reply := func(to string, after time.Duration) {
		record(&event.Event{Kind: event.Outcome, Server: "files", Method: "tools/call", Ref: to}, after)
	}
	w := watchAs(t, home, append([]string{"TZ=UTC", "PAGER=sed s/^/paged:/"}, colorful...), 24, 80, "log", "--follow", "--kind", "decision", "--kind", "outcome")
	first := next("first", 0)
	w.shows(80, "Sunday, 22 November 2026", "10:00:00  allow     first               /x · files · Only projects")
	reply(first, time.Second)
	w.shows(80, "Sunday, 22 November 2026", "10:00:00  allow     first               /x · files · Only projects        1.0 s")
	second := next("second", 2*time.Second)
	next("third", 3*time.Second)
	w.sees("third")
	reply(second, 4*time.Second)
	w.shows(80, "Sunday, 22 November 2026",
		"10:00:00  allow     first               /x · files · Only projects        1.0 s",
		"10:00:02  allow     second              /x · files · Only projects",
		"10:00:03  allow     third               /x · files · Only projects",
		"10:00:04  done      second              /x · files                        2.0 s")
	if err := w.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	w.leaves(130)
}
