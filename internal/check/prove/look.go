package prove

import (
	"slices"
	"strconv"
	"strings"

	"github.com/clawai/clawai/policy"
)

// In the model, a call either has or lacks a finding of each kind. A rule with the condition find
// matches if the call has one of its kinds. With more findings, more rules match, so the search
// takes the smallest set of findings with which the needed rules match. One kind stands for all
// kinds that the rules do not distinguish. A rule with find perhaps matches a call that was not
// searched for findings. Questions for which such a match is enough also try this case.

// look is what is known about the findings in a call. The zero value is for policies without the
// condition find.
type look struct {
	asked  bool     // some rule has the condition find
	unseen bool     // the call was not searched for findings
	kinds  []string // the kinds of findings in the call
}

// putFinds sets the findings of a call.
func (l *look) putFinds(c *policy.Call) {
	if l.asked {
		c.Finds, c.Screened = slices.Clone(l.kinds), !l.unseen
	}
}

// kindsOf returns the kinds in a rule's condition (the parameter find). It also adds all kinds that
// the policy knows for calls to pr.kinds.
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

// lacksKind reports whether the rule of a demand cannot match, because the call has no finding of
// the kinds in the rule.
func (l *look) lacksKind(d demand) bool {
	switch {
	case d.rule.finds == nil:
		return false
	case l.unseen:
		return !d.any
	}
	return !slices.ContainsFunc(d.rule.finds, func(kind string) bool { return slices.Contains(l.kinds, kind) })
}

// maxLooks is the maximum number of looks for one question.
const maxLooks = 64

// maxKinds is the maximum number of kinds that everyLook distinguishes.
const maxKinds = 6

// listLooks returns the looks that calls for a question can have. The result whole is false if
// there are too many.
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

// leastLooks drops a look if another look has only some of its findings. Of equal looks it keeps
// the first.
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

// representativeKinds returns one kind for each group of kinds that the rules do not distinguish.
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

// everyLook returns all looks that the rules distinguish. The result whole is false if there are
// too many.
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
	for set := range 1 << len(reps) {
		l := look{asked: true}
		for i, kind := range reps {
			if set&(1<<i) != 0 {
				l.kinds = append(l.kinds, kind)
			}
		}
		all = append(all, l)
	}
	return append(all, look{asked: true, unseen: true}), true
}
