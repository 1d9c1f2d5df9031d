package prove

import (
	"fmt"
	"slices"
	"strings"

	"github.com/clawai/clawai/policy"
)

// covered is the calls that a [[limit]] counts when they are let through, as a rule.
func (pr *prover) covered(l *policy.LimitTable) *rule {
	r := &rule{src: &policy.Source{Subject: policy.ToolSubject}}
	if l.Tools != nil {
		r.name = pr.union(l.Tools)
	}
	if l.Servers != nil {
		r.server = pr.union(l.Servers)
	}
	return r
}

// Uncounted says that it is proved: no call that a rule may match counts against a
// limit.
func (a *Analysis) Uncounted(i int, l *policy.LimitTable) bool {
	r := &a.rules[i]
	return r.src.Subject != policy.ToolSubject || a.nothing(question{needed: []demand{{r, r.vague}, {rule: a.covered(l)}}}, r)
}

// Counted says that it is proved: every call that a rule may match counts against a
// limit, when it is let through.
func (a *Analysis) Counted(i int, l *policy.LimitTable) bool {
	r := &a.rules[i]
	return r.src.Subject == policy.ToolSubject && a.nothing(question{needed: []demand{{r, r.vague}}, avoid: []demand{{rule: a.covered(l)}}}, r)
}

// CountedToo says the same of the calls that another limit counts.
func (a *Analysis) CountedToo(inner, outer *policy.LimitTable) bool {
	r := a.covered(inner)
	return a.nothing(question{needed: []demand{{rule: r}}, avoid: []demand{{rule: a.covered(outer)}}}, r)
}

// limits notes that the limits over all tools are not the same: what they let through
// in a stretch of time no single call shows.
func (d *difference) limits() {
	old, after := d.before.Limits(), d.after.Limits()
	gone, come := without(old, after), without(after, old)
	if len(gone)+len(come) == 0 {
		return
	}
	d.classes = append(d.classes, Class{Undecided: true, Reason: reasonLimits + strings.Join(slices.Concat(told("was", gone), told("is", come)), ", ")})
}

const reasonLimits = "what [[limit]] lets through in a stretch of time, which no single call shows: "

// without lists the limits that others do not have.
func without(all, others []policy.LimitTable) []policy.LimitTable {
	return slices.DeleteFunc(slices.Clone(all), func(l policy.LimitTable) bool {
		return slices.ContainsFunc(others, func(o policy.LimitTable) bool { return o.Rate.Key == l.Rate.Key })
	})
}

func told(word string, limits []policy.LimitTable) (texts []string) {
	for i := range limits {
		texts = append(texts, fmt.Sprintf("%s %s (line %d)", word, limits[i].Rate.AtMost(), limits[i].Pos.Line))
	}
	return texts
}
