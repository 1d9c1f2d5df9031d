package prove

import (
	"math/bits"
	"slices"
	"strings"
)

// machine runs many linear automata at the same time, as package glob runs one. The states are the
// bits of a row. Each character needs one pass over the row.
type machine struct {
	words    int // number of words of 64 bits in a row
	langs    []*lang
	segments []segment         // place of each language in a row
	runes    []rune            // the alphabet: all characters in the languages, and two characters for all others
	leave    map[rune][]uint64 // by character: the states from which it leads to the next state
	keep     map[rune][]uint64 // by character: the states that it keeps
	moves    [][2][]uint64     // leave and keep, by the index of the character in runes
	start    []uint64
	needed   int  // number of languages that must all accept; they are the first in langs
	based    bool // some language has only relative paths
}

// segment is the range of bits with the states of one language, from the first to the last bit.
type segment struct{ from, last int }

// newMachine builds a machine. The languages in needed must all accept. If runes is nil, the
// alphabet comes from the languages.
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

// tabulateRunes sets leave, keep and moves. In most states all characters but one have the same
// effect. So it first sets equal rows for all characters, and then corrects them.
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

// hasOthers reports whether the set has the characters that are not in runes.
func (t *test) hasOthers() bool { return t.kind == anyRune || t.kind == except }

// correctRows corrects the bit of one state in the rows of those characters that differ from all
// others.
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

// Candidates for the two characters that stand for all characters outside the languages: a letter
// and another character. Plain characters come first, because people read the witness.
const (
	freshLetters = "xyzwvuqkjhgfdsrtpnmlcbaeoiXYZWVUQKJ"
	freshOthers  = "0123456789-_=+,;!@#^&()[]{}<>|'\"`"
)

// alphabetOf returns enough characters to form every kind of text that the languages
// distinguish: the characters in the languages, one other letter, and one other character. Plain
// characters come first.
func alphabetOf(langs []*lang) []rune {
	seen := map[rune]bool{'/': true}
	var known [128]bool // the ASCII characters in seen
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

// unseenRune returns the first of the candidates that is not in the set seen. If the set has all
// candidates, unseenRune tries the character in the parameter next and those that follow it, and
// returns the first one that is not in the set.
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

// runeOddness ranks characters. The rank is high if a value with this character probably has
// several readings.
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

// stepRow takes the states in the slice row, and writes the states that follow them after the
// character r into the slice next. Both may be the same slice.
func (m *machine) stepRow(next, row []uint64, r rune) { moveRow(next, row, m.leave[r], m.keep[r]) }

func moveRow(next, row, leave, keep []uint64) {
	var carry uint64
	for w, states := range row {
		left := leave[w] & states
		next[w] = left<<1 | carry | states&keep[w]
		carry = left >> 63
	}
}

// isAlive reports whether every language that must accept can still accept, if more characters
// follow.
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

// acceptsRow reports whether the text that led to row is in language i. b is the base of the text.
// If the base leaves it open whether the text is a relative path, the result is true for a language
// of relative paths that must accept, and false for any other language of relative paths, so that
// proofs stay valid.
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

// neededBits returns the number of states of the languages that must accept. They come first in a
// row.
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
