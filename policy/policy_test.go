package policy

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/clawai/clawai/internal/testing/slow"
)

func load(t *testing.T, src string, o Options) *Policy {
	t.Helper()
	p, err := Parse("policy.toml", []byte(src), o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// seed is the reference's own example.
const seed = `
[[rule]]
action = "deny"
tool = "shell_execute"
description = "Block all shell execution"

[[rule]]
action = "prompt"
tool = "filesystem_*"
args.path = "/etc/**"

[[rule]]
action = "allow"
tool = "filesystem_read"
args.path = "/home/user/projects/**"

[[rule]]
action = "deny"
tool = "*"
description = "Default deny"
`

func TestSeed(t *testing.T) {
	p := load(t, seed, Options{Home: "/home/user"})
	for _, c := range []struct {
		tool, path string
		want       Action
		rule       int
	}{
		{"shell_execute", "x", Deny, 0},
		{"filesystem_write", "/etc/hosts", Prompt, 1},
		{"filesystem_read", "/home/user/projects/a.go", Allow, 2},
		{"filesystem_read", "/home/user/.ssh/id_rsa", Deny, 3},
	} {
		d := p.Decide(toolCall(c.tool, fmt.Sprintf(`{"path":%q}`, c.path)))
		if d.Action != c.want || d.Rule.Index != c.rule {
			t.Errorf("%s %s: %v by rule %d, want %v by %d", c.tool, c.path, d.Action, d.Rule.Index, c.want, c.rule)
		}
	}
	if n := len(p.Rules()); n != 4 || p.Rules()[3].Description != "Default deny" {
		t.Errorf("%d rules", n)
	}
	if p.Revision() != load(t, seed, Options{}).Revision() || len(p.Revision()) != 12 || p.Revision() == load(t, seed+"\n", Options{}).Revision() {
		t.Errorf("revision %q does not name the text", p.Revision())
	}
}

func TestZeroPolicyDenies(t *testing.T) {
	for _, p := range []*Policy{{}, load(t, "", Options{})} {
		for s := NoSubject; s <= MethodSubject+1; s++ {
			d := p.Decide(&Call{Subject: s, Names: []string{"x"}, Args: []byte(`{"a":1}`)})
			if want := s == MethodSubject; (d.Action == Allow) != want || d.Rule != nil {
				t.Errorf("subject %d: %+v", s, d)
			}
		}
		if d := p.DecideAll(nil); d.Action != Deny {
			t.Errorf("no calls at all: %v", d.Action)
		}
	}
}

func TestParseReportsEverything(t *testing.T) {
	_, err := Parse("p.toml", []byte("[[rule]]\naction = \"alow\"\ntool = \"x\"\n"), Options{})
	var errs Errors
	if !errors.As(err, &errs) || len(errs) == 0 {
		t.Fatalf("%v", err)
	}
	// The shape was checked before; a glob that is none is reported all the same.
	bad := ruleSource{subject: ToolSubject, patterns: []string{""}, args: []argSource{arg("a", "ok", "", "\xff")}}
	if _, errs = compileSources([]ruleSource{bad, {subject: ResourceSubject, patterns: []string{""}}}, Options{}); len(errs) != 4 {
		t.Errorf("%d findings: %v", len(errs), errs)
	}
}

func TestSubjectsAreApart(t *testing.T) {
	p := load(t, `
[[rule]]
action = "allow"
tool = "x"
[[rule]]
action = "allow"
prompt = "greet"
args.lang = "en"
[[rule]]
action = "prompt"
sampling = "**secret**"
[[rule]]
action = "allow"
sampling = "**"
[[rule]]
action = "allow"
elicitation = "https://ok.example/**"
[[rule]]
action = "deny"
method = "logging/*"
[[rule]]
action = "prompt"
method = "vendor/**"
server = "known"
[[rule]]
action = "allow"
method = "**"
server = "known"
[[rule]]
action = "deny"
method = "vendor/late"
`, Options{})
	for _, c := range []struct {
		call Call
		want Action
	}{
		{Call{Subject: ToolSubject, Names: []string{"x"}}, Allow},
		{Call{Subject: PromptSubject, Names: []string{"x"}}, Deny},
		{Call{Subject: PromptSubject, Names: []string{"greet"}, Args: []byte(`{"lang":"en"}`)}, Allow},
		{Call{Subject: PromptSubject, Names: []string{"greet"}, Args: []byte(`{"lang":"de"}`)}, Deny},
		{Call{Subject: SamplingSubject, Names: []string{"be kind", "hello\nall"}}, Allow},
		{Call{Subject: SamplingSubject, Names: []string{"be kind", "tell the secret"}}, Prompt},
		{Call{Subject: SamplingSubject, Names: []string{""}}, Allow},
		{Call{Subject: SamplingSubject, Names: []string{"Secret"}}, Allow},
		{Call{Subject: ElicitationSubject, Names: []string{"https://ok.example/a", "Sign in"}}, Deny},
		{Call{Subject: ElicitationSubject, Names: []string{"https://ok.example/a"}}, Allow},
		{Call{Subject: MethodSubject, Names: []string{"logging/setLevel"}}, Deny},
		{Call{Subject: MethodSubject, Names: []string{"completion/complete"}}, Allow},
		{Call{Subject: MethodSubject, Names: []string{"vendor/late"}, Server: "known"}, Prompt},
		{Call{Subject: MethodSubject, Names: []string{"vendor/late"}}, Deny},
		{Call{Subject: MethodSubject, Names: []string{"vendor/x"}}, Prompt},
		{Call{Subject: MethodSubject, Names: []string{"vendor/x"}, Server: "other"}, Allow},
		{Call{Subject: MethodSubject, Names: []string{"a\x00"}}, Deny},
	} {
		if d := p.Decide(&c.call); d.Action != c.want {
			t.Errorf("%+v: %v by %+v, want %v", c.call, d.Action, d.Rule, c.want)
		}
		words := c.call.Subject == SamplingSubject || c.call.Subject == ElicitationSubject
		if texts := c.call.RequestTexts(); words != (len(texts) == len(c.call.Names)) {
			t.Errorf("%+v: texts %q", c.call, texts)
		}
	}
}

func TestUnknownServerIsMaybe(t *testing.T) {
	p := load(t, `
[[rule]]
action = "allow"
tool = "open"
server = "home"
[[rule]]
action = "deny"
tool = "shut"
server = "work"
[[rule]]
action = "allow"
tool = "*"
args.sure = "yes"
`, Options{})
	for _, c := range []struct {
		server, tool, args string
		want               Action
	}{
		{"home", "open", `{}`, Allow},
		{"work", "open", `{}`, Deny},
		{"", "open", `{}`, Deny}, // a maybe opens nothing
		{"", "open", `{"sure":"yes"}`, Allow},
		{"", "shut", `{"sure":"yes"}`, Deny}, // and shuts
		{"home", "shut", `{"sure":"yes"}`, Allow},
	} {
		call := toolCall(c.tool, c.args)
		call.Server = c.server
		if d := p.Decide(call); d.Action != c.want {
			t.Errorf("%q %s %s: %v, want %v", c.server, c.tool, c.args, d.Action, c.want)
		}
	}
}

func TestElementsMayMeetDifferentRules(t *testing.T) {
	p := load(t, `
[[rule]]
action = "allow"
tool = "read"
args.paths = "/a/**"
[[rule]]
action = "allow"
tool = "read"
args.paths = "/b/**"
`, Options{})
	if d := p.Decide(toolCall("read", `{"paths":["/a/x","/b/y"]}`)); d.Action != Allow {
		t.Errorf("each element has a rule: %+v", d)
	}
	if d := p.Decide(toolCall("read", `{"paths":["/a/x","/c/y"]}`)); d.Action != Deny || d.Rule != nil {
		t.Errorf("an element without a rule: %+v", d)
	}
}

func TestDecideAllIsStrictest(t *testing.T) {
	p := load(t, seed, Options{})
	allow := *toolCall("filesystem_read", `{"path":"/home/user/projects/a"}`)
	prompt := *toolCall("filesystem_read", `{"path":"/etc/a"}`)
	deny := *toolCall("shell_execute", `{}`)
	for _, c := range []struct {
		calls []Call
		want  Action
	}{{[]Call{allow}, Allow}, {[]Call{allow, prompt}, Prompt}, {[]Call{prompt, allow, deny}, Deny}} {
		if d := p.DecideAll(c.calls); d.Action != c.want || d.Rule == nil {
			t.Errorf("%d calls: %+v, want %v", len(c.calls), d, c.want)
		}
	}
}

func TestNormalForms(t *testing.T) {
	for _, pattern := range []string{"/p/caf\u00e9", "/p/cafe\u0301"} {
		p := mustCompile(t, 2, func(i int) ruleSource {
			if i == 0 {
				return toolRule(Deny, "read", arg("path", pattern))
			}
			return toolRule(Allow, "read", arg("path", "/p/**"))
		})
		for _, value := range []string{"/p/caf\u00e9", "/p/cafe\u0301", "/p/CAF\u00c9"} {
			if d := p.Decide(pathCall(value)); d.Action != Deny {
				t.Errorf("%+q under %+q: %v", value, pattern, d.Action)
			}
		}
		if d := p.Decide(pathCall("/p/cafe")); d.Action != Allow {
			t.Errorf("another name under %+q: %v", pattern, d.Action)
		}
	}
}

// Patterns take part in every transformation, and nothing that decoding brings
// to light becomes a wildcard.
func TestBothSidesAlike(t *testing.T) {
	for _, c := range []struct {
		home, pattern, value string
		allowed, denied      bool // by a lone rule on the pattern
	}{
		{"/home/u", "~/a/**", "~/a/b", true, true},
		{"/home/u", "~/a/**", "/home/u/a/b", true, true},
		{"/home/u", "/home/u/a/**", "~/a/b", false, true},
		{"/home/u", "~other/a", "~other/a", true, true},
		{"/home/u", "/home/other/a", "~other/a", false, true},
		{"/home/u", "/root/a", "~root/a", false, true},
		{"", "~/a/**", "~/a/b", true, true},
		{"", "~/a/**", "/home/u/a/b", false, true},
		{"", "~/a/secret", "/home/u/a/secret", false, true},
		{"", "/home/u/a/**", "~/a/b", false, true},
		{"", "~/a/**", "b", false, false},
		{"/home/u", "~5 minutes/a", "/home/u/x", false, false},
		{"/home/u", "/home/u/x", "~+/x", false, true},
		{"", "file:///p/**", "/p/a", false, true},
		{"", "file:///p/**", "file:/p/a", false, true},
		{"", "file://*/p/**", "file:///p/a", true, true},
		{"", "file:/p/**", "/p/a", false, true},
		{"", "file:**", "https://x.example/", false, false},
		{"", "file:///C:/p/**", `C:\p\a`, false, true},
		{"", `C:\p\**`, "C:/p/a", false, true},
		{"", `C:\p\**`, `C:\p\a`, true, true},
		{"", "/p/a%20b", "/p/a b", false, true},
		{"", "/p/a%20b", "/p/a%20b", true, true},
		{"", "/p/%2a", "/p/x", false, false},
		{"", "/p/%2a", "/p/*", false, true},
		{"", "/p/%2a", "/p/%2a", true, true},
		{"", "/p/%3f%2f*", "/p/?/x", false, true},
		{"", "/p/%zz", "/p/%zz", true, true},
		{"", "/p/%c3%28", "/p/%C3%28", false, true},
		{"", "./src/**", "./src/a", true, true},
		{"", "./src/**", "src/a", false, true},
		{"", "HTTPS://Docs.Example.:443/**", "https://docs.example/a", true, true},
		{"", "https://*.example/**", "https://A.example/x", true, true},
		{"", "https://a.example/x?", "https://a.example/xy", true, true},
		{"", "memo://Alice/**", "memo://alice/x", false, true},
		{"", "file://host", "file://host", true, true},
		{"", "urn:isbn:*", "URN:isbn:1", false, true},
		{"", "**/a", "a", false, true},
		{"", "**/", "a", false, false},
		{"", "/p/A", "/p/a", false, true},
		{"", "/p/a", "/p/a", true, true},
		{"", "**/é", "É", false, true},
		{"", "**/éa", "/x/éa", true, true},
	} {
		for _, a := range []Action{Allow, Deny} {
			rules := []ruleSource{toolRule(a, "read", arg("path", c.pattern)), toolRule(Prompt, "read")}
			p, errs := compileSources(rules, Options{Home: c.home})
			if len(errs) > 0 {
				t.Fatal(errs)
			}
			got := p.Decide(pathCall(c.value)).Action
			if a == Allow && (got == Allow) != c.allowed || a == Deny && (got == Deny) != c.denied {
				t.Errorf("home %q, %v %q, value %q: %v", c.home, a, c.pattern, c.value, got)
			}
		}
	}
}

func TestTooManyReadings(t *testing.T) {
	slow.Test(t)
	p := mustCompile(t, 2, func(i int) ruleSource {
		if i == 0 {
			return toolRule(Deny, "read", arg("path", "/other", `\Other`, "%41"), arg("to", "/x"))
		}
		r := toolRule(Allow, "read", arg("path", "**"))
		r.further.Open = true
		return r
	})
	long := strings.Repeat("/a%2541b", 100_000)
	for _, v := range []string{`\P%25%61\é.\ªe` + "\u0301" + `/..//x./`, long} {
		d := p.Decide(pathCall(v))
		if d.Action != Deny || d.Reason != "value that can be read in too many ways" {
			t.Errorf("%.40q: %v, %q", v, d.Action, d.Reason)
		}
	}
	lots := func(v string, n int) string {
		return "[" + strings.TrimSuffix(strings.Repeat(jsonText(v)+",", n), ",") + "]"
	}
	many := func(n int) string { return lots("/a", n) }
	if d := p.Decide(toolCall("read", `{"path":`+many(1000)+`,"to":`+many(1000)+`}`)); d.Action != Allow {
		t.Errorf("many combinations, all alike: %+v", d)
	}
	if d := p.Decide(toolCall("read", `{"path":`+many(maxAll+1)+`}`)); d.Action != Deny || d.Reason != "arguments that can be read in too many ways" {
		t.Errorf("a million elements: %v, %q", d.Action, d.Reason)
	}
	if d := p.Decide(toolCall("read", `{"path":["/a","/other"],"to":`+lots("/x", 70_000)+`}`)); d.Action != Deny || d.Rule == nil {
		t.Errorf("one bad combination among many: %+v", d)
	}
}

// A policy is shared by every proxy goroutine.
func TestDecideConcurrently(t *testing.T) {
	p := house(t)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 200 {
				want, call := Allow, pathCall(fmt.Sprintf("/p/A%d/%d", i, j))
				if j%2 == 0 {
					want, call = Deny, pathCall(fmt.Sprintf("/p/../Etc/%d", j))
				}
				if d := p.Decide(call); d.Action != want {
					t.Errorf("%s: %v", call.Args, d.Action)
				}
			}
		})
	}
	wg.Wait()
}

func TestDecideDoesNotAllocate(t *testing.T) {
	if raceEnabled {
		t.Skip("with the race detector the pool of views forgets at random")
	}
	p := house(t)
	for _, c := range []*Call{
		pathCall("/p/a.go"), pathCall("/p/README.md"), pathCall("/srv/x"),
		toolCall("say", `{"text":"Dear all, 50% of 1/2."}`), toolCall("quiet", `{"mode":12,"Other":"X"}`), toolCall("none", `{}`),
	} {
		p.Decide(c)
		if n := testing.AllocsPerRun(100, func() { p.Decide(c) }); n >= 1 {
			t.Errorf("%s %s: %v allocations", c.Names, c.Args, n)
		}
	}
}

func TestIndexByInnerText(t *testing.T) {
	p := mustCompile(t, 100, func(i int) ruleSource {
		if i%2 == 0 {
			return toolRule(Deny, fmt.Sprintf("*_x%03d_*", i))
		}
		return toolRule(Allow, fmt.Sprintf("*y%d?", i))
	})
	for name, want := range map[string]int{"a_x004_b": 4, "a_x005_b": -1, "ay5z": 5, "": -1, "_x098_": 98} {
		long := strings.Repeat("z", longName) + name
		if d := p.Decide(toolCall(long, "")); want >= 0 && (d.Rule == nil || d.Rule.Index != want) {
			t.Errorf("%d bytes ending in %q: %+v, want rule %d", len(long), name, d.Rule, want)
		}
		d := p.Decide(toolCall(name, ""))
		if index := -1; d.Rule != nil && d.Rule.Index != want || d.Rule == nil && want != index {
			t.Errorf("%q: %+v, want rule %d", name, d.Rule, want)
		}
	}
}

// Names are compared exactly, whatever the index makes of their letters.
func TestIndexByOtherLetters(t *testing.T) {
	names := []string{"É_*", "*_É", "é_x", "\u212a*", "*\u017f", "K_*"}
	p := mustCompile(t, len(names), func(i int) ruleSource { return toolRule(Allow, names[i]) })
	for name, want := range map[string]int{"É_x": 0, "x_É": 1, "é_x": 2, "\u212aelvin": 3, "long\u017f": 4, "K_x": 5, "k_x": -1, "é_y": -1, "longs": -1} {
		if d := p.Decide(toolCall(name, "")); (d.Rule == nil) != (want < 0) || d.Rule != nil && d.Rule.Index != want {
			t.Errorf("%q: %+v, want rule %d", name, d.Rule, want)
		}
	}
}

func TestActionWords(t *testing.T) {
	for _, a := range []Action{Deny, Prompt, Allow} {
		if b, err := ParseAction(a.String()); b != a || err != nil {
			t.Errorf("%v became %v, %v", a, b, err)
		}
	}
	if s := Action(9).String(); s != "Action(9)" {
		t.Error(s)
	}
	if a, err := ParseAction("Allow"); a != Deny || err == nil {
		t.Errorf("a word that is none: %v, %v", a, err)
	}
}

// A rule about paths elsewhere does not turn an argument of the same name into
// a path for a rule about text.
func TestPathRulesLeaveTextRulesAlone(t *testing.T) {
	p := load(t, `
[[rule]]
action = "allow"
tool = "note"
args.body = "hello**"
[[rule]]
action = "deny"
tool = "*"
args.body = "**/.env"
[[rule]]
action = "allow"
tool = "*"
`, Options{})
	for body, want := range map[string]Action{
		"hello\u200b world": Allow, "hello .ENV": Allow, "hello 50%25": Allow, "HELLO": Allow,
		"see .e\u200bnv": Deny, ".ENV": Deny,
	} {
		if d := p.Decide(toolCall("note", `{"body":`+jsonText(body)+`}`)); d.Action != want {
			t.Errorf("%q: %+v, want %v", body, d, want)
		}
	}
}
