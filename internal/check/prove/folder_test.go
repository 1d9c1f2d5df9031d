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
