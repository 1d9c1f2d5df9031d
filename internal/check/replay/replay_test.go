package replay_test

import (
	"encoding/json"
	"fmt"
	"iter"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/check/replay"
	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/state/audit"
	"github.com/clawai/clawai/internal/text/builtin"
	"github.com/clawai/clawai/internal/text/redact"
	"github.com/clawai/clawai/policy"

	"github.com/clawai/clawai/internal/testing/slow"
)

const home = "/home/user"

// recorded writes events as the proxy does and returns what can be read.
func recorded(t testing.TB, o audit.Options, events ...*event.Event) iter.Seq2[event.Entry, error] {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "audit")
	log, err := audit.Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	if err := log.Record(events...); err != nil {
		t.Fatal(err)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	return audit.Read(dir, audit.Filter{Kinds: []event.Kind{event.Decision}})
}

func toolCall(was, name, args string) *event.Event {
	return &event.Event{
		Kind: event.Decision, Server: "s", Method: "tools/call", Subject: "tool", Names: []string{name},
		Args: []byte(args), Bytes: len(args) + 100, Policy: was, Decision: was, Stage: "policy",
	}
}

func builtinCall(was, tool, class, args string) *event.Event {
	ev := toolCall(was, tool, args)
	ev.Server, ev.Method, ev.Names = "claude-code", builtin.Method, []string{tool, class}
	return ev
}

func judgeOf(t testing.TB, src string) *replay.Judge {
	t.Helper()
	j, err := replay.NewJudge("new.toml", []byte(src), policy.Options{Home: home})
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// one is what becomes of one record.
func one(t testing.TB, src string, o audit.Options, ev *event.Event) replay.Example {
	t.Helper()
	j := judgeOf(t, src)
	for e, err := range recorded(t, o, ev) {
		if err != nil {
			t.Fatal(err)
		}
		return j.CompareEntry(&e)
	}
	t.Fatal("no record")
	return replay.Example{}
}

const keysShut = `
[[rule]]
action = "deny"
tool = "*"
args.path = "**/.ssh/**"
[[rule]]
action = "allow"
tool = "read"
[[rule]]
action = "allow"
tool = "write"
args.path = "/home/user/p/**"
`

func TestCompare(t *testing.T) {
	secret := `"ghp` + `_` + strings.Repeat("a1B2", 9) + `"`
	long := strings.Repeat("x", 5000)
	many := `{"path":"/home/user/p/a","edits":[` + strings.Repeat(`"`+strings.Repeat("y", 4000)+`",`, 30) + `"z"],"tail":1}`
	for _, c := range []struct {
		name, src string
		ev        *event.Event
		want      replay.Class
		why       replay.Why
	}{
		{"as before", keysShut, toolCall("allow", "read", `{"path":"/a"}`), replay.Unchanged, ""},
		{"denied", keysShut, toolCall("allow", "read", `{"path":"/home/user/.ssh/id"}`), replay.NewlyDenied, ""},
		{"in another reading", keysShut, toolCall("allow", "read", `{"path":"/home/user/p/../%2essh/id"}`), replay.NewlyDenied, ""},
		{"allowed, a person said no", keysShut, toolCall("prompt", "read", `{}`), replay.NewlyAllowed, ""},
		{"no rule", keysShut, toolCall("allow", "run", `{}`), replay.NewlyDenied, ""},
		{"no arguments", keysShut, toolCall("deny", "read", ``), replay.NewlyAllowed, ""},

		{"a long text no rule looks at", keysShut, toolCall("allow", "write", `{"path":"/home/user/p/a","content":"`+long+`"}`), replay.Unchanged, ""},
		{"a secret no rule looks at", keysShut, toolCall("allow", "write", `{"path":"/home/user/p/a","password":"geheim-1"}`), replay.Unchanged, ""},
		{"a secret in a path", keysShut, toolCall("allow", "read", `{"path":`+secret+`}`), replay.NotJudged, replay.Redacted},
		{"a long path", keysShut, toolCall("allow", "read", `{"path":"/`+long+`"}`), replay.NotJudged, replay.Cut},
		{"a long path, denied anyway", "[[rule]]\naction = \"deny\"\ntool = \"*\"\nargs.path = \"/x/**\"\n[[rule]]\naction = \"deny\"\ntool = \"read\"\n[[rule]]\naction = \"allow\"\ntool = \"read\"\nargs.path = \"/**\"\n",
			toolCall("allow", "read", `{"path":"/`+long+`"}`), replay.NewlyDenied, ""},
		{"a secret in an object", "[[rule]]\naction = \"allow\"\ntool = \"*\"\nargs.env = \"*\"\n", toolCall("allow", "run", `{"env":{"TOKEN":"abcdefgh"}}`), replay.NotJudged, replay.Redacted},
		{"a secret beside what a rule looks at", "[[rule]]\naction = \"allow\"\ntool = \"*\"\nargs.env.MODE = \"fast\"\n", toolCall("allow", "run", `{"env":{"TOKEN":"abcdefgh","MODE":"fast"}}`), replay.Unchanged, ""},
		{"in another case", "[[rule]]\naction = \"deny\"\ntool = \"*\"\nargs.Password = \"a*\"\n[[rule]]\naction = \"allow\"\ntool = \"*\"\n", toolCall("allow", "run", `{"password":"abcdefgh"}`), replay.NotJudged, replay.Redacted},
		{"in another spelling that folds", "[[rule]]\naction = \"deny\"\ntool = \"*\"\nargs.strasse = \"/x\"\n[[rule]]\naction = \"allow\"\ntool = \"*\"\n", toolCall("allow", "run", `{"Straße":"/`+long+`"}`), replay.NotJudged, replay.Cut},
		{"a built-in tool's own name for a path", keysShut, builtinCall("allow", "Read", "read", `{"file_path":"/`+long+`"}`), replay.NotJudged, replay.Cut},
		{"a built-in tool's own name for a path, whole", keysShut, builtinCall("allow", "Read", "read", `{"file_path":"/home/user/.ssh/id"}`), replay.NewlyDenied, ""},
		{"in another case before the cut", "[[rule]]\naction = \"deny\"\ntool = \"*\"\nargs.PATH = \"/x\"\n[[rule]]\naction = \"allow\"\ntool = \"*\"\n", toolCall("allow", "write", many), replay.Unchanged, ""},
		{"what folds only for the judge, after the cut", "[[rule]]\naction = \"deny\"\ntool = \"*\"\nargs.class = \"/x\"\n[[rule]]\naction = \"allow\"\ntool = \"*\"\n", toolCall("allow", "write", strings.Replace(many, "path", "class", 1)), replay.NotJudged, replay.LeftOut},
		{"what stands before the cut", keysShut, toolCall("allow", "write", many), replay.NotJudged, replay.LeftOut},
		{"what stands before the cut, and any further", keysShut + "args_open = true\n", toolCall("allow", "write", many), replay.Unchanged, ""},
		{"a secret that may be a decoy", keysShut, toolCall("allow", "write", `{"path":"/home/user/p/a","env":{"DATABASE":"postgres://u:geheim-1@h/x"}}`), replay.NotJudged, replay.Redacted},
		{"no further arguments", keysShut + "args_only = [\"path\"]\n", toolCall("allow", "write", `{"path":"/home/user/p/a","password":"geheim-1"}`), replay.NotJudged, replay.Redacted},
		{"what was left out", "[[rule]]\naction = \"allow\"\ntool = \"*\"\nargs.tail = \"1\"\n", toolCall("allow", "write", many), replay.NotJudged, replay.LeftOut},
		{"what was cut in", "[[rule]]\naction = \"allow\"\ntool = \"*\"\nargs.edits = \"y*\"\n", toolCall("allow", "write", many), replay.NotJudged, replay.LeftOut},
		{"what a large message holds", "[[rule]]\naction = \"deny\"\ntool = \"*\"\nargs.path = \"b\"\n[[rule]]\naction = \"deny\"\ntool = \"*\"\n", &event.Event{
			Kind: event.Decision, Server: "s", Method: "tools/call", Subject: "tool", Names: []string{"read"}, Bytes: 1 << 20,
			Args: []byte(`{"path":"/` + long + `"}`), Policy: "allow"}, replay.NotJudged, replay.Cut},

		{"a batch", keysShut, &event.Event{Kind: event.Decision, Method: "batch", Subject: "tool", Names: []string{"read", "write"}, Policy: "allow"}, replay.NotJudged, replay.Several},
		{"a request in an answer", keysShut, &event.Event{Kind: event.Decision, Method: "tools/call", Subject: "sampling", Names: []string{"hello"}, Policy: "allow", Ref: "x-1"}, replay.NotJudged, replay.Several},
		{"a request in a notification", keysShut, &event.Event{Kind: event.Decision, Method: "notifications/tasks", Subject: "elicitation", Names: []string{"hello"}, Policy: "allow"}, replay.NotJudged, replay.Several},
		{"several resources", "[[rule]]\naction = \"allow\"\nresource = \"file:///a/**\"\n", &event.Event{
			Kind: event.Decision, Method: "subscriptions/listen", Subject: "resource", Names: []string{"file:///a/x", "file:///b/x"}, Policy: "allow"}, replay.NewlyDenied, ""},
		{"all texts of a sampling", "[[rule]]\naction = \"prompt\"\nsampling = \"**\"\n", &event.Event{
			Kind: event.Decision, Method: "sampling/createMessage", Subject: "sampling", Names: []string{"a", long}, Policy: "allow"}, replay.NewlyAsked, ""},
		{"a long text of a sampling", "[[rule]]\naction = \"deny\"\nsampling = \"**key**\"\n[[rule]]\naction = \"allow\"\nsampling = \"**\"\n", &event.Event{
			Kind: event.Decision, Method: "sampling/createMessage", Subject: "sampling", Names: []string{"a", long}, Policy: "allow"}, replay.NotJudged, replay.Cut},
		{"a method", "", &event.Event{Kind: event.Decision, Method: "tools/list", Subject: "method", Names: []string{"tools/list"}, Policy: "allow"}, replay.Unchanged, ""},
		{"a server that was only guessed", "[[rule]]\naction = \"allow\"\ntool = \"*\"\nserver = \"s\"\n", &event.Event{
			Kind: event.Decision, ServerGuess: "s", Method: "tools/call", Subject: "tool", Names: []string{"read"}, Policy: "allow"}, replay.NewlyDenied, ""},
		{"denied for its shape", keysShut, &event.Event{Kind: event.Decision, Server: "s", Method: "tools/call", Subject: "tool", Names: []string{"read"},
			Policy: "deny", Decision: "deny", Code: "malformed", Reason: "params.arguments is not an object"}, replay.NotJudged, replay.Malformed},
		{"denied for its shape, and still", "", &event.Event{Kind: event.Decision, Server: "s", Method: "tools/call", Subject: "tool", Names: []string{"read"},
			Policy: "deny", Decision: "deny", Code: "malformed", Reason: "params.arguments is not an object"}, replay.Unchanged, ""},
		{"without a name", keysShut, &event.Event{Kind: event.Decision, Method: "tools/call", Subject: "tool", Policy: "deny", Reason: "params.name is missing"}, replay.NotJudged, replay.Malformed},
		{"of a later version", keysShut, &event.Event{Kind: event.Decision, Method: "x", Subject: "spell", Names: []string{"x"}, Policy: "ponder"}, replay.NotJudged, replay.Unknown},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := one(t, c.src, audit.Options{}, c.ev)
			if x.Class != c.want || x.Why != c.why {
				t.Errorf("%s %s, want %s %s", x.Class, x.Why, c.want, c.why)
			}
			if strings.Contains(x.Args, "geheim") || len(x.Args) > 600 {
				t.Errorf("the example shows %.700s", x.Args)
			}
		})
	}
}

// Layers tighten here as in force, and one that looks at what is not recorded
// has no answer; only a deny of another is certain beside it.
func TestLayers(t *testing.T) {
	const (
		open     = "[[rule]]\naction = \"allow\"\ntool = \"*\"\n"
		shut     = "[[rule]]\naction = \"deny\"\ntool = \"*\"\n"
		asks     = "[[rule]]\naction = \"prompt\"\ntool = \"*\"\n"
		byPass   = "[[rule]]\naction = \"deny\"\ntool = \"*\"\nargs.password = \"a*\"\n"
		passes   = "[[rule]]\naction = \"allow\"\ntool = \"*\"\nargs.password = \"a*\"\n"
		byPath   = "[[rule]]\naction = \"deny\"\ntool = \"*\"\nargs.path = \"/x/**\"\n"
		elsewise = "[[rule]]\naction = \"deny\"\ntool = \"other\"\nargs.password = \"a*\"\n"
	)
	plain, secret := `{"path":"/x/a"}`, `{"path":"/x/a","password":"geheim-1"}`
	for _, c := range []struct {
		name, own string
		above     []string
		args      string
		want      string
		left      int
	}{
		{"nothing said", open, []string{elsewise}, plain, "allow", 0},
		{"denied above", open, []string{byPath}, plain, "deny", 0},
		{"asked above", open, []string{asks}, plain, "prompt", 0},
		{"opens nothing", shut, []string{open}, plain, "deny", 0},

		{"a secret, nobody looks", open, []string{byPath}, secret, "deny", 0},
		{"a secret, asked above", open, []string{asks}, secret, "prompt", 0},
		{"a layer looks at the secret", open, []string{byPass}, secret, "?redacted", 1},
		{"an exception of a layer does", open, []string{passes + shut}, secret, "?redacted", 1},
		{"the secret does not matter to another deny", shut, []string{byPass}, secret, "deny", 1},
		{"nor to another layer's", open, []string{byPass, byPath}, secret, "deny", 1},
		{"nor to one before", open, []string{byPath, byPass}, secret, "deny", 1},
		{"the policy looks, a layer denies", byPass + open, []string{byPath}, secret, "deny", 1},
		{"the policy looks, a layer asks", byPass + open, []string{asks}, secret, "?redacted", 1},
		{"both look", passes + shut, []string{byPass}, secret, "?redacted", 2},
		{"no matter to the tool", open, []string{elsewise}, secret, "?redacted", 1},
	} {
		var o policy.Options
		for i, src := range c.above {
			p, err := policy.Parse(fmt.Sprintf("above%d.toml", i), []byte(src), policy.Options{Layer: "layer"})
			if err != nil {
				t.Fatal(err)
			}
			o.Above = append(o.Above, p)
		}
		j, err := replay.NewJudge("own.toml", []byte(c.own), o)
		if err != nil {
			t.Fatal(err)
		}
		for e, err := range recorded(t, audit.Options{}, toolCall("allow", "run", c.args)) {
			if err != nil {
				t.Fatal(err)
			}
			call, _ := replay.RebuildCall(&e)
			d, why := j.JudgeCall(&call)
			got := d.Action.String()
			if why != "" {
				got = "?" + string(why)
			}
			rest, left, _ := j.CertainPolicy(&call)
			if got != c.want || len(left) != c.left {
				t.Errorf("%s: %s, left %v", c.name, got, left)
			}
			if sure := rest.Decide(&call.Call).Action.String(); why == "" && c.left == 0 && sure != c.want {
				t.Errorf("%s: explained as %s", c.name, sure)
			}
		}
	}
}

func TestRun(t *testing.T) {
	var events []*event.Event
	for i := range 20 {
		events = append(events, toolCall("allow", "read", fmt.Sprintf(`{"path":"/home/user/.ssh/%d"}`, i%4)))
	}
	quiet := toolCall("deny", "read", "{}")
	quiet.Stage, quiet.Decision = "observe", "allow"
	closed := &event.Event{Kind: event.Decision, Method: "tools/call", Subject: "tool", Names: []string{"read"}, Decision: "deny", Code: "closed"}
	events = append(events, quiet, closed, &event.Event{Kind: event.Outcome, Policy: "allow"})
	r, err := replay.Run(judgeOf(t, keysShut), recorded(t, audit.Options{}, events...), 3)
	if err != nil {
		t.Fatal(err)
	}
	if r.Decisions != 21 || r.Observed != 1 || r.Sessions != 1 || r.Counts[replay.NewlyDenied] != 20 || r.Counts[replay.NewlyAllowed] != 1 || !r.HasChanges() {
		t.Errorf("%+v", r)
	}
	if len(r.Examples) != 4 {
		t.Errorf("%d examples, want 3 that differ and 1", len(r.Examples))
	}
	if r.Examples[0].NewRule.Line != 2 || r.Examples[0].Is != "deny" {
		t.Errorf("%+v", r.Examples[0])
	}
}

func TestDamageIsCounted(t *testing.T) {
	records := func(yield func(event.Entry, error) bool) {
		_ = yield(event.Entry{}, &event.Damage{File: "f", Line: 3}) && yield(event.Entry{}, fmt.Errorf("the disk is gone"))
	}
	if _, err := replay.Run(judgeOf(t, ""), records, 1); err == nil {
		t.Error("a record that cannot be read must be an error")
	}
}

// TestRedactedIsNeverGuessed: whatever a redacted record hides, the answer to it
// is the answer to the call itself, or none.
func TestRedactedIsNeverGuessed(t *testing.T) {
	slow.Test(t)
	r := rand.New(rand.NewPCG(1, 2))
	names := []string{"path", "token", "env", "content"}
	globs := []string{"/home/user/**", "**/.ssh/**", "a*", "**", "x", "[*"}
	values := []string{`"/home/user/a"`, `"/x/.ssh/id"`, `"abc"`, `["/home/user/b","x"]`, `{"token":"abcdefgh","MODE":"x"}`, `"` + strings.Repeat("a", 5000) + `"`, `12`, `null`}
	judged, missing := 0, 0
	for range 3000 {
		var src strings.Builder
		for range 1 + r.IntN(5) {
			fmt.Fprintf(&src, "[[rule]]\naction = %q\ntool = %q\n", []string{"deny", "prompt", "allow"}[r.IntN(3)], []string{"*", "read", "w*"}[r.IntN(3)])
			for _, i := range r.Perm(len(names))[:r.IntN(3)] {
				name := names[i]
				if name == "env" && r.IntN(2) == 0 {
					name = "env.MODE"
				}
				fmt.Fprintf(&src, "args.%s = %q\n", name, globs[r.IntN(len(globs))])
			}
		}
		args := map[string]json.RawMessage{}
		for _, name := range names {
			if r.IntN(3) > 0 {
				args[name] = json.RawMessage(values[r.IntN(len(values))])
			}
		}
		call := policy.Call{Server: "s", Method: "tools/call", Subject: policy.ToolSubject, Names: []string{[]string{"read", "write"}[r.IntN(2)]}}
		if r.IntN(2) == 0 {
			call.Server, call.Method, call.Names = "claude-code", builtin.Method, []string{"Read", "read"}
			if path, ok := args["path"]; ok {
				delete(args, "path")
				args["file_path"] = path
			}
		}
		raw, _ := json.Marshal(args)
		call.Args = raw
		e := event.Entry{Event: event.Event{Kind: event.Decision, Server: call.Server, Method: call.Method, Subject: "tool", Names: call.Names,
			Args: redact.ScrubJSON(raw), Policy: "allow", Bytes: len(raw)}}
		j := judgeOf(t, src.String())
		x := j.CompareEntry(&e)
		if x.Class == replay.NotJudged {
			missing++
			continue
		}
		judged++
		if want := j.Policy().Decide(&call).Action; x.Action != want {
			t.Fatalf("%s of a record, %s of the call itself\n%s\n%s\n%s", x.Action, want, src.String(), raw, e.Args)
		}
	}
	if judged < 500 || missing < 200 {
		t.Errorf("%d judged, %d not: the test shows too little", judged, missing)
	}
}

// FuzzCompare: whatever stands in a record, replaying it does not panic, and
// what is judged has one of the three answers.
func FuzzCompare(f *testing.F) {
	f.Add("tools/call", "tool", "read", `{"path":"[redacted:member:3]"}`, "allow", "", false)
	f.Add("tools/call", "tool", "read", `{"path":["[cut:5000:hmac:00]"]}`, "deny", "x", true)
	f.Add("sampling/createMessage", "sampling", "[cut:1:h]", ``, "prompt", "", false)
	f.Add("tools/call", "tool", "read", `"[cut`, "allow", "", true)
	f.Add("tools/call", "tool", "read", `{"[redacted:x:1]":1,"path":2}`, "allow", "", false)
	j := judgeOf(f, keysShut+"[[rule]]\naction = \"deny\"\nsampling = \"a**\"\n")
	f.Fuzz(func(t *testing.T, method, subject, name, args, was, reason string, cut bool) {
		e := event.Entry{Event: event.Event{Kind: event.Decision, Method: method, Subject: subject, Names: []string{name},
			Args: []byte(args), Policy: was, Reason: reason}, ArgsCut: cut}
		x := j.CompareEntry(&e)
		if (x.Class == replay.NotJudged) != (x.Why != "") || x.Class != replay.NotJudged && x.Is == "" {
			t.Errorf("%+v", x)
		}
	})
}
