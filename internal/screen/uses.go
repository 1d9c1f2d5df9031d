package screen

import "unicode"

// Who refuses, drops or marks which characters. The unions differ for the reasons
// that stand here, and for no other.

// Controls are control characters and line ends.
func Controls(r rune) bool { return controls.Has(r) }

var controls = Set{unicode.Cc, unicode.Zl, unicode.Zp}

// OddInName is what the protocol's names may not hold (proxy/mcp): all that cannot be
// seen. A name is compared, and shown to people, character by character, so that
// nothing else is odd in as many ways; the plain blank is ordinary.
func OddInName(r rune) bool { return r != ' ' && oddInName.Has(r) }

var oddInName = union(Control, Set{unicode.Z}, Format, Ignorable, BlankLike, Noncharacter, Private, replacement)

// OddInPath is what a path, a URI or a name that rules compare may not hold, besides
// Controls (policy). Files are named by people: blanks, emoji with their selectors,
// and the signs that systems draw from the private areas, are ordinary there. Bytes
// that are no text have their own reason.
func OddInPath(r rune) bool { return oddInPath.Has(r) && !EmojiSelector.Has(r) }

var oddInPath = union(Format, Ignorable, BlankLike, Noncharacter)

// OddInSyntax is what parsers of URLs and shells drop, stop at or take for a blank,
// each in its way (policy/where). What is merely invisible is a letter to them all:
// in a host, policy/where/authority refuses it.
func OddInSyntax(r rune) bool { return oddInSyntax.Has(r) }

var oddInSyntax = union(Control, Blank, Format, replacement)

// Hidden is what is marked in the text of a question (internal/approve/view), where
// controls, direction, tags and private characters have marks of their own. Chinese
// and Japanese prose is full of the ideographic space, which is wide and seen.
func Hidden(r rune) bool { return r != ' ' && r != 0x3000 && hidden.Has(r) }

var hidden = union(Format, LineBreak, Set{unicode.Zs}, Ignorable, BlankLike)

// Undrawn is what is not drawn though it is a letter, a mark or a sign: what is left
// to ask of a character whose category is known (internal/term).
func Undrawn(r rune) bool { return undrawn.Has(r) }

var undrawn = union(Ignorable, BlankLike)

// Seen says that a person sees a character: one of those that are learned into a
// policy or kept of a note. Of blanks it is the plain one alone.
func Seen(r rune) bool { return unicode.IsPrint(r) && !Undrawn(r) }

// replacement stands for bytes that are no text.
var replacement = Set{&unicode.RangeTable{R16: []unicode.Range16{{Lo: unicode.ReplacementChar, Hi: unicode.ReplacementChar, Stride: 1}}}}

func union(sets ...Set) (all Set) {
	for _, s := range sets {
		all = append(all, s...)
	}
	return all
}
