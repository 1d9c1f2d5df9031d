package lint_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/check"
	"github.com/clawai/clawai/internal/check/lint"
	"github.com/clawai/clawai/policy"

	"github.com/clawai/clawai/internal/testing/slow"
)

// TestExpressions: a deny whose expression matches nothing but what an allow above
// matches is told of, with a call, and no deny that matches more.
func TestExpressions(t *testing.T) {
	slow.Test(t)
	run := func(above, below string) *lint.Report {
		src := "[[rule]]\naction = \"allow\"\ntool = \"run\"\nwhere.c = { regex = '" + above + "' }\n" +
			"[[rule]]\naction = \"deny\"\ntool = \"run\"\nwhere.c = { regex = '" + below + "' }\n"
		p, err := policy.Parse("p.toml", []byte(src), policy.Options{Home: "/home/user"})
		if err != nil {
			t.Fatal(err)
		}
		return lint.Run(p, []byte(src), lint.Options{})
	}
	for _, below := range []string{`git (push|reset)`, `^git [p-r]ush$`, `git \w{1}`} {
		r := run(`git \w+`, below)
		i := slices.IndexFunc(r.Findings, func(f check.Finding) bool { return f.Code == lint.DenyNeverWins })
		if i < 0 {
			t.Errorf("%s: %+v", below, r.Findings)
			continue
		}
		if f := r.Findings[i]; !strings.Contains(f.Message, "values for which a constraint is not certain") || !strings.HasPrefix(f.Call, `tool run {"c":"git `) {
			t.Errorf("%s: %s\n%s", below, f.Message, f.Call)
		}
	}
	for _, below := range []string{`git (push|reset) --force`, `git -v`, `.*`, `git \w+\b`} {
		for _, f := range run(`git \w+`, below).Findings {
			if f.Code == lint.DenyNeverWins || f.Code == lint.UnreachableRule {
				t.Errorf("%s: %s", below, f.Message)
			}
		}
	}
}
