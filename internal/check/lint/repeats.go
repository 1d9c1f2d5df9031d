package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/clawai/clawai/internal/check"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/policy/policytext"
)

// findRepeats finds globs that have no effect because of another glob in the same list.
func findRepeats(l *linter) {
	l.visitRules(func(_ int, r *policy.Source) {
		names := r.Subject == policy.ToolSubject || r.Subject == policy.PromptSubject || r.Subject == policy.MethodSubject
		l.checkRepeats(r, policy.Position{}, r.Subject.RuleKey(), r.Names, names)
		for _, c := range r.Calls {
			k, _ := policy.CallKeyOf(c.Key)
			l.checkRepeats(r, policy.Position{}, c.Key, c.Globs, k.Proof == policy.ServerNames)
		}
		for _, a := range r.Args {
			l.checkRepeats(r, a.Pos, policytext.DottedKey("args", a.Path...), a.Globs, false)
		}
		for _, e := range exceptionsOf(r) {
			l.checkRepeats(r, e.pos, e.key, e.globs, false)
		}
	})
}

// checkRepeats checks one list of globs. It finds globs that are in the list twice. If the globs are
// about names (the parameter names is true), checkRepeats also finds a name that another glob in the
// list matches.
func (l *linter) checkRepeats(r *policy.Source, pos policy.Position, key string, globs []string, names bool) {
	for i, g := range globs {
		by := slices.Index(globs[:i], g)
		if by < 0 && names && !strings.ContainsAny(g, "*?") {
			by = slices.IndexFunc(globs, func(h string) bool { return h != g && l.matchesAnyGlob([]string{h}, g) })
		}
		if by < 0 {
			continue
		}
		f := check.Finding{Code: RepeatedGlob, Message: fmt.Sprintf("%s has %q twice", key, g), Fix: "take one of them out of the list"}
		if globs[by] != g {
			f.Message = fmt.Sprintf("%s has %q, which %q matches as well", key, g, globs[by])
			f.Fix = fmt.Sprintf("take %q out of the list", g)
		}
		l.addFinding(r, pos, f)
	}
}
