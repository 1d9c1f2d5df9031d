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

// AnswerBy gives the answer that a rule gives, or that is given without one.
func AnswerBy(a policy.Action, r *policy.Rule) Answer {
	return Answer{Action: a, OutOfBand: r != nil && r.OutOfBand, Rule: r}
}

// CallClass is calls that two policies answer differently, by the same rules.
type CallClass struct {
	// Undecided says that such calls may exist and none was found; Reason says
	// why. There is no witness then, and the answers are those that could differ;
	// see Whole.
	Undecided bool
	Reason    string

	Old, New Answer
	Witness  *policy.Call // both policies were asked about it
}

// IsWhole says that the class is about no two answers but about all that Reason
// names: any call of those may be answered differently.
func (c *CallClass) IsWhole() bool {
	return c.Undecided && c.Old == Answer{} && c.New == Answer{}
}

// Difference lists the calls that two policies answer differently, by classes.
// If it lists nothing, there is no such call in the model of this package. Of
// readings that transformations make, doubled and closing slashes and letter case
// are decided, for globs of ASCII letters, digits, _, - and slashes in moderate
// numbers (exhaust.go); of others only those that it finds a call for are listed.
// Two answers differ in the action, in who may be asked, and in the limit of what
// is allowed. Both policies must have been given the same home. Layers above them
// are compared with one another only by their revisions.
func Difference(before, after *policy.Policy, o Options) []CallClass {
	pr := newProver(o)
	pr.windows = before.OS() == policy.Windows || after.OS() == policy.Windows
	d := difference{prover: pr, before: before, after: after, places: map[[2]answered]int{}, total: workOfAll * pr.work}
	a, b := pr.readRules(before), pr.readRules(after)
	for s := policy.ToolSubject; s <= policy.MethodSubject; s++ {
		d.subject, d.exhausted = s, nil
		d.old = newBook(rulesOf(s, a), s == policy.MethodSubject || before.LayerName() != "")
		d.new = newBook(rulesOf(s, b), s == policy.MethodSubject || after.LayerName() != "")
		if len(d.old.rules)+len(d.new.rules) == 0 && d.old.open == d.new.open {
			continue
		}
		d.compareModes()
		d.exhaustCases() // for what only texts in an uncommon spelling are answered
		d.noteUnmodelled()
	}
	d.compareLimits()
	d.compareTrust()
	d.compareBuiltins()
	if !before.AltersAlike(after, policy.OnCall) {
		d.classes = append(d.classes, CallClass{Undecided: true, Reason: reasonEdits})
	}
	if !alikeReplies(before, after) {
		d.classes = append(d.classes, CallClass{Undecided: true, Reason: ReasonReplies})
	}
	if !slices.EqualFunc(before.Layers(), after.Layers(), func(p, q *policy.Policy) bool { return p.Revision() == q.Revision() }) {
		d.classes = append(d.classes, CallClass{Undecided: true, Reason: reasonLayers})
	}
	return d.classes
}

// workOfAll is how many times the work of one question all of them may cost: some
// seconds.
const workOfAll = 6

// difference is the comparison of two policies.
type difference struct {
	*prover
	before, after *policy.Policy
	subject       policy.Subject
	old, new      *book
	classes       []CallClass
	places        map[[2]answered]int // of the classes, by their answers
	total         int                 // work that all questions may cost
	exhausted     *bool               // of the subject, once it was tried
}

func rulesOf(s policy.Subject, rules []rule) (out []*rule) {
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
	strict int
	rule   *rule // that decides; nil for none
	at     int   // its place among the rules of the subject
	needed []demand
	avoid  avoided
	// loose says that the answer may also be a stricter one: the deciding rule
	// matches perhaps, and what follows was not looked at.
	loose bool

	judged, idle bool // whether it is known, and so, that no call comes to it
}

// listModes gives all the ways to an answer. A deny decides whenever it matches, surely
// or perhaps; another answer holds when no stricter rule above even perhaps does.
func (b *book) listModes() []mode {
	var all []mode
	for i, r := range b.rules {
		avoid := avoided{book: b, first: i, strict: r.strict}
		if r.strict == strictDeny {
			all = append(all, mode{strict: r.strict, rule: r, at: i, needed: []demand{{r, r.vague}}, avoid: avoid})
			continue
		}
		all = append(all, mode{strict: r.strict, rule: r, at: i, needed: []demand{{rule: r}}, avoid: avoid})
		if r.strict != strictAllow && r.vague {
			all = append(all, mode{strict: r.strict, rule: r, at: i, needed: []demand{{r, true}}, avoid: avoid, loose: true})
		}
	}
	n := len(b.rules)
	none := mode{strict: strictDeny, at: n, avoid: avoided{book: b, first: n, strict: strictDeny}}
	if b.open {
		none.strict, none.avoid.strict = strictAllow, strictAllow
	}
	return append(all, none)
}

// exactModes lists what a loose mode becomes by the rule that ends the walk: one that
// is less strict and below, and that n, what it is compared with, leaves possible.
func (m *mode) exactModes(n *mode) (all []*mode, cost int) {
	if !m.loose {
		return []*mode{m}, 0
	}
	b := m.avoid.book
	ended := func(first int, by ...demand) {
		all = append(all, &mode{judged: true, strict: m.strict, rule: m.rule, at: m.at, needed: append([]demand{{m.rule, true}}, by...),
			avoid: avoided{book: b, first: first, but: m.rule, strict: m.strict}})
	}
	places, cost := b.nearRules(m.rule)
	for _, f := range places {
		if f <= m.at {
			continue
		}
		r := b.rules[f]
		if r.strict < m.strict && n.asksRule(r) {
			return all, cost + len(places) // it matches as well, and from here on the answer is stricter
		}
		if r.strict > m.strict && !n.avoid.isForbidden(demand{rule: r}) {
			ended(f, demand{rule: r})
		}
	}
	if b.open { // or no rule does
		ended(len(b.rules))
	}
	return all, cost + len(places)
}

// asksRule says that the mode needs a rule with the conditions of r.
func (m *mode) asksRule(r *rule) bool {
	return slices.ContainsFunc(m.needed, func(d demand) bool { return d.rule.same == r.same })
}

// excludesMode says that the modes contradict each other by rules with the same
// conditions: most pairs of two policies that share most rules do.
func (m *mode) excludesMode(n *mode) bool {
	return slices.ContainsFunc(m.needed, n.avoid.isForbidden) || slices.ContainsFunc(n.needed, m.avoid.isForbidden)
}

// differsFrom reports whether two modes answer differently.
func (m *mode) differsFrom(n *mode) bool {
	return m.strict != n.strict || m.strict == strictAllow && m.limitRate() != n.limitRate()
}

func (m *mode) limitRate() policy.Rate {
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
