package inspect

import (
	"math/bits"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clawai/clawai/internal/text/textclass"
)

// Some characters that are not drawn occur one by one in ordinary pages: private-use icons, zero
// width where a line may break, direction marks. Hidden text consists of many of them: three in a
// row, or enough of them among other letters to encode a message.
const (
	denseRun    = 3   // characters in a row
	denseMany   = 12  // within denseWithin bytes: pages have at most 10 (docs/detection.md)
	denseWithin = 128 // bytes
	spreadMany  = 64  // anywhere in one text, if they are not all the same character
	spelledMany = 16  // private-use characters that spell letters: an icon may have any code
)

// sparse collects runs of one or two characters that hide nothing by themselves.
type sparse struct {
	f     *findings
	rest  bool // second pass: report runs that the first pass left out
	ring  [denseMany]run
	n     int  // number of runs so far
	zero  int  // characters outside the private use area
	last  rune // the last of the characters that zero counts
	mixed bool // zero counts different characters

	variants variants

	matched [longestPeriod + 1]int // by distance: number of runs in a row that equal the run at that distance before them, with the blanks between

	// private is the number of private-use characters: spelled of them have a small letter or a
	// blank in their last 7 bits, letters of them a letter of any case or a blank.
	private, spelled, letters int
}

// run is a run of characters that are not drawn.
type run struct {
	start, end int
	count      int
	what       string
	found      bool // it was one of many within denseWithin bytes
}

// maxRating and maxChanges limit a row of icons that shows a number, such as five stars.
const (
	maxRating  = 10
	maxChanges = 2
)

// isRating reports whether a run is a row of icons that shows a number: 3 to 10 icons that change
// at most maxChanges times.
func isRating(run string) bool {
	n := 0
	for _, r := range run {
		if !textclass.Private.HasRune(r) {
			return false
		}
		n++
	}
	return n >= denseRun && n <= maxRating && countChanges(run) <= maxChanges
}

// countChanges returns how often a character differs from the one before it.
func countChanges(run string) (n int) {
	var before rune
	for i, r := range run {
		if i > 0 && r != before {
			n++
		}
		before = r
	}
	return n
}

// longestPeriod is the maximum number of runs that may repeat as a group.
const longestPeriod = 7

// repeats reports whether a run and the text before it only repeat earlier ones, and so can tell
// nothing new: the same icon again, after a blank or tags, or more of the filler that mails have
// after their first words.
func (s *sparse) repeats(start, end int) bool {
	t, last := s.f.text, s.lastRun(1)
	if last == nil {
		return false
	}
	run, gap := t[start:end], t[last.end:start]
	if r, size := utf8.DecodeRuneInString(run); textclass.Private.HasRune(r) {
		return size == len(run) && strings.HasSuffix(t[:last.end], run) && (gap == " " || strings.HasPrefix(gap, "<") && strings.HasSuffix(gap, ">"))
	}
	blank, goesOn := strings.TrimFunc(gap, unicode.IsSpace) == "", false
	for p := 1; p <= longestPeriod; p++ {
		as, before := s.lastRun(p), s.lastRun(p+1)
		if !blank || as == nil || before == nil || run != t[as.start:as.end] || gap != t[before.end:as.start] {
			s.matched[p] = 0
			continue
		}
		s.matched[p]++
		goesOn = goesOn || s.matched[p]+p > denseMany-3
	}
	return goesOn
}

// lastRun returns the n-th run before the present one; nil if there is none.
func (s *sparse) lastRun(n int) *run {
	if s.n < n {
		return nil
	}
	return &s.ring[(s.n-n)%denseMany]
}

// takeRun records a run of count characters.
func (s *sparse) takeRun(count, start, end int, what string) {
	if s.repeats(start, end) {
		count = 0
	}
	for _, r := range s.f.text[start:end] {
		if !textclass.Private.HasRune(r) {
			if count == 0 {
				continue
			}
			s.zero++
			s.mixed = s.mixed || s.last != 0 && s.last != r
			s.last = r
			continue
		}
		s.private++
		c := r & 0x7f
		if c == ' ' || 'a' <= c && c <= 'z' {
			s.spelled++
		}
		if c == ' ' || 'a' <= c|0x20 && c|0x20 <= 'z' {
			s.letters++
		}
	}
	at := s.n % denseMany
	s.leaveRun(&s.ring[at])
	s.ring[at] = run{start, end, count, what, false}
	s.n++
	near := 0
	for i := range s.ring {
		if one := &s.ring[i]; end-one.start <= denseWithin {
			near += one.count
		}
	}
	if near < denseMany {
		return
	}
	for i := range s.ring {
		if one := &s.ring[i]; !one.found && one.end > 0 && end-one.start <= denseWithin {
			one.found = true
			if !s.rest {
				s.f.addFinding(Hidden, one.what, one.start, one.end)
			}
		}
	}
}

// leaveRun handles a run that leaves the ring. In the second pass it reports the run, if there were
// too few other runs near it for the first pass.
func (s *sparse) leaveRun(one *run) {
	if s.rest && !one.found && one.end > 0 {
		s.f.addFinding(Hidden, one.what, one.start, one.end)
	}
}

// endText reports whether the text must be read again, for the runs that the first pass left out.
func (s *sparse) endText() (again bool) {
	for i := range s.ring {
		s.leaveRun(&s.ring[i])
	}
	spells := s.private >= spelledMany && (s.spelled*10 >= s.private*6 || s.letters*10 >= s.private*9) // the last bits of four icons in ten look like a letter of any case
	return !s.rest && (s.zero >= spreadMany && s.mixed || spells)
}

// isHarmlessAlone reports whether one or two of a character hide nothing. A character can hide
// something if it changes the direction of other letters, or if it encodes a letter: a tag, a
// selector that no picture has.
func isHarmlessAlone(r rune) bool { return textclass.SingleInPages.HasRune(r) }

func isLoud(r rune) bool { return !isHarmlessAlone(r) }

// Names of people and places in Han letters contain variation selectors, mostly one of the first
// few selectors. No ordinary text has as many different selectors as a sentence has letters.
const (
	closeVariants  = 8 // selectors within closeWithin bytes are text if more than closeDifferent of them differ
	closeWithin    = 256
	closeDifferent = 5
	manyVariants   = 16 // selectors anywhere are text if more than manyDifferent of them differ
	manyDifferent  = 8
)

// variants counts the selectors of a text that are ordinary one by one.
type variants struct {
	ring  [closeVariants]struct{ at, bit int }
	n     int
	all   uint32 // a bit for each selector seen
	close bool   // closeVariants selectors that were close together spelled a text
}

func (v *variants) addVariant(r rune, at int) {
	bit := int(r - firstVariant)
	v.ring[v.n%closeVariants].at, v.ring[v.n%closeVariants].bit = at, bit
	v.n++
	v.all |= 1 << bit
	if v.close || v.n < closeVariants || at-v.ring[v.n%closeVariants].at > closeWithin {
		return
	}
	last := uint32(0)
	for _, one := range v.ring {
		last |= 1 << one.bit
	}
	v.close = bits.OnesCount32(last) > closeDifferent
}

// spellText reports whether the selectors spell a text.
func (v *variants) spellText() bool {
	return v.close || v.n >= manyVariants && bits.OnesCount32(v.all) > manyDifferent
}
