package prove

import (
	"slices"

	"github.com/clawai/clawai/policy"
)

// Answer is what a policy says of a call.
type Answer struct {
	Action    policy.Action
	OutOfBand bool         // of a prompt
	Rule      *policy.Rule // that decided; nil when none matched
}

// Class is calls that two policies answer differently, by the same rules.
type Class struct {
	// Undecided says that such calls may exist and none was found; Reason says
	// why. There is no witness then, and the answers are those that could differ.
	Undecided bool
	Reason    string

	Old, New Answer
	Witness  *policy.Call // both policies were asked about it
}

// Difference lists the calls that two policies answer differently, by classes.
// If it lists nothing, there is no such call in the model of this package. Of
// readings that transformations make, doubled and closing slashes are decided, for
// globs of letters, digits, _, - and slashes in moderate numbers (exhaust.go); of
// others only those that it finds a call for are listed. Two answers differ in the action, in who may be asked, and in the limit
// of what is allowed. Both policies must have been given the same home. Layers
// above them are compared with one another only by their revisions.
func Difference(before, after *policy.Policy, o Options) []Class {
	pr := newProver(o)
	d := difference{prover: pr, before: before, after: after, total: 64 * pr.work}
	a, b := pr.rules(before), pr.rules(after)
	for s := policy.ToolSubject; s <= policy.MethodSubject; s++ {
		d.subject, d.exhausted = s, nil
		d.old, d.new = of(s, a), of(s, b)
		for i, p := range []*policy.Policy{before, after} {
			d.open[i] = s == policy.MethodSubject || p.Layer() != ""
		}
		d.compare(modes(d.old, d.open[0]), modes(d.new, d.open[1]))
		d.exhaust() // for what only texts in an uncommon spelling are answered
	}
	if !slices.EqualFunc(before.Layers(), after.Layers(), func(p, q *policy.Policy) bool { return p.Revision() == q.Revision() }) {
		d.classes = append(d.classes, Class{Undecided: true, Reason: reasonLayers})
	}
	return d.classes
}

// difference is the comparison of two policies.
type difference struct {
	*prover
	before, after *policy.Policy
	subject       policy.Subject
	old, new      []*rule
	open          [2]bool // what no rule matches passes: a method, or what a layer leaves to others
	classes       []Class
	total         int // work that all questions may cost
	tired         bool
	exhausted     *bool // of the subject, once it was tried
}

func of(s policy.Subject, rules []rule) (out []*rule) {
	for i := range rules {
		if rules[i].src.Subject == s {
			out = append(out, &rules[i])
		}
	}
	return out
}

// mode is one way in which a policy comes to an answer: the rules that match, and
// those that do not.
type mode struct {
	strict        int
	rule          *rule // that decides; nil for none
	at            int   // its place among the rules of the subject
	needed, avoid []demand
	// loose says that the answer may also be a stricter one: the deciding rule
	// matches perhaps, and what follows was not looked at.
	loose bool

	needs, needsSure     bitset // the conditions of needed, by number
	avoids, avoidsSurely bitset
}

// modes are all the ways to an answer. A deny decides whenever it matches, surely
// or perhaps; another answer holds when no stricter rule above even perhaps does.
func modes(rules []*rule, open bool) []mode {
	var all []mode
	for i, r := range rules {
		if r.strict == strictDeny {
			all = append(all, mode{strict: r.strict, rule: r, at: i,
				needed: []demand{{r, r.vague}}, avoid: others(rules[:i], nil, strictDeny)})
			continue
		}
		avoid := others(rules[:i], nil, r.strict)
		all = append(all, mode{strict: r.strict, rule: r, at: i, needed: []demand{{rule: r}}, avoid: avoid})
		if r.strict != strictAllow && r.vague {
			all = append(all, mode{strict: r.strict, rule: r, at: i, needed: []demand{{r, true}}, avoid: avoid, loose: true})
		}
	}
	none := mode{strict: strictDeny, at: len(rules), avoid: others(rules, nil, strictDeny)}
	if open {
		none.strict, none.avoid = strictAllow, others(rules, nil, strictAllow)
	}
	return append(all, none)
}

// others demands that rules do not match: the stricter ones not even perhaps.
func others(rules []*rule, but *rule, strict int) (ds []demand) {
	for _, r := range rules {
		if r != but {
			ds = append(ds, demand{r, r.strict < strict && r.vague})
		}
	}
	return ds
}

// exact lists what a loose mode becomes by the rule that ends the walk: one that
// is less strict and below, and that n, what it is compared with, leaves possible.
func (m *mode) exact(rules []*rule, open bool, names map[string]int, n *mode) []mode {
	if !m.loose {
		return []mode{*m}
	}
	var all []mode
	for f := m.at + 1; f < len(rules); f++ {
		r := rules[f]
		if r.strict < m.strict && has(n.needs, names[r.same]) {
			break // it matches as well, and from here on the answer is stricter
		}
		if r.strict <= m.strict || has(n.avoidsSurely, names[r.same]) || asunder(r.name, m.rule.name) {
			continue
		}
		e := mode{strict: m.strict, rule: m.rule, at: m.at,
			needed: []demand{{m.rule, true}, {rule: r}}, avoid: others(rules[:f], m.rule, m.strict)}
		e.number(names)
		all = append(all, e)
	}
	if open { // or no rule does
		e := mode{strict: m.strict, rule: m.rule, at: m.at,
			needed: []demand{{m.rule, true}}, avoid: others(rules, m.rule, m.strict)}
		e.number(names)
		all = append(all, e)
	}
	return all
}

// conditionNames numbers the conditions of rules: rules with the same ones have
// the same number.
func conditionNames(rules []*rule) map[string]int {
	names := map[string]int{}
	for _, r := range rules {
		if _, found := names[r.same]; !found {
			names[r.same] = len(names)
		}
	}
	return names
}

type bitset []uint64

func (b bitset) meets(c bitset) bool {
	for w := range b {
		if b[w]&c[w] != 0 {
			return true
		}
	}
	return false
}

func (m *mode) number(names map[string]int) {
	rows := make([]uint64, 4*(len(names)/64+1))
	cut := func() bitset {
		row := rows[: len(names)/64+1 : len(names)/64+1]
		rows = rows[len(row):]
		return row
	}
	m.needs, m.needsSure, m.avoids, m.avoidsSurely = cut(), cut(), cut(), cut()
	for _, d := range m.needed {
		set(m.needs, names[d.rule.same])
		if !d.any {
			set(m.needsSure, names[d.rule.same])
		}
	}
	for _, d := range m.avoid {
		if d.any || !d.rule.vague {
			set(m.avoids, names[d.rule.same])
		}
		set(m.avoidsSurely, names[d.rule.same])
	}
}

// excludes says that the modes contradict each other by rules with the same
// conditions: most pairs of two policies that share most rules do.
func (m *mode) excludes(n *mode) bool {
	return m.needs.meets(n.avoids) || m.needsSure.meets(n.avoidsSurely) ||
		n.needs.meets(m.avoids) || n.needsSure.meets(m.avoidsSurely)
}

// differs says whether two modes answer differently.
func (m *mode) differs(n *mode) bool {
	return m.strict != n.strict || m.strict == strictAllow && m.limit() != n.limit()
}

func (m *mode) limit() policy.Rate {
	if m.rule == nil {
		return policy.Rate{}
	}
	return limitOf(&m.rule.src.Rule)
}

func limitOf(r *policy.Rule) policy.Rate {
	if r == nil {
		return policy.Rate{}
	}
	rate := r.Rate
	rate.Key = ""
	return rate
}
