package textclass

import (
	"slices"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/rangetable"
)

// Who refuses, drops or marks which characters. The unions differ for the reasons
// that stand here, and for no other.

// Nearly all characters are ASCII, and of those only the controls are in a union, and the
// blank where it says so: for them no table is made.

func asciiControl(r rune) bool { return uint32(r) < ' ' || r == 0x7f }

// IsControl are control characters and line ends.
func IsControl(r rune) bool {
	return asciiControl(r) || r >= utf8.RuneSelf && unicode.Is(controls(), r)
}

var controls = lazyUnion(Control, LineBreak)

// OddInName is what the protocol's names may not hold (internal/mcp): all that cannot be
// seen. A name is compared, and shown to people, character by character, so that
// nothing else is odd in as many ways; the plain blank is ordinary.
func OddInName(r rune) bool {
	return asciiControl(r) || r >= utf8.RuneSelf && unicode.Is(oddInName(), r)
}

var oddInName = lazyUnion(Control, Set{unicode.Z}, Format, Ignorable, BlankLike, Noncharacter, Private, replacement)

// OddInReply is what hides text in what a server says (internal/text/inspect), where nothing
// shows that it is meant: all that is not drawn, and what two programs agreed on. Blanks
// and controls are asked for by themselves.
func OddInReply(r rune) bool { return r >= 0xad && unicode.Is(oddInReply(), r) }

var oddInReply = lazyUnion(Format, Ignorable, Noncharacter, Private, Tag)

// OddInPath is what a path, a URI or a name that rules compare may not hold, besides
// Controls (policy). Files are named by people: blanks, emoji with their selectors,
// and the signs that systems draw from the private areas, are ordinary there. Bytes
// that are no text have their own reason.
func OddInPath(r rune) bool {
	return r >= utf8.RuneSelf && unicode.Is(oddInPath(), r) && !EmojiSelector.HasRune(r)
}

var oddInPath = lazyUnion(Format, Ignorable, BlankLike, Noncharacter)

// OddInSyntax is what parsers of URLs and shells drop, stop at or take for a blank,
// each in its way (policy/where). What is merely invisible is a letter to them all:
// in a host, policy/where/authority refuses it.
func OddInSyntax(r rune) bool {
	return r == ' ' || asciiControl(r) || r >= utf8.RuneSelf && unicode.Is(oddInSyntax(), r)
}

var oddInSyntax = lazyUnion(Control, Blank, Format, replacement)

// IsHidden is what is marked in the text of a question (internal/ask/view), where
// controls, direction, tags and private characters have marks of their own. Chinese
// and Japanese prose is full of the ideographic space, which is wide and seen.
func IsHidden(r rune) bool { return r != ' ' && r != 0x3000 && unicode.Is(hidden(), r) }

var hidden = lazyUnion(Format, LineBreak, Set{unicode.Zs}, Ignorable, BlankLike)

// IsUndrawn is what is not drawn though it is a letter, a mark or a sign: what is left
// to ask of a character whose category is known (internal/text/term).
func IsUndrawn(r rune) bool { return unicode.Is(undrawn(), r) }

var undrawn = lazyUnion(Ignorable, BlankLike)

// IsSeen says that a person sees a character: one of those that are learned into a
// policy or kept of a note. Of blanks it is the plain one alone.
func IsSeen(r rune) bool { return unicode.IsPrint(r) && !IsUndrawn(r) }

// replacement stands for bytes that are no text.
var replacement = Set{&unicode.RangeTable{R16: []unicode.Range16{{Lo: unicode.ReplacementChar, Hi: unicode.ReplacementChar, Stride: 1}}}}

// lazyUnion makes one table of several, when it is first asked for: one search is faster
// than one for each, on the way of every call.
func lazyUnion(sets ...Set) func() *unicode.RangeTable {
	return sync.OnceValue(func() *unicode.RangeTable { return rangetable.Merge(slices.Concat(sets...)...) })
}
