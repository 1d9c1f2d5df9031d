package prove

import (
	"slices"
	"strings"
	"unsafe"
)

// search walks one product of automata, breadth first. Of two states it follows
// only the one from which fewer languages accept for every possible rest. These
// are the antichains of De Wulf, Doyen, Henzinger and Raskin (CAV 2006): they
// decide inclusion without most of the subsets of states.
type search struct {
	variant
	number  int // number of the branch
	manner  manner
	base    []uint64
	many    bool
	work    *work
	options []option

	machine *machine
	others  []*lang
	owners  [][]int // for each of others: indexes of the avoid unions that contain it
	nodes   []node
	row     []uint64 // buffer for the next node's row
	seen    map[string][]int32
	beyond  int
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
		return true // there is nothing to avoid
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
			whole = false // nodes already queued are still looked at
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

// judgeWord judges a branch with one text.
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

// trySample tries a glob of the branch with its stars removed, or replaced by a
// letter. It works only when there is nothing to avoid.
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

// collectAvoided lists, once each, the languages to avoid that may share a text
// with the branch, judged by their ends.
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

// followRune follows one character from a node.
func (s *search) followRune(parent int32, rune int) {
	r := s.machine.runes[rune]
	from := &s.nodes[parent]
	n := node{shape: from.shape.nextState(s.manner, r), parent: parent, char: r, row: s.row}
	if n.shape == untidy {
		return
	}
	if s.machine.based {
		n.base = from.base.nextBase(r)
	}
	moveRow(n.row, from.row, s.machine.moves[rune][0], s.machine.moves[rune][1])
	if s.machine.isAlive(n.row) && (s.many || !s.isDominated(&n)) {
		n.row = slices.Clone(n.row) // most nodes are dropped before they need a row of their own
		s.nodes = append(s.nodes, n)
	}
}

// isDominated reports whether an earlier node is at least as good as n for
// every rest. If none is, it records n.
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

// acceptNode records the set of avoid that contains the text of a node.
func (s *search) acceptNode(at int32) {
	defer s.countLook()
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

// countLook counts the nodes visited after the best possible set was found.
func (s *search) countLook() {
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

// offerSet adds a set unless a subset of it is present, and removes its
// supersets.
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
