package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/state/audit"
)

// recorded makes a state folder with a record in it and returns the folder of
// the record.
func recorded(t *testing.T, events ...*event.Event) string {
	t.Helper()
	state := t.TempDir()
	t.Setenv("CLAWAI_STATE_DIR", state)
	dir := filepath.Join(state, "audit")
	l, err := audit.Open(dir, audit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Record(events...); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

func clawai(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = runClawai(append([]string{"clawai"}, args...), &out, &errs)
	return code, out.String(), errs.String()
}

func call(tool, args, decision string) *event.Event {
	return &event.Event{
		Kind: event.Decision, Server: "files", Direction: "client", Method: "tools/call", Subject: "tool",
		Names: []string{tool}, Args: []byte(args), Policy: decision, Decision: decision,
		RuleFile: "/p/policy.toml", RuleLine: 7, RuleText: "Only projects",
	}
}

func TestLogShowsOneReadableLineForEachRecord(t *testing.T) {
	t.Setenv("HOME", "/p")
	asked := call("write_file", `{"path":"/a/\u043f.txt"}`, "deny")
	asked.Policy, asked.Code, asked.Reason = "prompt", "not_answered", "nobody answered in time"
	recorded(t,
		&event.Event{Kind: event.Start, Server: "files", Detail: "server-filesystem /pa /p/a; policy /p/policy.toml"},
		call("read_file", `{"path":"/a/b"}`, "allow"),
		asked,
		&event.Event{Kind: event.Outcome, ServerGuess: "guessed", Ref: "abc-2", IsError: true},
		&event.Event{Kind: event.Listed, Server: "files", Method: "tools/list", Declared: []string{"read_file", "write_file"}},
		&event.Event{Kind: event.Answered, Server: "files", Answer: "once", Channel: "terminal", Waited: 2100 * time.Millisecond},
		&event.Event{Kind: event.Answered, Server: "files", Answer: "deny", Channel: "queue", By: "anna", Words: "use the test folder", Waited: time.Second},
	)
	code, out, errs := clawai(t, "log")
	if code != 0 || errs != "" {
		t.Fatalf("exit %d, %s", code, errs)
	}
	lines := strings.Split(strings.TrimSpace(out), "\n")
	for i, want := range []string{
		"start     server-filesystem /pa ~/a; policy ~/policy.toml",
		`allow     tools/call read_file  {"path":"/a/b"}  ~/policy.toml:7  Only projects`,
		"deny      tools/call write_file  {\"path\":\"/a/\u043f.txt\"}  asked  ~/policy.toml:7  Only projects  nobody answered in time",
		"failed    of abc-2",
		"listed    tools/list  2 declared: read_file, write_file",
		"answered  once (terminal, after 2.1 s)",
		"answered  deny (queue, by anna, after 1.0 s)  told: use the test folder",
	} {
		if i >= len(lines) || !strings.Contains(lines[i], want) {
			t.Errorf("line %d of\n%s\nlacks %q", i+1, out, want)
		}
	}
	if !strings.Contains(lines[3], "  guessed?  ") {
		t.Errorf("a guessed name is not told from a known one: %s", lines[3])
	}
}

// Whatever a server calls its tools, a terminal only gets printable text.
func TestLogIsHarmlessOnATerminal(t *testing.T) {
	evil := "\x1b]0;owned\x07\x1b[2J\r\n\u202e\u2028\u200b\x00\x9b31m"
	ev := call(evil, `{"`+`\u001b[2J`+`":"\u202e\u009b31m"}`, "allow")
	ev.Server, ev.RuleText, ev.Reason, ev.Detail, ev.Code, ev.Method = evil, evil, evil, evil, evil, evil
	ev.Declared, ev.ServerGuess, ev.Answer, ev.Channel, ev.Ref, ev.By, ev.Words = []string{evil}, evil, evil, evil, evil, evil, evil
	recorded(t, ev)
	for _, args := range [][]string{{"log"}, {"log", "--json", "--kind", "decision"}} {
		code, out, errs := clawai(t, args...)
		if code != 0 || errs != "" || strings.Count(out, "\n") != 1 {
			t.Fatalf("exit %d, stderr %q, stdout %q", code, errs, out)
		}
		for _, r := range strings.TrimSuffix(out, "\n") {
			if r < ' ' || r >= 0x7f && r <= 0xa0 || r == 0x202e || r == 0x2028 || r == 0x200b || r == 0xfffd {
				t.Fatalf("%v lets %U through: %q", args, r, out)
			}
		}
	}
}

func TestLogFilters(t *testing.T) {
	prompted := call("write_file", `{}`, "allow")
	prompted.Policy = "prompt"
	old := call("old_tool", `{}`, "allow")
	old.Time = time.Now().Add(-48 * time.Hour)
	web := call("fetch", `{}`, "deny")
	web.Server = "web"
	web.RuleText = "Only the web"
	recorded(t, old, call("read_file", `{}`, "allow"), prompted, web, &event.Event{Kind: event.End, Server: "web"})
	for _, tt := range []struct {
		args []string
		want string // tools or kinds, in order
	}{
		{[]string{}, "segment old_tool read_file write_file fetch end"},
		{[]string{"--server", "web"}, "fetch end"},
		{[]string{"--server", "f*"}, "old_tool read_file write_file"},
		{[]string{"--tool", "*_file"}, "read_file write_file"},
		{[]string{"--tool", "fetch"}, "fetch"},
		{[]string{"--decision", "deny"}, "fetch"},
		{[]string{"--decision", "prompt"}, "write_file"},
		{[]string{"--decision", "allow", "--since", "1h"}, "read_file write_file"},
		{[]string{"--since", "1d"}, "segment read_file write_file fetch end"},
		{[]string{"--since", time.Now().Add(-time.Hour).Format(time.RFC3339)}, "segment read_file write_file fetch end"},
		{[]string{"--kind", "end", "--kind", "segment"}, "segment end"},
		{[]string{"--until", "1d"}, "old_tool"},
		{[]string{"--since", "3d", "--until", time.Now().Add(-47 * time.Hour).Format(time.RFC3339)}, "old_tool"},
		{[]string{"--rule", "policy.toml:7", "--until", "1d"}, "old_tool"},
		{[]string{"--rule", "/p/policy.toml:7"}, "old_tool read_file write_file fetch"},
		{[]string{"--rule", "policy.toml:8"}, ""},
		{[]string{"--rule", "only projects"}, ""},
		{[]string{"--rule", "* the web"}, "fetch"},
		{[]string{"-n", "2"}, "fetch end"},
		{[]string{"--record", prompted.Record}, "write_file"},
		{[]string{"--session", prompted.Record[:4], "-n", "1"}, "end"},
		{[]string{"--session", "none"}, ""},
	} {
		code, out, errs := clawai(t, append([]string{"log", "--json"}, tt.args...)...)
		var got []string
		for dec := json.NewDecoder(strings.NewReader(out)); ; {
			var e struct {
				Kind  string
				Names []string
			}
			if err := dec.Decode(&e); err == io.EOF {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			got = append(got, append(e.Names, e.Kind)[0])
		}
		if code != 0 || strings.Join(got, " ") != tt.want {
			t.Errorf("%v: exit %d, got %v, want %s", tt.args, code, got, tt.want)
		}
		if tt.want == "" && errs != "No record matches.\n" {
			t.Errorf("%v: stderr %q", tt.args, errs)
		}
	}
}

func TestLogVerifyTellsWhereItIsBroken(t *testing.T) {
	dir := recorded(t, call("read_file", `{"path":"/a"}`, "allow"), &event.Event{Kind: event.End})
	code, out, errs := clawai(t, "log", "verify")
	if code != 0 || errs != "" || !strings.HasPrefix(out, "Intact: 3 records in 1 file,") {
		t.Fatalf("exit %d, %q, %q", code, out, errs)
	}
	segs, err := filepath.Glob(filepath.Join(dir, "2*.ndjson"))
	if err != nil || len(segs) != 1 {
		t.Fatal(segs, err)
	}
	b, err := os.ReadFile(segs[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(segs[0], 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(segs[0], bytes.Replace(b, []byte(`"/a"`), []byte(`"/b"`), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	code, out, errs = clawai(t, "log", "verify")
	if code != 1 || errs != "" || !strings.Contains(out, filepath.Base(segs[0])+":2: ") {
		t.Fatalf("exit %d, %q, %q", code, out, errs)
	}
	var doc struct {
		Intact   bool
		Findings []audit.Finding
	}
	code, out, _ = clawai(t, "log", "verify", "--json")
	if err := json.Unmarshal([]byte(out), &doc); err != nil || code != 1 || doc.Intact || len(doc.Findings) == 0 || doc.Findings[0].Line != 2 {
		t.Fatalf("exit %d, %v: %s", code, err, out)
	}
	if code, _, errs := clawai(t, "log"); code != 0 || !strings.Contains(errs, ":2: ") || !strings.Contains(errs, "clawai log verify") {
		t.Fatalf("reading over damage: exit %d, %q", code, errs)
	}
}

func TestTheKindOfAnAnswer(t *testing.T) {
	recorded(t, call("read_file", `{}`, "allow"), &event.Event{Kind: event.Answered, Answer: "once", Channel: "terminal"})
	for _, word := range []string{"answered", "answer"} {
		code, out, errs := clawai(t, "log", "--kind", word)
		if code != 0 || strings.Count(out, "\n") != 1 || !strings.Contains(out, "  answered  once (terminal") {
			t.Errorf("%s: exit %d, %s%s", word, code, out, errs)
		}
	}
}
