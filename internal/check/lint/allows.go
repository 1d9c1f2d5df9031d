package lint

import (
	"fmt"
	"slices"

	"github.com/clawai/clawai/internal/check"
	"github.com/clawai/clawai/policy"
)

// findNeedlessAllows finds allows that have no effect, because a lower allow matches all their calls.
// No rule between the two allows may stop such a call.
func findNeedlessAllows(l *linter) {
	l.visitRules(func(i int, narrow *policy.Source) {
		if !isAllow(narrow) || narrow.Rate.HasLimit() || l.reported[i] || l.reach[i].Witness == nil {
			return
		}
		for j := i + 1; j < len(l.sources); j++ {
			wide := &l.sources[j]
			switch {
			case wide.Subject != narrow.Subject || l.proof.AreApart(i, j):
			case !isAllow(wide) || wide.Rate.HasLimit():
				return // rule j may stop calls of the narrow rule, so the narrow rule has an effect
			case l.reported[j] || !acceptsArguments(wide, narrow) || !l.proof.IsCovered(i, j):
			default:
				l.reportIdleAllow(i, j)
				return
			}
		}
	})
}

// acceptsArguments reports whether the first allow rule (wide) accepts all further arguments that
// the second allow rule (narrow) accepts. Further arguments are arguments that a rule does not
// name.
func acceptsArguments(wide, narrow *policy.Source) bool {
	within := func(a, b [][]string) bool {
		return !slices.ContainsFunc(a, func(path []string) bool {
			return !slices.ContainsFunc(b, func(to []string) bool { return slices.Equal(path, to) })
		})
	}
	return !wide.WatchesUnnamedArgs() || furtherKey(wide) == furtherKey(narrow) && within(narrow.ArgumentPaths(), wide.ArgumentPaths())
}

func (l *linter) reportIdleAllow(i, j int) {
	narrow, wide := &l.sources[i], &l.sources[j]
	f := check.Finding{Code: IdleAllow, Message: fmt.Sprintf("this allow has no effect: %s allows all its calls, and more", l.describeRule(wide.Pos)),
		Fix:     fmt.Sprintf("remove it, or make %s narrower if this rule was meant to restrict it", l.describeRule(wide.Pos)),
		Related: []check.Related{{Pos: wide.Pos, Message: "allows the same and more"}}}
	if len(narrow.Args)+len(narrow.Where)+len(narrow.Calls) == 0 && !narrow.Not.HasExceptions() && !narrow.Further.Only {
		f.Severity = check.Note // the rule only names tools or servers, like an entry in a list
	}
	l.addWitness(&f, l.reach[j].Witness)
	l.addFinding(narrow, policy.Position{}, f)
}
