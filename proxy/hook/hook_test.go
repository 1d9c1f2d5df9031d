package hook_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/proxy/hook"
	"github.com/clawai/clawai/proxy/hook/client"
)

var update = flag.Bool("update", false, "write the answers anew")

// record keeps what is recorded, unless it fails.
type record struct {
	fails, panics bool

	mu     sync.Mutex // guards what follows
	events []event.Event
}

func (r *record) Record(events ...*event.Event) error {
	if r.panics {
		panic("the record fell")
	}
	if r.fails {
		return errors.New("no space left on device")
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, ev := range events {
		ev.Record = fmt.Sprintf("r-%d", len(r.events)+1)
		r.events = append(r.events, *ev)
	}
	return nil
}

func rules(t testing.TB) *policy.Policy {
	t.Helper()
	src, err := os.ReadFile("testdata/policy.toml")
	if err != nil {
		t.Fatal(err)
	}
	p, err := policy.Parse("policy.toml", src, policy.Options{Home: "/home/u"})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// options are those of a program that asks nobody.
func options(p *policy.Policy, id string, r *record) hook.Options {
	return hook.Options{
		Client: id, Program: "clawai test", Getenv: func(string) string { return "" },
		Proxied: func(*client.Row, string, string) bool { return false },
		Open: func(_ string, _ *client.Request, ask hook.Dialog) (*hook.Door, error) {
			g, err := gate.New(gate.Options{Policy: p, Recorder: r, Approver: ask, Concluder: gate.None{},
				Inspector: gate.None{}, Labels: gate.None{}, Releases: gate.None{}, Limits: hook.Uncounted{}})
			if err != nil {
				return nil, err
			}
			return &hook.Door{Gate: g, Policy: p, Close: g.Close}, nil
		},
	}
}

// Each payload of each client, as the client writes it: the call that it is, what becomes
// of it, and the bytes and the exit code that the client gets.
func TestPayloads(t *testing.T) {
	p := rules(t)
	files, err := filepath.Glob("testdata/payloads/*/*.json")
	if err != nil || len(files) < 60 {
		t.Fatalf("%d payloads, %v", len(files), err)
	}
	clients := map[string]bool{}
	for _, file := range files {
		id := filepath.Base(filepath.Dir(file))
		clients[id] = true
		t.Run(id+"/"+strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
			payload, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			r := &record{}
			a := hook.Run(context.Background(), payload, options(p, id, r))
			var got bytes.Buffer
			for _, ev := range r.events {
				fmt.Fprintf(&got, "record %s %s %s %s %s %s policy=%s decision=%s code=%s line=%d cwd=%s\n", ev.Kind, ev.Server, ev.Method, ev.Names, ev.Args, ev.ID,
					ev.Policy, ev.Decision, ev.Code, ev.RuleLine, ev.Cwd)
			}
			fmt.Fprintf(&got, "exit %d\nstdout %sstderr %s", a.Code, orLine(a.Stdout), orLine(a.Stderr))
			golden := strings.TrimSuffix(file, ".json") + ".answer"
			if *update {
				if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil || got.String() != string(want) {
				t.Errorf("%v\n got %s\nwant %s", err, got.String(), want)
			}
			silent(t, id, payload, a, r)
		})
	}
	for _, id := range client.IDs() {
		if !clients[id] {
			t.Errorf("no payload of %s", id)
		}
	}
}

func orLine(b []byte) string {
	if len(b) == 0 {
		return "-\n"
	}
	return string(b)
}

// silent fails when a tool may run that the gate has not allowed, and on record.
func silent(t testing.TB, id string, payload []byte, a client.Answer, r *record) {
	t.Helper()
	allowed, other := false, false
	for _, ev := range r.events {
		allowed = allowed || ev.Kind == event.Decision && ev.Decision == "allow"
		other = other || ev.Kind == event.Start || ev.Kind == event.Passed
	}
	req, _ := client.FindRow(id).Read(payload, "")
	runs := !req.Row.IsDenial(a)
	switch {
	case a.Code != 0 && a.Code != 2:
		t.Errorf("exit code %d", a.Code)
	case allowed && !runs, !allowed && runs && !other && len(r.events) > 0:
		t.Errorf("the record says allow=%v, and the client is told %d %s", allowed, a.Code, a.Stdout)
	case !runs && len(bytes.TrimSpace(a.Stderr)) == 0:
		t.Error("no reason on stderr")
	}
}

// What fails in here is a denial.
func TestFaults(t *testing.T) {
	p := rules(t)
	allowed, err := os.ReadFile("testdata/payloads/claude-code/read.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, want string
		change     func(*hook.Options, *record)
	}{
		{"none", "", func(*hook.Options, *record) {}},
		{"no policy or no state", "cannot judge it: the policy is broken", func(o *hook.Options, _ *record) {
			o.Open = func(string, *client.Request, hook.Dialog) (*hook.Door, error) {
				return nil, errors.New("the policy is broken")
			}
		}},
		{"the disk is full", "could not be recorded", func(_ *hook.Options, r *record) { r.fails = true }},
		{"the record falls", "could not be recorded", func(_ *hook.Options, r *record) { r.panics = true }},
		{"we fall", "failed inside clawai", func(o *hook.Options, _ *record) {
			o.Open = func(string, *client.Request, hook.Dialog) (*hook.Door, error) { panic("we fell") }
		}},
		{"what it brings cannot be kept", "could not be kept", func(o *hook.Options, _ *record) {
			opens := o.Open
			o.Open = func(project string, req *client.Request, ask hook.Dialog) (*hook.Door, error) {
				door, err := opens(project, req, ask)
				door.Labels, door.Before = unkept{}, true
				return door, err
			}
		}},
		{"a client that nobody knows", `knows no client "emacs"`, func(o *hook.Options, _ *record) { o.Client = "emacs" }},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := &record{}
			o := options(p, "claude-code", r)
			c.change(&o, r)
			a := hook.Run(context.Background(), allowed, o)
			if (a.Code == 0) != (c.want == "") || !strings.Contains(string(a.Stderr), c.want) || c.want == "" && len(a.Stdout) > 0 {
				t.Errorf("%d %s %s", a.Code, a.Stdout, a.Stderr)
			}
		})
	}
}

// A person is asked by the client's dialog only where one is there and the client asks.
func TestHandedOver(t *testing.T) {
	p := rules(t)
	payload, err := os.ReadFile("testdata/payloads/claude-code/bash-asked.json")
	if err != nil {
		t.Fatal(err)
	}
	for attended, asks := range map[string]bool{"": true, "1": true, "0": false} {
		r := &record{}
		o := options(p, "claude-code", r)
		o.Getenv = func(name string) string {
			if name == "CLAUDE_CODE_SESSION_ATTENDED" {
				return attended
			}
			return ""
		}
		elsewhere := false
		o.Elsewhere = func() client.Answer { elsewhere = true; return client.Answer{Code: 2} }
		a := hook.Run(context.Background(), payload, o)
		if got := a.Code == 0 && strings.Contains(string(a.Stdout), `"ask"`); got != asks || elsewhere == asks {
			t.Errorf("attended %q: %d %s, elsewhere %v", attended, a.Code, a.Stdout, elsewhere)
		}
		if asks && (len(r.events) != 2 || r.events[1].Code != gate.CodeHandedOver || r.events[0].Answer != "handed over") {
			t.Errorf("%+v", r.events)
		}
		if !asks && len(r.events) > 0 {
			t.Errorf("what another program judges is recorded here: %+v", r.events)
		}
	}
}

// Where our proxy stands before the server, it decides and records, and the hook only
// repeats a denial. A program that does not know hands the call on.
func TestProxied(t *testing.T) {
	p := rules(t)
	mcp := func(tool string) []byte {
		return []byte(`{"session_id":"s","cwd":"/home/u/p","hook_event_name":"PreToolUse","tool_use_id":"t","tool_name":"mcp__files__` + tool + `","tool_input":{}}`)
	}
	for _, c := range []struct {
		tool     string
		proxied  bool
		code     int
		recorded int
	}{{"read_text_file", true, 0, 0}, {"read_text_file", false, 0, 1}, {"write_file", true, 2, 1}, {"write_file", false, 2, 1}} {
		r := &record{}
		o := options(p, "claude-code", r)
		o.Proxied = func(_ *client.Row, server, project string) bool {
			return c.proxied && server == "files" && project == "/home/u/p"
		}
		if a := hook.Run(context.Background(), mcp(c.tool), o); a.Code != c.code || len(r.events) != c.recorded {
			t.Errorf("%s, proxied %v: %d, %d recorded", c.tool, c.proxied, a.Code, len(r.events))
		}
	}
	for payload, want := range map[string]bool{
		string(mcp("read_text_file")): true,
		string(mcp("write_file")):     false, // it is denied, whatever stands before the server
		strings.Replace(string(mcp("write_file")), "__files__", "__my_files__", 1): true, // the files may call it my.files
		strings.Replace(string(mcp("write_file")), "__files__", "__a__b__", 1):     true,
	} {
		r, handed := &record{}, false
		o := options(p, "claude-code", r)
		o.Proxied, o.Elsewhere = nil, func() client.Answer { handed = true; return client.Answer{} }
		if a := hook.Run(context.Background(), []byte(payload), o); handed != want || handed == (len(r.events) > 0) || !handed && a.Code != 2 {
			t.Errorf("%s: handed on %v, %d recorded here, exit %d", payload, handed, len(r.events), a.Code)
		}
	}
}

// A rule with a limit opens nothing in a process that ends with the call.
func TestLimits(t *testing.T) {
	p, err := policy.Parse("p", []byte("[[rule]]\naction = \"allow\"\ntool = \"read\"\nlimit = \"5/min\"\n"), policy.Options{})
	if err != nil {
		t.Fatal(err)
	}
	payload, err := os.ReadFile("testdata/payloads/claude-code/read.json")
	if err != nil {
		t.Fatal(err)
	}
	if a := hook.Run(context.Background(), payload, options(p, "claude-code", &record{})); a.Code != 2 {
		t.Errorf("%d %s", a.Code, a.Stdout)
	}
}

// That the user said something is recorded, and nothing of what.
func TestPrompt(t *testing.T) {
	for id, payload := range map[string]string{
		"claude-code": `{"session_id":"s","cwd":"/","hook_event_name":"UserPromptSubmit","prompt":"hunter2"}`,
		"codex":       `{"session_id":"s","turn_id":"t","cwd":"/","hook_event_name":"UserPromptSubmit","prompt":"hunter2"}`,
		"gemini-cli":  `{"session_id":"s","cwd":"/","hook_event_name":"BeforeAgent","prompt":"hunter2"}`,
		"cursor":      `{"conversation_id":"s","generation_id":"g","hook_event_name":"beforeSubmitPrompt","prompt":"hunter2"}`,
	} {
		r := &record{}
		a := hook.Run(context.Background(), []byte(payload), options(rules(t), id, r))
		if a.Code != 0 || len(a.Stdout) > 0 && id != "cursor" || len(a.Stderr) > 0 || len(r.events) != 1 {
			t.Fatalf("%s: %d %s %s, %d events", id, a.Code, a.Stdout, a.Stderr, len(r.events))
		}
		ev := r.events[0]
		if text := fmt.Sprintf("%+v", ev); ev.Kind != event.Passed || ev.Method != "builtin/prompt" || ev.Server != id || strings.Contains(text, "hunter2") {
			t.Errorf("%s: %s", id, text)
		}
	}
}

// No payload is answered by silence unless the gate has allowed it.
func FuzzRun(f *testing.F) {
	p := rules(f)
	files, _ := filepath.Glob("testdata/payloads/*/*.json")
	for _, file := range files {
		payload, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(filepath.Base(filepath.Dir(file)), payload)
	}
	f.Fuzz(func(t *testing.T, id string, payload []byte) {
		row := client.FindRow(id)
		if row == nil {
			return
		}
		r := &record{}
		a := hook.Run(context.Background(), payload, options(p, id, r))
		silent(t, id, payload, a, r)
		if a.Code == 0 && len(a.Stdout) == 0 && len(r.events) == 0 {
			if req, err := row.Read(payload, ""); err != nil || req.Event.Kind == client.Before {
				t.Errorf("silence that nobody gave: %v", err)
			}
		}
	})
}

// A payload that never ends in time, and one beyond every size.
func TestTooLong(t *testing.T) {
	start := time.Now()
	payload := make([]byte, 64<<20+1) // zeros, so that the system gives no memory for them
	a := hook.Run(context.Background(), payload, options(rules(t), "claude-code", &record{}))
	if a.Code != 2 || !strings.Contains(string(a.Stderr), "longer than") {
		t.Errorf("%d %.200s", a.Code, a.Stderr)
	}
	t.Log(time.Since(start))
}

// unkept has labels that cannot be kept.
type unkept struct{}

func (unkept) Seen([]policy.Call) policy.Seen { return 0 }

func (unkept) Called([]policy.Call) error { return errors.New("no space left on device") }

// What this program cannot judge, count or remember is another's to judge.
func TestElsewhere(t *testing.T) {
	for name, src := range map[string]string{
		"a level":        "[[rule]]\naction = \"allow\"\ntool = \"*\"\n[flow]\nlevel = \"watch\"\n",
		"a rule's after": "[[rule]]\naction = \"deny\"\ntool = \"x\"\nafter = [\"secret\"]\n[[rule]]\naction = \"allow\"\ntool = \"*\"\n",
		"a limit":        "[[rule]]\naction = \"allow\"\ntool = \"*\"\nlimit = \"5/min\"\n",
		"":               "[[rule]]\naction = \"allow\"\ntool = \"*\"\n",
	} {
		p, err := policy.Parse("p", []byte(src), policy.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for event, payload := range map[string]string{
			"a call":  `{"session_id":"s","cwd":"/","hook_event_name":"PreToolUse","tool_use_id":"t","tool_name":"Read","tool_input":{"file_path":"/a"}}`,
			"a start": `{"session_id":"s","cwd":"/","hook_event_name":"SessionStart"}`,
		} {
			handed, r := false, &record{}
			o := options(p, "claude-code", r)
			opens := o.Open
			o.Open = func(project string, req *client.Request, ask hook.Dialog) (*hook.Door, error) {
				door, err := opens(project, req, ask)
				door.Before = p.FlowLevel() != policy.Off || p.Labelled()
				return door, err
			}
			o.Elsewhere = func() client.Answer { handed = true; return client.Answer{} }
			hook.Run(t.Context(), []byte(payload), o)
			if want := name != "" && (event == "a call" || name != "a limit"); handed != want || handed == (len(r.events) > 0) {
				t.Errorf("%s, %s: handed on %v, %d recorded here", name, event, handed, len(r.events))
			}
		}
	}
}

// A session that begins by a clear is known as one where the client has been seen to say it so.
func TestCleared(t *testing.T) {
	for id, payload := range map[string]string{
		"claude-code": `{"session_id":"s","cwd":"/","hook_event_name":"SessionStart","source":"clear"}`,
		"resumed":     `{"session_id":"s","cwd":"/","hook_event_name":"SessionStart","source":"resume"}`,
		"compacted":   `{"session_id":"s","cwd":"/","hook_event_name":"SessionStart","source":"compact"}`,
		"another way": `{"session_id":"s","cwd":"/","hook_event_name":"SessionStart","source":["clear"]}`,
		"another":     `{"session_id":"s","hook_event_name":"UserPromptSubmit","source":"clear","prompt":"x"}`,
		"an end":      `{"session_id":"s","hook_event_name":"SessionEnd","source":"clear","reason":"clear"}`,
		"codex":       `{"session_id":"s","cwd":"/","hook_event_name":"SessionStart","source":"clear"}`,
		"gemini-cli":  `{"session_id":"s","cwd":"/","timestamp":"t","transcript_path":"/t","hook_event_name":"SessionStart","source":"clear"}`,
		"vscode":      `{"sessionId":"s","hookEventName":"SessionStart","source":"clear"}`,
	} {
		row := client.FindRow(id)
		if row == nil {
			row = client.FindRow("claude-code")
		}
		if req, err := row.Read([]byte(payload), ""); err != nil || req.Cleared != (id == "claude-code") {
			t.Errorf("%s: %v, cleared %v", id, err, req.Cleared)
		}
	}
}

// Of a name that can be cut in several ways, the user's files tell which server there is;
// without them each way is judged, and the strictest holds.
func TestServersOfTheUsersFiles(t *testing.T) {
	p, err := policy.Parse("p", []byte("[[rule]]\naction = \"allow\"\nserver = \"my-notes\"\ntool = \"get_*\"\n"), policy.Options{})
	if err != nil {
		t.Fatal(err)
	}
	payload := []byte(`{"sessionId":"s","timestamp":1,"cwd":"/","toolName":"my-notes-get_note","toolArgs":{}}`)
	for _, c := range []struct {
		known []string
		code  int
	}{{nil, 2}, {[]string{"other"}, 2}, {[]string{"my-notes"}, 0}, {[]string{"my", "my-notes"}, 2}} {
		o := options(p, "copilot-cli", &record{})
		o.Servers = func(*client.Row, string) ([]string, []string) { return c.known, nil }
		if a := hook.Run(t.Context(), payload, o); a.Code != c.code {
			t.Errorf("%q: %d %s", c.known, a.Code, a.Stderr)
		}
	}
}

// TestAFolderThatTheCallMayHaveChosen: the folder of a request says where relative paths start,
// unless the call itself may have chosen it.
func TestAFolderThatTheCallMayHaveChosen(t *testing.T) {
	cursor := func(roots, cwd string) string {
		return `{"hook_event_name":"preToolUse","conversation_id":"c","generation_id":"g","cursor_version":"3","workspace_roots":[` + roots + `],` +
			`"tool_name":"Shell","tool_input":{"command":"ls","working_directory":"` + cwd + `"},"tool_use_id":"t","cwd":"` + cwd + `"}`
	}
	for _, c := range []struct {
		id, payload string
		loose       bool
	}{
		{"cursor", cursor(`"/h/p"`, "/h/p"), false},
		{"cursor", cursor(`"/h/p"`, "/h/p/web"), false},
		{"cursor", cursor(`"/h/a","/h/p"`, "/h/p"), false},
		{"cursor", cursor(`"/h/p"`, "/etc"), true},
		{"cursor", cursor(`"/h/p"`, "/h/p2"), true},
		{"cursor", cursor(`"/h/p"`, "/h"), true},
		{"cursor", cursor(`"",""`, "/h"), true},
		{"cursor", cursor(``, "/h/p"), true},
		{"windsurf", `{"agent_action_name":"pre_run_command","trajectory_id":"t","execution_id":"e","tool_info":{"command_line":"ls","cwd":"/etc"}}`, true},
		{"claude-code", `{"session_id":"s","prompt_id":"p","cwd":"/h/p","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"},"tool_use_id":"t"}`, false},
	} {
		req, err := client.FindRow(c.id).Read([]byte(c.payload), "")
		if err != nil || len(req.Calls) != 1 || req.Calls[0].Elsewhere != c.loose {
			t.Errorf("%s: %v, %+v", c.payload, err, req.Calls)
		}
	}
}

// A rule with preview is left to the program that can make one, which shows it in the client's dialog
// and records it. A rule without is never tried.
func TestPreviewInTheDialog(t *testing.T) {
	payload := []byte(`{"session_id":"s","cwd":"/p","permission_mode":"default","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"make"},"tool_use_id":"t"}`)
	for _, wants := range []bool{true, false} {
		src := "[[rule]]\naction = \"prompt\"\ntool = \"Bash\"\n"
		if wants {
			src += "preview = true\n"
		}
		p, err := policy.Parse("policy.toml", []byte(src), policy.Options{Home: "/home/u"})
		if err != nil {
			t.Fatal(err)
		}
		small := options(p, "claude-code", &record{})
		left := false
		small.Elsewhere = func() client.Answer { left = true; return client.Answer{} }
		_ = hook.Run(context.Background(), payload, small)
		r := &record{}
		large := options(p, "claude-code", r)
		tried := 0
		large.Preview = func(q gate.Question) string {
			tried++
			return "it would delete 2 files of " + q.Calls[0].Names[0]
		}
		a := hook.Run(context.Background(), payload, large)
		shown := bytes.Contains(a.Stdout, []byte(`"permissionDecision":"ask"`)) && bytes.Contains(a.Stdout, []byte("Preview: it would delete 2 files of Bash."))
		noted := false
		for _, ev := range r.events {
			noted = noted || ev.Kind == event.Answered && strings.Contains(ev.Detail, "would delete 2 files")
		}
		if left != wants || (tried == 1) != wants || shown != wants || noted != wants {
			t.Errorf("wants %v: left %v, tried %d, recorded %v: %s", wants, left, tried, noted, a.Stdout)
		}
	}
}
