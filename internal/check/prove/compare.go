package prove

import (
	"fmt"
	"slices"
	"strings"

	"github.com/clawai/clawai/policy"
)

// compareModes takes each pair of modes with different answers, one of the old and one of the new
// policy. It looks for a call in both modes.
func (d *difference) compareModes() {
	old, after := d.old.listModes(), d.new.listModes()
	starts := make([]int, len(d.new.rules)+2) // the modes of rule i of the new policy are after[starts[i]:starts[i+1]]; the last range is the mode without a rule
	for j := range after {
		starts[after[j].at+1] = j + 1
	}
	for i := range old {
		m := &old[i]
		places := append(d.nearPlaces(m), len(d.new.rules))
		for _, at := range places {
			for j := starts[at]; j < starts[at+1]; j++ {
				if d.total--; d.isDone() {
					d.total = -1
				}
				n := &after[j]
				if m.differsFrom(n) && !m.excludesMode(n) && !m.onOtherServer(n) && !d.hasWitness(m, n) {
					d.comparePair(m, n)
				}
				if d.total < 0 {
					d.noteStopped(m)
					return
				}
			}
		}
	}
}

// onOtherServer reports whether it is proved, by the ends of the globs, that no server matches the
// rules of both modes.
func (m *mode) onOtherServer(n *mode) bool {
	return m.rule != nil && n.rule != nil && areAsunder(m.rule.server, n.rule.server)
}

// nearPlaces returns the indexes of the new policy's rules that may match a call in mode m of the
// old policy.
func (d *difference) nearPlaces(m *mode) []int {
	if m.rule == nil {
		return d.new.allPlaces()
	}
	places, cost := d.new.nearRules(m.rule)
	d.total -= cost
	return slices.Clip(places)
}

// comparePair compares a mode of the old policy with a mode of the new one. A loose mode is first
// split into exact modes.
func (d *difference) comparePair(m, n *mode) {
	exact, cost := m.exactModes(n)
	d.total -= cost
	for _, me := range exact {
		others, cost := n.exactModes(me)
		d.total -= cost
		for _, ne := range others {
			if d.total < 0 {
				return
			}
			if !me.excludesMode(ne) && !d.hasWitness(me, ne) {
				if a := d.findPairCall(me, ne); d.total >= 0 {
					d.noteUndecided(me, ne, a)
				}
			}
		}
	}
}

// hasWitness reports whether a call with the answers of these two modes was already found.
func (d *difference) hasWitness(m, n *mode) bool {
	was, is := m.modeAnswer(), n.modeAnswer()
	at, known := d.places[[2]answerID{was.answerKey(), is.answerKey()}]
	return known && !d.classes[at].Undecided
}

// noteStopped records that the work limit was reached at mode m of the old policy.
func (d *difference) noteStopped(m *mode) {
	at := d.subject.RuleKey() + " calls that no rule of the old policy matches"
	if m.rule != nil {
		at = fmt.Sprintf("%s calls that the rule on line %d of the old policy decides, or one below it, or none", d.subject.RuleKey(), m.rule.src.Pos.Line)
	}
	d.classes = append(d.classes, CallClass{Undecided: true, Reason: reasonStopped + at})
}

const reasonStopped = "the work that a comparison may cost is spent, and these were not compared: "

// findPairCall looks for a call that is in both modes. It also records other differences that it
// finds during the search.
func (d *difference) findPairCall(m, n *mode) answer {
	needed := slices.Concat(m.needed, n.needed)
	switch q := (question{subject: d.subject, manner: tidy, unnamed: true, quick: true, needed: needed}); d.guessCall(q, m, n) {
	case found:
		return found
	case impossible:
		q.manner, q.others = free, true
		if d.askPolicies(q, func(_, _ *policy.Decision) bool { return false }) == impossible {
			return impossible // no text can be in both modes
		}
	}
	first, second := m, n
	if len(d.new.rules) < len(d.old.rules) {
		first, second = n, m // check the smaller policy first, because that is faster and one proof is often enough
	}
	if d.isIdle(first) || d.isIdle(second) {
		return impossible
	}
	avoid := d.avoidedRules(m, n)
	shown := func(old, after *policy.Decision) bool {
		return strictOf(old) == m.strict && strictOf(after) == n.strict
	}
	// Ask first about plain texts, then about all texts, and last also about empty names. Each
	// question includes the calls of the question before it.
	a, plain := impossible, impossible
	wide := question{subject: d.subject, unnamed: true, needed: needed, avoid: avoid}
	if d.isPossible(wide) {
		for _, q := range []question{{manner: tidy, unnamed: true}, {}, wide} {
			q.subject, q.needed, q.avoid = wide.subject, wide.needed, wide.avoid
			if a = d.askPolicies(q, shown); a == found {
				return found
			}
			if q.manner == tidy {
				plain = a
			}
		}
	}
	if a == open {
		wide.wary, wide.manner, wide.broken = true, tidy, true
		if d.askPolicies(wide, shown) == found {
			return found
		}
	}
	if wide.watchesExtras() && (a == open || a == impossible && plain == impossible) {
		more := wide
		more.further, more.wary, more.broken = true, false, false
		if d.askPolicies(more, shown) == found {
			return found
		}
	}
	if a == open && plain == impossible {
		return hidden
	}
	if a == impossible {
		q := question{subject: d.subject, unnamed: true, others: true, home: d.home, needed: needed, avoid: avoid}
		if d.askPolicies(q, shown) == found {
			return found
		}
	}
	return a
}

// isIdle reports whether it is proved that no call is in the mode. The other policy does not
// matter.
func (d *difference) isIdle(m *mode) bool {
	if !m.judged {
		m.judged = true
		q := question{subject: d.subject, unnamed: true, others: true, needed: m.needed, avoid: d.avoidedRules(m)}
		m.idle = !d.isPossible(q)
	}
	return m.idle
}

// avoidedRules lists the rules that must not match in the modes and that may have a name in common
// with a rule that must match.
func (d *difference) avoidedRules(ms ...*mode) (ds []demand) {
	var r *rule
	for _, m := range ms {
		for _, d := range m.needed {
			if _, literal := d.rule.literalNames(); literal || r == nil {
				r = d.rule
			}
		}
	}
	for _, m := range ms {
		more, cost := m.avoid.listDemands(r)
		d.total -= cost
		ds = append(ds, more...)
	}
	return ds
}

// isPossible reports whether the model has a call for the question. It does not let the policies
// judge the call.
func (d *difference) isPossible(q question) bool {
	q.doubts = true
	a, cost := d.askLooks(q, func(candidate) bool { return true })
	d.total -= cost
	return a != impossible
}

// guessCall lets both policies judge calls with the first texts that match the needed rules. This
// is enough for most pairs of modes, because usually no other rule matters.
func (d *difference) guessCall(q question, m, n *mode) answer {
	was, is := m.modeAnswer(), n.modeAnswer()
	return d.askPolicies(q, func(old, after *policy.Decision) bool {
		o, a := AnswerBy(old.Action, old.Rule), AnswerBy(after.Action, after.Rule)
		return o.answerKey() == was.answerKey() && a.answerKey() == is.answerKey()
	})
}

// askPolicies answers one question. It lets both policies judge each candidate, and records the
// answers that differ. It stops as soon as the given function returns true.
func (d *difference) askPolicies(q question, shown func(old, after *policy.Decision) bool) answer {
	if d.total < 0 {
		return spent
	}
	q.doubts = true
	judged := map[string]bool{} // two candidates may give the same call, because examples replace their texts
	a, cost := d.askWithCost(q, func(c candidate) bool {
		for _, call := range q.listCalls(c) {
			if d.total -= workOfCall; d.total < 0 {
				return true
			}
			key := strings.Join(append([]string{call.Server, call.Method, string(call.Args), fmt.Sprint(call.Finds, call.Screened, call.Facts)}, call.Names...), "\x00")
			if judged[key] {
				continue
			}
			judged[key] = true
			d.total -= workOfDecision
			old, after := d.before.Decide(&call), d.after.Decide(&call)
			if !differInAnswer(&old, &after) {
				continue
			}
			d.noteWitness(&call, &old, &after)
			if shown(&old, &after) {
				return true
			}
		}
		return false
	})
	if d.total -= cost; d.total < 0 {
		return spent
	}
	return a
}

// Cost of making a call and of letting both policies judge the call, in the unit of Options.Work.
const (
	workOfCall     = 1 << 4
	workOfDecision = 1 << 7
)

// differInAnswer reports whether two decisions differ in the action, in the persons who may be
// asked, or in the limit of an allow.
func differInAnswer(a, b *policy.Decision) bool {
	return strictOf(a) != strictOf(b) || a.Action == policy.Allow && limitOf(a.Rule) != limitOf(b.Rule) ||
		approvalOf(a.Action, a.Rule) != approvalOf(b.Action, b.Rule)
}

func strictOf(d *policy.Decision) int {
	switch d.Action {
	case policy.Allow:
		return strictAllow
	case policy.Deny:
		return strictDeny
	}
	if d.Rule != nil {
		return strictness(d.Rule)
	}
	return strictAsk
}

// noteWitness records a call with different answers as the witness of its class, if the class has
// none.
func (d *difference) noteWitness(c *policy.Call, old, after *policy.Decision) {
	d.addClass(&CallClass{Old: AnswerBy(old.Action, old.Rule), New: AnswerBy(after.Action, after.Rule), Witness: c})
}

// noteUndecided records that it could not be decided whether a call is in both modes.
func (d *difference) noteUndecided(m, n *mode, a answer) {
	reason := reasonWitness + m.opaqueReason(n)
	switch a {
	case spent:
		reason = reasonWork
	case hidden:
		if d.exhaustCases() {
			return
		}
		reason = ReasonSpelling
	case open:
		if d.exhaustCases() {
			return
		}
	default:
		return
	}
	// If a class with these answers has a witness, addClass ignores this class.
	d.addClass(&CallClass{Undecided: true, Reason: reason, Old: m.modeAnswer(), New: n.modeAnswer()})
}

// answerID identifies an answer of a policy.
type answerID struct {
	action    policy.Action
	outOfBand bool
	approval  string
	rule      int // index of the rule that decides; -1 if none does
}

func (a *Answer) answerKey() answerID {
	at := answerID{a.Action, a.OutOfBand, a.Approval, -1}
	if a.Rule != nil {
		at.rule = a.Rule.Index
	}
	return at
}

// addClass adds a class of calls. If a class with the same answers is known, the known class is
// kept; but a class with a witness replaces an undecided class.
func (d *difference) addClass(c *CallClass) {
	key := [2]answerID{c.Old.answerKey(), c.New.answerKey()}
	switch at, known := d.places[key]; {
	case !known:
		d.places[key] = len(d.classes)
		d.classes = append(d.classes, *c)
	case d.classes[at].Undecided && !c.Undecided:
		d.classes[at] = *c
	}
}

func (m *mode) modeAnswer() Answer {
	if m.rule == nil {
		var a Answer
		if m.strict == strictAllow {
			a.Action = policy.Allow
		}
		return a
	}
	return AnswerBy(m.rule.src.Action, &m.rule.src.Rule)
}
