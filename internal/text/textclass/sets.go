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

// Parts of the unions in uses.go. Properties and categories are those of the Unicode Character
// Database (UAX 44), in the version of package unicode.
var (
	// Control is U+0000 to U+001F and U+007F to U+009F.
	Control = Set{unicode.Cc}
	// Format is zero width, direction, tags, annotation and joiners.
	Format = Set{unicode.Cf}
	// Direction changes the order in which text is drawn (UAX 9). All of it is in Format.
	Direction = Set{unicode.Bidi_Control}
	// RightToLeft are letters that change the direction of the text around them (UAX 9, classes R
	// and AL).
	RightToLeft = Set{unicode.Hebrew, unicode.Arabic, unicode.Syriac, unicode.Thaana, unicode.Nko}
	// LineBreak is U+2028 and U+2029. The other breaks are in Control.
	LineBreak = Set{unicode.Zl, unicode.Zp}
	// Blank is the set of characters that unicode.IsSpace accepts.
	Blank = Set{unicode.White_Space}
	// Ignorable is drawn as nothing by programs that do not support it: joiners, fillers, selectors
	// (DerivedCoreProperties, Default_Ignorable_Code_Point). It lacks the characters in Format.
	Ignorable = Set{unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector}
	// Selector selects a form of the character before it.
	Selector = Set{unicode.Variation_Selector}
	// BlankLike are signs that are drawn as nothing: the braille blank and the null notehead.
	BlankLike = Set{&unicode.RangeTable{
		R16: []unicode.Range16{{Lo: 0x2800, Hi: 0x2800, Stride: 1}},
		R32: []unicode.Range32{{Lo: 0x1d159, Hi: 0x1d159, Stride: 1}},
	}}
	// Tag are the tag characters, which can hide text; most of them are in Format.
	Tag = Set{&unicode.RangeTable{R32: []unicode.Range32{{Lo: 0xe0000, Hi: 0xe007f, Stride: 1}}}}
	// EmojiSelector selects how the character before it is drawn. All of it is in Ignorable.
	EmojiSelector = Set{&unicode.RangeTable{R16: []unicode.Range16{{Lo: 0xfe00, Hi: 0xfe0f, Stride: 1}}}}
	// SingleInPages are undrawn characters that occur one by one in ordinary pages: zero width
	// where a line may break, left-to-right marks and isolates, and emoji selectors.
	SingleInPages = Set{&unicode.RangeTable{R16: []unicode.Range16{
		{Lo: 0xad, Hi: 0xad, Stride: 1}, {Lo: 0x34f, Hi: 0x34f, Stride: 1}, {Lo: 0x61c, Hi: 0x61c, Stride: 1}, {Lo: 0x180e, Hi: 0x180e, Stride: 1},
		{Lo: 0x200b, Hi: 0x200f, Stride: 1}, {Lo: 0x202a, Hi: 0x202c, Stride: 2}, {Lo: 0x2060, Hi: 0x2064, Stride: 1},
		{Lo: 0x2066, Hi: 0x2068, Stride: 2}, {Lo: 0x2069, Hi: 0x2069, Stride: 1}, {Lo: 0xfe0e, Hi: 0xfe0f, Stride: 1}, {Lo: 0xfeff, Hi: 0xfeff, Stride: 1},
	}, LatinOffset: 1}, unicode.Co}
	// Noncharacter is never text. Private has a meaning only by agreement between programs.
	Noncharacter = Set{unicode.Noncharacter_Code_Point}
	Private      = Set{unicode.Co}
)

// LineBreaks are the characters that end a line in Unicode (UAX 14, class BK and those that
// behave like it). OddLineBreaks are those of them that few programs treat as a line end.
const (
	LineBreaks    = "\n\r" + OddLineBreaks
	OddLineBreaks = "\v\f\u0085\u2028\u2029"
)

// Blanks are the characters of Blank.
const Blanks = " \t\r\n\v\f\u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
