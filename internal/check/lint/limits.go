package lint

import (
	"fmt"

	"github.com/clawai/clawai/internal/check"
	"github.com/clawai/clawai/policy"
)

// findIdleLimits finds limits without effect. It reports a limit if a tighter [[limit]] always stops
// the same calls first. It also reports a [[limit]] that counts no call, but only in a policy with a
// rule that allows or asks. A policy without allows and prompts may be a layer, and its limits then
// count calls that other policies allow.
func findIdleLimits(l *linter) {
	tables := l.policy.LimitTables()
	for i := range tables {
		t := &tables[i]
		at := &policy.Source{Rule: t.Rule, From: t.From, End: t.End}
		opening, counts := false, false
		for k := range l.sources {
			if r := &l.sources[k]; r.Subject == policy.ToolSubject && r.Action != policy.Deny {
				opening, counts = true, counts || !l.proof.IsUncounted(k, t)
			}
		}
		if opening && !counts {
			l.addFinding(at, policy.Position{}, check.Finding{Code: IdleLimit, Message: "no rule lets a call through that this limit counts",
				Fix: "remove it, or name tools and servers that a rule opens"})
			continue
		}
		for j := range tables {
			o := &tables[j]
			if j != i && isTighter(&o.Rate, &t.Rate) && l.proof.CoversLimit(t, o) && (j < i || !isTighter(&t.Rate, &o.Rate) || !l.proof.CoversLimit(o, t)) {
				l.reportUnreached(at, &t.Rate, o)
				break
			}
		}
	}
	l.visitRules(func(i int, r *policy.Source) {
		for j := range tables {
			if o := &tables[j]; r.Rate.HasLimit() && isTighter(&o.Rate, &r.Rate) && l.proof.IsCounted(i, o) {
				l.reportUnreached(r, &r.Rate, o)
				return
			}
		}
	})
}

// isTighter reports whether outer is at least as tight as inner. Then a call that both limits count
// exceeds inner only if it also exceeds outer.
func isTighter(outer, inner *policy.Rate) bool {
	return outer.Sum == inner.Sum && outer.Every >= inner.Every && outer.Count <= inner.Count && outer.Max <= inner.Max &&
		(outer.Per == policy.PerRule || outer.Per == inner.Per)
}

func (l *linter) reportUnreached(at *policy.Source, r *policy.Rate, o *policy.LimitTable) {
	l.addFinding(at, policy.Position{}, check.Finding{Code: IdleLimit,
		Message: fmt.Sprintf("%s is never reached: the limit %s, %s, counts the same calls", r.AtMost(), l.formatLocation(o.Pos), o.Rate.AtMost()),
		Fix:     "remove it, or write a lower number",
		Related: []check.Related{{Pos: o.Pos, Message: "is reached first"}}})
}
