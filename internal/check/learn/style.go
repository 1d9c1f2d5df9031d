package learn

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/policy/policytext"
)

// style is how an author writes rules.
type style struct {
	order     []string // of keys; those that are not used stand where they usually do
	literal   bool     // strings in single quotes
	described bool
	table     bool // arguments below [rule.args]
}

var (
	keyLine  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^[ \t]*([a-z_]+)[ \t]*[.=]`) })
	argsHead = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^[ \t]*\[rule\.args\]`) })
)

// styleOf learns from the rules of a policy; without any it is ours.
func styleOf(src []byte, rules []policy.Source) style {
	// No rule about a method is learned.
	usual := slices.DeleteFunc(policy.KeyOrder(), func(k string) bool { return k == policy.MethodSubject.RuleKey() })
	st := style{order: slices.Clone(usual), described: true}
	if len(rules) == 0 {
		return st
	}
	sum, seen := map[string]float64{}, map[string]int{}
	single, double, described, tables, withArgs := 0, 0, 0, 0, 0
	for _, r := range rules {
		text := string(src[r.Start:r.End])
		var keys []string
		for _, m := range keyLine().FindAllStringSubmatch(text, -1) {
			if slices.Contains(usual, m[1]) && !slices.Contains(keys, m[1]) {
				keys = append(keys, m[1])
			}
		}
		for i, k := range keys {
			sum[k] += float64(i) / float64(len(keys))
			seen[k]++
		}
		single += strings.Count(text, "'")
		double += strings.Count(text, `"`)
		if r.Description != "" {
			described++
		}
		if len(r.Args) > 0 {
			withArgs++
		}
		if argsHead().MatchString(text) {
			tables++
		}
	}
	st.literal, st.described = single > double, 2*described >= len(rules)
	st.table = tables > 0 && 2*tables > withArgs
	var order []string
	for _, k := range usual {
		if seen[k] > 0 {
			order = append(order, k)
		}
	}
	slices.SortStableFunc(order, func(a, b string) int { return cmp.Compare(sum[a]/float64(seen[a]), sum[b]/float64(seen[b])) })
	// A key the author never uses stands behind the one that it usually follows.
	for i, k := range usual {
		if seen[k] == 0 {
			at := 0
			if i > 0 {
				at = slices.Index(order, usual[i-1]) + 1
			}
			order = slices.Insert(order, at, k)
		}
	}
	st.order = order
	return st
}

// writePairs sets the pairs of a rule as the author would.
func (st style) writePairs(pairs []policytext.Pair) string {
	rank := func(p policytext.Pair) int {
		name, _, _ := strings.Cut(p.Key, ".")
		return slices.Index(st.order, name)
	}
	slices.SortStableFunc(pairs, func(a, b policytext.Pair) int { return cmp.Compare(rank(a), rank(b)) })
	var own []policytext.Pair
	below := ""
	for _, p := range pairs {
		if p.Key == "description" && !st.described {
			continue
		}
		if name, ok := strings.CutPrefix(p.Key, "args."); ok && st.table {
			below += name + " = " + p.Value + "\n"
			continue
		}
		own = append(own, p)
	}
	if below != "" {
		below = "[rule.args]\n" + below
	}
	return policytext.WriteRule(own...) + below
}

// makePair gives a key with a string, or with a list of several.
func (st style) makePair(key string, texts ...string) policytext.Pair {
	return policytext.Pair{Key: key, Value: st.formatGlobs(texts)}
}

// formatGlobs writes one glob, or a list of them.
func (st style) formatGlobs(gs []string) string { return policytext.OneOrList(st.quoteAll(gs)) }

// quoteAll writes strings.
func (st style) quoteAll(ss []string) []string {
	out := make([]string, len(ss))
	for i, s := range ss {
		out[i] = st.quoteString(s)
	}
	return out
}

// quoteString writes a string; what a reader could not see is escaped.
func (st style) quoteString(s string) string {
	if literal, plain := policytext.LiteralString(s); plain && st.literal {
		return literal
	}
	return policytext.Quote(s)
}
