package term

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// together are scripts that are written within one word in East Asian text.
var together = []*unicode.RangeTable{
	unicode.Latin, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Bopomofo, unicode.Hangul,
}

// latinLike are letters of other scripts that are drawn like Latin ones. A word
// of nothing else reads as a Latin word.
const latinLike = "асԁеһіјӏорԛѕухѵԝАВЕНІЈКМОРЅТХУЅԌԚԜ" +
	"οναιγκρτυχΑΒΕΖΗΙΚΜΝΟΡΤΥΧ" + "օսոցզհքԼՏՕ"

// wordEnd is the length of the word s starts with: letters, marks, digits and
// the joining punctuation of names. 0 when it starts with something else.
func wordEnd(s string) int {
	for i, r := range s {
		if r == utf8.RuneError || !unicode.In(r, unicode.L, unicode.M, unicode.Nd) && r != '_' {
			return i
		}
	}
	return len(s)
}

// oneScript says whether a word can be shown as it is: its letters come from
// one script (or from those written together) and are not all look-alikes.
func oneScript(word string) bool {
	var first *unicode.RangeTable
	mixed, alike := false, true
	eastAsian := true
	for _, r := range word {
		if !unicode.In(r, unicode.L, unicode.Nd) || unicode.In(r, unicode.Common, unicode.Inherited) {
			continue
		}
		if r < utf8.RuneSelf || !strings.ContainsRune(latinLike, r) {
			alike = false
		}
		eastAsian = eastAsian && unicode.In(r, together...)
		if first == nil {
			first = script(r)
		} else if first != nil && !unicode.Is(first, r) {
			mixed = true
		}
	}
	return first == nil || (!mixed || eastAsian) && !alike
}

// script finds the table of a letter; nil when it has none.
func script(r rune) *unicode.RangeTable {
	if r < utf8.RuneSelf {
		return unicode.Latin
	}
	for _, t := range unicode.Scripts {
		if unicode.Is(t, r) {
			return t
		}
	}
	return nil
}
