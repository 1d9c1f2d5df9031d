package policy_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/clawai/clawai/policy"
)

func TestSources(t *testing.T) {
	src := "# notes\n[[rule]]\naction = \"allow\"\ntool = [\"read\", \"list\"]\nserver = \"files\"\nargs.a.b = [\"x\", \"y*\"]\n\n[[rule]]\naction = \"deny\"\nresource = \"**\"\n"
	p, err := policy.Parse("p.toml", []byte(src), policy.Options{})
	if err != nil {
		t.Fatal(err)
	}
	got := p.Sources()
	want := []policy.Source{
		{About: policy.ToolSubject, Subject: policy.ToolSubject, Names: []string{"read", "list"}, Servers: []string{"files"}, Args: []policy.ArgSource{{
			Path: []string{"a", "b"}, Globs: []string{"x", "y*"}, Pos: policy.Position{File: "p.toml", Line: 6, Column: 1}}},
			Calls: []policy.Stated{{Key: "server", Text: `"files"`, Globs: []string{"files"}}}},
		{Subject: policy.ResourceSubject, About: policy.ResourceSubject, Names: []string{"**"}},
	}
	for i, r := range p.Rules() {
		want[i].Rule = r
		want[i].Start, want[i].End = got[i].Start, got[i].End
		if text := src[got[i].Start:got[i].End]; text[:8] != "[[rule]]" {
			t.Errorf("rule %d stands at %q", i, text)
		}
	}
	if d := cmp.Diff(want, got, cmpopts.IgnoreUnexported(policy.Stated{})); d != "" {
		t.Error(d)
	}
	for s, key := range map[policy.Subject]string{policy.NoSubject: "", policy.ToolSubject: "tool", policy.MethodSubject: "method", 99: ""} {
		if s.RuleKey() != key {
			t.Errorf("%d has key %q", s, s.RuleKey())
		}
		if back := policy.SubjectOf(key); key != "" && back != s || key == "" && back != policy.NoSubject {
			t.Errorf("%q is the key of %d", key, back)
		}
	}
}

// Exceptions are as written, and their arguments among those that a rule names.
func TestSourcesHaveExceptions(t *testing.T) {
	src := "[[rule]]\naction = 'allow'\ntool = '*'\nargs.a = 'x'\nwhere.b.min = 1\n[rule.not]\ntool = 't'\nserver = 's'\nargs = { c = ['y', 'z'] }\n"
	p, err := policy.Parse("p.toml", []byte(src), policy.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := p.Sources()[0]
	want := policy.Exceptions{Names: []string{"t"}, Calls: []policy.Stated{{Key: "server", Text: `"s"`, Globs: []string{"s"}}},
		Args: []policy.ArgSource{{Path: []string{"c"}, Globs: []string{"y", "z"}, Pos: policy.Position{File: "p.toml", Line: 9, Column: 10}}}}
	if d := cmp.Diff(want, s.Not, cmpopts.IgnoreUnexported(policy.Stated{})); d != "" || !s.Not.HasExceptions() || !s.WatchesUnnamedArgs() {
		t.Error(d)
	}
	if d := cmp.Diff([][]string{{"a"}, {"b"}, {"c"}}, s.ArgumentPaths()); d != "" {
		t.Error(d)
	}
}
