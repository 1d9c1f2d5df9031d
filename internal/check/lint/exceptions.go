package lint

import (
	"fmt"

	"github.com/clawai/clawai/internal/check"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/policy/policytext"
)

// exception is one exception of a rule, with its text in the policy.
type exception struct {
	key   string
	pos   policy.Position
	globs []string
}

// exceptionsOf returns the exceptions of a rule in the order of prove.Analysis.IdleExceptions.
func exceptionsOf(r *policy.Source) (all []exception) {
	if r.Not.Names != nil {
		all = append(all, exception{key: "not." + r.Subject.RuleKey(), globs: r.Not.Names})
	}
	for _, c := range r.Not.Calls {
		all = append(all, exception{key: "not." + c.Key, globs: c.Globs})
	}
	for _, a := range r.Not.Args {
		all = append(all, exception{key: policytext.DottedKey("not", append([]string{"args"}, a.Path...)...), pos: a.Pos, globs: a.Globs})
	}
	return all
}

// findIdleExceptions finds exceptions that exclude no call of their rule.
func findIdleExceptions(l *linter) {
	l.visitRules(func(i int, r *policy.Source) {
		idle := l.proof.IdleExceptions(i)
		for k, e := range exceptionsOf(r) {
			if idle[k] {
				l.addFinding(r, e.pos, check.Finding{Code: IdleException, Message: fmt.Sprintf("%s = %s excludes no call that the rule matches", e.key, formatGlobs(e.globs)),
					Fix: "remove it, or name something that the rule matches"})
			}
		}
	})
}
