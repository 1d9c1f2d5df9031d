package learn

import (
	"fmt"
	"slices"
)

// joinRules merges rules that differ only in the globs of one argument. It does not merge a rule if
// a rule with another action matches some of the same calls, because these two rules need their own
// positions.
func (l *Learner) joinRules(rules []*Rule) (joined []*Rule) {
	known := map[string]*Rule{}
	for _, r := range rules {
		if len(r.Conditions) != 1 || r.Class == Executes || l.meetsOtherAction(r, rules) {
			joined = append(joined, r)
			continue
		}
		key := *r
		key.Conditions = []Condition{{Arg: r.Conditions[0].Arg}}
		id := fmt.Sprint(key.ruleKey(), r.Action)
		if other := known[id]; other != nil {
			for _, g := range r.Conditions[0].Globs {
				if !slices.Contains(other.Conditions[0].Globs, g) {
					other.Conditions[0].Globs = append(other.Conditions[0].Globs, g)
				}
			}
			slices.Sort(other.Conditions[0].Globs)
			for _, s := range r.calls {
				other.addSighting(s)
			}
			continue
		}
		known[id] = r
		joined = append(joined, r)
	}
	return joined
}
