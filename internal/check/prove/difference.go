package prove

import (
	"slices"

	"github.com/clawai/clawai/policy"
)

// Answer is the answer of a policy to a call.
type Answer struct {
	Action    policy.Action
	OutOfBand bool         // of a prompt
	Rule      *policy.Rule // the deciding rule; nil when none matched
}

// AnswerBy returns the answer that rule r gives; a nil r stands for no rule.
func AnswerBy(a policy.Action, r *policy.Rule) Answer {
	return Answer{Action: a, OutOfBand: r != nil && r.OutOfBand, Rule: r}
}

// CallClass is a group of calls that two policies answer differently, by the
// same rules.
type CallClass struct {
	// Undecided means that such calls may exist but none was found; Reason
	// tells why. Then there is no witness, and Old and New are the answers that
	// could differ; see IsWhole.
	Undecided bool
	Reason    string

	Old, New Answer
	Witness  *policy.Call // both policies were asked about this call
}

// IsWhole reports whether the class names no answers: then any call that Reason
// describes may be answered differently.
func (c *CallClass) IsWhole() bool {
	return c.Undecided && c.Old == Answer{} && c.New == Answer{}
}

// Difference lists, by classes, the calls that two policies answer differently.
// An empty list proves that there is no such call in the model of this package.
// Some readings by transformations are decided: doubled and closing slashes and
// letter case, for globs of ASCII letters, digits, _, - and slashes in moderate
// numbers (exhaust.go). For other readings the list has only calls that were
// found. Two answers differ in the action, in who may be asked, or in the limit
// of allowed calls. Both policies must use the same home. Layers above them are
// compared only by their revisions.
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
		d.exhaustCases() // calls with uncommon spellings only
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

// workOfAll bounds the work of all questions together, as a multiple of one
// question's work: some seconds.
const workOfAll = 6

// difference is the comparison of two policies.
type difference struct {
	*prover
	before, after *policy.Policy
	subject       policy.Subject
	old, new      *book
	classes       []CallClass
	places        map[[2]answered]int // index of each class, by its answers
	total         int                 // work left for all questions
	exhausted     *bool               // result of exhaustCases for the subject; nil before the first try
}

func rulesOf(s policy.Subject, rules []rule) (out []*rule) {
	for i := range rules {
		if rules[i].src.Subject == s {
			out = append(out, &rules[i])
		}
	}
	return out
}

// mode is one way in which a policy arrives at an answer: the rules that match
// and the rules that do not.
type mode struct {
	strict int
	rule   *rule // the deciding rule; nil for none
	at     int   // index of the rule within its subject
	needed []demand
	avoid  avoided
	// loose means that the answer may be stricter than strict: the deciding rule
	// matches perhaps, and the rules below it were not looked at.
	loose bool

	judged, idle bool // judged: idle is known; idle: no call reaches the mode
}

// listModes returns all modes. A deny decides whenever it matches, surely or
// perhaps. Another answer holds only if no stricter rule above matches even
// perhaps.
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

// exactModes splits a loose mode by the rule that ends the evaluation: a less
// strict rule below, which mode n permits.
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
			return all, cost + len(places) // r matches as well, and from here on the answer is stricter
		}
		if r.strict > m.strict && !n.avoid.isForbidden(demand{rule: r}) {
			ended(f, demand{rule: r})
		}
	}
	if b.open { // no rule ends it
		ended(len(b.rules))
	}
	return all, cost + len(places)
}

// asksRule reports whether the mode needs a rule with the conditions of r.
func (m *mode) asksRule(r *rule) bool {
	return slices.ContainsFunc(m.needed, func(d demand) bool { return d.rule.same == r.same })
}

// excludesMode reports whether two modes contradict each other by rules with
// the same conditions. Most pairs do when two policies share most rules.
func (m *mode) excludesMode(n *mode) bool {
	return slices.ContainsFunc(m.needed, n.avoid.isForbidden) || slices.ContainsFunc(n.needed, m.avoid.isForbidden)
}

// differsFrom reports whether two modes have different answers.
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
