package policy_test

import (
	"testing"

	"github.com/clawai/clawai/policy"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestSources(t *testing.T) {
	src := "# notes\n[[rule]]\naction = \"allow\"\ntool = \"read\"\nserver = \"files\"\nargs.a.b = [\"x\", \"y*\"]\n\n[[rule]]\naction = \"deny\"\nresource = \"**\"\n"
	p, err := policy.Parse("p.toml", []byte(src), policy.Options{})
	if err != nil {
		t.Fatal(err)
	}
	got := p.Sources()
	want := []policy.Source{
		{Subject: policy.ToolSubject, Name: "read", Server: "files", Args: []policy.ArgSource{{
			Path: []string{"a", "b"}, Globs: []string{"x", "y*"}, Pos: policy.Position{File: "p.toml", Line: 6, Column: 1}}},
			Calls: []policy.Stated{{Key: "server", Text: `"files"`, Glob: "files"}}},
		{Subject: policy.ResourceSubject, Name: "**"},
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
		if s.Key() != key {
			t.Errorf("%d has key %q", s, s.Key())
		}
		if back := policy.SubjectOf(key); key != "" && back != s || key == "" && back != policy.NoSubject {
			t.Errorf("%q is the key of %d", key, back)
		}
	}
}
