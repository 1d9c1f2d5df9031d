package prove

import (
	"fmt"
	"slices"
	"strings"

	"github.com/clawai/clawai/policy"
)

// compare looks for a call for every pair of modes that answer differently.
func (d *difference) compare() {
	old, after := d.old.modes(), d.new.modes()
	starts := make([]int, len(d.new.rules)+2) // where the modes of each rule begin, and of none
	for j := range after {
		starts[after[j].at+1] = j + 1
	}
	for i := range old {
		m := &old[i]
		places := append(d.near(m), len(d.new.rules))
		for _, at := range places {
			for j := starts[at]; j < starts[at+1]; j++ {
				d.total--
				n := &after[j]
				if m.differs(n) && !m.excludes(n) && !m.apart(n) && !d.shown(m, n) {
					d.modes(m, n)
				}
				if d.total < 0 {
					d.stopped(m)
					return
				}
			}
		}
	}
}

// apart says, by the ends of globs, that no call is on a server of both modes.
func (m *mode) apart(n *mode) bool {
	return m.rule != nil && n.rule != nil && asunder(m.rule.server, n.rule.server)
}

// near lists the rules of the new policy that a mode of the old one may meet.
func (d *difference) near(m *mode) []int {
	if m.rule == nil {
		return d.new.all()
	}
	places, cost := d.new.near(m.rule)
	d.total -= cost
	return slices.Clip(places)
}

// modes compares two modes, of which each may be loose.
func (d *difference) modes(m, n *mode) {
	exact, cost := m.exact(n)
	d.total -= cost
	for _, me := range exact {
		others, cost := n.exact(me)
		d.total -= cost
		for _, ne := range others {
			if d.total < 0 {
				return
			}
			if !me.excludes(ne) && !d.shown(me, ne) {
				if a := d.pair(me, ne); d.total >= 0 {
					d.noteUndecided(me, ne, a)
				}
			}
		}
	}
}

// shown says that there is a witness for the answers of two modes.
func (d *difference) shown(m, n *mode) bool {
	was, is := m.answer(), n.answer()
	at, known := d.places[[2]answered{was.answered(), is.answered()}]
	return known && !d.classes[at].Undecided
}

// stopped notes that the work was spent at a mode of the old policy.
func (d *difference) stopped(m *mode) {
	at := d.subject.Key() + " calls that no rule of the old policy matches"
	if m.rule != nil {
		at = fmt.Sprintf("%s calls that the rule on line %d of the old policy decides, or one below it, or none", d.subject.Key(), m.rule.src.Pos.Line)
	}
	d.classes = append(d.classes, Class{Undecided: true, Reason: reasonStopped + at})
}

const reasonStopped = "the work that a comparison may cost is spent, and these were not compared: "

// pair looks for a call in both modes; what the policies answer differently is
// noted on the way.
func (d *difference) pair(m, n *mode) answer {
	needed := slices.Concat(m.needed, n.needed)
	switch q := (question{subject: d.subject, manner: tidy, unnamed: true, quick: true, needed: needed}); d.guess(q, m, n) {
	case found:
		return found
	case impossible:
		q.manner, q.others = free, true
		if d.question(q, func(_, _ *policy.Decision) bool { return false }) == impossible {
			return impossible // the modes need what no text is
		}
	}
	first, second := m, n
	if len(d.new.rules) < len(d.old.rules) {
		first, second = n, m // which is soon known, and often enough
	}
	if d.idle(first) || d.idle(second) {
		return impossible
	}
	avoid := d.avoid(m, n)
	shown := func(old, after *policy.Decision) bool {
		return strictOf(old) == m.strict && strictOf(after) == n.strict
	}
	// Only what argument readings and empty names add is left to the last of
	// these; each holds what those before it do.
	a, plain := impossible, impossible
	wide := question{subject: d.subject, unnamed: true, needed: needed, avoid: avoid}
	if d.possible(wide) {
		for _, q := range []question{{manner: tidy, unnamed: true}, {}, wide} {
			q.subject, q.needed, q.avoid = wide.subject, wide.needed, wide.avoid
			if a = d.question(q, shown); a == found {
				return found
			}
			if q.manner == tidy {
				plain = a
			}
		}
	}
	if a == open {
		wide.wary, wide.manner, wide.broken = true, tidy, true
		if d.question(wide, shown) == found {
			return found
		}
	}
	if wide.watched() && (a == open || a == impossible && plain == impossible) {
		more := wide
		more.further, more.wary, more.broken = true, false, false
		if d.question(more, shown) == found {
			return found
		}
	}
	if a == open && plain == impossible {
		return hidden
	}
	if a == impossible {
		q := question{subject: d.subject, unnamed: true, others: true, home: d.home, needed: needed, avoid: avoid}
		if d.question(q, shown) == found {
			return found
		}
	}
	return a
}

// idle says that it is proved: no call comes to a mode, whatever the other policy
// says.
func (d *difference) idle(m *mode) bool {
	if !m.judged {
		m.judged = true
		q := question{subject: d.subject, unnamed: true, others: true, needed: m.needed, avoid: d.avoid(m)}
		m.idle = !d.possible(q)
	}
	return m.idle
}

// avoid lists the rules that no mode may match and that have to do with one that
// is needed.
func (d *difference) avoid(ms ...*mode) (ds []demand) {
	var r *rule
	for _, m := range ms {
		for _, d := range m.needed {
			if _, literal := d.rule.names(); literal || r == nil {
				r = d.rule
			}
		}
	}
	for _, m := range ms {
		more, cost := m.avoid.demands(r)
		d.total -= cost
		ds = append(ds, more...)
	}
	return ds
}

// possible says that a question may have an answer, whatever the policies say of it.
func (d *difference) possible(q question) bool {
	q.doubts = true
	a, cost := d.once(q, func(candidate) bool { return true })
	d.total -= cost
	return a != impossible
}

// guess asks the policies about the first texts that come to hand, those of what is
// needed alone: in most pairs of modes nothing else has to do with them.
func (d *difference) guess(q question, m, n *mode) answer {
	was, is := m.answer(), n.answer()
	return d.question(q, func(old, after *policy.Decision) bool {
		o, a := AnswerBy(old.Action, old.Rule), AnswerBy(after.Action, after.Rule)
		return o.answered() == was.answered() && a.answered() == is.answered()
	})
}

// question asks one, and notes what the policies answer differently until shown
// says that it is enough.
func (d *difference) question(q question, shown func(old, after *policy.Decision) bool) answer {
	if d.total < 0 {
		return spent
	}
	q.doubts = true
	asked := map[string]bool{} // many texts make the same call, where constraints ask for examples
	a, cost := d.askAt(q, func(c candidate) bool {
		for _, call := range q.calls(c) {
			if d.total -= workOfCall; d.total < 0 {
				return true
			}
			key := strings.Join(append([]string{call.Server, call.Method, string(call.Args), fmt.Sprint(call.Finds, call.Screened, call.Assurances, call.Seen, call.At)}, call.Names...), "\x00")
			if asked[key] {
				continue
			}
			asked[key] = true
			d.total -= workOfDecision
			old, after := d.before.Decide(&call), d.after.Decide(&call)
			if !unlike(&old, &after) {
				continue
			}
			d.note(&call, &old, &after)
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

// What it costs to make a call and to ask two policies about it, in characters tried.
const (
	workOfCall     = 1 << 4
	workOfDecision = 1 << 7
)

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
	d.add(&Class{Old: AnswerBy(old.Action, old.Rule), New: AnswerBy(after.Action, after.Rule), Witness: c})
}

// noteUndecided notes what could not be decided of a pair.
func (d *difference) noteUndecided(m, n *mode, a answer) {
	reason := reasonWitness + m.opaque(n)
	switch a {
	case spent:
		reason = reasonWork
	case hidden:
		if d.exhaust() {
			return
		}
		reason = ReasonSpelling
	case open:
		if d.exhaust() {
			return
		}
	default:
		return
	}
	// What is known to change by these rules need not be doubted as well.
	d.add(&Class{Undecided: true, Reason: reason, Old: m.answer(), New: n.answer()})
}

// answered tells answers of one policy apart.
type answered struct {
	action    policy.Action
	outOfBand bool
	rule      int // -1: none
}

func (a *Answer) answered() answered {
	at := answered{a.Action, a.OutOfBand, -1}
	if a.Rule != nil {
		at.rule = a.Rule.Index
	}
	return at
}

// add keeps a class, unless there is one with the same answers that shows as much.
func (d *difference) add(c *Class) {
	key := [2]answered{c.Old.answered(), c.New.answered()}
	switch at, known := d.places[key]; {
	case !known:
		d.places[key] = len(d.classes)
		d.classes = append(d.classes, *c)
	case d.classes[at].Undecided && !c.Undecided:
		d.classes[at] = *c
	}
}

func (m *mode) answer() Answer {
	if m.rule == nil {
		var a Answer
		if m.strict == strictAllow {
			a.Action = policy.Allow
		}
		return a
	}
	return AnswerBy(m.rule.src.Action, &m.rule.src.Rule)
}
