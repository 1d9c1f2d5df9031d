package prove

import (
	"slices"
	"strings"
)

// dimension is one subject of conditions: the name, the server, or one
// argument. Its question: which texts are in all of needed, and in as few of
// avoid as possible?
type dimension struct {
	variant
	more   []variant // the same question for readings by transformations
	manner manner
}

type variant struct {
	needed [][]*lang // a text must be in one language of each
	avoid  []union
	// slashed asks about texts that end in a slash. Each is read with and
	// without the slash, as one reading that a glob may match either way.
	slashed bool
}

// union is a set of languages. A nil union means no condition: every text is in
// it.
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

// option is a least set of avoid that some text stays in, with such texts,
// shortest first.
type option struct {
	set   []uint64
	words []string
	// Words come from several branches, with a limit for each branch, because
	// all words of one branch may have other readings.
	branch, ofBranch int
}

// work is the number of characters that a search may still try.
type work struct{ left int }

func (w *work) spendWork(n int) bool {
	w.left -= n
	return w.left >= 0
}

const (
	wordsPerSet   = 4
	wordsOfMany   = 24
	nodesOfMany   = 4000
	nodesBeyond   = 64 // nodes to look at after the best possible set was found
	maxCandidates = 4096
)

// leastSets finds the least sets. all reports whether the work limit left
// nothing out. With many, it also lists some texts that are no better than
// others.
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

// baseSet returns the set of avoid that contains every text.
func (d *dimension) baseSet() []uint64 {
	row := make([]uint64, (len(d.avoid)+63)/64)
	for k, u := range d.avoid {
		if u == nil {
			setBit(row, k)
		}
	}
	return row
}
