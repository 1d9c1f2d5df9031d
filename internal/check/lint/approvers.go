package lint

import (
	"fmt"
	"slices"

	"github.com/clawai/clawai/internal/check"
	"github.com/clawai/clawai/policy"
)

// findFewApprovers finds rules that require more approvals than the number of persons in the rule. It
// skips rules that name a role or a group, because only the team's centre knows the members of roles
// and groups.
func findFewApprovers(l *linter) {
	l.visitRules(func(_ int, r *policy.Source) {
		a := r.Approval
		if a == nil {
			return
		}
		who := slices.Clone(a.Approvers)
		slices.Sort(who)
		who = slices.Compact(who)
		if len(who) >= a.Votes || slices.ContainsFunc(who, func(text string) bool { kind, _, _ := policy.SplitApprover(text); return kind != "person" }) {
			return
		}
		l.addFinding(r, policy.Position{}, check.Finding{Code: FewApprovers,
			Message: fmt.Sprintf("it wants the approval of %d persons and names %d", a.Votes, len(who)),
			Fix:     "name more persons, or a role; or lower approvals"})
	})
}
