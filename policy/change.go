package policy

import "slices"

// Change is what an edit of a policy does to its answers, as far as its rules show
// it without a proof. The zero value loosens nothing.
type Change struct {
	// Loosens is false when every call certainly gets the answer that it had, or a
	// stricter one.
	Loosens bool
	// Lost is how many rules are gone that made answers stricter: those that deny or
	// ask, those with a limit, and limits by themselves.
	Lost int
}

// ChangeTo compares the policy with the one that is to take its place. Rules are
// compared by what they say, not by their description or place in the file. Denies
// that come in, and allows without a limit that go out, between rules that keep
// their order, only tighten; everything else is taken to loosen.
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
	c.Loosens = c.Lost > 0 || !same || p.loosenedBy(next, old, now, known)
	return c
}

// loosenedBy walks both lists of rules: the new one must be the old one with denies
// put in and allows taken out.
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

// onlyAllows reports whether a rule does nothing but let calls through.
func (r *ruleSource) onlyAllows() bool { return r.Action == Allow && !r.Rate.HasLimit() }

// ruleFingerprints gives the rules by what they say.
func (p *Policy) ruleFingerprints() []string {
	keys := make([]string, len(p.sources))
	for i := range p.sources {
		keys[i] = p.sources[i].fingerprint()
	}
	return keys
}
