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

// style is how the author of a policy writes rules.
type style struct {
	order     []string // the keys of a rule in the author's order
	literal   bool     // strings have single quotes
	described bool     // rules have a description
	table     bool     // arguments are in a table [rule.args]
}

var (
	keyLine  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^[ \t]*([a-z_]+)[ \t]*[.=]`) })
	argsHead = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^[ \t]*\[rule\.args\]`) })
)

// styleOf finds out the style from the rules of a policy. If there are none, it returns clawai's
// own style.
func styleOf(src []byte, rules []policy.Source) style {
	// No rule about a method is learned, so its key is left out.
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
	// If the author does not use a key, put it directly after the key that precedes it in
	// clawai's own order.
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

// writePairs returns a rule with these pairs in the author's style.
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

// makePair returns a pair whose value is a string or a list of strings.
func (st style) makePair(key string, texts ...string) policytext.Pair {
	return policytext.Pair{Key: key, Value: st.formatGlobs(texts)}
}

// formatGlobs returns one glob, or a list of globs, as TOML.
func (st style) formatGlobs(gs []string) string { return policytext.OneOrList(st.quoteAll(gs)) }

// quoteAll returns strings as TOML.
func (st style) quoteAll(ss []string) []string {
	out := make([]string, len(ss))
	for i, s := range ss {
		out[i] = st.quoteString(s)
	}
	return out
}

// quoteString returns a string as TOML. It escapes invisible characters.
func (st style) quoteString(s string) string {
	if literal, plain := policytext.LiteralString(s); plain && st.literal {
		return literal
	}
	return policytext.Quote(s)
}
