package prove

import (
	"fmt"
	"slices"
	"strings"

	"github.com/clawai/clawai/policy"
)

// limitRule returns a rule that matches the calls which a [[limit]] counts, if they are allowed.
func (pr *prover) limitRule(l *policy.LimitTable) *rule {
	r := &rule{src: &policy.Source{Subject: policy.ToolSubject}}
	if l.Tools != nil {
		r.name = pr.unionOf(l.Tools)
	}
	if l.Servers != nil {
		r.server = pr.unionOf(l.Servers)
	}
	return r
}

// IsUncounted reports whether it is proved that the limit counts no call that rule i may match.
func (a *Analysis) IsUncounted(i int, l *policy.LimitTable) bool {
	r := &a.rules[i]
	return r.src.Subject != policy.ToolSubject || a.isImpossible(question{needed: []demand{{r, r.vague}, {rule: a.limitRule(l)}}}, r)
}

// IsCounted reports whether it is proved that the limit counts every allowed call that rule i may
// match.
func (a *Analysis) IsCounted(i int, l *policy.LimitTable) bool {
	r := &a.rules[i]
	return r.src.Subject == policy.ToolSubject && a.isImpossible(question{needed: []demand{{r, r.vague}}, avoid: []demand{{rule: a.limitRule(l)}}}, r)
}

// CoversLimit reports whether it is proved that the limit outer counts every call that the limit
// inner counts.
func (a *Analysis) CoversLimit(inner, outer *policy.LimitTable) bool {
	r := a.limitRule(inner)
	return a.isImpossible(question{needed: []demand{{rule: r}}, avoid: []demand{{rule: a.limitRule(outer)}}}, r)
}

// compareLimits adds an undecided class if the limits over all tools differ, because a single call
// cannot show the effect of a limit over time.
func (d *difference) compareLimits() {
	old, after := d.before.LimitTables(), d.after.LimitTables()
	removed, added := missingLimits(old, after), missingLimits(after, old)
	if len(removed)+len(added) == 0 {
		return
	}
	d.classes = append(d.classes, CallClass{Undecided: true, Reason: reasonLimits + strings.Join(slices.Concat(formatLimits("was", removed), formatLimits("is", added)), ", ")})
}

const reasonLimits = "what [[limit]] lets through in a stretch of time, which no single call shows: "

// missingLimits returns the limits in the first list that are not in the second list.
func missingLimits(all, others []policy.LimitTable) []policy.LimitTable {
	return slices.DeleteFunc(slices.Clone(all), func(l policy.LimitTable) bool {
		return slices.ContainsFunc(others, func(o policy.LimitTable) bool { return o.Rate.Key == l.Rate.Key })
	})
}

func formatLimits(word string, limits []policy.LimitTable) (texts []string) {
	for i := range limits {
		texts = append(texts, fmt.Sprintf("%s %s (line %d)", word, limits[i].Rate.AtMost(), limits[i].Pos.Line))
	}
	return texts
}
