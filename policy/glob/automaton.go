package glob

import (
	"slices"
	"unicode/utf8"
)

// automaton matches a text with a pattern and follows all possible matches at the same time
// (Baeza-Yates and Gonnet's shift-and algorithm, extended to stars). State i means that the first i
// elements of the pattern are matched; an element is a literal character or a `?`. The active
// states are the bits of a row. Each character of the text costs one pass over the row. So a match
// costs at most len(text) × words.
type automaton struct {
	words int
	last  int        // the accepting state
	deep  []uint64   // states that stay active on any character, because of a `**`
	step  []uint64   // states that stay active on any character but "/", because of a `*`
	any   []uint64   // states from which a `?` leads to the next state
	runes []rune     // the distinct literal characters, sorted
	masks []uint64   // for each rune in runes: the states from which the rune leads to the next state
	ascii [128]uint8 // for each ASCII character: its index in runes, plus 1; 0 if it is not in runes
}

// stackWords is the largest row length that needs no allocation: it is enough for patterns of
// up to 1,023 elements.
const stackWords = 16

// newAutomaton builds the automaton of a valid pattern.
func newAutomaton(pattern string) *automaton {
	a := &automaton{runes: literalRunes(pattern)}
	elements := utf8.RuneCountInString(pattern)
	a.words = elements/64 + 1
	rows := make([]uint64, (3+len(a.runes))*a.words)
	cut := func() []uint64 {
		row := rows[:a.words:a.words]
		rows = rows[a.words:]
		return row
	}
	a.deep, a.step, a.any, a.masks = cut(), cut(), cut(), rows
	for i, r := range a.runes {
		if r < 128 {
			a.ascii[r] = uint8(i + 1)
		}
	}
	for i := 0; i < len(pattern); {
		r, size := utf8.DecodeRuneInString(pattern[i:])
		switch n := countStars(pattern[i:]); {
		case n > 1:
			setBit(a.deep, a.last)
			size = n
		case n == 1:
			setBit(a.step, a.last)
		case r == '?':
			setBit(a.any, a.last)
			a.last++
		default:
			setBit(a.maskOf(r), a.last)
			a.last++
		}
		i += size
	}
	return a
}

// literalRunes lists the literal characters of a pattern, sorted.
func literalRunes(pattern string) []rune {
	runes := make([]rune, 0, len(pattern))
	for _, r := range pattern {
		if r != '*' && r != '?' {
			runes = append(runes, r)
		}
	}
	slices.Sort(runes)
	return slices.Compact(runes)
}

func setBit(row []uint64, state int) { row[state/64] |= 1 << (state % 64) }

// maskOf returns the row of the states from which a literal character leads to the next state;
// nil if the pattern does not hold the character.
func (a *automaton) maskOf(r rune) []uint64 {
	i := 0
	if r < 128 {
		i = int(a.ascii[r])
	} else if at, found := slices.BinarySearch(a.runes, r); found {
		i = at + 1
	}
	if i == 0 {
		return nil
	}
	return a.masks[(i-1)*a.words : i*a.words]
}

// acceptsText reports whether the automaton accepts the whole of s.
func (a *automaton) acceptsText(s string) bool {
	ok, _ := a.runRows(s)
	return ok
}

// runRows does what acceptsText does, and also counts the words that it computed. A test compares
// this number with pattern × text.
func (a *automaton) runRows(s string) (ok bool, work int) {
	if a.words == 1 {
		return a.runWord(s)
	}
	var buf [stackWords]uint64
	row := buf[:]
	if a.words > stackWords {
		row = make([]uint64, a.words)
	}
	row = row[:a.words]
	row[0] = 1
	for i := 0; i < len(s); {
		r, size := decodeRune(s[i:])
		i += size
		work += a.words
		if !a.advanceRow(row, r) {
			return false, work
		}
	}
	return row[a.last/64]>>(a.last%64)&1 != 0, work
}

// advanceRow moves a row over one character. It returns false when no state is active any more.
func (a *automaton) advanceRow(row []uint64, r rune) bool {
	mask := a.maskOf(r)
	var carry, alive uint64
	for w, states := range row {
		leave, keep := a.any[w], a.deep[w]
		if mask != nil {
			leave |= mask[w]
		}
		if r != separator {
			keep |= a.step[w]
		}
		leave &= states
		row[w] = leave<<1 | carry | states&keep
		carry = leave >> 63
		alive |= row[w]
	}
	return alive != 0
}

// runWord does what runRows does, for patterns of up to 63 elements: their row fits in a register.
func (a *automaton) runWord(s string) (ok bool, work int) {
	deep, step, one := a.deep[0], a.step[0], a.any[0]
	states := uint64(1)
	for i := 0; i < len(s); work++ {
		var leave uint64
		keep := deep | step
		if c := s[i]; c < utf8.RuneSelf {
			i++
			if at := a.ascii[c]; at != 0 {
				leave = a.masks[at-1]
			}
			if c == separator {
				keep = deep
			}
		} else {
			r, size := decodeRune(s[i:])
			i += size
			if mask := a.maskOf(r); mask != nil {
				leave = mask[0]
			}
		}
		states = states&(leave|one)<<1 | states&keep
		if states == 0 {
			return false, work
		}
	}
	return states>>a.last&1 == 1, work
}

// invalid stands for a byte that is not UTF-8. No literal character equals invalid, not even
// U+FFFD.
const invalid = utf8.MaxRune + 1

func decodeRune(s string) (rune, int) {
	r, size := utf8.DecodeRuneInString(s)
	if r == utf8.RuneError && size == 1 {
		r = invalid
	}
	return r, size
}
