package prove

import (
	"slices"

	"github.com/clawai/clawai/policy"
)

// compare looks for a call for every pair of modes that answer differently.
func (d *difference) compare(old, after []mode) {
	names := conditionNames(slices.Concat(d.old, d.new))
	for _, ms := range [][]mode{old, after} {
		for i := range ms {
			ms[i].number(names)
		}
	}
	for i := range old {
		for j := range after {
			if d.tired {
				return
			}
			m, n := &old[i], &after[j]
			if !m.differs(n) || m.excludes(n) || m.apart(n) {
				continue
			}
			for _, me := range m.exact(d.old, d.open[0], names, n) {
				for _, ne := range n.exact(d.new, d.open[1], names, &me) {
					if !me.excludes(&ne) {
						d.settle(&me, &ne, d.pair(&me, &ne))
					}
				}
			}
		}
	}
}

// apart says, by the ends of globs, that no call is in both modes.
func (m *mode) apart(n *mode) bool {
	for _, a := range m.needed {
		for _, b := range n.needed {
			if asunder(a.rule.name, b.rule.name) || asunder(a.rule.server, b.rule.server) {
				return true
			}
		}
	}
	return false
}

// pair looks for a call in both modes; what the policies answer differently is
// noted on the way.
func (d *difference) pair(m, n *mode) answer {
	// Only what argument readings and empty names add is left to the last of
	// these; each holds what those before it do.
	a, plain := impossible, impossible
	for _, q := range []question{{manner: tidy, unnamed: true}, {}, {unnamed: true}} {
		q.subject = d.subject
		q.needed, q.avoid = slices.Concat(m.needed, n.needed), slices.Concat(m.avoid, n.avoid)
		if a = d.question(q, m, n); a == found {
			return found
		}
		if q.manner == tidy {
			plain = a
		}
	}
	if a == open && plain == impossible {
		return hidden
	}
	if a == impossible {
		q := question{subject: d.subject, unnamed: true, others: true, home: d.home,
			needed: slices.Concat(m.needed, n.needed), avoid: slices.Concat(m.avoid, n.avoid)}
		if d.question(q, m, n) == found {
			return found
		}
	}
	return a
}

func (d *difference) question(q question, m, n *mode) answer {
	if d.tired {
		return spent
	}
	a, cost := d.askAt(q, func(c candidate) bool {
		for _, call := range q.calls(c) {
			old, after := d.before.Decide(&call), d.after.Decide(&call)
			if !unlike(&old, &after) {
				continue
			}
			d.note(&call, &old, &after)
			if strictOf(&old) == m.strict && strictOf(&after) == n.strict {
				return true
			}
		}
		return false
	})
	d.total -= cost
	d.tired = d.total < 0
	return a
}

// unlike says whether two decisions are different answers.
func unlike(a, b *policy.Decision) bool {
	return strictOf(a) != strictOf(b) || a.Action == policy.Allow && limitOf(a.Rule) != limitOf(b.Rule)
}

func strictOf(d *policy.Decision) int {
	switch d.Action {
	case policy.Allow:
		return strictAllow
	case policy.Deny:
		return strictDeny
	}
	if d.Rule != nil && d.Rule.OutOfBand {
		return strictAskOutOfBand
	}
	return strictAsk
}

// note keeps a witness of a class that has none.
func (d *difference) note(c *policy.Call, old, after *policy.Decision) {
	class := Class{Old: answerOf(old), New: answerOf(after), Witness: c}
	switch at := d.known(&class); {
	case at < 0:
		d.classes = append(d.classes, class)
	case d.classes[at].Undecided:
		d.classes[at] = class
	}
}

func answerOf(d *policy.Decision) Answer {
	return Answer{Action: d.Action, OutOfBand: d.Rule != nil && d.Rule.OutOfBand, Rule: d.Rule}
}

func (a Answer) equal(b Answer) bool {
	if a.Action != b.Action || a.OutOfBand != b.OutOfBand || (a.Rule == nil) != (b.Rule == nil) {
		return false
	}
	return a.Rule == nil || a.Rule.Index == b.Rule.Index
}

// settle notes what could not be decided of a pair.
func (d *difference) settle(m, n *mode, a answer) {
	reason := reasonWitness
	switch a {
	case spent:
		reason = reasonWork
	case hidden:
		if d.exhaust() {
			return
		}
		reason = ReasonSpelling
	case open:
	default:
		return
	}
	class := Class{Undecided: true, Reason: reason, Old: m.answer(), New: n.answer()}
	// What is known to change by these rules need not be doubted as well.
	if d.known(&class) < 0 {
		d.classes = append(d.classes, class)
	}
}

// known is the place of the class with the same answers; -1 when there is none.
func (d *difference) known(c *Class) int {
	return slices.IndexFunc(d.classes, func(o Class) bool { return o.Old.equal(c.Old) && o.New.equal(c.New) })
}

func (m *mode) answer() Answer {
	if m.rule == nil {
		var a Answer
		if m.strict == strictAllow {
			a.Action = policy.Allow
		}
		return a
	}
	return Answer{Action: m.rule.src.Action, OutOfBand: m.rule.src.OutOfBand, Rule: &m.rule.src.Rule}
}
