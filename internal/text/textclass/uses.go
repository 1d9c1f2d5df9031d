package textclass

import (
	"slices"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/rangetable"
)

// This file says which code refuses, drops or marks which characters. The unions differ only for
// the reasons given here.

// Nearly all characters are ASCII. The only ASCII characters in a union are the controls, and the
// blank where the comment mentions it. ASCII characters need no table.

func asciiControl(r rune) bool { return uint32(r) < ' ' || r == 0x7f }

// IsControl reports whether r is a control character or a line end.
func IsControl(r rune) bool {
	return asciiControl(r) || r >= utf8.RuneSelf && unicode.Is(controls(), r)
}

var controls = lazyUnion(Control, LineBreak)

// OddInName reports whether r is forbidden in the protocol's names (internal/mcp): every
// invisible character. A name is compared and shown character by character, so this set is the
// largest; the plain blank is ordinary.
func OddInName(r rune) bool {
	return asciiControl(r) || r >= utf8.RuneSelf && unicode.Is(oddInName(), r)
}

var oddInName = lazyUnion(Control, Set{unicode.Z}, Format, Ignorable, BlankLike, Noncharacter, Private, replacement)

// OddInReply reports whether r hides text in a server's reply (internal/text/inspect), where
// nothing shows that such a character is intended: all undrawn and private-use characters. Blanks
// and controls have their own checks.
func OddInReply(r rune) bool { return r >= 0xad && unicode.Is(oddInReply(), r) }

var oddInReply = lazyUnion(Format, Ignorable, Noncharacter, Private, Tag)

// OddInPath reports whether r is forbidden in a path, a URI or a name that rules compare
// (policy). Control characters are forbidden there too, see IsControl. People name files: blanks,
// emoji with their selectors, and the signs that systems draw from the private areas are ordinary
// there. Bytes that are not text are refused for a reason of their own.
func OddInPath(r rune) bool {
	return r >= utf8.RuneSelf && unicode.Is(oddInPath(), r) && !EmojiSelector.HasRune(r)
}

var oddInPath = lazyUnion(Format, Ignorable, BlankLike, Noncharacter)

// OddInSyntax reports whether parsers of URLs and shells drop r, stop at it or take it for a
// blank, each in its own way (policy/where). A merely invisible character is a letter to all of
// them: in a host, policy/where/authority refuses it.
func OddInSyntax(r rune) bool {
	return r == ' ' || asciiControl(r) || r >= utf8.RuneSelf && unicode.Is(oddInSyntax(), r)
}

var oddInSyntax = lazyUnion(Control, Blank, Format, replacement)

// IsHidden reports whether r is marked in the text of a question (internal/ask/view). Controls,
// direction and private characters have marks of their own there. The ideographic space is not
// hidden: it is wide, visible and common in Chinese and Japanese prose.
func IsHidden(r rune) bool { return r != ' ' && r != 0x3000 && unicode.Is(hidden(), r) }

var hidden = lazyUnion(Format, LineBreak, Set{unicode.Zs}, Ignorable, BlankLike)

// PartsGroups reports whether r stands between the groups of a number as people and programs write
// it: a blank, a dash, or a character that is not drawn.
func PartsGroups(r rune) bool { return unicode.Is(partsGroups(), r) }

var partsGroups = lazyUnion(Format, Set{unicode.Zs, unicode.Pd}, minusSign)

var minusSign = Set{&unicode.RangeTable{R16: []unicode.Range16{{Lo: 0x2212, Hi: 0x2212, Stride: 1}}}}

// IsUndrawn reports whether r is not drawn although it is a letter, a mark or a sign.
// internal/text/term checks the category of a character before it calls IsUndrawn.
func IsUndrawn(r rune) bool { return unicode.Is(undrawn(), r) }

var undrawn = lazyUnion(Ignorable, BlankLike)

// IsSeen reports whether a person sees a character. Only such characters get into a learned policy
// or stay in a note. The plain blank is the only blank among them.
func IsSeen(r rune) bool { return unicode.IsPrint(r) && !IsUndrawn(r) }

// replacement stands for bytes that are not text.
var replacement = Set{&unicode.RangeTable{R16: []unicode.Range16{{Lo: unicode.ReplacementChar, Hi: unicode.ReplacementChar, Stride: 1}}}}

// lazyUnion merges several sets into one table on first use, so that each call makes one search
// instead of one for each set.
func lazyUnion(sets ...Set) func() *unicode.RangeTable {
	return sync.OnceValue(func() *unicode.RangeTable { return rangetable.Merge(slices.Concat(sets...)...) })
}
