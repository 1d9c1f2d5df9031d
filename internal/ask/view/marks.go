package view

import (
	"unicode"
	"unicode/utf8"

	"github.com/clawai/clawai/internal/text/term"
	"github.com/clawai/clawai/internal/text/textclass"
)

// Texts in Arg.Marks, in the order in which they are shown.
const (
	markControl   = "control characters"
	markDirection = "characters that turn the direction of text"
	markTags      = "hidden tag characters"
	markHidden    = "hidden characters"
	markRight     = "right-to-left letters"
	markAlike     = "look-alike letters"
	markStacked   = "stacked marks"
	markPrivate   = "private or unassigned characters"
	markBroken    = "bytes that are not text"
	markBlanks    = "long runs of blanks"
)

var allMarks = []string{markControl, markDirection, markTags, markHidden, markRight, markAlike, markStacked,
	markPrivate, markBroken, markBlanks}

const (
	manyBlanks = 40      // this many blanks in a row are unusual; line ends count as blanks
	manyMarks  = 4       // this many combining marks on one letter are unusual
	maxAlike   = 1 << 20 // number of bytes that are searched for look-alike letters
)

// findMarks returns everything that is unusual about s. The search for look-alike letters is slow,
// so it covers only maxAlike bytes: half of them from the start of s, and half from its end.
func findMarks(s string) []string {
	found := map[string]bool{}
	blanks, stacked, letters := 0, 0, false
	for i := 0; i < len(s); {
		r, n := rune(s[i]), 1
		if r >= utf8.RuneSelf {
			r, n = utf8.DecodeRuneInString(s[i:])
			if isUsual(r) {
				blanks, stacked, letters = 0, 0, true
				i += n
				continue
			}
		}
		switch r {
		case ' ', '\n', '\t', '\r':
			blanks++
		default:
			blanks = 0
		}
		if unicode.IsMark(r) {
			stacked++
		} else {
			stacked = 0
		}
		switch {
		case blanks > manyBlanks:
			found[markBlanks] = true
		case stacked > manyMarks:
			found[markStacked] = true
		case r < utf8.RuneSelf:
			if r < ' ' && r != '\n' && r != '\t' && (r != '\r' || i+1 == len(s) || s[i+1] != '\n') || r == 0x7f {
				found[markControl] = true
			}
		case r == utf8.RuneError && n == 1:
			found[markBroken] = true
		default:
			if mark := markOf(r); mark != "" {
				found[mark] = true
			} else {
				letters = true
			}
		}
		i += n
	}
	if letters && hasLookalike(s) {
		found[markAlike] = true
	}
	if len(found) == 0 {
		return nil
	}
	var list []string
	for _, mark := range allMarks {
		if found[mark] {
			list = append(list, mark)
		}
	}
	return list
}

// isUsual reports whether r is a Latin, Cyrillic, Han or Hangul letter beyond ASCII that is common
// and never unusual by itself.
func isUsual(r rune) bool {
	return r >= 0xc0 && r <= 0x24f || r >= 0x400 && r <= 0x482 || r >= 0x48a && r <= 0x52f || r >= 0x4e00 && r <= 0x9fff || r >= 0xac00 && r <= 0xd7a3
}

// markOf returns what is unusual about a single character beyond ASCII; "" for nothing.
func markOf(r rune) string {
	switch {
	case textclass.Tag.HasRune(r):
		return markTags
	case textclass.Control.HasRune(r):
		return markControl
	case textclass.Direction.HasRune(r):
		return markDirection
	case textclass.IsHidden(r):
		return markHidden
	case textclass.RightToLeft.HasRune(r):
		return markRight
	case !unicode.IsGraphic(r):
		return markPrivate
	}
	return ""
}

// hasLookalike reports whether s has look-alike letters. It searches at most maxAlike bytes.
func hasLookalike(s string) bool {
	if len(s) <= maxAlike {
		return term.HasLookalike(s)
	}
	return term.HasLookalike(s[:cutOffset(s, maxAlike/2)]) || term.HasLookalike(s[cutOffset(s, len(s)-maxAlike/2):])
}
