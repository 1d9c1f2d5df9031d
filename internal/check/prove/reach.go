package prove

import (
	"slices"

	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/policy/where"
)

// Options limits the work of this package.
type Options struct {
	// Work limits the work for one question. One unit is one character that is tried with 64 states
	// of the automata. 0 stands for a limit that is reached after at most a second or two.
	Work int
	// If Done is closed, the search ends: the work for each further question counts as spent. If
	// Done is nil, nothing ends the search early.
	Done <-chan struct{}
}

const defaultWork = 1 << 24

// Status tells whether a call can reach a rule.
type Status uint8

// Values of Status. The zero value is Undecided.
const (
	Undecided Status = iota
	Reached          // some call reaches the rule; Finding.Witness is one
	Covered          // it is proved that rules above decide every call that the rule matches
)

// Finding is the result for one rule.
type Finding struct {
	Rule   int // index of the rule in the policy
	Status Status

	// Witness is a call with a reading that the rule matches and that no rule above decides.
	// Perhaps means that no call was found which the rule surely matches.
	Witness *policy.Call
	Perhaps bool

	// By are the indexes of the rules above that together decide every call of a covered rule. No
	// smaller set was found.
	By []int
	// AsWritten means that the proof is only for values as written, and not for readings by
	// transformations.
	AsWritten bool
	// Bare means that the proof is not valid for calls with a further argument for which a rule in
	// By watches. Such a call reaches the rule.
	Bare bool

	Reason string // why the rule is undecided
}

// ReasonSpelling is the reason of an undecided class with only calls in an uncommon spelling, such
// as doubled slashes. Texts in such a spelling have several readings. None of the texts that were
// tried got different answers.
const ReasonSpelling = "ordinary spellings are proved to be answered alike; paths with escapes, dots, doubled slashes or in another letter case were tried, and none showed it"

// ReasonReplies is the reason of an undecided class about replies. CompareReplies compares replies.
const ReasonReplies = "the rules about what comes back are not the same"

const (
	reasonLayers  = "the policies stand under layers that are not the same, and these were not compared"
	reasonEdits   = "the rules about what is taken out of servers' requests, or the packs, are not the same, and these were not compared"
	reasonReply   = "rules about replies are not checked by lint"
	reasonWork    = "too many combinations of rules"
	reasonWitness = "no call was found that shows it"
)

// Reach tells for each rule of a policy whether some call can reach it.
func Reach(p *policy.Policy, o Options) []Finding {
	return New(p, o).Reach()
}

// reachQuestions returns the questions to find a call that matches a rule. The first ones find the
// witnesses that are easiest to read. If the last question is impossible, that is the proof for all
// values; if the last but one is impossible, that is the proof for values as written.
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

// findCovering removes rules from a set that covers r, as long as the remaining rules still cover
// r. It returns the indexes of the remaining rules.
func (pr *prover) findCovering(above []demand, r *rule) (by []int) {
	covers := func(ds []demand) bool {
		q := question{subject: r.src.Subject, needed: []demand{{r, true}}, avoid: ds, bare: true}
		return pr.askQuestion(q, func(candidate) bool { return true }) == impossible
	}
	left := slices.Clone(above)
	// Remove many rules at once first, and single rules later. Begin with the last rules, so that
	// the first rules remain.
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
