package gate

import (
	"unicode"

	"github.com/clawai/clawai/internal/text/textclass"
)

// maxWords is the maximum number of characters of a person's note for the agent and the record.
const maxWords = 500

// appendWords adds a person's words to a text for the agent.
func appendWords(what, words string) string {
	if words = oneLine(words, maxWords); words != "" {
		return what + ": " + words
	}
	return what
}

// oneLine returns s as one line of at most n characters. It removes invisible characters: controls,
// bidi marks, zero-width characters.
func oneLine(s string, n int) string {
	var out []rune
	blank := false
	for _, r := range s {
		switch {
		case unicode.IsSpace(r):
			blank = len(out) > 0
			continue
		case !textclass.IsSeen(r):
			continue
		case blank:
			out = append(out, ' ')
			blank = false
		}
		if out = append(out, r); len(out) > n {
			return string(out[:n-1]) + "…"
		}
	}
	return string(out)
}
