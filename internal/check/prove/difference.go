package prove

import (
	"slices"

	"github.com/clawai/clawai/policy"
)

// Answer is the answer of a policy to a call.
type Answer struct {
	Action    policy.Action
	OutOfBand bool         // for a prompt: a person must be asked outside the client
	Approval  string       // for a prompt: who at a team's centre must allow it, in words; "" for the person at the machine
	Rule      *policy.Rule // the deciding rule; nil when none matched
}

// AnswerBy returns the answer with action a that rule r gives. r is nil if no rule decides.
func AnswerBy(a policy.Action, r *policy.Rule) Answer {
	return Answer{Action: a, OutOfBand: r != nil && r.OutOfBand, Approval: approvalOf(a, r), Rule: r}
}

// approvalOf returns, in words, who must allow the call if the answer is a prompt. It returns ""
// for other answers, and for a prompt to the person at the machine.
func approvalOf(a policy.Action, r *policy.Rule) string {
	if a != policy.Prompt || r == nil {
		return ""
	}
	return r.Approval.String()
}

// CallClass is a group of calls that two policies answer differently: all calls with the answer Old
// by the old policy and New by the new policy.
type CallClass struct {
	// Undecided means that such calls may exist but none was found; Reason says why. Then Witness
	// is nil, and Old and New are the answers that could differ; see IsWhole.
	Undecided bool
	Reason    string

	Old, New Answer
	Witness  *policy.Call // an example that both policies have judged
}

// IsWhole reports whether the class is undecided and has no answers: then any call that Reason
// describes may be answered differently.
func (c *CallClass) IsWhole() bool {
	return c.Undecided && c.Old == Answer{} && c.New == Answer{}
}

// Difference lists, by classes, the calls that two policies answer differently. Two answers differ
// if the action, the persons who may be asked, or the limit of allowed calls differ. An empty list
// proves that there is no such call in the model of this package. Of the readings by
// transformations, the proof includes only doubled and closing slashes and letter case, for moderate
// numbers of globs of ASCII letters, digits, _, - and slashes (exhaust.go). For other readings, the
// list has only calls that were found. Both policies must use the same home folder. Layers above
// them are compared only by their revisions.
func Difference(before, after *policy.Policy, o Options) []CallClass {
	pr := newProver(o)
	pr.windows = before.OS() == policy.Windows || after.OS() == policy.Windows
	d := difference{prover: pr, before: before, after: after, places: map[[2]answerID]int{}, total: workOfAll * pr.work}
	a, b := pr.readRules(before), pr.readRules(after)
	for s := policy.ToolSubject; s <= policy.MethodSubject; s++ {
		d.subject, d.exhausted = s, nil
		d.old = newBook(rulesOf(s, a), s == policy.MethodSubject || before.LayerName() != "")
		d.new = newBook(rulesOf(s, b), s == policy.MethodSubject || after.LayerName() != "")
		if len(d.old.rules)+len(d.new.rules) == 0 && d.old.open == d.new.open {
			continue
		}
		d.compareModes()
		d.exhaustCases() // also finds calls that differ only in an uncommon spelling
		d.noteUnmodelled()
	}
	d.compareApprovers(a, b)
	d.compareLimits()
	d.compareTrust()
	d.compareBuiltins()
	if !before.AltersAlike(after, policy.OnCall) {
		d.classes = append(d.classes, CallClass{Undecided: true, Reason: reasonEdits})
	}
	if !AlikeReplies(before, after) {
		d.classes = append(d.classes, CallClass{Undecided: true, Reason: ReasonReplies})
	}
	if !slices.EqualFunc(before.Layers(), after.Layers(), func(p, q *policy.Policy) bool { return p.Revision() == q.Revision() }) {
		d.classes = append(d.classes, CallClass{Undecided: true, Reason: reasonLayers})
	}
	return d.classes
}

// workOfAll bounds the work of all questions together, as a multiple of the limit for one question.
// The limit is some seconds.
const workOfAll = 6

// difference is the comparison of two policies.
type difference struct {
	*prover
	before, after *policy.Policy
	subject       policy.Subject
	old, new      *book
	classes       []CallClass
	places        map[[2]answerID]int // index of each class, by its answers
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

// mode is one way in which a policy comes to an answer: the rules that must match (needed), and the
// rules that must not match (avoid).
type mode struct {
	strict int   // strictness of the answer
	rule   *rule // the deciding rule; nil for none
	at     int   // index of the rule within its subject
	needed []demand
	avoid  avoidance
	// loose means that the answer may be stricter than strict: the deciding rule matches perhaps,
	// and the mode does not say how the rules below it go on.
	loose bool

	judged bool // idle is known
	idle   bool // no call reaches the mode
}

// listModes returns all modes. A deny decides whenever it matches, surely or
// perhaps. Another answer holds only if no stricter rule above matches even
// perhaps.
func (b *book) listModes() []mode {
	var all []mode
	for i, r := range b.rules {
		avoid := avoidance{book: b, count: i, strict: r.strict}
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
	none := mode{strict: strictDeny, at: n, avoid: avoidance{book: b, count: n, strict: strictDeny}}
	if b.open {
		none.strict, none.avoid.strict = strictAllow, strictAllow
	}
	return append(all, none)
}

// exactModes splits a loose mode into one mode for each less strict rule below that may end the
// evaluation. It omits rules that mode n forbids.
func (m *mode) exactModes(n *mode) (all []*mode, cost int) {
	if !m.loose {
		return []*mode{m}, 0
	}
	b := m.avoid.book
	addMode := func(count int, by ...demand) {
		all = append(all, &mode{judged: true, strict: m.strict, rule: m.rule, at: m.at, needed: append([]demand{{m.rule, true}}, by...),
			avoid: avoidance{book: b, count: count, exception: m.rule, strict: m.strict}})
	}
	places, cost := b.nearRules(m.rule)
	for _, f := range places {
		if f <= m.at {
			continue
		}
		r := b.rules[f]
		if r.strict < m.strict && n.asksRule(r) {
			return all, cost + len(places) // mode n needs r to match, so the answer is stricter in all further modes
		}
		if r.strict > m.strict && !n.avoid.isForbidden(demand{rule: r}) {
			addMode(f, demand{rule: r})
		}
	}
	if b.open { // a call that no rule ends is allowed
		addMode(len(b.rules))
	}
	return all, cost + len(places)
}

// asksRule reports whether the mode needs a rule with the conditions of r.
func (m *mode) asksRule(r *rule) bool {
	return slices.ContainsFunc(m.needed, func(d demand) bool { return d.rule.same == r.same })
}

// excludesMode reports whether one of two modes needs a rule, and the other must avoid a rule with
// the same conditions. If two policies share most rules, this holds for most pairs of modes.
func (m *mode) excludesMode(n *mode) bool {
	return slices.ContainsFunc(m.needed, n.avoid.isForbidden) || slices.ContainsFunc(n.needed, m.avoid.isForbidden)
}

// differsFrom reports whether two modes have different answers.
func (m *mode) differsFrom(n *mode) bool {
	return m.strict != n.strict || m.strict == strictAllow && m.limitRate() != n.limitRate() ||
		m.strict == strictAskApprovers && !m.rule.src.Approval.IsEqual(n.rule.src.Approval)
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

// compareApprovers notes the calls that two rules with different approvers may match. Such a call is
// denied, but no mode contains this denial.
func (d *difference) compareApprovers(old, after []rule) {
	was, mixedBefore := listApprovals(old)
	is, mixedAfter := listApprovals(after)
	if (mixedBefore || mixedAfter) && !slices.Equal(was, is) {
		d.classes = append(d.classes, CallClass{Undecided: true, Reason: reasonApprovers})
	}
}

const reasonApprovers = "rules with approvers differ, and a call that two rules with different approvers may match is denied; such calls were not compared"

// approved is a rule with approvers: its conditions, and who must allow.
type approved struct {
	same  int
	wants string
}

// listApprovals returns the rules with approvers in a form to compare. mixed means that they do not all
// have the same approvers, and that one of them may match a call perhaps.
func listApprovals(rules []rule) (list []approved, mixed bool) {
	vague := false
	for i := range rules {
		if a := rules[i].src.Approval; a != nil {
			list = append(list, approved{rules[i].same, a.String()})
			vague = vague || rules[i].vague
			mixed = mixed || a.String() != list[0].wants
		}
	}
	return list, mixed && vague
}
