package prove

import "slices"

// book holds the rules of one policy about one subject, with an index by name.
// The index avoids comparing every pair of rules: in two policies with
// thousands of rules, nearly all pairs share no name.
type book struct {
	rules  []*rule
	open   bool             // calls that no rule matches are allowed
	same   map[int][]int    // indexes of the rules with the same conditions, by rule.same
	words  map[string][]int // indexes of the rules whose names are all literal, by each name
	others []int            // indexes of the rules with a glob as a name, or without a name
	near   map[string][]int // cached results of nearRules, by the key of the name union
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

// literalNames returns the names of a rule. literal is false when one of them is a glob, or when the
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

// nearRules returns the indexes, in order, of the rules that may share a name
// with r. cost is the number of name pairs that it compared.
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

// avoidance holds the rules of a book that must not match surely: the first count rules, except one.
// Of these rules, those stricter than strict must not match even perhaps.
type avoidance struct {
	book      *book
	count     int
	exception *rule // nil for no exception
	strict    int
}

// listDemands lists the rules to avoid that may share a name with r. It lists all of them if r is
// nil.
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

// isAvoidedPerhaps reports whether a rule may match some calls only perhaps, and must not match even
// perhaps.
func (a *avoidance) isAvoidedPerhaps(r *rule) bool { return r.strict < a.strict && r.vague }

// isForbidden reports whether a demand contradicts the avoidance, because a rule to avoid has the
// same conditions as the demanded rule.
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
