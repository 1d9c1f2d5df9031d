package prove

import (
	"slices"
	"strings"
	"unsafe"
)

// search visits the states of a product of automata, breadth first. It drops a state if another
// state is at least as good: whatever text follows, the other state leads to no additional accepted
// language that must be avoided. These are the antichains of De Wulf, Doyen, Henzinger and Raskin
// (CAV 2006). They decide inclusion without a visit of most subsets of states.
type search struct {
	variant
	number  int // number of the current branch (option.branch)
	manner  manner
	base    []uint64 // the unions of avoid that contain every text
	many    bool     // find more texts than a proof needs
	work    *work
	options []option

	machine *machine
	others  []*lang
	owners  [][]int // for each language in others: indexes of the unions in avoid that have the language
	nodes   []node
	row     []uint64           // buffer for the row of the next node
	seen    map[string][]int32 // indexes of nodes, by the key that isDominated makes
	beyond  int                // number of nodes visited since the best possible set was found
}

type node struct {
	row    []uint64
	shape  tidiness
	base   base
	parent int32
	char   rune
}

func (s *search) searchBranch(branch []*lang) (whole bool) {
	if len(s.avoid) == 0 && len(s.options) > 0 && !s.many {
		return true // no rule must be avoided
	}
	for _, l := range branch {
		if l.literal && !s.slashed {
			s.judgeWord(l.word, branch)
			return s.work.spendWork(len(s.avoid) * (1 + len(l.word)))
		}
	}
	if s.trySample(branch) {
		return true
	}
	whole = true
	s.collectAvoided(branch)
	s.machine = newMachine(branch, s.others, nil)
	if !s.work.spendWork(s.machine.words * (64 + 2*len(s.machine.runes))) {
		return false
	}
	s.row = make([]uint64, s.machine.words)
	s.seen = map[string][]int32{}
	s.nodes = append(s.nodes, node{row: s.machine.start, parent: -1})
	for at := 0; at < len(s.nodes); at++ {
		s.acceptNode(int32(at))
		if s.beyond > nodesBeyond {
			return true
		}
		if s.many && len(s.nodes) > nodesOfMany {
			whole = false // visit the nodes in the queue, but add no others
			continue
		}
		for i := range s.machine.runes {
			if !s.work.spendWork(s.machine.words) {
				return false
			}
			s.followRune(int32(at), i)
		}
	}
	return whole
}

// judgeWord offers a text to the options if the text is in all languages of the branch.
func (s *search) judgeWord(text string, branch []*lang) {
	shape := atStart
	for _, r := range text {
		shape = shape.nextState(s.manner, r)
	}
	if !shape.mayEnd(s.manner) {
		return
	}
	for _, l := range branch {
		if !l.acceptsText(text, true) {
			return
		}
	}
	got := slices.Clone(s.base)
	for k, u := range s.avoid {
		if slices.ContainsFunc(u, func(l *lang) bool { return l.acceptsText(text, false) }) {
			setBit(got, k)
		}
	}
	s.offerSet(got, func() string { return text })
}

// trySample makes two texts from each glob of the branch: one without stars, and one with a letter
// in place of each star. It returns true if such a text gives an option. If some rule must be
// avoided, it tries nothing.
func (s *search) trySample(branch []*lang) bool {
	if len(s.avoid) > 0 || s.many || s.slashed {
		return false
	}
	for _, l := range branch {
		if l.glob == nil || l.relative {
			continue
		}
		for _, star := range []string{"", freshLetters[:1]} {
			text := strings.NewReplacer("**", star, "*", star, "?", freshLetters[:1]).Replace(l.text)
			if s.judgeWord(text, branch); len(s.options) > 0 {
				return true
			}
		}
	}
	return false
}

// collectAvoided sets others and owners. The field others gets the avoided languages that may have
// a text in common with the branch, by the ends of their texts. Each language is listed once.
func (s *search) collectAvoided(branch []*lang) {
	index := map[string]int{}
	for k, u := range s.avoid {
		for _, l := range u {
			if !s.slashed && slices.ContainsFunc(branch, l.isDisjoint) {
				continue
			}
			i, found := index[l.text]
			if !found {
				i = len(s.others)
				index[l.text] = i
				s.others, s.owners = append(s.others, l), append(s.owners, nil)
			}
			s.owners[i] = append(s.owners[i], k)
		}
	}
}

// followRune adds the node after one more character, unless the node is useless. index is the index
// of the character in the alphabet.
func (s *search) followRune(parent int32, index int) {
	r := s.machine.runes[index]
	from := &s.nodes[parent]
	n := node{shape: from.shape.nextState(s.manner, r), parent: parent, char: r, row: s.row}
	if n.shape == untidy {
		return
	}
	if s.machine.based {
		n.base = from.base.nextBase(r)
	}
	moveRow(n.row, from.row, s.machine.moves[index][0], s.machine.moves[index][1])
	if s.machine.isAlive(n.row) && (s.many || !s.isDominated(&n)) {
		n.row = slices.Clone(n.row) // copy the row, because n.row is the buffer s.row
		s.nodes = append(s.nodes, n)
	}
}

// isDominated reports whether an earlier node is at least as good as n, whatever text follows. If
// there is none, it records n.
func (s *search) isDominated(n *node) bool {
	bits := s.machine.neededBits()
	words := (bits + 63) / 64
	key := make([]uint64, words+1)
	copy(key, n.row[:words])
	if bits%64 != 0 {
		key[words-1] &= 1<<(bits%64) - 1
	}
	key[words] = uint64(n.shape)<<8 | uint64(n.base)
	name := string(unsafe.Slice((*byte)(unsafe.Pointer(&key[0])), 8*len(key)))
	for _, at := range s.seen[name] {
		s.work.spendWork(s.machine.words)
		if isSubset(s.nodes[at].row, n.row) {
			return true
		}
	}
	s.seen[name] = append(s.seen[name], int32(len(s.nodes)))
	return false
}

// acceptNode offers the text of a node to the options, if all needed languages have the text.
func (s *search) acceptNode(at int32) {
	defer s.countBeyond()
	n := &s.nodes[at]
	var more []uint64 // the states after one more slash
	if s.slashed {
		if n.parent < 0 || n.char == '/' {
			return
		}
		more = make([]uint64, s.machine.words)
		s.machine.stepRow(more, n.row, '/')
	}
	accepting := func(i int) bool {
		return s.machine.acceptsRow(n.row, i, n.base) || more != nil && s.machine.acceptsRow(more, i, n.base.nextBase('/'))
	}
	for i := range s.machine.needed {
		if !n.shape.mayEnd(s.manner) || !accepting(i) {
			return
		}
	}
	if s.machine.needed == 0 && !n.shape.mayEnd(s.manner) {
		return
	}
	got := slices.Clone(s.base)
	for i := range s.others {
		if accepting(s.machine.needed + i) {
			for _, k := range s.owners[i] {
				setBit(got, k)
			}
		}
	}
	s.offerSet(got, func() string { return s.pathText(at) })
}

// countBeyond counts a node that was visited after the best possible set was found.
func (s *search) countBeyond() {
	if !s.many && len(s.options) == 1 && isSubset(s.options[0].set, s.base) {
		s.beyond++
	}
}

func (s *search) pathText(at int32) string {
	var runes []rune
	for n := &s.nodes[at]; n.parent >= 0; n = &s.nodes[n.parent] {
		runes = append(runes, n.char)
	}
	slices.Reverse(runes)
	if s.slashed {
		runes = append(runes, '/')
	}
	return string(runes)
}

// offerSet adds an option with a set and a text, and removes options with larger sets. If an option
// has a smaller set, nothing is added. If an option has the same set, it only gets the text. If
// s.many is true, larger sets are kept.
func (s *search) offerSet(got []uint64, text func() string) {
	limit := wordsPerSet
	if s.many {
		limit = wordsOfMany
	}
	for i := range s.options {
		o := &s.options[i]
		if !isSubset(o.set, got) {
			continue
		}
		if same := isSubset(got, o.set); !same && !s.many {
			return
		} else if same {
			if o.branch != s.number {
				o.branch, o.ofBranch = s.number, 0
			}
			if o.ofBranch++; o.ofBranch <= limit {
				o.words = append(o.words, text())
			}
			return
		}
	}
	if !s.many {
		s.options = slices.DeleteFunc(s.options, func(o option) bool { return isSubset(got, o.set) })
	}
	s.options = append(s.options, option{set: got, words: []string{text()}, branch: s.number, ofBranch: 1})
}
