package prove

import (
	"slices"

	"github.com/clawai/clawai/policy"
)

// Answer is how a policy answers a call.
type Answer struct {
	Action    policy.Action
	OutOfBand bool         // for a prompt: only a person outside the client may be asked
	Approval  string       // for a prompt: the approvers at a team's centre, in words; "" if the person at the machine is asked
	Rule      *policy.Rule // the rule that decides; nil if no rule matches
}

// AnswerBy returns the answer that rule r gives with the action in the parameter a. The rule is nil
// if no rule decides.
func AnswerBy(a policy.Action, r *policy.Rule) Answer {
	return Answer{Action: a, OutOfBand: r != nil && r.OutOfBand, Approval: approvalOf(a, r), Rule: r}
}

// approvalOf returns, in words, the approvers who must allow the call if the answer is a prompt. It
// returns "" for other answers, and if the person at the machine is asked.
func approvalOf(a policy.Action, r *policy.Rule) string {
	if a != policy.Prompt || r == nil {
		return ""
	}
	return r.Approval.String()
}

// CallClass is a class of calls that two policies answer differently. The old policy gives the
// answer Old to all of them, and the new policy the answer New.
type CallClass struct {
	// Undecided means that there may be such calls, but none was found. Reason tells why. Then
	// Witness is nil, and Old and New are the possible answers; but see IsWhole.
	Undecided bool
	Reason    string

	Old, New Answer
	Witness  *policy.Call // an example, judged by both policies
}

// IsWhole reports whether an undecided class has no Old and no New. Then any call that Reason
// describes may be answered differently.
func (c *CallClass) IsWhole() bool {
	return c.Undecided && c.Old == Answer{} && c.New == Answer{}
}

// Difference returns the classes of calls that two policies answer differently. Two answers differ
// if the action, the persons who may be asked, or the limit of allowed calls differ. An empty
// result proves that there is no such call in the model of this package.
//
// For readings by transformations, this proof is limited: it covers doubled slashes, slashes at the
// end and letter case, for a moderate number of globs with ASCII letters, digits, _, - and slashes
// (exhaust.go). For other readings the result has only calls that were found. Both policies must
// use the same home folder. Layers above them are compared only by their revisions.
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
		d.exhaustCases() // this also finds calls in an uncommon spelling that are answered differently
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

// workOfAll limits the work for all questions together, as a multiple of the limit for one
// question. The limit is reached after some seconds.
const workOfAll = 6

// difference is the comparison of two policies.
type difference struct {
	*prover
	before, after *policy.Policy
	subject       policy.Subject
	old, new      *book
	classes       []CallClass
	places        map[[2]answerID]int // index of each class, by its two answers
	total         int                 // the work that is left for all questions
	exhausted     *bool               // result of exhaustCases for the current subject; nil before it was called
}

func rulesOf(s policy.Subject, rules []rule) (out []*rule) {
	for i := range rules {
		if rules[i].src.Subject == s {
			out = append(out, &rules[i])
		}
	}
	return out
}

// mode is a way in which a policy comes to an answer. It consists of rules that must match (needed)
// and rules that must not match (avoid).
type mode struct {
	strict int   // strictness of the answer
	rule   *rule // the rule that decides; nil if none does
	at     int   // index of the rule among the rules of its subject
	needed []demand
	avoid  avoidance
	// loose means that the answer may be stricter than the field strict says. The rule that decides
	// matches only perhaps, and the rules below it may give a stricter answer.
	loose bool

	judged bool // the field idle is set
	idle   bool // it is proved that no call is in the mode
}

// listModes returns all modes of a policy. A rule that denies decides if it matches surely or
// perhaps. Another rule decides only if no stricter rule above it matches, surely or perhaps.
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

// exactModes splits a loose mode. It returns one mode for each less strict rule below that may end
// the evaluation. It leaves out rules that cannot match in mode n.
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
			return all, cost + len(places) // rule r must match in mode n, so the answer in all further modes would be stricter
		}
		if r.strict > m.strict && !n.avoid.isForbidden(demand{rule: r}) {
			addMode(f, demand{rule: r})
		}
	}
	if b.open { // a call for which no rule ends the evaluation is allowed
		addMode(len(b.rules))
	}
	return all, cost + len(places)
}

// asksRule reports whether a rule with the conditions of r must match in the mode.
func (m *mode) asksRule(r *rule) bool {
	return slices.ContainsFunc(m.needed, func(d demand) bool { return d.rule.same == r.same })
}

// excludesMode reports whether a rule must match in one of the modes, and a rule with the same
// conditions must not match in the other. If two policies have most rules in common, this is so for
// most pairs of modes.
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

// compareApprovers adds an undecided class if rules with approvers differ. A call that two rules
// with different approvers may match is denied, and no mode describes this denial.
func (d *difference) compareApprovers(old, after []rule) {
	was, mixedBefore := listApprovals(old)
	is, mixedAfter := listApprovals(after)
	if (mixedBefore || mixedAfter) && !slices.Equal(was, is) {
		d.classes = append(d.classes, CallClass{Undecided: true, Reason: reasonApprovers})
	}
}

const reasonApprovers = "rules with approvers differ, and a call that two rules with different approvers may match is denied; such calls were not compared"

// approved is a rule with approvers. same is a number that is equal for rules with equal
// conditions. wants names the approvers.
type approved struct {
	same  int
	wants string
}

// listApprovals returns the rules with approvers. mixed means that the rules have different
// approvers and that one of them can match a call perhaps.
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
