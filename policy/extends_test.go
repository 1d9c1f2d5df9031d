package policy_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/clawai/clawai/policy"
)

var library = map[string]string{
	"profile:open":    one("allow", "a", `args.p = "/x/**"`) + one("deny", "*", ""),
	"profile:ask":     one("prompt", "*", ""),
	"profile:strict":  one("deny", "*", `args.p = "/x/secret"`),
	"profile:empty":   "",
	"profile:wrong":   "[[rule]]\n",
	"profile:further": "extends = [\"profile:open\"]\n",
	"team.toml":       one("allow", "b", ""),
}

func fetch(x policy.Extension) (string, []byte, error) {
	text, found := library[x.String()]
	if !found {
		return "", nil, fmt.Errorf("there is no %s", x)
	}
	return x.String(), []byte(text), nil
}

func extending(list, rules string) (*policy.Policy, error) {
	return policy.Parse("mine.toml", []byte("extends = "+list+"\n"+rules), policy.Options{Extend: fetch})
}

func TestExtends(t *testing.T) {
	const pin = `{ file = "team.toml", sha256 = "E3B0C44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" }`
	for _, c := range []struct {
		name, list, rules string
		tool, args        string
		want              policy.Action
		place             string
	}{
		{"below the file's own", `["profile:open"]`, one("deny", "a", ""), "a", `{"p":"/x/y"}`, policy.Deny, "mine.toml:2"},
		{"its rule", `["profile:open"]`, "", "a", `{"p":"/x/y"}`, policy.Allow, "profile:open:1"},
		{"its closing rule does not shut the next out", `["profile:open", "profile:ask"]`, "", "z", ``, policy.Prompt, "profile:ask:1"},
		{"in the order named", `["profile:strict", "profile:open"]`, "", "a", `{"p":"/x/secret"}`, policy.Deny, "profile:strict:1"},
		{"and the other way round", `["profile:open", "profile:strict"]`, "", "a", `{"p":"/x/secret"}`, policy.Allow, "profile:open:1"},
		{"no match denies", `["profile:open"]`, "", "z", ``, policy.Deny, ""},
		{"nothing in it", `["profile:empty"]`, "", "z", ``, policy.Deny, ""},
		{"no entries", `[]`, one("allow", "z", ""), "z", ``, policy.Allow, "mine.toml:2"},
		{"a pinned file", `[` + pin + `]`, "", "b", ``, policy.Allow, "team.toml:1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := extending(c.list, c.rules)
			if err != nil {
				t.Fatal(err)
			}
			d := p.Decide(&policy.Call{Subject: policy.ToolSubject, Names: []string{c.tool}, Args: []byte(c.args)})
			place := ""
			if d.Rule != nil {
				place = fmt.Sprintf("%s:%d", d.Rule.Pos.File, d.Rule.Pos.Line)
			}
			if d.Action != c.want || place != c.place {
				t.Errorf("%v by %q, want %v by %q", d.Action, place, c.want, c.place)
			}
			for i, r := range p.Rules() {
				if r.Index != i {
					t.Errorf("rule %d has the index %d", i, r.Index)
				}
			}
		})
	}
}

// No match of a layer is no answer: there what closes a text that it extends stays
// closed.
func TestALayerIsClosedByWhatItExtends(t *testing.T) {
	call := policy.Call{Subject: policy.ToolSubject, Names: []string{"z"}}
	for list, want := range map[string]policy.Action{
		`["profile:open"]`:                  policy.Deny,
		`["profile:open", "profile:empty"]`: policy.Deny,
		`["profile:open", "profile:ask"]`:   policy.Prompt,
		`["profile:strict"]`:                policy.Allow,
	} {
		layer, err := policy.Parse("org.toml", []byte("extends = "+list+"\n"), policy.Options{Extend: fetch, Layer: "organisation"})
		if err != nil {
			t.Fatal(err)
		}
		p, err := policy.Parse("mine.toml", []byte(one("allow", "*", "")), policy.Options{Above: []*policy.Policy{layer}})
		if err != nil {
			t.Fatal(err)
		}
		if d := p.Decide(&call); d.Action != want {
			t.Errorf("below %s: %v, want %v", list, d.Action, want)
		}
		for i, r := range layer.Rules() {
			if r.Index != i {
				t.Errorf("%s: rule %d has the index %d", list, i, r.Index)
			}
		}
	}
}

func TestExtendsIsRefused(t *testing.T) {
	for _, c := range []struct{ list, want string }{
		{`"profile:open"`, "mine.toml:1:1: extends must be a list, not a string"},
		{`[1]`, "mine.toml:1:12: an entry of extends is a profile, or a file with its hash"},
		{`["team.toml"]`, `mine.toml:1:12: "team.toml" is not a profile`},
		{`["profile:"]`, "is not a profile"},
		{`[{ file = "team.toml" }]`, "an entry of extends is"},
		{`[{ file = "team.toml", sha256 = "abc" }]`, "an entry of extends is"},
		{`[{ file = "team.toml", sha256 = "` + strings.Repeat("g", 64) + `" }]`, "an entry of extends is"},
		{`[{ file = "team.toml", sha256 = "` + strings.Repeat("0", 64) + `", url = "x" }]`, "an entry of extends is"},
		{`[{ file.x = "team.toml", sha256 = "` + strings.Repeat("0", 64) + `" }]`, "an entry of extends is"},
		{`["profile:none"]`, "mine.toml:1:12: there is no profile:none"},
		{`["profile:wrong"]`, "profile:wrong:1:1: rule without an action"},
		{`["profile:further"]`, "only one step is followed"},
		{"[]\nextends = []", "mine.toml:2:1: extends is given twice"},
		{"[]\nextends.x = []", "extends must be a list, not a table"},
		{"[]\n[extends]", "[extends] must be [[extends]]"},
	} {
		_, err := extending(c.list, one("allow", "z", ""))
		if errs := (policy.Errors)(nil); !errors.As(err, &errs) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.list, err, c.want)
		}
	}
	if _, err := policy.Parse("p", []byte("extends = [\"profile:open\"]\n"), policy.Options{}); err == nil || !strings.Contains(err.Error(), "cannot be followed here") {
		t.Error(err)
	}
}

// The text that is extended is part of what a policy is, and nothing of it is
// rewritten by an answer.
func TestWhatIsExtendedIsNotTheFilesOwn(t *testing.T) {
	p, err := extending(`["profile:ask"]`, one("allow", "a", ""))
	if err != nil {
		t.Fatal(err)
	}
	bare, err := policy.Parse("mine.toml", []byte(one("allow", "a", "")), policy.Options{})
	if err != nil || p.Revision() == bare.Revision() {
		t.Error("two policies have one revision")
	}
	sources := p.Sources()
	if len(sources) != 2 || sources[0].From != "" || sources[1].From != "profile:ask" {
		t.Errorf("%+v", sources)
	}
	c := &policy.Call{Server: "s", Subject: policy.ToolSubject, Names: []string{"z"}}
	if _, err := p.NarrowRule(p.Rules()[1], c, policy.Exact, policy.Allow); err == nil || !strings.Contains(err.Error(), "comes from profile:ask") {
		t.Error(err)
	}
	// What is written nowhere may answer for it.
	if n, err := p.Grant(p.Rules()[1], c, policy.Exact); err != nil || n.Policy.Decide(c).Action != policy.Allow {
		t.Error(n, err)
	}
}

// A last rule that denies every tool is dropped, and one that wants more is not.
func TestExtendsKeepsAConditionalDeny(t *testing.T) {
	for line, kept := range map[string]bool{"": false, "args_only = true": true, "server = 's'": true, "args.a = '*'": true, "when = { days = 'mon' }": true} {
		base := "[[rule]]\naction = 'deny'\ntool = '*'\n" + line + "\n"
		p, err := policy.Parse("p", []byte("extends = ['profile:base']\n[[rule]]\naction = 'allow'\ntool = 'x'\n"), policy.Options{
			Extend: func(policy.Extension) (string, []byte, error) { return "base.toml", []byte(base), nil }})
		if err != nil || (len(p.Rules()) == 2) != kept {
			t.Errorf("%q: %v, %d rules", line, err, len(p.Rules()))
		}
	}
}
