package prove

import (
	"slices"
	"strings"
)

// dimension is one part of a call: the name, the server, or one argument. The search looks for
// texts that are in all unions of needed and in as few unions of avoid as possible.
type dimension struct {
	variant
	more   []variant // the same search for readings by transformations
	manner manner
}

type variant struct {
	needed [][]*lang // a text must be in one language of each element
	avoid  []union   // the unions of the rules that must not match, by the index of the rule
	// slashed means that only texts with a slash at the end are searched. A glob matches such a
	// text if it matches the text with or without this slash.
	slashed bool
}

// union is a set of languages; a text is in the union if it is in one of them. A nil union means
// that there is no condition, so every text is in it.
type union []*lang

// unionKey returns a text that is equal for unions of the same languages.
func (u union) unionKey() string {
	texts := make([]string, len(u))
	for i, l := range u {
		texts[i] = l.text
	}
	slices.Sort(texts)
	return strings.Join(slices.Compact(texts), "\x03")
}

// option is a set of unions in avoid, with texts that are in all unions of the set and in no other
// union of avoid. An option is dropped if its set contains the set of another option, except if
// many texts are wanted.
type option struct {
	set   []uint64 // indexes of the unions in avoid, as a bit set
	words []string // texts that are in exactly these unions, the shortest first
	// branch is the number of the branch that gave the last words; ofBranch is the number of words
	// from that branch. The number of words is limited for each branch separately, because all
	// words of one branch may have other readings.
	branch, ofBranch int
}

// work is the number of characters that a search may still try.
type work struct{ left int }

func (w *work) spendWork(n int) bool {
	w.left -= n
	return w.left >= 0
}

const (
	wordsPerSet   = 4    // number of words that an option keeps from each branch
	wordsOfMany   = 24   // number of words that an option keeps from each branch if many texts are wanted
	nodesOfMany   = 4000 // number of nodes that are visited if many texts are wanted
	nodesBeyond   = 64   // number of nodes that are visited after the best possible set was found
	maxCandidates = 4096
)

// leastSets returns the options. The result all is false if the work limit was reached. If many is
// true, sets that are not the smallest possible are returned too.
func (d *dimension) leastSets(w *work, many bool) (options []option, all bool) {
	all = true
	base := d.baseSet()
	n := 0
	for _, v := range append([]variant{d.variant}, d.more...) {
		v.visitBranches(nil, func(branch []*lang) {
			n++
			s := search{variant: v, number: n, manner: d.manner, base: base, many: many, work: w, options: options}
			if !s.searchBranch(branch) {
				all = false
			}
			options = s.options
		})
	}
	return options, all
}

// visitBranches visits every choice of one language from each needed union. It skips a choice if
// the ends of the globs prove that no text is in all chosen languages.
func (v *variant) visitBranches(branch []*lang, visit func([]*lang)) {
	i := len(branch)
	if i == len(v.needed) {
		visit(branch)
		return
	}
	for _, l := range v.needed[i] {
		if v.slashed || !slices.ContainsFunc(branch, l.isDisjoint) {
			v.visitBranches(append(branch[:i:i], l), visit)
		}
	}
}

// baseSet returns the indexes of the unions in avoid that contain every text.
func (d *dimension) baseSet() []uint64 {
	row := make([]uint64, (len(d.avoid)+63)/64)
	for k, u := range d.avoid {
		if u == nil {
			setBit(row, k)
		}
	}
	return row
}
