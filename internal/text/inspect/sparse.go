package inspect

import (
	"math/bits"

	"github.com/clawai/clawai/internal/text/textclass"
)

// Some characters that are not drawn stand one by one in ordinary pages: icons in private use,
// zero width where a line may break, marks of direction. Hidden text is made of many of them:
// three in a row, or so many among other letters that they say something.
const (
	denseRun    = 3   // of them in a row
	denseMany   = 12  // within denseWithin bytes: pages have 10 at the most (docs/detection.md)
	denseWithin = 128 //
	spreadMany  = 64  // of two sorts and more in one text, wherever they stand
	spelledMany = 16  // of private use that spell letters: icons stand anywhere in a font
)

// sparse collects runs of one or two that hide nothing by themselves.
type sparse struct {
	f     *findings
	rest  bool // those are found that the first reading has left
	ring  [denseMany]run
	n     int  // runs
	zero  int  // characters that are no private use
	first rune // of these
	mixed bool // there is another

	variants variants

	private, spelled, letters int // of private use, and those of them whose last bits are a small letter or a blank, or one of any case
}

// run is a place of characters that are not drawn.
type run struct {
	start, end int
	count      int
	what       string
	found      bool
}

// takeRun notes a run of so many characters.
func (s *sparse) takeRun(count, start, end int, what string) {
	for _, r := range s.f.text[start:end] {
		if !textclass.Private.HasRune(r) {
			s.zero++
			s.mixed = s.mixed || s.first != 0 && s.first != r
			s.first = r
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
		if one := &s.ring[i]; !one.found && one.count > 0 && end-one.start <= denseWithin {
			one.found = true
			if !s.rest {
				s.f.addFinding(Hidden, one.what, one.start, one.end)
			}
		}
	}
}

// leaveRun is the end of a run that stands among too few others.
func (s *sparse) leaveRun(one *run) {
	if s.rest && !one.found && one.end > 0 {
		s.f.addFinding(Hidden, one.what, one.start, one.end)
	}
}

// endText reports whether the text is to be read once more, for those that the first reading has left.
func (s *sparse) endText() (again bool) {
	for i := range s.ring {
		s.leaveRun(&s.ring[i])
	}
	spells := s.private >= spelledMany && (s.spelled*10 >= s.private*6 || s.letters*10 >= s.private*9) // four of ten icons end like a letter of any case
	return !s.rest && (s.zero >= spreadMany && s.mixed || spells)
}

// isHarmlessAlone reports a character that hides nothing where it stands alone or in twos. What turns the
// direction of other letters does, and what is a letter to whoever knows: a tag, a selector that
// no picture has.
func isHarmlessAlone(r rune) bool { return textclass.SingleInPages.HasRune(r) }

func isLoud(r rune) bool { return !isHarmlessAlone(r) }

// Names have letters with a selector of their variants, most of them one of the first few; as many
// different ones as a sentence has letters stand in no text.
const (
	closeVariants  = 8 // in a row, of which more than five are different,
	closeWithin    = 256
	closeDifferent = 5
	manyVariants   = 16 // in a text, of which more than eight are
	manyDifferent  = 8
)

// variants counts the selectors of a text that are ordinary one by one.
type variants struct {
	ring  [closeVariants]struct{ at, bit int }
	n     int
	all   uint32 // a bit for each that was seen
	close bool
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

// spellText reports that they are the letters of something.
func (v *variants) spellText() bool {
	return v.close || v.n >= manyVariants && bits.OnesCount32(v.all) > manyDifferent
}
