package lint

import (
	"fmt"

	"github.com/clawai/clawai/internal/check"
	"github.com/clawai/clawai/policy"
)

// limits finds limits that say nothing: a [[limit]] that no call counts against, and what
// a tighter [[limit]] never lets it come to. A layer that opens nothing counts what others
// open.
func limits(l *linter) {
	tables := l.policy.Limits()
	for i := range tables {
		t := &tables[i]
		at := &policy.Source{Rule: t.Rule, From: t.From, End: t.End}
		opening, counts := false, false
		for k := range l.sources {
			if r := &l.sources[k]; r.Subject == policy.ToolSubject && r.Action != policy.Deny {
				opening, counts = true, counts || !l.proof.Uncounted(k, t)
			}
		}
		if opening && !counts {
			l.add(at, policy.Position{}, check.Finding{Code: IdleLimit, Message: "no rule lets a call through that this limit counts",
				Fix: "remove it, or name tools and servers that a rule opens"})
			continue
		}
		for j := range tables {
			o := &tables[j]
			if j != i && tighter(&o.Rate, &t.Rate) && l.proof.CountedToo(t, o) && (j < i || !tighter(&t.Rate, &o.Rate) || !l.proof.CountedToo(o, t)) {
				l.neverReached(at, &t.Rate, o)
				break
			}
		}
	}
	l.each(func(i int, r *policy.Source) {
		for j := range tables {
			if o := &tables[j]; r.Rate.Limited() && tighter(&o.Rate, &r.Rate) && l.proof.Counted(i, o) {
				l.neverReached(r, &r.Rate, o)
				return
			}
		}
	})
}

// tighter says that of calls which two limits count the second is never over but where
// the first is.
func tighter(outer, inner *policy.Rate) bool {
	return outer.Sum == inner.Sum && outer.Every >= inner.Every && outer.Count <= inner.Count && outer.Max <= inner.Max &&
		(outer.Per == policy.PerRule || outer.Per == inner.Per)
}

func (l *linter) neverReached(at *policy.Source, r *policy.Rate, o *policy.LimitTable) {
	l.add(at, policy.Position{}, check.Finding{Code: IdleLimit,
		Message: fmt.Sprintf("%s is never reached: the limit %s, %s, counts the same calls", r.AtMost(), l.location(o.Pos), o.Rate.AtMost()),
		Fix:     "remove it, or write a lower number",
		Related: []check.Related{{Pos: o.Pos, Message: "is reached first"}}})
}
