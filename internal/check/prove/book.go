package prove

import "slices"

// book is the rules of one policy about one subject, and where to find among them
// those that have to do with a name, without looking at every one: of two policies
// with thousands of rules each, nearly all pairs have nothing in common.
type book struct {
	rules  []*rule
	open   bool             // what no rule matches passes
	same   map[int][]int    // the places of the rules with the same conditions
	words  map[string][]int // the places of the rules that name nothing but texts, by each of these
	others []int            // and of those that do not
	beside map[string][]int // what near found, by the text of the names
}

func newBook(rules []*rule, open bool) *book {
	b := &book{rules: rules, open: open, same: map[int][]int{}, words: map[string][]int{}, beside: map[string][]int{}}
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

// literalNames gives the texts of which a rule asks one of the name; false where a glob is among
// them.
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

// nearRules lists the places of the rules whose names a rule's name may be, in order.
// cost is what it took to find them: one for each two names that were compared.
func (b *book) nearRules(r *rule) (places []int, cost int) {
	if r == nil || r.name == nil {
		return b.allPlaces(), 0
	}
	key := r.name.unionKey()
	if known, found := b.beside[key]; found {
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
	b.beside[key] = places
	return places, len(among)
}

func (b *book) allPlaces() []int {
	all := make([]int, len(b.rules))
	for i := range all {
		all[i] = i
	}
	return all
}

// avoided are rules of a book that are not to match: the first so many, but for
// one. Those that are stricter than the answer not even perhaps.
type avoided struct {
	book   *book
	first  int
	but    *rule
	strict int
}

// listDemands lists those that have to do with a rule that matches; nil is for any.
func (a *avoided) listDemands(r *rule) (ds []demand, cost int) {
	places, cost := a.book.nearRules(r)
	for _, i := range places {
		if i >= a.first {
			break
		}
		if o := a.book.rules[i]; o != a.but {
			ds = append(ds, demand{o, a.isAvoidedPerhaps(o)})
		}
	}
	return ds, cost + len(places)
}

// isAvoidedPerhaps says that a rule must not even perhaps match.
func (a *avoided) isAvoidedPerhaps(r *rule) bool { return r.strict < a.strict && r.vague }

// isForbidden says that what a demand asks for is to be avoided.
func (a *avoided) isForbidden(d demand) bool {
	for _, i := range a.book.same[d.rule.same] {
		if i >= a.first {
			return false
		}
		r := a.book.rules[i]
		if r != a.but && (!d.any || !r.vague || a.isAvoidedPerhaps(r)) {
			return true
		}
	}
	return false
}
