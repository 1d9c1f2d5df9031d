package textclass

import (
	"unicode"
	"unicode/utf8"
)

// A Set is the union of tables of code points.
type Set []*unicode.RangeTable

// HasRune reports whether a code point is in the set.
func (s Set) HasRune(r rune) bool { return unicode.In(r, s...) }

// IsASCII reports whether a text has only ASCII characters.
func IsASCII(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// Sets from which uses.go builds its unions. The properties and categories are those of the Unicode
// Character Database (UAX 44), in the version of package unicode.
var (
	// Control is U+0000 to U+001F and U+007F to U+009F.
	Control = Set{unicode.Cc}
	// Format are characters of the category Cf: zero width, direction, tags, annotation, joiners.
	Format = Set{unicode.Cf}
	// Direction are characters that change the order in which text is drawn (UAX 9). Format
	// includes all of them.
	Direction = Set{unicode.Bidi_Control}
	// RightToLeft are letters that are written from right to left and change the order of the text
	// around them (UAX 9, classes R and AL).
	RightToLeft = Set{unicode.Hebrew, unicode.Arabic, unicode.Syriac, unicode.Thaana, unicode.Nko}
	// LineBreak is U+2028 and U+2029. Control has the other line breaks.
	LineBreak = Set{unicode.Zl, unicode.Zp}
	// Blank are the characters for which unicode.IsSpace returns true.
	Blank = Set{unicode.White_Space}
	// Ignorable are characters that a program draws as nothing if it does not support them:
	// joiners, fillers, selectors (DerivedCoreProperties, Default_Ignorable_Code_Point). The
	// characters that Format has are left out.
	Ignorable = Set{unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector}
	// Selector are characters that select a form of the character before them.
	Selector = Set{unicode.Variation_Selector}
	// BlankLike are signs that are drawn as an empty space: the braille blank and the null
	// notehead.
	BlankLike = Set{&unicode.RangeTable{
		R16: []unicode.Range16{{Lo: 0x2800, Hi: 0x2800, Stride: 1}},
		R32: []unicode.Range32{{Lo: 0x1d159, Hi: 0x1d159, Stride: 1}},
	}}
	// Tag are the tag characters, with which a text can be hidden. Format includes most of them.
	Tag = Set{&unicode.RangeTable{R32: []unicode.Range32{{Lo: 0xe0000, Hi: 0xe007f, Stride: 1}}}}
	// EmojiSelector are characters that choose between text and emoji form of the character before
	// them. Ignorable includes all of them.
	EmojiSelector = Set{&unicode.RangeTable{R16: []unicode.Range16{{Lo: 0xfe00, Hi: 0xfe0f, Stride: 1}}}}
	// SingleInPages are characters that are not drawn and that ordinary pages have one by one:
	// zero-width characters where a line may break, left-to-right marks and isolates, emoji
	// selectors.
	SingleInPages = Set{&unicode.RangeTable{R16: []unicode.Range16{
		{Lo: 0xad, Hi: 0xad, Stride: 1}, {Lo: 0x34f, Hi: 0x34f, Stride: 1}, {Lo: 0x61c, Hi: 0x61c, Stride: 1}, {Lo: 0x180e, Hi: 0x180e, Stride: 1},
		{Lo: 0x200b, Hi: 0x200f, Stride: 1}, {Lo: 0x202a, Hi: 0x202c, Stride: 2}, {Lo: 0x2060, Hi: 0x2064, Stride: 1},
		{Lo: 0x2066, Hi: 0x2068, Stride: 2}, {Lo: 0x2069, Hi: 0x2069, Stride: 1}, {Lo: 0xfe0e, Hi: 0xfe0f, Stride: 1}, {Lo: 0xfeff, Hi: 0xfeff, Stride: 1},
	}, LatinOffset: 1}, unicode.Co}
	// Noncharacter are code points that are never text. Private are code points without a general
	// meaning; some programs agree on a meaning among themselves.
	Noncharacter = Set{unicode.Noncharacter_Code_Point}
	Private      = Set{unicode.Co}
)

// LineBreaks are the characters that end a line in Unicode (UAX 14, class BK and characters with
// the same effect). OddLineBreaks are the line breaks that few programs know.
const (
	LineBreaks    = "\n\r" + OddLineBreaks
	OddLineBreaks = "\v\f\u0085\u2028\u2029"
)

// Blanks are the characters of Blank.
const Blanks = " \t\r\n\v\f\u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
