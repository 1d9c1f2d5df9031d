package prove

import (
	"slices"
	"strings"
)

// dimension is one thing that conditions are about: the name, the server, or one
// argument. Its question: which texts are in all of needed, and in as few of
// avoid as can be?
type dimension struct {
	variant
	more   []variant // the same question of the readings that transformations make
	manner manner
}

type variant struct {
	needed [][]*lang // in one of each
	avoid  []union
	// slashed asks about texts that end in a slash, each read with it or without,
	// as one reading that a glob matches in either way.
	slashed bool
}

// union is a set of languages; nil where there is no condition, and every text
// is in it.
type union []*lang

// unionKey gives the same for unions of the same languages.
func (u union) unionKey() string {
	texts := make([]string, len(u))
	for i, l := range u {
		texts[i] = l.text
	}
	slices.Sort(texts)
	return strings.Join(slices.Compact(texts), "\x03")
}

// option is one least set of avoid that some text cannot get out of, with such
// texts, shortest first.
type option struct {
	set   []uint64
	words []string
	// Words come from several branches, and each may have a few: those of one may
	// all be of a kind that has other readings.
	branch, ofBranch int
}

// work bounds a search: it counts the characters tried.
type work struct{ left int }

func (w *work) spendWork(n int) bool {
	w.left -= n
	return w.left >= 0
}

const (
	wordsPerSet   = 4
	wordsOfMany   = 24
	nodesOfMany   = 4000
	nodesBeyond   = 64 // looked at after the best there can be was found
	maxCandidates = 4096
)

// leastSets finds the least sets. all says that nothing was left out for want of
// work. With many, texts that do no better than others are listed too, some.
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

// visitBranches visits every choice of one language of each that is needed, but for
// those whose ends tell that they share no text.
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

// baseSet gives the set of avoid that no text gets out of.
func (d *dimension) baseSet() []uint64 {
	row := make([]uint64, (len(d.avoid)+63)/64)
	for k, u := range d.avoid {
		if u == nil {
			setBit(row, k)
		}
	}
	return row
}
