package term

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/clawai/clawai/internal/text/textclass"
)

// mixedScripts are scripts that occur together in one word of East Asian text.
var mixedScripts = []*unicode.RangeTable{
	unicode.Latin, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Bopomofo, unicode.Hangul,
}

// wordEnd returns the length of the word at the start of s; 0 if there is none. A word has letters,
// marks, digits and the punctuation that joins the parts of names.
func wordEnd(s string) int {
	for i, r := range s {
		if r < utf8.RuneSelf {
			if !asciiWord(byte(r)) {
				return i
			}
		} else if r == utf8.RuneError || !unicode.In(r, unicode.L, unicode.M, unicode.Nd) {
			return i
		}
	}
	return len(s)
}

func asciiWord(c byte) bool {
	return 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' || c == '_'
}

// oneScript reports whether a word can be shown unchanged. All its letters must be from one script,
// or from mixedScripts. They must not all be look-alikes. ASCII digits and digits of another script
// must not occur together (UTS 39, mixed numbers).
func oneScript(word string) bool {
	if textclass.IsASCII(word) {
		return true
	}
	var first *unicode.RangeTable
	mixed, alike := false, true
	eastAsian := true
	arabic, digits := false, false
	for _, r := range word {
		if '0' <= r && r <= '9' {
			arabic = true
		} else if unicode.Is(unicode.Nd, r) {
			digits = true
		}
		if !unicode.In(r, unicode.L, unicode.Nd) || unicode.In(r, unicode.Common, unicode.Inherited) {
			continue
		}
		if r < utf8.RuneSelf || !strings.ContainsRune(textclass.LatinLike, r) {
			alike = false
		}
		if first == nil {
			first = scriptOf(r)
		} else if !unicode.Is(first, r) {
			mixed = true
		}
		eastAsian = eastAsian && unicode.In(r, mixedScripts...)
	}
	if arabic && digits {
		return false
	}
	return first == nil || (!mixed || eastAsian) && !alike
}

// commonScripts are the most common scripts. scriptOf tries them first.
var commonScripts = []*unicode.RangeTable{
	unicode.Latin, unicode.Cyrillic, unicode.Han, unicode.Greek, unicode.Hiragana, unicode.Katakana, unicode.Hangul,
	unicode.Common, unicode.Inherited,
}

// scriptOf returns the table of a letter's script; nil if it has none.
func scriptOf(r rune) *unicode.RangeTable {
	if r < utf8.RuneSelf {
		return unicode.Latin
	}
	for _, t := range commonScripts {
		if unicode.Is(t, r) {
			return t
		}
	}
	for _, t := range unicode.Scripts {
		if unicode.Is(t, r) {
			return t
		}
	}
	return nil
}

// HasLookalike reports whether s has text that looks like other text. Such text is a word with
// letters of several scripts, a word whose letters all look Latin but are not, another form of an
// ASCII letter, or a sign that looks like an ASCII sign.
func HasLookalike(s string) bool {
	for len(s) > 0 {
		n := wordEnd(s)
		if n > 0 {
			if word := s[:n]; !textclass.IsASCII(word) && (!oneScript(word) || strings.ContainsFunc(word, isDisguised)) {
				return true
			}
		} else {
			var r rune
			if r, n = utf8.DecodeRuneInString(s); isDisguised(r) {
				return true
			}
		}
		s = s[n:]
	}
	return false
}

// isDisguised reports whether r looks like an ASCII letter, digit or sign.
func isDisguised(r rune) bool {
	return r >= utf8.RuneSelf && (strings.ContainsRune(textclass.SignLike, r) ||
		unicode.In(r, unicode.L, unicode.Nd) && strings.ContainsFunc(norm.NFKC.String(string(r)), func(r rune) bool { return r < utf8.RuneSelf }) ||
		textclass.NarrowRune(r) != r && !strings.ContainsRune(textclass.WideProse, r))
}
