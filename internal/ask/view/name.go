package view

import (
	"iter"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/clawai/clawai/internal/text/term"
)

// name is a name in a headline, as harmless text. It has quotes if a reader could mistake it for
// our own words.
type name struct {
	text  string
	quote bool
}

// maxNamed is the number of bytes from the start of a text, and again from its end, that a headline
// uses.
const maxNamed = 1 << 10

func nameOf(s string) name {
	if len(s) > 2*maxNamed {
		s = s[:cutOffset(s, maxNamed)] + s[cutOffset(s, len(s)-maxNamed):]
	}
	return name{text: term.VisibleLine(s), quote: !bareName(s)}
}

func (n name) withQuotes() name {
	n.quote = true
	return n
}

// bareName reports whether a text is one word without blanks that needs no quotes.
func bareName(s string) bool {
	return s != "" && strings.Trim(s, bareLetters+"./~@:+,=%#?&") == ""
}

// cutText returns the name in at most cells cells. It replaces the middle of a longer name by ….
func (n name) cutText(cells int) string {
	if n.text == "" && !n.quote {
		return ""
	}
	if n.quote {
		return `"` + shortenText(n.text, max(cells-2, 1)) + `"`
	}
	return shortenText(n.text, cells)
}

// shortenText returns escaped text in at most cells cells. It replaces the middle of a longer text
// by …, a character that no value can show.
func shortenText(s string, cells int) string {
	if Width(s) <= cells {
		return s
	}
	all := slices.Collect(textUnits(s))
	head, tail, used := 0, len(all), 1
	for front := true; head < tail; front = !front {
		at := tail - 1
		if front {
			at = head
		}
		if used += Width(all[at]); used > cells {
			break
		}
		if front {
			head++
		} else {
			tail--
		}
	}
	for tail < len(all) && Width(all[tail]) == 0 { // do not begin the tail with a combining mark, because its letter is cut off
		tail++
	}
	return strings.Join(all[:head], "") + "…" + strings.Join(all[tail:], "")
}

// clipText returns escaped text in at most cells cells. It replaces the end of a longer text by ….
func clipText(s string, cells int) string {
	if Width(s) <= cells {
		return s
	}
	used, n := 1, 0
	all := slices.Collect(textUnits(s))
	for n < len(all) && used+Width(all[n]) <= cells {
		used += Width(all[n])
		n++
	}
	return strings.Join(all[:n], "") + "…"
}

// textUnits splits escaped text into units that must stay whole: a character, or an escape. A
// backslash that begins no escape forms a unit with the ASCII character after it.
func textUnits(s string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for s != "" {
			_, n := utf8.DecodeRuneInString(s)
			if strings.HasPrefix(s, `\u{`) || strings.HasPrefix(s, `\x{`) {
				n = strings.IndexByte(s, '}') + 1
			} else if s[0] == '\\' && len(s) > 1 && s[1] < utf8.RuneSelf {
				n = 2
			}
			if !yield(s[:max(n, 1)]) {
				return
			}
			s = s[max(n, 1):]
		}
	}
}
