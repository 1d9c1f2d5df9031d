package inspect

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clawai/clawai/internal/text/textclass"
)

// findHidden finds characters that are not drawn, and control characters. It reads the text once,
// or twice if the first pass found many. In plain ASCII it compares eight bytes at a time.
func findHidden(f *findings) {
	s := sparse{f: f}
	readHidden(f, &s)
	if s.endText() {
		s = sparse{f: f, rest: true, variants: s.variants}
		readHidden(f, &s)
		s.endText()
	}
	if s.variants.spellText() {
		f.addVariants()
	}
}

// addVariants adds findings for the variation selectors that readHidden left out. A single selector
// is harmless, but all selectors together may hide a text.
func (f *findings) addVariants() {
	for i, r := range f.text {
		if isVariant(r) {
			if what, _, end := hiddenRun(f.text, i); what == "" {
				f.addFinding(Hidden, hiddenName(r), i, end)
			}
		}
	}
}

// readHidden makes one pass of findHidden over the text. In the second pass (s.rest) it reports
// only the runs that the first pass left out.
func readHidden(f *findings, s *sparse) {
	t := f.text
	for i := 0; i < len(t); {
		if i = skipPlain(t, i); i == len(t) {
			return
		}
		if !undrawn[t[i]] {
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(t[i:])
		switch {
		case r < 0xa0:
			end, what := controlEnd(t, i, n)
			if !s.rest {
				f.addFinding(Control, what, i, end)
			}
			i = end
		case textclass.OddInReply(r):
			what, count, end := hiddenRun(t, i)
			switch {
			case what == "":
				if isVariant(r) && !s.rest {
					s.variants.addVariant(r, i)
				}
			case !f.wanted.closely && isRating(t[i:end]):
				s.takeRun(max(1, countChanges(t[i:end])), i, end, what)
			case count < denseRun && !f.wanted.closely && !strings.ContainsFunc(t[i:end], isLoud):
				s.takeRun(count, i, end, what)
			case !s.rest:
				f.addFinding(Hidden, what, i, end)
			}
			i = max(end, i+n)
		default:
			i += n
		}
	}
}

// undrawn is true for each byte that may begin a character that is not drawn.
var undrawn = func() (of [256]bool) {
	for c := range of {
		of[c] = (c < ' ' || c >= 0x7f) && c != '\n' && c != '\t' && c != '\r' && c != '\f'
	}
	return of
}()

// skipPlain skips blocks of eight bytes that are drawn ASCII. It returns the offset of the first
// other block.
func skipPlain(t string, i int) int {
	const each, high = 0x0101010101010101, 0x8080808080808080
	for ; i+8 <= len(t); i += 8 {
		s := t[i : i+8]
		w := uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 | uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
		if (w|(w+each)|(w-each*' '))&high != 0 { // one of the eight bytes is above 0x7e, or below a blank
			return i
		}
	}
	return i
}

// controlEnd returns the end of the control character of n bytes at i. If the character begins a
// terminal escape, it returns the end of the escape (ECMA-48: CSI ends with 0x40 to 0x7e; OSC and
// similar escapes end with BEL or ST).
func controlEnd(t string, i, n int) (end int, what string) {
	const what8, plain = "an escape of a terminal", "a control character"
	at := i + n
	kind := byte(0)
	switch {
	case t[i] == 0x1b && at < len(t):
		kind = t[at]
		at++
	case t[i:at] == "\u009b", t[i:at] == "\u009d", t[i:at] == "\u0090":
		kind = t[at-1] - 0x40
	default:
		return at, plain
	}
	switch kind {
	case '[':
		for ; at < len(t) && t[at] >= 0x20 && t[at] < 0x40; at++ {
		}
		if at < len(t) && t[at] >= 0x40 && t[at] < 0x7f {
			at++
		}
		return at, what8 // the next byte cannot be in this escape
	case ']', 'P', '_', '^', 'X':
		rest := t[at:]
		stop := strings.IndexAny(rest, "\a\u009c\x1b")
		if stop < 0 {
			return len(t), what8
		}
		at += stop
		switch t[at] {
		case '\a':
			return at + 1, what8
		case 0x1b:
			if strings.HasPrefix(t[at:], "\x1b\\") {
				at += 2
			}
			return at, what8 // an ESC that begins another escape
		}
		return at + 2, what8
	}
	return i + n, what8
}

// hiddenRun reads the run of hidden characters at i. n is the number of characters without soft
// hyphens. The result what is "" if the characters before and after the run make it ordinary.
func hiddenRun(t string, i int) (what string, n, end int) {
	end = i
	first, _ := utf8.DecodeRuneInString(t[i:])
	for end < len(t) {
		r, size := utf8.DecodeRuneInString(t[end:])
		if !textclass.OddInReply(r) {
			break
		}
		if end += size; r != 0xad { // do not count soft hyphens, because they cannot encode anything
			n++
		}
	}
	before, _ := utf8.DecodeLastRuneInString(t[:i])
	after, _ := utf8.DecodeRuneInString(t[end:])
	if runes := utf8.RuneCountInString(t[i:end]); runes == 1 && isDirectionMark(first) && isNearRightToLeft(t, i, end) || isOrdinary(t[i:end], runes, before, after, i == 0, end == len(t)) {
		return "", n, end
	}
	return hiddenName(first), n, end
}

// hiddenName returns a name for a hidden run that begins with r.
func hiddenName(r rune) string {
	switch {
	case textclass.Tag.HasRune(r):
		return "tag characters"
	case textclass.Direction.HasRune(r):
		return "characters that turn the direction of text"
	case textclass.Private.HasRune(r):
		return "characters of private use"
	case unicode.Is(unicode.Variation_Selector, r):
		return "variation selectors"
	case textclass.Noncharacter.HasRune(r):
		return "what is not a character"
	}
	return "characters of zero width"
}

// flags are the three emoji tag sequences that Unicode recommends (UTS 51), without the black flag
// before them.
var flags = []string{tagSequence("gbeng"), tagSequence("gbsct"), tagSequence("gbwls")}

func tagSequence(region string) string {
	var b strings.Builder
	for _, r := range region {
		b.WriteRune(0xe0000 + r)
	}
	return b.String() + "\U000e007f"
}

// isOrdinary reports whether a run of n characters is ordinary between the characters before and
// after it. The parameter first means that the run begins the text, and the parameter last means
// that the run ends the text. isOrdinary looks only at the characters before and after the run, and
// not at letters elsewhere in the text.
func isOrdinary(run string, n int, before, after rune, first, last bool) bool {
	r, _ := utf8.DecodeRuneInString(run)
	if n > 1 {
		switch {
		case before == 0x1f3f4:
			return slices.Contains(flags, run)
		case n == 2 && r == 0xfe0f: // emoji selector and joiner between two emoji
			second, _ := utf8.DecodeRuneInString(run[len("\ufe0f"):])
			return second == 0x200d && isPicture(before) && isPicture(after)
		}
		return false
	}
	switch {
	case r == 0xfeff: // byte order mark: ordinary at the beginning of a text or of a JSON string
		return first || before == '"'
	case r == 0xad: // soft hyphen
		return unicode.IsLetter(before) && unicode.IsLetter(after)
	case r == 0x200b: // word boundary in a script that is written without blanks
		return isUnbroken(before) || isUnbroken(after)
	case r == 0x200c, r == 0x200d:
		return usesJoiners(before) && (usesJoiners(after) || last || !unicode.IsLetter(after)) || r == 0x200d && isPicture(before) && isPicture(after)
	case unicode.Is(unicode.Variation_Selector, r):
		switch {
		case r == 0xfe0e, r == 0xfe0f:
			return isPicture(before)
		case r >= firstVariant:
			return isVariant(r) && unicode.Is(unicode.Han, before)
		}
		return (r < 0xfe00 || r <= 0xfe02) && unicode.In(before, unicode.Han, unicode.Mongolian, unicode.Myanmar, unicode.Phags_Pa) || r == 0xfe00 && unicode.Is(unicode.Sm, before)
	case unicode.In(r, unicode.Mongolian, unicode.Khmer):
		return unicode.In(before, unicode.Mongolian, unicode.Khmer)
	case r >= 0x600 && r <= 0x605, r == 0x6dd, r == 0x70f, r == 0x8e2: // these signs are drawn around digits
		return true
	case r == 0x110bd, r == 0x110cd: // these signs are drawn
		return true
	case r >= 0x13430 && r <= 0x1343f:
		return unicode.Is(unicode.Egyptian_Hieroglyphs, before) || unicode.Is(unicode.Egyptian_Hieroglyphs, after)
	case r >= 0x1d173 && r <= 0x1d17a:
		return isMusicalSign(before) || isMusicalSign(after)
	}
	return false
}

// lastSelector is the last selector that Unicode uses for variants of Chinese letters (UTS 37).
// Later selectors are never ordinary, because with all 240 selectors a text could encode bytes.
const lastSelector = 0xe011f

// firstVariant is VARIATION SELECTOR-17, the first selector for variants of Han letters.
const firstVariant = 0xe0100

func isVariant(r rune) bool { return r >= firstVariant && r <= lastSelector }

// isMusicalSign reports whether r is a sign of musical notation.
func isMusicalSign(r rune) bool { return r >= 0x1d100 && r <= 0x1d1ff }

// isDirectionMark reports whether a character does nothing but set a direction (UAX 9, 2.6).
func isDirectionMark(r rune) bool { return r == 0x200e || r == 0x200f || r == 0x61c }

// isNearRightToLeft reports whether there is a right-to-left letter within a few characters of
// t[i:end]. Beside such letters people write direction marks for digits and signs. A direction mark
// itself is no such letter.
func isNearRightToLeft(t string, i, end int) bool {
	const near = 16 // bytes
	for _, r := range t[max(0, i-near):min(len(t), end+near)] {
		if textclass.RightToLeft.HasRune(r) && !isDirectionMark(r) {
			return true
		}
	}
	return false
}

// isPicture reports whether selectors and joiners may follow r: an emoji, a skin tone of an emoji,
// or a digit of a keycap.
func isPicture(r rune) bool {
	return unicode.In(r, unicode.So, unicode.Sk, unicode.Sm) || r >= '0' && r <= '9' || strings.ContainsRune("#*©®‼⁉ℹ〰〽", r)
}

// usesJoiners reports whether r belongs to a script in which joiners choose the form of a letter.
func usesJoiners(r rune) bool {
	return unicode.In(r, unicode.Arabic, unicode.Syriac, unicode.Mongolian, unicode.Nko, unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi,
		unicode.Gujarati, unicode.Oriya, unicode.Tamil, unicode.Telugu, unicode.Kannada, unicode.Malayalam, unicode.Sinhala, unicode.Tibetan, unicode.Khmer, unicode.Myanmar)
}

// isUnbroken reports whether r belongs to a script that is written without blanks.
func isUnbroken(r rune) bool {
	return unicode.In(r, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar, unicode.Tibetan, unicode.Han, unicode.Hiragana, unicode.Katakana)
}
