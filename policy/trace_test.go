package policy

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/clawai/clawai/internal/testing/slow"
	"github.com/clawai/clawai/policy/internal/effort"
	"github.com/clawai/clawai/policy/where"
)

// sameAnswer says whether two decisions are one: action, rule, reading, reason.
func sameAnswer(a, b Decision) bool {
	return a.Action == b.Action && a.Rule == b.Rule && a.Reading == b.Reading && a.Reason == b.Reason
}

// checkTrace holds a trace to the decision, and its steps to one another.
func checkTrace(t rapid.TB, p *Policy, c *Call) Trace {
	t.Helper()
	want := p.Decide(c)
	got, walked := p.traceWithDecision(c, traceEffort)
	if want.Reason != effort.TooMuch && !got.Cut && !sameAnswer(walked, want) {
		t.Fatalf("%s%s: the trace comes to %+v by %+v, Decide to %+v by %+v", c.Names, c.Args, walked, walked.Rule, want, want.Rule)
	}
	got = p.Trace(c)
	if !sameAnswer(got.Decision, want) {
		t.Fatalf("%+v, Decide says %+v", got.Decision, want)
	}
	if len(got.Steps) != len(p.sources) {
		t.Fatalf("%d steps for %d rules", len(got.Steps), len(p.sources))
	}
	if want.Rule != nil && !got.Cut && !slices.Contains(got.ReachedRules(), want.Rule.Index) {
		t.Fatalf("rule %d decided and is not among those reached, %v", want.Rule.Index, got.ReachedRules())
	}
	for _, s := range got.Steps {
		if asked := s.At.Kind != SubjectKind && s.At.Kind != NameGlob; s.Match == where.No && s.Reached && asked && s.At.Kind == Unasked {
			t.Fatalf("rule %d does not match and nothing says why", s.Rule)
		}
		if s.Match == where.Yes && s.At.Kind != Unasked || s.Match == where.Maybe && s.At.Kind == Unasked {
			t.Fatalf("rule %d: %v at %+v", s.Rule, s.Match, s.At)
		}
	}
	return got
}

func TestLawTraceDecidesAsDecide(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := compileRules(t, drawTyped(hostilePatterns).Draw(t, "policy"))
		c := drawCall(t, drawHostile())
		call := toolCall(c.name, argsJSON(c.args))
		call.Server = rapid.SampledFrom([]string{"s", "tt", ""}).Draw(t, "server name")
		checkTrace(t, p, call)
	})
}

// The policies and calls of TestAnswers: every subject, lists, objects, names
// that differ in case.
func TestTraceOfGeneratedPolicies(t *testing.T) {
	for seed := range 600 {
		g := gen{rand.New(rand.NewPCG(uint64(seed), 2))}
		p, err := Parse("p.toml", []byte(g.policy()), Options{Home: home})
		if err != nil {
			t.Fatal(err)
		}
		for range 6 {
			checkTrace(t, p, g.call())
		}
	}
}

// A rule that was reached is one without which the walk could end elsewhere: a
// deny of everything put in the place of any other changes nothing.
func TestLawReachedIsWhatTheWalkMeets(t *testing.T) {
	slow.Test(t)
	rapid.Check(t, func(t *rapid.T) {
		rules := drawTyped(hostilePatterns).Draw(t, "policy")
		p := compileRules(t, rules)
		c := drawCall(t, drawHostile())
		call := toolCall(c.name, argsJSON(c.args))
		call.Server = c.server
		d := p.Decide(call)
		reached := p.Trace(call)
		for i := range rules {
			if slices.Contains(reached.ReachedRules(), i) {
				continue
			}
			fewer := slices.Delete(slices.Clone(rules), i, i+1)
			for j := range fewer {
				fewer[j].Index = j
			}
			if after := compileRules(t, fewer).Decide(call); after.Action != d.Action {
				t.Fatalf("rule %d was not reached, without it %v becomes %v", i, d.Action, after.Action)
			}
		}
	})
}

const traced = `
[[rule]]
action = "deny"
resource = "file:///etc/**"

[[rule]]
action = "deny"
tool = "shell_*"

[[rule]]
action = "allow"
tool = "read_*"
server = "other"

[[rule]]
action = "deny"
tool = "*"
args.path = ["**/.ssh/**", "/etc/**"]

[[rule]]
action = "allow"
tool = "read_*"
args.path = "~/projects/**"
args.mode = "text"

[[rule]]
action = "deny"
tool = "**"
`

// shown is a step in one line.
func (s Step) shown() string {
	words := []string{s.Match.String()}
	if s.Match != where.No && !s.Reached {
		words = append(words, "unreached")
	}
	if s.Took != nil && s.Took.How != nil {
		words = append(words, fmt.Sprintf("took %q %q", s.Took.Text, s.Took.How))
	}
	switch at := s.At; at.Kind {
	case SubjectKind:
		words = append(words, "about a "+at.Want[0]+", not a "+at.Got)
	case NameGlob:
		words = append(words, fmt.Sprintf("name %q is not %q", at.Got, at.Want))
	case CallCondition:
		if k, _ := CallKeyOf(at.Key); !k.Glob {
			words = append(words, at.Key+" "+at.Want[0]+" at "+at.Got)
			break
		}
		words = append(words, fmt.Sprintf("%s %q is not %q", at.Key, at.Got, at.Want))
	case ArgumentGlob:
		words = append(words, fmt.Sprintf("%s %q", argName(at.Path), at.Want))
	case Constraint:
		words = append(words, whereName(at.Path)+" "+at.Want[0])
	}
	if r := s.At.Reading; r != nil {
		words = append(words, fmt.Sprintf("read as %q %q", r.Text, r.How))
		if r.Refused != "" {
			words = append(words, r.Refused)
		}
	}
	return strings.Join(words, ", ")
}

func TestTraceSaysWhere(t *testing.T) {
	p := load(t, traced, Options{Home: "/home/u"})
	for _, c := range []struct {
		name, server, tool, args string
		want                     []string
	}{
		{"allowed", "fs", "read_file", `{"path":"/home/u/projects/a","mode":"text"}`, []string{
			"no, about a resource, not a tool",
			`no, name "read_file" is not ["shell_*"]`,
			`no, server "fs" is not ["other"]`,
			`no, args.path ["**/.ssh/**" "/etc/**"], read as "/home/u/projects/a" []`,
			`yes`,
			`yes, unreached`,
		}},
		{"a missing argument", "fs", "read_file", `{"path":"~/projects/a"}`, []string{
			"no, about a resource, not a tool",
			`no, name "read_file" is not ["shell_*"]`,
			`no, server "fs" is not ["other"]`,
			`no, args.path ["**/.ssh/**" "/etc/**"], read as "~/projects/a" []`,
			`no, args.mode ["text"]`,
			`yes`,
		}},
		{"a key behind an escape", "fs", "read_file", `{"path":"~/projects/%2e%2e/.ssh/id","mode":"text"}`, []string{
			"no, about a resource, not a tool",
			`no, name "read_file" is not ["shell_*"]`,
			`no, server "fs" is not ["other"]`,
			`yes`,
			`yes`,
			`yes, unreached`,
		}},
		{"an unknown server and base", "", "read_file", `{"path":"../x"}`, []string{
			"no, about a resource, not a tool",
			`no, name "read_file" is not ["shell_*"]`,
			`maybe, server "" is not ["other"]`,
			`maybe, args.path ["**/.ssh/**" "/etc/**"], read as "../x" []`,
			`no, args.mode ["text"]`,
			`yes`,
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			call := toolCall(c.tool, c.args)
			call.Server = c.server
			tr := checkTrace(t, p, call)
			for i, s := range tr.Steps {
				if got := s.shown(); !strings.HasPrefix(got, c.want[i]) {
					t.Errorf("rule %d: %s\nwant    %s", i, got, c.want[i])
				}
			}
		})
	}
}

func TestTraceOfOtherSubjects(t *testing.T) {
	p := load(t, `
[[rule]]
action = "allow"
sampling = "**hello**"
[[rule]]
action = "deny"
method = "tasks/*"
[[rule]]
action = "prompt"
resource = "file:///srv/**"
server = "s"
`, Options{Home: "/home/u"})
	for _, c := range []struct {
		call    Call
		reached string
		step    int
		want    string
	}{
		{Call{Subject: SamplingSubject, Names: []string{"say hello", "or not"}}, "[0]", 0, "yes"},
		{Call{Subject: SamplingSubject, Names: []string{"or not", "or never"}}, "[]", 0, `no, name "or never" is not ["**hello**"]`},
		{Call{Subject: MethodSubject, Names: []string{"tasks/get"}}, "[1]", 1, "yes"},
		{Call{Subject: MethodSubject, Names: []string{"vendor/x"}}, "[]", 1, `no, name "vendor/x" is not ["tasks/*"]`},
		{Call{Subject: ResourceSubject, Names: []string{"file:///srv/a"}}, "[2]", 2, `maybe, server "" is not ["s"]`},
		{Call{Subject: ResourceSubject, Names: []string{"file:///etc/%61"}, Server: "s"}, "[]", 2, `no, name "file:///etc/%61" is not ["file:///srv/**"], read as "file:///etc/%61" []`},
		{Call{Subject: ResourceSubject, Names: []string{"https://u@h.example/"}, Server: "s"}, "[2]", 2, `yes, took "https://u@h.example/`},
		{Call{Subject: ToolSubject, Names: []string{"x"}, Malformed: "bad"}, "[]", 0, "no"},
		{Call{Subject: ResourceSubject}, "[]", 2, "no"},
	} {
		tr := checkTrace(t, p, &c.call)
		if got := fmt.Sprint(tr.ReachedRules()); got != c.reached {
			t.Errorf("%s: reached %s, want %s", c.call.Names, got, c.reached)
		}
		if got := tr.Steps[c.step].shown(); !strings.HasPrefix(got, strings.TrimSuffix(c.want, `, took "https://u@h.example/`)) {
			t.Errorf("%s: %s\nwant %s", c.call.Names, got, c.want)
		}
	}
	if s := (where.Match(9)).String(); s != "yes" {
		t.Error(s)
	}
}

// What made a reading is told in words.
func TestTraceNamesReadings(t *testing.T) {
	p := load(t, `
[[rule]]
action = "deny"
tool = "*"
args.path = ["~/x/**", "/P/%41\\**", "file:///srv/**", "https://Docs.Example./**", "/é/ª"]
[[rule]]
action = "deny"
tool = "*"
args.o.n = "7"
`, Options{Home: "/home/u"})
	for _, c := range []struct{ args, path, text, how string }{
		{`{"path":"~/a"}`, "path", "/home/u/a", `["~ as home"]`},
		{`{"path":"file:///A"}`, "path", "/A", `["file: URI as path"]`},
		{`{"path":"file:///A"}`, "path", "/a", `["file: URI as path" "case folded"]`},
		{`{"path":"HTTPS://Docs.example:443/x"}`, "path", "https://docs.example/x", `["host in its plain form"]`},
		{`{"path":"/a/%252e%252e/b"}`, "path", "/b", `["percent-decoded" "cleaned"]`},
		{`{"path":"/a\\b"}`, "path", "/a/b", `["backslashes as slashes"]`},
		{`{"path":"C:\\a. \\b"}`, "path", "C:/a/b", `["backslashes as slashes" "as Windows trims names"]`},
		{`{"path":"/e\u0301"}`, "path", "/é", `["accents composed"]`},
		{`{"path":"/\ufb01"}`, "path", "/fi", `["compatibility forms replaced"]`},
		{`{"path":"/a/b\n"}`, "path", "/a/b", `["blanks around it dropped"]`},
		{`{"o":{"n":1e2}}`, "o.n", "100", `["number in plain digits"]`},
		{`{"o":{"n":1e2}}`, "o.n", "1e2", `[]`},
	} {
		tr := checkTrace(t, p, toolCall("read", c.args))
		var seen []string
		for _, v := range tr.Values {
			for _, r := range v.Readings {
				seen = append(seen, fmt.Sprintf("%s: %q %q", strings.Join(v.Path, "."), r.Text, r.How))
			}
		}
		if want := fmt.Sprintf("%s: %q %s", c.path, c.text, c.how); !slices.Contains(seen, want) {
			t.Errorf("%s: no %s among\n%s", c.args, want, strings.Join(seen, "\n"))
		}
	}
	tr := checkTrace(t, p, toolCall("read", `{"path":["/a\u0000",{}]}`))
	if v := tr.Values; len(v) != 2 || v[0].Readings[1].Refused == "" && v[0].Readings[0].Refused == "" || !v[1].Readings[0].Absent {
		t.Errorf("%+v", v)
	}
}

// A trace ends when it has cost too much. What it shows until then holds.
func TestTraceIsCut(t *testing.T) {
	p := mustCompile(t, 200, func(i int) ruleSource { return toolRule(Allow, "read", arg("path", fmt.Sprintf("/a/%d", i))) })
	c := toolCall("read", `{"path":["/a/1","/a/2","/a/b"]}`)
	tr, walked := p.traceWithDecision(c, 10_000)
	if !tr.Cut || walked.Action != Deny || walked.Reason != effort.TooMuch || tr.Steps[1].Match != where.Yes {
		t.Errorf("%v, %+v, %v", tr.Cut, walked, tr.ReachedRules())
	}
	if tr := checkTrace(t, p, c); tr.Cut || len(tr.ReachedRules()) != 2 {
		t.Errorf("%v, %v", tr.Cut, tr.ReachedRules())
	}
}

// A list of thousands of values shows the first of them.
func TestTraceShowsSoMuch(t *testing.T) {
	p := mustCompile(t, 1, func(int) ruleSource { return toolRule(Allow, "read", arg("path", "/a/**")) })
	tr := checkTrace(t, p, toolCall("read", `{"path":[`+strings.TrimSuffix(strings.Repeat(`"/a/b",`, 5000), ",")+`]}`))
	if len(tr.Values) > maxTraced || tr.Decision.Action != Allow {
		t.Errorf("%d values, %v", len(tr.Values), tr.Decision.Action)
	}
}

func TestTraceOfConstraintsAndTimes(t *testing.T) {
	p := load(t, `
[[rule]]
action = "allow"
tool = "query"
args.db = "main"
where.limit = { max = 100 }
[[rule]]
action = "deny"
tool = "query"
when = { from = "22:00", to = "06:00", zone = "UTC" }
[[rule]]
action = "prompt"
tool = "query"
where.path = { under = ["/srv"] }
`, Options{Home: "/home/u"})
	at := func(hour int) time.Time { return time.Date(2026, 1, 31, hour, 30, 0, 0, time.UTC) }
	for _, c := range []struct {
		at   time.Time
		args string
		want []string
	}{
		{at(12), `{"db":"main","limit":50}`, []string{"yes", "no", "no"}},
		{at(12), `{"db":"main","limit":500}`, []string{"no, where.limit max = 100, read as \"500\"", `no, when { from = "22:00"`, "no, where.path under = "}},
		{at(23), `{"db":"main","limit":500,"path":"/srv/a"}`, []string{"no, where.limit", "yes", "maybe, unreached, where.path"}},
		{time.Time{}, `{"db":"x","path":"/srv/a"}`, []string{`no, args.db ["main"], read as "x"`, `maybe, when { from = "22:00"`, "maybe, where.path under = "}},
	} {
		call := toolCall("query", c.args)
		call.At = c.at
		tr := checkTrace(t, p, call)
		for i, s := range tr.Steps {
			if got := s.shown(); !strings.HasPrefix(got, c.want[i]) {
				t.Errorf("%v %s: rule %d: %s\nwant %s", c.at, c.args, i, got, c.want[i])
			}
		}
	}
}
