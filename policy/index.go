package policy

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// index finds the rules of one subject that could match a name. It must return every rule that
// could match. It may return other rules too.
type index struct {
	buckets []bucket
	literal map[string]int32 // buckets by the whole name
	starts  trie             // buckets by the beginning of the name
	ends    trie             // buckets by the end of the name
	inner   map[string]int32 // buckets by a text inside the name
	sizes   []int            // the lengths of the keys of inner
	rest    int32            // the bucket with the rules that any name could match
}

// bucket holds the rules that have the same key in the index, in ascending order.
type bucket struct {
	rules   []int32 // rules that are not in the field args
	args    []argIndex
	slots   []int32 // the slots of all conditions in the bucket, in ascending order
	watches bool    // a rule in the bucket judges arguments that it does not name
	only    bool    // a rule in the bucket has args_only, which forbids unnamed arguments
}

// argIndex finds rules by the literal text at one end of an argument.
type argIndex struct {
	slot   int32
	all    []int32
	starts trie
	ends   trie
}

// fewInner is about globs with wildcards at both ends. If a subject has at most fewInner such
// globs, they are not indexed: judging so few globs is cheaper than a lookup at each position of
// the name.
const fewInner = 16

// longName is a length in bytes. For a longer text, such as a sampling request, matching the globs
// is faster than a lookup at each position.
const longName = 1 << 12

func (x *index) buildIndex(p *Policy, s Subject) {
	var mine []int32
	inner := 0
	for i := range p.sources {
		if p.sources[i].coversSubject(s) && p.rules[i].compiled {
			mine = append(mine, int32(i))
			for _, text := range p.sources[i].patterns {
				if innerLiteral(text) != "" {
					inner++
				}
			}
		}
	}
	if len(mine) == 0 {
		return
	}
	x.literal, x.inner, x.ends.backward = map[string]int32{}, map[string]int32{}, true
	x.buckets = make([]bucket, 1, 1+len(mine)/4)
	starts, ends := map[string]int32{}, map[string]int32{}
	last := map[int32]int32{} // by bucket: the number of the last added rule, plus 1
	for _, id := range mine {
		r := &p.rules[id]
		if r.names == nil {
			x.buckets[x.rest].addRule(id, r)
		}
		for _, name := range r.names {
			b := x.rest
			prefix, suffix := name.LiteralPrefix(), name.LiteralSuffix()
			switch key := innerLiteral(name.String()); {
			case !name.HasWildcard():
				b = x.bucketOf(x.literal, prefix, nil)
			case len(prefix) >= len(suffix) && prefix != "":
				b = x.bucketOf(starts, prefix, &x.starts)
			case suffix != "":
				b = x.bucketOf(ends, suffix, &x.ends)
			case key != "" && inner > fewInner:
				b = x.bucketOf(x.inner, key, nil)
				if !slices.Contains(x.sizes, len(key)) {
					x.sizes = append(x.sizes, len(key))
				}
			}
			if last[b] != id+1 { // so a bucket holds each rule only once
				last[b] = id + 1
				x.buckets[b].addRule(id, r)
			}
		}
	}
	for i := range x.buckets {
		slices.Sort(x.buckets[i].slots)
		x.buckets[i].slots = slices.Compact(x.buckets[i].slots)
		x.buckets[i].dropFewArgs()
	}
}

func (x *index) bucketOf(known map[string]int32, key string, t *trie) int32 {
	b, found := known[key]
	if !found {
		b = int32(len(x.buckets))
		x.buckets = append(x.buckets, bucket{})
		known[key] = b
		if t != nil {
			t.add(key, b)
		}
	}
	return b
}

// innerLiteral returns a key for a glob that has wildcards at both ends. The key is the beginning
// of the longest literal in the glob. Its length is a power of two, so that the keys have few
// different lengths.
func innerLiteral(glob string) string {
	if !strings.ContainsAny(glob[:1], "*?") || !strings.ContainsAny(glob[len(glob)-1:], "*?") {
		return ""
	}
	longest := ""
	for piece := range strings.FieldsFuncSeq(glob, func(r rune) bool { return r == '*' || r == '?' }) {
		if len(piece) > len(longest) {
			longest = piece
		}
	}
	size := 32
	for size > len(longest) {
		size /= 2
	}
	return longest[:size]
}

// lookupName appends the buckets whose rules could match a name.
func (x *index) lookupName(name string, v *view) {
	if len(x.buckets) == 0 {
		return
	}
	if rest := &x.buckets[x.rest]; len(rest.rules)+len(rest.args) > 0 {
		v.buckets = append(v.buckets, rest)
	}
	if b, found := x.literal[name]; found {
		v.buckets = append(v.buckets, &x.buckets[b])
	}
	v.lists = x.ends.collectLists(name, x.starts.collectLists(name, v.lists[:0]))
	for _, list := range v.lists {
		for _, b := range list {
			v.buckets = append(v.buckets, &x.buckets[b])
		}
	}
	if len(name) > longName {
		for _, b := range x.inner {
			v.buckets = append(v.buckets, &x.buckets[b])
		}
		return
	}
	for _, size := range x.sizes {
		for at := 0; at+size <= len(name); at++ {
			if b, found := x.inner[name[at:at+size]]; found {
				v.buckets = append(v.buckets, &x.buckets[b])
			}
		}
	}
}

// addRule adds a rule to the bucket: in the field args, under the argument with the longest literal
// end, or in the field rules if no argument has a literal end.
func (b *bucket) addRule(id int32, r *rule) {
	b.watches, b.only = b.watches || r.further.watches, b.only || r.further.only
	var at *condition
	var best end
	for i := range r.conditions {
		c := &r.conditions[i]
		b.slots = append(b.slots, c.slot)
		if e := c.lookupEnd(); c.typed == nil && !c.not && e.size > best.size {
			at, best = c, e
		}
	}
	if at == nil {
		b.rules = append(b.rules, id)
		return
	}
	x := b.argIndexFor(at.slot)
	x.all = append(x.all, id)
	for _, p := range at.patterns {
		p.eachGuise(func(prefix, suffix string) {
			if best.suffix {
				x.ends.add(suffix, id)
			} else {
				x.starts.add(prefix, id)
			}
		})
	}
}

// fewInBucket is the largest number of rules for which judging all rules is as fast as a lookup by
// arguments.
const fewInBucket = 4

// dropFewArgs moves all rules from the field args to the field rules if the bucket has only few
// rules.
func (b *bucket) dropFewArgs() {
	if len(b.args) == 0 {
		return
	}
	all := slices.Clone(b.rules)
	for i := range b.args {
		all = append(all, b.args[i].all...)
	}
	if len(all) <= fewInBucket {
		slices.Sort(all)
		b.rules, b.args = all, nil
	}
}

func (b *bucket) argIndexFor(slot int32) *argIndex {
	for i := range b.args {
		if b.args[i].slot == slot {
			return &b.args[i]
		}
	}
	b.args = append(b.args, argIndex{slot: slot, ends: trie{backward: true}})
	return &b.args[len(b.args)-1]
}

// end describes the literal text that is the key for a condition in the index: the length of the
// text in bytes, and whether the text is at the end or at the beginning of a value.
type end struct {
	size   int
	suffix bool
}

func (c *condition) lookupEnd() end {
	prefixes, suffixes := int(^uint(0)>>1), int(^uint(0)>>1)
	for _, p := range c.patterns {
		p.eachGuise(func(prefix, suffix string) {
			prefixes, suffixes = min(prefixes, len(prefix)), min(suffixes, len(suffix))
		})
	}
	if prefixes >= suffixes {
		return end{size: prefixes}
	}
	return end{size: suffixes, suffix: true}
}

// eachGuise calls visit with the literal beginning and the literal end of every glob of a pattern.
// It cuts each literal at the first character that is not ASCII, because the index ignores the case
// of ASCII letters only.
func (p *pattern) eachGuise(visit func(prefix, suffix string)) {
	ends := func(prefix, suffix string) {
		for i := range len(prefix) {
			if prefix[i] >= utf8.RuneSelf {
				prefix = prefix[:i]
				break
			}
		}
		for i := len(suffix); i > 0; i-- {
			if suffix[i-1] >= utf8.RuneSelf {
				suffix = suffix[i:]
				break
			}
		}
		if p.homeless || p.local {
			prefix, suffix = "", ""
		}
		visit(prefix, strings.TrimPrefix(suffix, "/"))
	}
	guises := func(g *guise) {
		ends(g.glob.LiteralPrefix(), g.glob.LiteralSuffix())
		if g.home != nil {
			ends(g.home.LiteralPrefix(), g.home.LiteralSuffix())
		}
		for _, g := range g.also {
			ends(g.LiteralPrefix(), g.LiteralSuffix())
		}
	}
	guises(&p.asWritten)
	for i := range p.others {
		guises(&p.others[i])
	}
}
