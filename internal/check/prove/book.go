package prove

import "slices"

// book holds the rules of a policy about one subject, with an index by name. The index saves most
// comparisons of two rules: if two policies have thousands of rules, nearly all pairs of their
// rules have no name in common.
type book struct {
	rules  []*rule
	open   bool             // a call that no rule matches is allowed
	same   map[int][]int    // by rule.same: indexes of the rules with the same conditions
	words  map[string][]int // by name: indexes of the rules whose names have no wildcard
	others []int            // indexes of the rules whose names have a wildcard, or that have no names
	near   map[string][]int // cache of nearRules, by the unionKey of the name
}

func newBook(rules []*rule, open bool) *book {
	b := &book{rules: rules, open: open, same: map[int][]int{}, words: map[string][]int{}, near: map[string][]int{}}
	for i, r := range rules {
		b.same[r.same] = append(b.same[r.same], i)
		words, literal := r.literalNames()
		for _, word := range words {
			b.words[word] = append(b.words[word], i)
		}
		if !literal {
			b.others = append(b.others, i)
		}
	}
	return b
}

// literalNames returns the names of a rule. literal is false if a name has a wildcard, or if the
// rule has no condition on the name.
func (r *rule) literalNames() (words []string, literal bool) {
	for _, l := range r.name {
		if !l.literal {
			return nil, false
		}
		words = append(words, l.word)
	}
	slices.Sort(words)
	return slices.Compact(words), r.name != nil
}

// nearRules returns, in order, the indexes of the rules that may have a name in common with r. cost
// is the number of pairs of names that were compared.
func (b *book) nearRules(r *rule) (places []int, cost int) {
	if r == nil || r.name == nil {
		return b.allPlaces(), 0
	}
	key := r.name.unionKey()
	if known, found := b.near[key]; found {
		return known, 0
	}
	among := b.allPlaces()
	if words, literal := r.literalNames(); literal {
		among = slices.Clone(b.others)
		for _, word := range words {
			among = append(among, b.words[word]...)
		}
		slices.Sort(among)
		among = slices.Compact(among)
	}
	places = []int{}
	for _, i := range among {
		if !areAsunder(b.rules[i].name, r.name) {
			places = append(places, i)
		}
	}
	b.near[key] = places
	return places, len(among)
}

func (b *book) allPlaces() []int {
	all := make([]int, len(b.rules))
	for i := range all {
		all[i] = i
	}
	return all
}

// avoidance describes rules of a book that must not match a call: the rules with an index below
// count, except the rule in the field exception. Such a rule must not match surely. If it is
// stricter than the field strict, it must not match perhaps either.
type avoidance struct {
	book      *book
	count     int
	exception *rule // this rule may match; nil for none
	strict    int
}

// listDemands lists the rules that must not match and that may have a name in common with r. If r
// is nil, it lists all rules that must not match.
func (a *avoidance) listDemands(r *rule) (ds []demand, cost int) {
	places, cost := a.book.nearRules(r)
	for _, i := range places {
		if i >= a.count {
			break
		}
		if o := a.book.rules[i]; o != a.exception {
			ds = append(ds, demand{o, a.isAvoidedPerhaps(o)})
		}
	}
	return ds, cost + len(places)
}

// isAvoidedPerhaps reports whether a rule can match a call perhaps, and is so strict that it must
// not match even perhaps.
func (a *avoidance) isAvoidedPerhaps(r *rule) bool { return r.strict < a.strict && r.vague }

// isForbidden reports whether the rule of d cannot match, because a rule that must not match has
// the same conditions.
func (a *avoidance) isForbidden(d demand) bool {
	for _, i := range a.book.same[d.rule.same] {
		if i >= a.count {
			return false
		}
		r := a.book.rules[i]
		if r != a.exception && (!d.any || !r.vague || a.isAvoidedPerhaps(r)) {
			return true
		}
	}
	return false
}
