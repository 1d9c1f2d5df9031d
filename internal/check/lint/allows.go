package lint

import (
	"fmt"
	"slices"

	"github.com/clawai/clawai/internal/check"
	"github.com/clawai/clawai/policy"
)

// findNeedlessAllows finds allows that an allow below makes superfluous: that
// allow takes all their calls, and no rule between them can stop one.
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
				return // the narrow rule is an exception to this one
			case l.reported[j] || !acceptsArguments(wide, narrow) || !l.proof.IsCovered(i, j):
			default:
				l.restrictsNothing(i, j)
				return
			}
		}
	})
}

// acceptsArguments reports whether an allow accepts all further arguments that
// another allow accepts.
func acceptsArguments(wide, narrow *policy.Source) bool {
	within := func(a, b [][]string) bool {
		return !slices.ContainsFunc(a, func(path []string) bool {
			return !slices.ContainsFunc(b, func(to []string) bool { return slices.Equal(path, to) })
		})
	}
	return !wide.WatchesUnnamedArgs() || furtherKey(wide) == furtherKey(narrow) && within(narrow.ArgumentPaths(), wide.ArgumentPaths())
}

func (l *linter) restrictsNothing(i, j int) {
	narrow, wide := &l.sources[i], &l.sources[j]
	f := check.Finding{Code: IdleAllow, Message: fmt.Sprintf("this allow restricts nothing: %s allows all its calls, and those beside them", l.describeRule(wide.Pos)),
		Fix:     fmt.Sprintf("remove it, or have %s name less, if this one was to restrict it", l.describeRule(wide.Pos)),
		Related: []check.Related{{Pos: wide.Pos, Message: "allows the same and more"}}}
	if len(narrow.Args)+len(narrow.Where)+len(narrow.Calls) == 0 && !narrow.Not.HasExceptions() && !narrow.Further.Only {
		f.Severity = check.Note // a single name, like one in a list of names
	}
	l.addWitness(&f, l.reach[j].Witness)
	l.addFinding(narrow, policy.Position{}, f)
}
