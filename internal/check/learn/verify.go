package learn

import (
	"fmt"
	"slices"
	"sort"

	"github.com/clawai/clawai/internal/check/replay"
	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/policy"
)

// verifyRules tests the rules in a policy and returns those that pass. A rule passes if it gives
// the intended answer to calls from which it was learned, and if every denied call is still denied.
// A call that gets another answer is removed from the calls of the rule.
func (l *Learner) verifyRules(rules []*Rule) []*Rule {
	var kept []*Rule
	for _, r := range rules {
		if why := l.verifyRule(r); why != "" {
			l.Skipped[why] += r.Tally.Calls
			continue
		}
		kept = append(kept, r)
	}
	return kept
}

// verifyRule tests a rule in a policy with only this rule. It returns the reason to drop the rule;
// "" if the rule passes.
func (l *Learner) verifyRule(r *Rule) string {
	j, err := l.judgeWith([]*Rule{r})
	if err != nil {
		return "no rule can be written: " + err.Error()
	}
	calls := slices.Clone(r.calls)
	r.calls, r.Open = nil, nil
	r.Tally = tally{}
	for _, s := range calls {
		if j.Policy().Decide(&s.call).Action == r.Action {
			r.addSighting(s)
		} else {
			l.Skipped["read in another way, the call is not such a call"] += s.tally.Calls
		}
	}
	if len(r.calls) == 0 {
		return "no rule answers such a call"
	}
	action := r.Action
	if why := l.decideAction(r); why != "" || r.Action != action {
		return "seen too seldom, or too long ago"
	}
	for i := range l.denied {
		d, why := j.JudgeCall(&l.denied[i])
		if why != "" && l.denied[i].Server == r.Server && slices.Contains(l.denied[i].Names, r.Name) {
			return "a denied call may match: the record keeps it only in part"
		}
		if why == "" && d.Action != policy.Deny {
			return whyLetsThrough
		}
	}
	return ""
}

const whyLetsThrough = "it would also let through a call that was denied"

// verifyTogether drops rules until all denied calls are denied by the policy with the remaining
// rules. Two rules may let a denied call through together, although each of them alone does not:
// the elements of a list in the call may match different rules, and then the call is allowed.
func (l *Learner) verifyTogether(rules []*Rule) []*Rule {
	for {
		c := l.findLetThrough(rules)
		if c == nil {
			return rules
		}
		n := sort.Search(len(rules)-1, func(i int) bool {
			j, err := l.judgeWith(rules[:i+1])
			return err != nil || letsThrough(j, c)
		})
		l.Skipped[whyLetsThrough] += rules[n].Tally.Calls
		rules = slices.Delete(rules, n, n+1)
	}
}

// findLetThrough returns a denied call that a policy with the rules would not deny; nil if there is
// none. It also returns nil if the policy does not load, because Compose reports that error later.
func (l *Learner) findLetThrough(rules []*Rule) *replay.Call {
	if len(rules) == 0 || len(l.denied) == 0 {
		return nil
	}
	j, err := l.judgeWith(rules)
	if err != nil {
		return nil
	}
	for i := range l.denied {
		if letsThrough(j, &l.denied[i]) {
			return &l.denied[i]
		}
	}
	return nil
}

func letsThrough(j *replay.Judge, c *replay.Call) bool {
	d, why := j.JudgeCall(c)
	return why == "" && d.Action != policy.Deny
}

func (l *Learner) judgeWith(rules []*Rule) (*replay.Judge, error) {
	text, err := l.Compose(rules)
	if err != nil {
		return nil, err
	}
	return replay.NewJudge("learned", text, l.o.ParseOptions)
}

// CheckRecord judges one record by the policy before and after the change. It returns an error if a
// rule denied the call before the change and the call would not be denied after the change.
func CheckRecord(before, after *replay.Judge, e *event.Entry) error {
	if !replay.IsJudged(e) {
		return nil
	}
	c, why := replay.RebuildCall(e)
	if why != "" {
		return nil
	}
	was, why := before.JudgeCall(&c)
	if why != "" || was.Action != policy.Deny || was.Rule == nil {
		return nil
	}
	if is, why := after.JudgeCall(&c); why != "" || is.Action != policy.Deny {
		return fmt.Errorf("record %s was denied by a rule and would not be any more: nothing is written", e.Record)
	}
	return nil
}
