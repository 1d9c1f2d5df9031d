package lint

import (
	"fmt"

	"github.com/clawai/clawai/internal/check"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/policy/policytext"
)

// exception is one of a rule's, as the policy has it.
type exception struct {
	key   string
	pos   policy.Position
	globs []string
}

// exceptionsOf lists them in the order of prove.Analysis.Idle.
func exceptionsOf(r *policy.Source) (all []exception) {
	if r.Not.Names != nil {
		all = append(all, exception{key: "not." + r.Subject.Key(), globs: r.Not.Names})
	}
	for _, c := range r.Not.Calls {
		all = append(all, exception{key: "not." + c.Key, globs: c.Globs})
	}
	for _, a := range r.Not.Args {
		all = append(all, exception{key: policytext.Key("not", append([]string{"args"}, a.Path...)...), pos: a.Pos, globs: a.Globs})
	}
	return all
}

// idle finds exceptions that leave out nothing.
func idle(l *linter) {
	l.each(func(i int, r *policy.Source) {
		idle := l.proof.Idle(i)
		for k, e := range exceptionsOf(r) {
			if idle[k] {
				l.add(r, e.pos, check.Finding{Code: IdleException, Message: fmt.Sprintf("%s = %s leaves out nothing that the rule matches", e.key, written(e.globs)),
					Fix: "take it out, or name what is among the rule's calls"})
			}
		}
	})
}
