package shell

import (
	"strings"
	"unicode/utf8"

	"github.com/clawai/clawai/internal/text/textclass"
)

// Limits on a text. The parser's stack grows with its nesting, so what can nest
// is counted before it is read.
const (
	maxText  = 64 << 10
	maxOpen  = 1000
	maxNodes = 40_000
	maxDepth = 8
)

// isAdmissible reports whether a text is one that shells are likely to read alike:
// of a bounded size, UTF-8, without control characters, and with no blank but
// the ones that separate words, and whole: what a server adds below a last
// backslash would be part of it.
func isAdmissible(text string) bool {
	if len(text) > maxText || !utf8.ValidString(text) || strings.HasSuffix(text, `\`) {
		return false
	}
	open := 0
	for _, r := range text {
		switch {
		case r == '(' || r == '{' || r == '[' || r == '`':
			open++
		case r == '\n' || r == '\t' || r >= ' ' && r < 0x7f:
		case textclass.OddInSyntax(r):
			return false
		}
	}
	for _, word := range [...]string{"if", "while", "until", "case", "time", "coproc", "for", "select", "function", "elif"} {
		open += strings.Count(text, word)
	}
	return open <= maxOpen
}

// mayAct reports whether a comment could do something in a shell that has none, as
// zsh at its prompt: run what is in it, or open a quote that a later line closes.
func mayAct(comment string) bool {
	single, double := strings.Count(comment, "'"), strings.Count(comment, `"`)
	return strings.ContainsAny(comment, ";&|<>`$(){}[]*?~!\\") || single%2 != 0 || double%2 != 0 || single > 0 && double > 0
}
