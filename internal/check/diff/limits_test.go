package diff_test

import (
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/check/diff"
	"github.com/clawai/clawai/policy"
)

// TestLimitsOverAllTools: no single call shows that they changed, so it is said.
func TestLimitsOverAllTools(t *testing.T) {
	const rule = "[[rule]]\naction = \"allow\"\ntool = \"*\"\n"
	const hundred = "[[limit]]\nrate = \"100/min\"\n"
	for _, c := range []struct{ old, new, want string }{
		{rule + hundred, "# moved\n" + hundred + "description = \"Why\"\n" + rule, ""},
		{rule, rule + hundred, "is at most 100 a minute (line 4)"},
		{rule + hundred, rule, "was at most 100 a minute (line 4)"},
		{hundred + rule, "[[limit]]\nrate = \"90/min\"\n" + rule, "was at most 100 a minute (line 1), is at most 90 a minute (line 1)"},
		{hundred + rule, hundred + "tool = \"a\"\n" + rule, "was at most 100 a minute (line 1), is at most 100 a minute (line 1)"},
	} {
		parse := func(text string) *policy.Policy {
			p, err := policy.Parse("p.toml", []byte(text), policy.Options{})
			if err != nil {
				t.Fatal(err)
			}
			return p
		}
		r := diff.ComparePolicies(parse(c.old), parse(c.new))
		got := ""
		for _, d := range r.Doubts {
			got += d.Reason
		}
		if len(r.Changes) > 0 || !strings.HasSuffix(got, c.want) || (got == "") != (c.want == "") || r.HasChanges() != (c.want != "") {
			t.Errorf("%q: %+v", got, r.Changes)
		}
	}
}
