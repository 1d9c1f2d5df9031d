package policy

import "slices"

// Change tells how an edit of a policy changes the policy's answers. Change comes from a comparison
// of the rules, without a proof. The zero value means that no answer is loosened.
type Change struct {
	// Loosens is false if every call certainly gets the same answer as before, or a stricter
	// one.
	Loosens bool
	// Lost is the number of removed parts that made answers stricter: rules that deny or ask,
	// rules with a limit, limits by themselves, tables about servers, a stricter flow level,
	// and the environment that the policy names.
	Lost int
}

// ChangeTo compares the policy with its replacement. Rules are compared by their meaning, not by
// their description or place in the file. If the other rules keep their order, a new deny rule, or
// the removal of an allow rule without a limit, only makes answers stricter. Every other change
// counts as loosening.
func (p *Policy) ChangeTo(next *Policy) Change {
	old, now := p.ruleFingerprints(), next.ruleFingerprints()
	left := make(map[string]int, len(now))
	for _, key := range now {
		left[key]++
	}
	known := make(map[string]bool, len(old))
	var c Change
	for i, key := range old {
		known[key] = true
		if left[key]--; left[key] < 0 && !p.sources[i].onlyAllows() {
			c.Lost++
		}
	}
	for _, l := range p.limits {
		if !slices.ContainsFunc(next.limits, func(n LimitTable) bool { return n.Rate.Key == l.Rate.Key }) {
			c.Lost++
		}
	}
	lost, same := p.compareTrust(next)
	c.Lost += lost
	if p.environment != "" && p.environment != next.environment {
		c.Lost++ // rules with conditions on the environment may stop matching
	}
	same = same && p.environment == next.environment
	c.Loosens = c.Lost > 0 || !same || p.loosenedBy(next, old, now, known)
	return c
}

// loosenedBy returns false if the new list of rules is the old list with some deny rules added and
// some allow rules removed. For any other new list it returns true. The parameter known contains
// the fingerprints of the old rules.
func (p *Policy) loosenedBy(next *Policy, old, now []string, known map[string]bool) bool {
	at := 0
	for i, key := range now {
		same := at
		for known[key] && same < len(old) && old[same] != key && p.sources[same].onlyAllows() {
			same++
		}
		switch {
		case same < len(old) && old[same] == key:
			at = same + 1
		case next.sources[i].Action != Deny:
			return true
		}
	}
	for ; at < len(old); at++ {
		if !p.sources[at].onlyAllows() {
			return true
		}
	}
	return false
}

// onlyAllows reports whether the rule is an allow without a limit.
func (r *ruleSource) onlyAllows() bool { return r.Action == Allow && !r.Rate.HasLimit() }

// ruleFingerprints returns the fingerprint of each rule.
func (p *Policy) ruleFingerprints() []string {
	keys := make([]string, len(p.sources))
	for i := range p.sources {
		keys[i] = p.sources[i].fingerprint()
	}
	return keys
}
