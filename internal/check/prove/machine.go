package prove

import (
	"math/bits"
	"slices"
	"strings"
)

// machine runs many linear automata at once, like package glob runs one: their
// states are bits of one row, and each character costs one pass over the row.
type machine struct {
	words    int
	langs    []*lang
	segments []segment
	runes    []rune // the alphabet: all characters in the languages, and two others
	leave    map[rune][]uint64
	keep     map[rune][]uint64
	moves    [][2][]uint64 // leave and keep for each of runes
	start    []uint64
	needed   int  // number of leading languages that must all accept
	based    bool // some language holds relative paths only
}

// segment is the range of one language's states in a row.
type segment struct{ from, last int }

// newMachine builds a machine for the languages that must accept and those that
// should not. A nil alphabet is derived from the languages.
func newMachine(needed, others []*lang, runes []rune) *machine {
	m := &machine{
		langs: slices.Concat(needed, others), needed: len(needed),
		leave: map[rune][]uint64{}, keep: map[rune][]uint64{},
	}
	states := 0
	for _, l := range m.langs {
		m.based = m.based || l.relative
		m.segments = append(m.segments, segment{states, states + len(l.steps) - 1})
		states += len(l.steps)
	}
	m.words = (states + 63) / 64
	m.start = make([]uint64, m.words)
	for _, p := range m.segments {
		setBit(m.start, p.from)
	}
	if m.runes = runes; runes == nil {
		m.runes = alphabetOf(m.langs)
	}
	m.tabulateRunes()
	return m
}

// tabulateRunes records for each character the states that it leaves and keeps.
// Most states treat all characters but one alike, so the common case is written
// first.
func (m *machine) tabulateRunes() {
	leave, keep := make([]uint64, m.words), make([]uint64, m.words)
	m.visitStates(func(at int, s *step) {
		if s.leave.hasOthers() {
			setBit(leave, at)
		}
		if s.loop.hasOthers() {
			setBit(keep, at)
		}
	})
	for _, r := range m.runes {
		m.leave[r], m.keep[r] = slices.Clone(leave), slices.Clone(keep)
	}
	m.visitStates(func(at int, s *step) {
		s.leave.correctRows(m.leave, at)
		s.loop.correctRows(m.keep, at)
	})
	for _, r := range m.runes {
		m.moves = append(m.moves, [2][]uint64{m.leave[r], m.keep[r]})
	}
}

func (m *machine) visitStates(visit func(at int, s *step)) {
	for i, l := range m.langs {
		for j := range l.steps {
			visit(m.segments[i].from+j, &l.steps[j])
		}
	}
}

// hasOthers reports whether the set contains characters that it does not name.
func (t *test) hasOthers() bool { return t.kind == anything || t.kind == except }

// correctRows corrects the rows of the characters that the set treats
// differently from others.
func (t *test) correctRows(rows map[rune][]uint64, at int) {
	switch t.kind {
	case oneOf:
		for _, r := range t.runes {
			if row := rows[r]; row != nil {
				setBit(row, at)
			}
		}
	case except:
		for _, r := range t.runes {
			if row := rows[r]; row != nil {
				row[at/64] &^= 1 << (at % 64)
			}
		}
	case letters:
		for r, row := range rows {
			if t.hasRune(r) {
				setBit(row, at)
			}
		}
	}
}

func setBit(row []uint64, i int)      { row[i/64] |= 1 << (i % 64) }
func hasBit(row []uint64, i int) bool { return row[i/64]>>(i%64)&1 != 0 }

// Characters that stand for all characters outside the languages: a letter and
// a non-letter. Plain ones come first, because people read the witness.
const (
	freshLetters = "xyzwvuqkjhgfdsrtpnmlcbaeoiXYZWVUQKJ"
	freshOthers  = "0123456789-_=+,;!@#^&()[]{}<>|'\"`"
)

// alphabetOf returns enough characters to distinguish all texts that the
// languages distinguish: the characters in them, one other letter and one other
// non-letter. Plain ones come first.
func alphabetOf(langs []*lang) []rune {
	seen := map[rune]bool{'/': true}
	var known [128]bool // the ASCII characters of seen
	for _, l := range langs {
		for _, r := range l.baseRunes() {
			seen[r] = true
		}
		for i := range l.steps {
			for _, t := range []*test{&l.steps[i].leave, &l.steps[i].loop} {
				for _, r := range t.runes {
					if r < 128 && known[r] {
						continue
					} else if r < 128 {
						known[r] = true
					}
					seen[r] = true
				}
			}
		}
	}
	fresh := []rune{unseenRune(freshLetters, 'α', seen), unseenRune(freshOthers, '→', seen)}
	runes := make([]rune, 0, len(seen))
	for r := range seen {
		runes = append(runes, r)
	}
	slices.SortFunc(runes, func(a, b rune) int {
		if x, y := runeOddness(a), runeOddness(b); x != y {
			return x - y
		}
		return int(a - b)
	})
	return append(fresh, runes...)
}

func unseenRune(from string, next rune, seen map[rune]bool) rune {
	for _, r := range from {
		if !seen[r] {
			return r
		}
	}
	for seen[next] {
		next++
	}
	return next
}

// runeOddness ranks characters by how likely they give a value readings besides
// the value as written.
func runeOddness(r rune) int {
	switch {
	case 'a' <= r && r <= 'z', '0' <= r && r <= '9':
		return 0
	case strings.ContainsRune("-_", r):
		return 1
	case strings.ContainsRune(`.~%\: $`, r):
		return 4
	case r == '/':
		return 3
	}
	return 2
}

// stepRow moves row over r into next, which may be row.
func (m *machine) stepRow(next, row []uint64, r rune) { moveRow(next, row, m.leave[r], m.keep[r]) }

func moveRow(next, row, leave, keep []uint64) {
	var carry uint64
	for w, states := range row {
		left := leave[w] & states
		next[w] = left<<1 | carry | states&keep[w]
		carry = left >> 63
	}
}

// isAlive reports whether every language that must accept still can accept.
func (m *machine) isAlive(row []uint64) bool {
	for i := range m.needed {
		if !m.anyState(row, m.segments[i]) {
			return false
		}
	}
	return true
}

func (m *machine) anyState(row []uint64, p segment) bool {
	for i := p.from; i <= p.last; {
		w, low := i/64, i%64
		span := min(64-low, p.last+1-i)
		mask := (^uint64(0) >> (64 - span)) << low
		if row[w]&mask != 0 {
			return true
		}
		i += span
	}
	return false
}

// acceptsRow reports whether language i contains the text that led to row; b is
// the base of the text. In doubt, a language that must accept does accept, and
// another does not. So a proof holds in either case.
func (m *machine) acceptsRow(row []uint64, i int, b base) bool {
	if !hasBit(row, m.segments[i].last) {
		return false
	}
	if !m.langs[i].relative {
		return true
	}
	surely, perhaps := b.isRelative()
	return surely || perhaps && i < m.needed
}

// neededBits returns the number of states of the languages that must accept.
// These states come first in a row.
func (m *machine) neededBits() int {
	if m.needed == 0 {
		return 0
	}
	return m.segments[m.needed-1].last + 1
}

func isSubset(a, b []uint64) bool {
	for w := range a {
		if a[w]&^b[w] != 0 {
			return false
		}
	}
	return true
}

func countBits(row []uint64) (n int) {
	for _, w := range row {
		n += bits.OnesCount64(w)
	}
	return n
}
