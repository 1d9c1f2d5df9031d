package term

import (
	"fmt"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/bidi"
	"golang.org/x/text/unicode/norm"

	"github.com/clawai/clawai/internal/text/textclass"
)

const (
	maxSpaces = 3 // maximum number of blanks in a row; more could move text out of sight
	maxMarks  = 3 // maximum number of marks on one letter; more would cover other lines
)

// VisibleLine returns s in a form that shows exactly which characters s has. Printable ASCII stays
// unchanged, and so do letters, digits, punctuation and symbols that look like nothing else. A line
// end becomes \n, a tab \t, any other character \u{hex}, and a byte that is not UTF-8 \x{hex}. A
// backslash or a quote gets a backslash before it. The result has no control character and no line
// break. Two different inputs never give the same result.
func VisibleLine(s string) string {
	var b strings.Builder
	b.Grow(len(s) + 8)
	w := writer{out: &b}
	for len(s) > 0 {
		n := wordEnd(s)
		if n > 0 {
			w.foreign = !oneScript(s[:n])
			w.writeVisible(s[:n])
			s = s[n:]
			continue
		}
		_, n = utf8.DecodeRuneInString(s)
		w.writeVisible(s[:n])
		s = s[n:]
	}
	return b.String()
}

// VisibleText is VisibleLine for a text with its own quotes and escapes, such as a rule or an
// error. Backslashes and quotes stay unchanged.
func VisibleText(s string) string {
	if isPlainText(s) {
		return s
	}
	return unescape().Replace(VisibleLine(s))
}

// unescape undoes the escapes of backslashes and quotes. It is built on first use, because building
// it takes longer than escaping most texts.
var unescape = sync.OnceValue(func() *strings.Replacer { return strings.NewReplacer(`\\`, `\`, `\"`, `"`) })

// isPlainText reports whether s has only printable ASCII and no two blanks in a row. VisibleText
// does not change such a text.
func isPlainText(s string) bool {
	last := byte(' ')
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' || s[i] == ' ' && last == ' ' {
			return false
		}
		last = s[i]
	}
	return last != ' ' || s == ""
}

// writer writes the characters of VisibleLine one by one. Its fields describe the text before the
// next character.
type writer struct {
	out     *strings.Builder
	foreign bool   // the current word has only look-alike letters
	spaces  int    // number of blanks directly before the next character
	run     []rune // the last base character, and the marks on it so far
}

func (w *writer) writeVisible(s string) {
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		shown := w.isShown(r)
		switch {
		case r == utf8.RuneError && n <= 1:
			fmt.Fprintf(w.out, `\x{%02x}`, s[0])
			r = 0
		case r == '\n':
			w.out.WriteString(`\n`)
			r = 0
		case r == '\t':
			w.out.WriteString(`\t`)
			r = 0
		case !shown:
			fmt.Fprintf(w.out, `\u{%x}`, r)
			r = 0
		case r == '\\' || r == '"':
			w.out.WriteByte('\\')
			w.out.WriteRune(r)
		default:
			w.out.WriteRune(r)
		}
		if unicode.Is(unicode.M, r) {
			w.run = append(w.run, r)
		} else {
			w.run = append(w.run[:0], r)
		}
		s = s[n:]
	}
}

// isShown reports whether the next character r may be shown unchanged.
func (w *writer) isShown(r rune) bool {
	if r == ' ' {
		w.spaces++
		return w.spaces <= maxSpaces
	}
	w.spaces = 0
	if r < utf8.RuneSelf {
		return r > ' ' && r < 0x7f
	}
	switch {
	case unicode.Is(unicode.M, r):
		return w.markShown(r)
	case unicode.Is(unicode.L, r), unicode.Is(unicode.Nd, r):
		return !w.foreign && isPlain(r)
	case unicode.In(r, unicode.P, unicode.N):
		return !isWidened(r) && isPlain(r)
	case unicode.Is(unicode.S, r):
		// Emoji, which are beyond the basic plane, have different widths in different terminals.
		// Box drawing could imitate a form.
		return r < 0x10000 && (r < 0x2500 || r > 0x259f) && !isWidened(r) && isPlain(r)
	}
	return false
}

// isWidened reports whether terminals with Unicode 16 draw r two cells wide, and older ones one
// cell wide: trigrams, monograms and digrams, hexagrams, counting rods (UAX 11). A character that
// is wider than we count moves the end of its row out of sight.
func isWidened(r rune) bool {
	return r >= 0x1d360 && r <= 0x1d376 || r >= 0x2630 && r <= 0x2637 || r >= 0x268a && r <= 0x268f || r >= 0x4dc0 && r <= 0x4dff
}

// markShown reports whether a combining mark may be shown. The letter under the mark must be shown,
// must not be ASCII, and must have the script of the mark. The letter must not have too many marks.
// The letter with its marks must not have another spelling in Unicode.
func (w *writer) markShown(r rune) bool {
	n := len(w.run)
	if n == 0 || n > maxMarks || w.run[0] < utf8.RuneSelf || w.foreign || unicode.Is(unicode.Me, r) {
		return false
	}
	own := scriptOf(w.run[0])
	return (unicode.Is(unicode.Inherited, r) || own != nil && unicode.Is(own, r)) &&
		isPlain(r) && norm.NFC.IsNormalString(string(w.run)+string(r))
}

// isPlain reports whether r has only one spelling in Unicode, is drawn, reads from left to right,
// and is not another form of an ASCII character.
func isPlain(r rune) bool {
	if r == utf8.RuneError || // terminals draw this character for bytes that they cannot decode
		textclass.IsUndrawn(r) || textclass.RightToLeft.HasRune(r) || strings.ContainsRune(textclass.SignLike, r) ||
		r >= 0x1160 && r <= 0x11ff || r >= 0xd7b0 && r <= 0xd7ff { // these join to a syllable that is also a single character
		return false
	}
	// Leave out letters that a terminal would draw from right to left, because the text around them
	// would move.
	p, _ := bidi.LookupRune(r)
	if c := p.Class(); c == bidi.R || c == bidi.AL || c == bidi.AN {
		return false
	}
	s := string(r)
	if norm.NFKC.IsNormalString(s) {
		return true
	}
	if norm.NFC.String(s) != s {
		return false
	}
	return strings.ContainsRune(textclass.WideProse, r) ||
		!strings.ContainsFunc(norm.NFKC.String(s), func(r rune) bool { return r < utf8.RuneSelf })
}

// CutText returns the first characters of a text. The parameter most is their maximum number.
// CutText adds "…" if it has cut the text.
func CutText(s string, most int) string {
	if len(s) <= most {
		return s
	}
	n := 0
	for at := range s {
		if n == most {
			return s[:at] + "…"
		}
		n++
	}
	return s
}
