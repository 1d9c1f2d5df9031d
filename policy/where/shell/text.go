package shell

import (
	"strings"
	"unicode/utf8"

	"github.com/clawai/clawai/internal/text/textclass"
)

// Limits on a text. The parser's stack grows with the nesting, so nesting constructs
// are counted before parsing.
const (
	maxText  = 64 << 10
	maxOpen  = 1000
	maxNodes = 40_000
	maxDepth = 8
)

// isAdmissible reports whether all shells are likely to read a text in the same way: it
// has a bounded size, is valid UTF-8, has no control characters and only the usual
// blanks. A text that ends in a backslash is refused: if the server appends a line, the
// shell joins the two lines.
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

// mayAct reports whether a comment could have an effect in a shell without comments, such as zsh at
// its prompt. Such a shell may run the comment's text, or open a quote that a later line closes.
func mayAct(comment string) bool {
	single, double := strings.Count(comment, "'"), strings.Count(comment, `"`)
	return strings.ContainsAny(comment, ";&|<>`$(){}[]*?~!\\") || single%2 != 0 || double%2 != 0 || single > 0 && double > 0
}
