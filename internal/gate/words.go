package gate

import "unicode"

// maxWords is how many characters of a person's note go to the agent and into
// the record.
const maxWords = 500

// said adds a person's words to what is told the agent.
func said(what, words string) string {
	if words = oneLine(words, maxWords); words != "" {
		return what + ": " + words
	}
	return what
}

// oneLine is s as one line of at most n characters, without what cannot be seen:
// controls, bidi marks, characters of no width.
func oneLine(s string, n int) string {
	var out []rune
	blank := false
	for _, r := range s {
		switch {
		case unicode.IsSpace(r):
			blank = len(out) > 0
			continue
		case !unicode.IsPrint(r), unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector):
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
