package inspect

import (
	"math/bits"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clawai/clawai/internal/text/textclass"
)

// Ordinary pages have some characters that are not drawn: icons of the private use area, zero-width
// characters where a line may break, direction marks. Each of them stands alone. A hidden text has
// many of them: three in a row, or so many near each other that they can encode a message.
const (
	denseRun    = 3   // so many characters in a row are hidden text
	denseMany   = 12  // so many characters within denseWithin bytes are hidden text; pages have at most 10 (docs/detection.md)
	denseWithin = 128 // bytes
	spreadMany  = 64  // so many characters anywhere in a text are hidden text, if they are not all the same
	spelledMany = 16  // so many private-use characters are hidden text, if their codes look like letters; the code of an icon is arbitrary
)

// sparse collects runs of one or two characters, which are harmless alone.
type sparse struct {
	f     *findings
	rest  bool // this is the second pass, which reports the runs that the first pass left out
	ring  [denseMany]run
	n     int  // number of runs so far
	zero  int  // number of characters outside the private use area
	last  rune // the last character that zero has counted
	mixed bool // the characters that zero has counted differ

	variants variants

	matched [longestPeriod + 1]int // by distance d: number of consecutive runs that are equal to the run d runs earlier

	// private is the number of private-use characters. spelled counts those whose last 7 bits are a
	// small letter or a blank; letters counts those whose last 7 bits are any letter or a blank.
	private, spelled, letters int
}

// run is a run of characters that are not drawn.
type run struct {
	start, end int
	count      int
	what       string
	found      bool // the first pass has reported the run, as one of many within denseWithin bytes
}

// maxRating and maxChanges limit a row of icons that shows a rating, such as five stars.
const (
	maxRating  = 10
	maxChanges = 2
)

// isRating reports whether a run is a row of icons that shows a rating: 3 to 10 icons that change
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

// countChanges returns the number of characters that differ from the character before them.
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

// longestPeriod is the maximum number of runs in a group that repeats.
const longestPeriod = 7

// repeats reports whether a run and the text before it only repeat earlier runs and texts, so that
// they carry no message. Examples are the same icon again after a blank or tags, and the filler
// that mails have after their first words.
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

// lastRun returns the n-th run before the current one; nil if there is none.
func (s *sparse) lastRun(n int) *run {
	if s.n < n {
		return nil
	}
	return &s.ring[(s.n-n)%denseMany]
}

// takeRun records a run. count is its number of characters.
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

// leaveRun handles a run that leaves the ring. In the second pass it reports the run, unless the
// first pass has reported it.
func (s *sparse) leaveRun(one *run) {
	if s.rest && !one.found && one.end > 0 {
		s.f.addFinding(Hidden, one.what, one.start, one.end)
	}
}

// endText handles the runs that are still in the ring. The result again means that a second pass
// must report the runs that this pass left out.
func (s *sparse) endText() (again bool) {
	for i := range s.ring {
		s.leaveRun(&s.ring[i])
	}
	spells := s.private >= spelledMany && (s.spelled*10 >= s.private*6 || s.letters*10 >= s.private*9) // require six in ten or more, because by chance the last bits of four icons in ten look like a letter
	return !s.rest && (s.zero >= spreadMany && s.mixed || spells)
}

// isHarmlessAlone reports whether one or two characters r in a row are harmless. They are not
// harmless if r changes the direction of letters, or can encode a letter: a tag, or a selector
// that no picture uses.
func isHarmlessAlone(r rune) bool { return textclass.SingleInPages.HasRune(r) }

func isLoud(r rune) bool { return !isHarmlessAlone(r) }

// Variation selectors are ordinary in names of people and places in Han letters, where mostly the
// first few selectors occur. A hidden sentence needs a selector for each different letter. No
// ordinary text has so many different selectors.
const (
	closeVariants  = 8 // so many selectors within closeWithin bytes are hidden text, if more than closeDifferent of them differ
	closeWithin    = 256
	closeDifferent = 5
	manyVariants   = 16 // so many selectors in the whole text are hidden text, if more than manyDifferent of them differ
	manyDifferent  = 8
)

// variants counts the variation selectors that are ordinary alone.
type variants struct {
	ring  [closeVariants]struct{ at, bit int }
	n     int
	all   uint32 // a bit for each selector that the text has
	close bool   // closeVariants selectors near each other have spelled a hidden text
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

// spellText reports whether the selectors of the text are a hidden text.
func (v *variants) spellText() bool {
	return v.close || v.n >= manyVariants && bits.OnesCount32(v.all) > manyDifferent
}
