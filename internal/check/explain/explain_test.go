package explain_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/check"
	"github.com/clawai/clawai/internal/check/explain"
	"github.com/clawai/clawai/policy"

	"github.com/clawai/clawai/internal/testing/slow"
)

const rules = `
[[rule]]
action = "deny"
tool = "*"
args.path = ["/a", "/b", "/c", "/d", "/e", "/f", "/g"]
description = "Not these\u001b[31m"

[[rule]]
action = "allow"
tool = "read"
args.path = "/srv/**"
server = "files"

[[rule]]
action = "prompt"
tool = "read"
ask = "out-of-band"
where.limit = { max = 10 }

[[rule]]
action = "prompt"
tool = "write"
when = { from = "09:00", to = "17:00", zone = "UTC" }

[[rule]]
action = "deny"
method = "tasks/*"

[[rule]]
action = "allow"
sampling = "**please**"

[[rule]]
action = "allow"
resource = "file:///srv/**"
`

func load(t *testing.T) *policy.Policy {
	t.Helper()
	p, err := policy.Parse("p.toml", []byte(rules), policy.Options{Home: "/home/user"})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func tool(name, server, args string) policy.Call {
	return policy.Call{Server: server, Method: "tools/call", Subject: policy.ToolSubject, Names: []string{name}, Args: []byte(args)}
}

func text(t *testing.T, e *explain.Explanation, all bool) string {
	t.Helper()
	var b strings.Builder
	if err := e.WriteText(&b, all); err != nil {
		t.Fatal(err)
	}
	if strings.ContainsAny(b.String(), "\x1b\x00\u202e") {
		t.Errorf("hostile text comes through: %q", b.String())
	}
	return b.String()
}

func TestText(t *testing.T) {
	p := load(t)
	noon := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name  string
		calls []policy.Call
		all   bool
		want  []string
		not   string
	}{
		{"allowed", []policy.Call{tool("read", "files", `{"path":"/srv/x","other":1}`)}, false, []string{
			`tools/call "read" on server "files"`, `  args.path "/srv/x"`, "not looked at by any rule in question: args.other",
			`no     p.toml:2   deny    "Not these\u{1b}[31m"`,
			`       args.path wants one of "/a", "/b", "/c", "/d", "/e", 2 more; the call has "/srv/x"`,
			"yes    p.toml:8   allow\n", "1 rule with nothing left to decide", "allow, by p.toml:8\n",
		}, "the strictest"},
		{"all", []policy.Call{tool("read", "files", `{"path":"/srv/x"}`)}, true, []string{
			`"/f", "/g"; the call has`, "-      p.toml:14  prompt\n       nothing was left to decide; it would not match\n",
			"is about bare methods", "is about sampling",
		}, "more"},
		{"another server", []policy.Call{tool("read", "web", `{"path":"/srv/x","limit":5}`)}, false, []string{
			`server wants "files"; the server is "web"`, "prompt (out of band), by p.toml:14",
		}, ""},
		{"refused", []policy.Call{tool("read", "files", `{"path":"/srv/\u0000"}`)}, false, []string{
			`refused: NUL in a value`, "deny, by p.toml:2", "because of a NUL in a value", "it matches",
		}, ""},
		{"no value", []policy.Call{tool("read", "files", `{"path":{}}`)}, false, []string{"args.path nothing", "deny: no rule matches"}, ""},
		{"no time", []policy.Call{tool("write", "files", `{}`)}, false, []string{"the time is not known", "no rule certainly matches"}, "prompt, by"},
		{"two calls", []policy.Call{tool("read", "files", `{"path":"/srv/x"}`), tool("read", "files", `{"path":"/a"}`)}, false, []string{
			"2 calls in one message; the strictest answer holds for all", "deny, by p.toml:2", "the strictest answer of those above holds",
		}, ""},
		{"some texts", []policy.Call{{Subject: policy.SamplingSubject, Method: "sampling/createMessage", Names: []string{"please", "or not"}}}, false, []string{
			"on a server of unknown name", `sampling/createMessage "please" "or not"`, "deny: no rule matches all of it",
		}, ""},
		{"a method", []policy.Call{{Subject: policy.MethodSubject, Method: "tasks/get", Names: []string{"tasks/get"}}}, false, []string{"tasks/get on", "deny, by p.toml:25"}, `"tasks/get"`},
		{"malformed", []policy.Call{{Subject: policy.ToolSubject, Method: "tools/call", Names: []string{"x"}, Malformed: "bad shape"}}, false, []string{
			"7 rules not asked", "deny: bad shape",
		}, ""},
		{"many readings", []policy.Call{tool("read", "files", `{"path":["/srv/%41%2e/B\\c","/1","/2","/3","/4","/5","/6","/7","/8","/9","/10","/11","/12","/13"]}`)}, false, []string{
			"more ways", "and 2 more values",
		}, ""},
		{"passed", nil, false, []string{"allow: no rule governs this message"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := text(t, explain.DescribeCalls(p, c.calls), c.all)
			for _, want := range c.want {
				if !strings.Contains(got, want) {
					t.Errorf("no %q in\n%s", want, got)
				}
			}
			if c.not != "" && strings.Contains(got, c.not) {
				t.Errorf("%q in\n%s", c.not, got)
			}
		})
	}
	at := explain.FillTime([]policy.Call{tool("write", "files", `{}`)}, noon)
	if got := text(t, explain.DescribeCalls(p, at), false); !strings.Contains(got, "at 2026-01-31T12:00:00Z") || !strings.Contains(got, "prompt, by p.toml:20") {
		t.Error(got)
	}
	if again := explain.FillTime(at, noon.Add(time.Hour)); !again[0].At.Equal(noon) {
		t.Error("a time that a call has is kept")
	}
	if got := text(t, explain.DescribeRefusal(p, errors.New("two \x1bnames")), false); got != "refused before the rules: two \\u{1b}names\n" {
		t.Errorf("%q", got)
	}
}

// The verdict is the policy's, whatever the rules and the calls are.
func TestVerdictIsThePolicys(t *testing.T) {
	p := load(t)
	for _, name := range []string{"read", "write", "other"} {
		for _, path := range []string{"/srv/x", "/a", "../x", "/srv/%2e%2e/a", "a\u0000", ""} {
			for _, server := range []string{"", "files"} {
				value, _ := json.Marshal(path)
				call := tool(name, server, fmt.Sprintf(`{"path":%s,"limit":3}`, value))
				want := p.Decide(&call)
				e := explain.DescribeCalls(p, []policy.Call{call})
				got := text(t, e, false)
				if !strings.Contains(got, "\n"+want.Action.String()) || want.Rule != nil && !strings.Contains(got, fmt.Sprintf("by p.toml:%d", want.Rule.Pos.Line)) {
					t.Errorf("%+v by %+v:\n%s", want, want.Rule, got)
				}
				if d := e.Document(); d.Decision != want.Action.String() || (d.Rule == nil) != (want.Rule == nil) || len(d.Calls[0].Steps) != len(p.Rules()) {
					t.Errorf("%+v", d)
				}
			}
		}
	}
}

func TestDocument(t *testing.T) {
	p := load(t)
	call := tool("read", "web", `{"path":"/srv/%41","limit":50}`)
	call.At = time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	src, err := json.Marshal(explain.DescribeCalls(p, []policy.Call{call, {Subject: policy.ResourceSubject, Method: "resources/read", Names: []string{"file:///srv/a"}}}).Document())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"decision":"deny"`, `"args":{"path":"/srv/%41","limit":50}`, `"at":"2026-01-31T12:00:00Z"`,
		`{"argument":"args.path","readings":[{"text":"/srv/%41"},{"text":"/srv/A","how":["percent-decoded"]}`,
		`"condition":"server","want":["files"],"got":"web"`, `"condition":"where.limit","want":["max = 10"],"reading":{"text":"50"}`,
		`"condition":"subject"`, `{"argument":"uri"`, `"out_of_band":true`, `"took":{"text":"file:///srv/a"}`,
	} {
		if !strings.Contains(string(src), want) {
			t.Errorf("no %s in\n%s", want, src)
		}
	}
	src, err = json.Marshal(explain.DescribeRefusal(p, errors.New("x")).Document())
	if err != nil || !strings.Contains(string(src), `"decision":"deny","refused":"x","calls":[]`) {
		t.Errorf("%s, %v", src, err)
	}
}

// A policy above tightens, is told of, and is named when its rule decides.
func TestLayers(t *testing.T) {
	above, err := policy.Parse("org.toml", []byte("[[rule]]\naction = \"deny\"\ntool = \"read\"\nargs.path = \"/srv/secret/**\"\n"), policy.Options{Layer: "organisation"})
	if err != nil {
		t.Fatal(err)
	}
	p, err := policy.Parse("p.toml", []byte(rules), policy.Options{Home: "/home/user", Above: []*policy.Policy{above}})
	if err != nil {
		t.Fatal(err)
	}
	e := explain.DescribeCalls(p, []policy.Call{tool("read", "files", `{"path":"/srv/secret/x"}`)})
	got := text(t, e, false)
	for _, want := range []string{"yes    p.toml:8   allow", "layer organisation, which can only tighten\nyes    org.toml:1  deny", "deny, by org.toml:1\n  which is above the policy"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if d := e.Document(); d.Rule.File != "org.toml" || len(d.Calls[0].Layers) != 1 || d.Calls[0].Layers[0].Steps[0].Match != "yes" {
		t.Errorf("%+v", d)
	}
	e = explain.DescribeCalls(p, []policy.Call{tool("read", "files", `{"path":"/srv/x"}`)})
	if got = text(t, e, false); !strings.Contains(got, "no     org.toml:1  deny") || !strings.Contains(got, "allow, by p.toml:8") {
		t.Error(got)
	}
}

// Every fixture of every starter policy is explained as it is judged, and the
// rule that decides is among those that the walk met.
func TestStarterPolicies(t *testing.T) {
	slow.Test(t)
	policies, err := filepath.Glob("../../../fixtures/*/policy.toml")
	if err != nil || len(policies) < 8 {
		t.Fatalf("%d policies, %v", len(policies), err)
	}
	explained := 0
	for _, path := range policies {
		src, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		p, err := policy.Parse("p.toml", src, policy.Options{Home: "/home/user"})
		if err != nil {
			t.Fatal(err)
		}
		fixtures, err := check.FindFixtures(filepath.Dir(path))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range fixtures {
			fx, err := check.ReadFixture(name)
			if err != nil {
				t.Fatal(err)
			}
			calls, err := fx.ReadCalls("")
			if err != nil || fx.JudgedMessage() != policy.OnCall { // explain is about calls
				continue
			}
			fx.ScreenCalls(p, calls)
			e, want := explain.DescribeCalls(p, calls), check.JudgeFixture(p, fx, "")
			if e.Decision.Action != want.Action || e.Decision.Rule != want.Rule {
				t.Errorf("%s: explained as %v by %+v, judged %v by %+v", name, e.Decision.Action, e.Decision.Rule, want.Action, want.Rule)
			}
			met := want.Rule == nil
			for i := range e.Calls {
				met = met || slices.Contains(e.Calls[i].ReachedRules(), want.Rule.Index)
			}
			if !met {
				t.Errorf("%s: rule %d decided, and no walk met it", name, want.Rule.Index)
			}
			text(t, e, true)
			explained++
		}
	}
	if explained < 100 {
		t.Errorf("only %d fixtures", explained)
	}
}
