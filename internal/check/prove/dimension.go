package prove

import (
	"slices"
	"strings"
)

// dimension is one part of a call that conditions are about: the name, the server, or one argument.
// The search looks for texts that are in all unions of needed, and in as few unions of avoid as
// possible.
type dimension struct {
	variant
	more   []variant // the same search for readings by transformations
	manner manner
}

type variant struct {
	needed [][]*lang // a text must be in one language of each element
	avoid  []union   // by the index of a rule to avoid
	// slashed restricts the search to texts that end in a slash. A glob matches such a text if it
	// matches the text with or without the slash.
	slashed bool
}

// union is a set of languages. A nil union stands for no condition: it contains every text.
type union []*lang

// unionKey returns a key that is equal for unions of the same languages.
func (u union) unionKey() string {
	texts := make([]string, len(u))
	for i, l := range u {
		texts[i] = l.text
	}
	slices.Sort(texts)
	return strings.Join(slices.Compact(texts), "\x03")
}

// option is a smallest possible set of the unions in avoid that contain some text.
type option struct {
	set   []uint64 // bit set of the indexes of the unions
	words []string // texts that exactly these unions contain, shortest first
	// branch is the number of the branch that the last words came from, and ofBranch is the number
	// of these words. The number is limited for each branch, and not in total, because all words of
	// one branch may have other readings.
	branch, ofBranch int
}

// work is the number of characters that a search may still try.
type work struct{ left int }

func (w *work) spendWork(n int) bool {
	w.left -= n
	return w.left >= 0
}

const (
	wordsPerSet   = 4    // words of an option for each branch
	wordsOfMany   = 24   // the same if many texts are asked for
	nodesOfMany   = 4000 // nodes to visit if many texts are asked for
	nodesBeyond   = 64   // nodes to visit after the best possible set was found
	maxCandidates = 4096
)

// leastSets finds the options with the smallest sets. all is false if the work limit was reached.
// many means that options whose set is not a smallest one are listed, too.
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

// visitBranches visits every choice of one language from each needed union. It
// skips choices whose ends prove that they share no text.
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

// baseSet returns the set of the unions in avoid that contain every text.
func (d *dimension) baseSet() []uint64 {
	row := make([]uint64, (len(d.avoid)+63)/64)
	for k, u := range d.avoid {
		if u == nil {
			setBit(row, k)
		}
	}
	return row
}
