package prove

import (
	"slices"
	"strconv"
	"strings"

	"github.com/clawai/clawai/policy"
)

// What a call carries is one boolean for each kind of finding: a rule with a find matches
// when one of its kinds is there. More that is found makes more rules match and never
// fewer. So a call that needed rules match and others do not is sought with as little found
// as makes the needed ones match, one kind standing for all that the rules at hand do not
// tell apart. Where nothing has looked, every such rule matches perhaps; that is a look of
// its own, of those questions that count what is not decided.

// look is what is known of what a call carries. The zero value is of policies that do not
// ask.
type look struct {
	asked  bool // some rule has a find
	unseen bool // nothing has looked
	kinds  []string
}

// putFinds gives a call what was found.
func (l *look) putFinds(c *policy.Call) {
	if l.asked {
		c.Finds, c.Screened = slices.Clone(l.kinds), !l.unseen
	}
}

// kindsOf gives those of a find, and notes all that calls of its policy may carry.
func (pr *prover) kindsOf(find []string, p *policy.Policy) []string {
	all := p.KindsOn(policy.OnCall)
	for _, kind := range all {
		if !slices.Contains(pr.kinds, kind) {
			pr.kinds = append(pr.kinds, kind)
		}
	}
	if slices.Contains(find, "*") {
		return all
	}
	return slices.Compact(slices.Sorted(slices.Values(find)))
}

// lacksKind says that a rule which is not to match does not, for what is found.
func (l *look) lacksKind(d demand) bool {
	switch {
	case d.rule.finds == nil:
		return false
	case l.unseen:
		return !d.any
	}
	return !slices.ContainsFunc(d.rule.finds, func(kind string) bool { return slices.Contains(l.kinds, kind) })
}

// maxLooks bounds those of one question.
const maxLooks = 64

// maxKinds are the kinds that can be told apart in everyLook.
const maxKinds = 6

// listLooks lists what a call may carry that answers a question; false where that is too much.
func (pr *prover) listLooks(q *question) (all []look, whole bool) {
	if !pr.asks {
		return []look{{}}, true
	}
	reps := pr.representativeKinds(slices.Concat(q.needed, q.avoid))
	all, unseen := []look{{asked: true}}, q.doubts
	for _, d := range q.needed {
		if d.rule.finds == nil {
			continue
		}
		unseen = unseen && d.any
		var longer []look
		for _, l := range all {
			if !l.lacksKind(d) {
				longer = append(longer, l)
				continue
			}
			for _, kind := range d.rule.finds {
				if slices.Contains(reps, kind) {
					longer = append(longer, look{asked: true, kinds: slices.Sorted(slices.Values(append(slices.Clone(l.kinds), kind)))})
				}
			}
		}
		if all = leastLooks(longer); len(all) > maxLooks {
			return nil, false
		}
	}
	if unseen && slices.ContainsFunc(slices.Concat(q.needed, q.avoid), func(d demand) bool { return d.rule.finds != nil }) {
		all = append(all, look{asked: true, unseen: true})
	}
	return all, true
}

// leastLooks leaves out looks that find more than another one does.
func leastLooks(all []look) (kept []look) {
	within := func(a, b []string) bool {
		return !slices.ContainsFunc(a, func(kind string) bool { return !slices.Contains(b, kind) })
	}
	for i, l := range all {
		if !slices.ContainsFunc(all[:i], func(o look) bool { return within(o.kinds, l.kinds) }) &&
			!slices.ContainsFunc(all[i+1:], func(o look) bool { return len(o.kinds) < len(l.kinds) && within(o.kinds, l.kinds) }) {
			kept = append(kept, l)
		}
	}
	return kept
}

// representativeKinds gives kinds, one of those that the same rules name.
func (pr *prover) representativeKinds(ds []demand) (kinds []string) {
	seen := map[string]bool{}
	for _, kind := range pr.kinds {
		var by strings.Builder
		for i, d := range ds {
			if slices.Contains(d.rule.finds, kind) {
				by.WriteString(strconv.Itoa(i) + " ")
			}
		}
		if by.Len() > 0 && !seen[by.String()] {
			seen[by.String()] = true
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

// everyLook lists all that a call may carry as far as some rules tell it apart.
func (pr *prover) everyLook(rules []*rule) (all []look, whole bool) {
	if !pr.asks {
		return []look{{}}, true
	}
	var ds []demand
	for _, r := range rules {
		ds = append(ds, demand{rule: r})
	}
	reps := pr.representativeKinds(ds)
	if len(reps) > maxKinds {
		return nil, false
	}
	for of := range 1 << len(reps) {
		l := look{asked: true}
		for i, kind := range reps {
			if of&(1<<i) != 0 {
				l.kinds = append(l.kinds, kind)
			}
		}
		all = append(all, l)
	}
	return append(all, look{asked: true, unseen: true}), true
}
