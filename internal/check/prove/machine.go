package prove

import (
	"math/bits"
	"slices"
	"strings"
)

// machine runs many linear automata at once, as package glob runs one: the states are the bits of a
// row, and each character needs one pass over the row.
type machine struct {
	words    int // length of a row
	langs    []*lang
	segments []segment         // by language
	runes    []rune            // the alphabet: all characters in the languages, and two others
	leave    map[rune][]uint64 // by character: the states from which it leads to the next state
	keep     map[rune][]uint64 // by character: the states that it keeps
	moves    [][2][]uint64     // leave and keep, by the index of a character in runes
	start    []uint64
	needed   int  // number of languages that must all accept: the first ones in langs
	based    bool // some language contains only relative paths
}

// segment is the range of the states of one language in a row, both ends included.
type segment struct{ from, last int }

// newMachine builds a machine for the languages that must accept (needed) and others. If runes is
// nil, the alphabet is derived from the languages.
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

// tabulateRunes sets leave, keep and moves. Most states treat all characters but one in the same
// way, so it first sets the same rows for all characters, and then corrects them.
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

// hasOthers reports whether the set contains the characters that are not in runes.
func (t *test) hasOthers() bool { return t.kind == anyRune || t.kind == except }

// correctRows corrects the bit of state at in the rows of the characters in runes, and of letters.
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

// Candidates for the two characters that stand for all characters outside the languages: a letter and
// a non-letter. Plain characters come first, because people read the witness.
const (
	freshLetters = "xyzwvuqkjhgfdsrtpnmlcbaeoiXYZWVUQKJ"
	freshOthers  = "0123456789-_=+,;!@#^&()[]{}<>|'\"`"
)

// alphabetOf returns enough characters to distinguish all texts that the languages distinguish: one
// letter and one non-letter that no language names, and the characters that the languages name.
// Plain characters come first.
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

// unseenRune returns the first character of candidates that is not in seen. If there is none, it
// returns the first such character with a code of at least next.
func unseenRune(candidates string, next rune, seen map[rune]bool) rune {
	for _, r := range candidates {
		if !seen[r] {
			return r
		}
	}
	for seen[next] {
		next++
	}
	return next
}

// runeOddness ranks characters: the rank is high if a value with the character probably has readings
// other than the value as written.
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

// stepRow sets next to the states after row and one more character. next and row may be the same
// slice.
func (m *machine) stepRow(next, row []uint64, r rune) { moveRow(next, row, m.leave[r], m.keep[r]) }

func moveRow(next, row, leave, keep []uint64) {
	var carry uint64
	for w, states := range row {
		left := leave[w] & states
		next[w] = left<<1 | carry | states&keep[w]
		carry = left >> 63
	}
}

// isAlive reports whether every language that must accept can still accept a longer text.
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

// acceptsRow reports whether language i contains the text that led to row. b is the base of the text.
// If this cannot be known, the result is true for a language that must accept, and false for another
// language. So a proof holds whatever is the case.
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
