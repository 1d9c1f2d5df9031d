package prove

import (
	"slices"

	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/policy/where"
)

// Options bounds the work.
type Options struct {
	// Work bounds the work for one question. Its unit is one character, tried with 64 states of the
	// automata. 0 stands for a default that takes at most a second or two.
	Work int
}

const defaultWork = 1 << 24

// Status is the result for one rule.
type Status uint8

// The zero value is Undecided.
const (
	Undecided Status = iota
	Reached          // some call reaches the rule: Witness
	Covered          // proved: rules above take every call that the rule matches
)

// Finding is the result for one rule.
type Finding struct {
	Rule   int // the rule's index
	Status Status

	// Witness is a call with a reading that the rule matches, surely or perhaps, and that no rule
	// above decides. Perhaps means that no call was found that the rule surely matches.
	Witness *policy.Call
	Perhaps bool

	// By lists the indexes of the rules above that take every call of a covered rule. No smaller set
	// was found.
	By []int
	// AsWritten means that the proof is about values as written only, and not about readings by
	// transformations.
	AsWritten bool
	// Bare means that the proof does not hold for calls with a further argument that a rule of By
	// watches for. Such a call reaches the rule.
	Bare bool

	Reason string // why the rule is undecided
}

// ReasonSpelling is the reason of an undecided class that can contain only calls with texts in an
// uncommon spelling, such as doubled slashes. Such texts have several readings, and none of the texts
// that were tried gave a different answer.
const ReasonSpelling = "ordinary spellings are proved to be answered alike; paths with escapes, dots, doubled slashes or in another letter case were tried, and none showed it"

// ReasonReplies is the reason of an undecided class about replies. CompareReplies compares the
// replies.
const ReasonReplies = "the rules about what comes back are not the same"

const (
	reasonLayers  = "the policies stand under layers that are not the same, and these were not compared"
	reasonEdits   = "the rules about what is taken out of servers' requests, or the packs, are not the same, and these were not compared"
	reasonReply   = "rules about replies are not checked by lint"
	reasonWork    = "too many combinations of rules"
	reasonWitness = "no call was found that shows it"
)

// Reach reports for each rule of a policy whether a call can reach it.
func Reach(p *policy.Policy, o Options) []Finding {
	return New(p, o).Reach()
}

// reachQuestions returns the questions for a call that matches a rule. The first questions find the
// plainest witnesses. If the answer to the last but one is impossible, this is the proof for values
// as written, and if the answer to the last is impossible, this is the proof for all values.
func reachQuestions(surely, perhaps demand) []question {
	return []question{
		{needed: []demand{surely}, manner: tidy, lenient: true},
		{needed: []demand{surely}, lenient: true},
		{needed: []demand{perhaps}, manner: tidy},
		{needed: []demand{perhaps}},
		{needed: []demand{perhaps}, others: true},
		{needed: []demand{perhaps}, unnamed: true},
		{needed: []demand{perhaps}, unnamed: true, others: true},
	}
}

func (pr *prover) reachRule(p *policy.Policy, rules []rule, i int) Finding {
	f := Finding{Rule: i}
	r := &rules[i]
	if r.src.Subject == policy.NoSubject {
		return Finding{Rule: i, Reason: reasonReply}
	}
	q := question{subject: r.src.Subject}
	for k := range rules[:i] {
		if rules[k].src.Subject == q.subject {
			q.avoid = append(q.avoid, demand{rule: &rules[k]})
		}
	}
	witness := func(q *question) func(candidate) bool {
		return func(c candidate) bool {
			for _, call := range q.listCalls(c) {
				if t := p.Trace(&call); slices.Contains(t.ReachedRules(), i) {
					f = Finding{Rule: i, Status: Reached, Witness: &call, Perhaps: t.Steps[i].Match != where.Yes}
					return true
				}
			}
			return false
		}
	}
	a := impossible
	for _, at := range reachQuestions(demand{rule: r}, demand{r, r.vague}) {
		at.subject, at.avoid, at.home, at.bare = q.subject, q.avoid, pr.home, true
		if a = pr.askQuestion(at, witness(&at)); a == found {
			return f
		}
		if !at.others {
			f.AsWritten = a == impossible
		} else if a == impossible {
			f.AsWritten = false
		}
	}
	broken, wanted := lineBreakQuestion(rules, i)
	broken.bare = true
	if wanted && a != spent && pr.askQuestion(broken, witness(&broken)) == found {
		return f
	}
	switch {
	case a == impossible, f.AsWritten:
	case a == spent:
		f.Reason = reasonWork
		return f
	default:
		f.Reason = reasonWitness
		return f
	}
	f.AsWritten = f.AsWritten || wanted && !pr.coversPadded(rules, i)
	f.AsWritten = f.AsWritten || r.holdsJSONText() || !isRooted(rules, i)
	f.By = pr.findCovering(q.avoid, r)
	if pr.beyondText(r) || slices.ContainsFunc(f.By, func(k int) bool { return pr.beyondText(&rules[k]) }) {
		return Finding{Rule: i, Reason: ReasonWindows}
	}
	if slices.ContainsFunc(f.By, func(k int) bool { return escapesBuiltin(rules[k].src) }) {
		return Finding{Rule: i, Reason: reasonEscapes}
	}
	f.Status = Covered
	f.Bare = slices.ContainsFunc(f.By, func(k int) bool { return rules[k].watches })
	return f
}

// findCovering removes rules from a set of rules that covers r, as long as the remaining rules still
// cover r.
func (pr *prover) findCovering(above []demand, r *rule) (by []int) {
	covers := func(ds []demand) bool {
		q := question{subject: r.src.Subject, needed: []demand{{r, true}}, avoid: ds, bare: true}
		return pr.askQuestion(q, func(candidate) bool { return true }) == impossible
	}
	left := slices.Clone(above)
	// Remove many rules at once first, then single rules. Begin with the last rules: the rules that
	// stay are then the first ones.
	for size := len(left) / 2; size >= 1; size /= 2 {
		for to := len(left); to > 0; to -= size {
			without := slices.Delete(slices.Clone(left), max(0, to-size), to)
			if covers(without) {
				left = without
			}
		}
	}
	for _, d := range left {
		by = append(by, d.rule.src.Index)
	}
	return by
}
