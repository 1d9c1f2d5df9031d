package prove_test

import (
	"slices"
	"testing"

	"github.com/clawai/clawai/internal/check/prove"
	"github.com/clawai/clawai/policy"
)

// A glob with a folder has an argument read as a path. What begins with a wildcard beside
// it is then about the place as well, and no longer is when the first is gone.
func TestWithoutTheGlobThatReadsPaths(t *testing.T) {
	const rule = "[[rule]]\naction = \"prompt\"\ntool = \"*\"\nargs.p = \"?*a\"\n"
	before, after := parse(t, rule+"[[rule]]\naction = \"deny\"\ntool = \"*\"\nargs.p = \"?/\"\n"), parse(t, rule)
	call := policy.Call{Subject: policy.ToolSubject, Names: []string{"a"}, Server: "x", Args: []byte(`{"p":"../a"}`), Facts: policy.Facts{Cwd: "/a"}}
	if a, b := before.Decide(&call).Action, after.Decide(&call).Action; a == b {
		t.Fatalf("both answer %v", a)
	}
	if all := prove.Difference(before, after, prove.Options{}); !slices.ContainsFunc(all, func(c prove.CallClass) bool { return c.Undecided && c.Reason == prove.ReasonFolder }) {
		t.Errorf("relative paths are answered differently, and that is not said: %+v", all)
	}
}

// A glob about paths has the argument read as a path by each rule of the policy, also by the rules
// above it and by those about other tools.
func TestReachedBecauseALaterRuleReadsPaths(t *testing.T) {
	for _, tool := range []string{"*", "b"} {
		p := parse(t, `
[[rule]]
action = "allow"
tool = "a"
args.q = "?"

[[rule]]
action = "prompt"
tool = "a"
args.q = "?"

[[rule]]
action = "allow"
tool = "`+tool+`"
args.q = "/"
`)
		call := policy.Call{Subject: policy.ToolSubject, Names: []string{"a"}, Args: []byte(`{"q":".."}`), Facts: policy.Facts{Cwd: "/A"}}
		tr := p.Trace(&call)
		if !slices.Contains(tr.ReachedRules(), 1) {
			t.Fatalf("%s: the call reaches only %v", tool, tr.ReachedRules())
		}
		if f := prove.Reach(p, prove.Options{})[1]; f.Status == prove.Covered && !f.AsWritten {
			t.Errorf("%s: a rule that a relative path reaches is said to be covered by %v", tool, f.By)
		}
	}
}
