package prove

import (
	"slices"
	"strconv"
	"strings"

	"github.com/clawai/clawai/policy"
)

// In the model, each kind of finding is present in a call or not. A rule with the condition find
// matches when one of its kinds is present. More findings make more rules match, never fewer. So the
// search uses the smallest set of findings that lets the needed rules match. One kind stands for all
// kinds that the rules do not distinguish. A call that was not screened for findings matches every
// rule with find perhaps. Questions that count such matches also try this case.

// look holds the known facts about the findings in a call. The zero value is for policies without
// find.
type look struct {
	asked  bool     // some rule has the condition find
	unseen bool     // the call was not screened
	kinds  []string // the kinds of findings in the call
}

// putFinds sets the findings of a call.
func (l *look) putFinds(c *policy.Call) {
	if l.asked {
		c.Finds, c.Screened = slices.Clone(l.kinds), !l.unseen
	}
}

// kindsOf returns the kinds that the condition find names, and adds all kinds that policy p knows for
// calls to pr.kinds.
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

// lacksKind reports whether the findings keep the rule of a demand from matching.
func (l *look) lacksKind(d demand) bool {
	switch {
	case d.rule.finds == nil:
		return false
	case l.unseen:
		return !d.any
	}
	return !slices.ContainsFunc(d.rule.finds, func(kind string) bool { return slices.Contains(l.kinds, kind) })
}

// maxLooks bounds the looks of one question.
const maxLooks = 64

// maxKinds bounds the kinds that everyLook distinguishes.
const maxKinds = 6

// listLooks lists the looks with which calls may answer a question. whole is false when there are
// too many.
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

// leastLooks removes the looks whose findings include all findings of another look.
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

// representativeKinds returns one kind for each group of kinds that the same
// rules name.
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

// everyLook lists all looks that the rules distinguish.
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
