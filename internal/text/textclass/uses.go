package textclass

import (
	"slices"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/rangetable"
)

// This file has the sets of characters that parts of clawai refuse, drop or mark. The functions use
// different sets; the comment of each function gives the reason.

// Nearly all characters are ASCII, and for these no table is searched. The only ASCII characters in
// the sets are the controls, and the blank if a comment mentions it.

func asciiControl(r rune) bool { return uint32(r) < ' ' || r == 0x7f }

// IsControl reports whether r is a control character or a line end.
func IsControl(r rune) bool {
	return asciiControl(r) || r >= utf8.RuneSelf && unicode.Is(controls(), r)
}

var controls = lazyUnion(Control, LineBreak)

// OddInName reports whether r is forbidden in the protocol's names (internal/mcp): every invisible
// character, because names are compared and shown character by character. This set is the largest.
// The ordinary blank is allowed.
func OddInName(r rune) bool {
	return asciiControl(r) || r >= utf8.RuneSelf && unicode.Is(oddInName(), r)
}

var oddInName = lazyUnion(Control, Set{unicode.Z}, Format, Ignorable, BlankLike, Noncharacter, Private, replacement)

// OddInReply reports whether r hides text in a server's reply (internal/text/inspect): every
// undrawn and every private-use character, because a reply does not show whether the character was
// intended. Blanks and controls have their own checks.
func OddInReply(r rune) bool { return r >= 0xad && unicode.Is(oddInReply(), r) }

var oddInReply = lazyUnion(Format, Ignorable, Noncharacter, Private, Tag)

// OddInPath reports whether r is forbidden in a path, a URI or a name that rules compare (policy).
// People choose the names of files, so these are allowed: blanks, emoji with their selectors, and
// the signs that systems draw for private-use characters. Control characters (IsControl) and bytes
// that are not text are refused elsewhere.
func OddInPath(r rune) bool {
	return r >= utf8.RuneSelf && unicode.Is(oddInPath(), r) && !EmojiSelector.HasRune(r)
}

var oddInPath = lazyUnion(Format, Ignorable, BlankLike, Noncharacter)

// OddInSyntax reports whether some parsers of URLs and shells drop r, stop at r, or take r for a
// blank, while others do not (policy/where). Characters of the set Ignorable are not included,
// because all these parsers take them for letters; policy/where/authority refuses them in a host.
func OddInSyntax(r rune) bool {
	return r == ' ' || asciiControl(r) || r >= utf8.RuneSelf && unicode.Is(oddInSyntax(), r)
}

var oddInSyntax = lazyUnion(Control, Blank, Format, replacement)

// IsHidden reports whether the text of a question marks r as hidden (internal/ask/view). Controls,
// direction characters and private characters have other marks. The ideographic space is not
// hidden: it is wide, visible and common in Chinese and Japanese prose.
func IsHidden(r rune) bool { return r != ' ' && r != 0x3000 && unicode.Is(hidden(), r) }

var hidden = lazyUnion(Format, LineBreak, Set{unicode.Zs}, Ignorable, BlankLike)

// PartsGroups reports whether people and programs write r between the groups of a number: a blank,
// a dash, or a character that is not drawn.
func PartsGroups(r rune) bool { return unicode.Is(partsGroups(), r) }

var partsGroups = lazyUnion(Format, Set{unicode.Zs, unicode.Pd}, minusSign)

var minusSign = Set{&unicode.RangeTable{R16: []unicode.Range16{{Lo: 0x2212, Hi: 0x2212, Stride: 1}}}}

// IsUndrawn reports whether r is not drawn although its category is letter, mark or sign.
// internal/text/term checks the category first.
func IsUndrawn(r rune) bool { return unicode.Is(undrawn(), r) }

var undrawn = lazyUnion(Ignorable, BlankLike)

// IsSeen reports whether a person sees r. Learned policies and notes only keep such characters. Of
// the blanks, only the ordinary one is seen.
func IsSeen(r rune) bool { return unicode.IsPrint(r) && !IsUndrawn(r) }

// replacement is the character that stands for bytes that are not text.
var replacement = Set{&unicode.RangeTable{R16: []unicode.Range16{{Lo: unicode.ReplacementChar, Hi: unicode.ReplacementChar, Stride: 1}}}}

// lazyUnion returns a function that merges sets into one table on first use. A call then needs one
// search instead of one for each set.
func lazyUnion(sets ...Set) func() *unicode.RangeTable {
	return sync.OnceValue(func() *unicode.RangeTable { return rangetable.Merge(slices.Concat(sets...)...) })
}
