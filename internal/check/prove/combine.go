package prove

import (
	"cmp"
	"slices"
)

// combineOptions chooses one option for each dimension. Each rule that must not match has to be
// missing from the set of at least one chosen option. Then the rule does not match the call that
// the options make.
func (a *inquiry) combineOptions(accept func(candidate) bool) answer {
	families := make([][]option, len(a.dims))
	complete := true
	for i := range a.dims {
		var all bool
		// Names and servers have only one reading, so few texts are enough.
		families[i], all = a.dims[i].leastSets(&a.work, a.many && i > 1)
		complete = complete && all
		if len(families[i]) == 0 && all {
			return impossible
		}
	}
	c := combination{inquiry: a, families: families, chosen: make([]*option, len(families)), accept: accept}
	for i := range families {
		c.order = append(c.order, i)
	}
	slices.SortStableFunc(c.order, func(i, j int) int { return cmp.Compare(len(families[i]), len(families[j])) })
	everything := make([]uint64, (len(a.avoid)+63)/64)
	for k := range a.avoid {
		setBit(everything, k)
	}
	c.chooseOption(0, everything)
	switch {
	case c.found:
		return found
	case c.any:
		return open
	case !complete || a.work.left < 0:
		return spent
	}
	return impossible
}

// combination is the search for one option of each dimension.
type combination struct {
	*inquiry
	families [][]option // the options, by dimension
	order    []int      // the dimensions in the order of the search; the dimension with the fewest options comes first
	chosen   []*option  // the chosen options, by dimension; nil if the dimension needs no choice
	accept   func(candidate) bool
	found    bool // accept has returned true
	any      bool // there is a combination for which no avoided rule matches
	cut      bool // some candidates were not tried
	tried    int  // number of candidates tried so far
}

func (c *combination) chooseOption(i int, left []uint64) {
	if countBits(left) == 0 {
		for ; i < len(c.order); i++ {
			c.chosen[c.order[i]] = nil
		}
		c.tryChosen()
		return
	}
	if i == len(c.order) {
		return
	}
	options := c.families[c.order[i]]
	for j := range options {
		if !c.work.spendWork(1 + len(left)) {
			return
		}
		rest := make([]uint64, len(left))
		for w := range left {
			rest[w] = left[w] & options[j].set[w]
		}
		c.chosen[c.order[i]] = &options[j]
		if c.chooseOption(i+1, rest); c.found || c.cut {
			return
		}
	}
}

// tryChosen makes candidates from the words of the chosen options. A dimension without a chosen
// option gives the words of all its options.
func (c *combination) tryChosen() {
	c.any = true
	words := make([][]string, len(c.dims))
	for i, o := range c.chosen {
		if o != nil {
			words[i] = o.words
			continue
		}
		for j := range c.families[i] {
			words[i] = append(words[i], c.families[i][j].words...)
		}
		slices.SortStableFunc(words[i], func(a, b string) int { return cmp.Compare(len(a), len(b)) })
	}
	// Try the shortest words of all dimensions first. Then try each word with the shortest words of
	// the other dimensions.
	at := make([]int, len(words))
	if c.tryCandidate(words, at) {
		return
	}
	for i := range words {
		for at[i] = 1; at[i] < len(words[i]); at[i]++ {
			if c.tryCandidate(words, at) {
				return
			}
		}
		at[i] = 0
	}
	for n := 1; n < wordsOfMany; n++ {
		more := 0
		for i := range words {
			if at[i] = 0; n < len(words[i]) {
				at[i] = n
				more++
			}
		}
		if more < 2 {
			return
		}
		if c.tryCandidate(words, at) {
			return
		}
	}
}

// tryCandidate tries one candidate. It returns true if the search must end.
func (c *combination) tryCandidate(words [][]string, at []int) bool {
	if c.tried++; c.tried > maxCandidates {
		c.cut = true
	} else if c.accept(c.makeCandidate(words, at)) {
		c.found = true
	}
	return c.found || c.cut
}

func (c *combination) makeCandidate(words [][]string, at []int) candidate {
	cand := candidate{args: map[string]string{}, look: c.look}
	for i := range words {
		word := ""
		if len(words[i]) > 0 {
			word = words[i][at[i]]
		}
		switch i {
		case 0:
			cand.name = word
		case 1:
			cand.server = word
		default:
			cand.args[c.keys[i-2]] = word
		}
	}
	if uri, found := cand.args[resourceKey]; found {
		cand.name = uri
	}
	return cand
}
