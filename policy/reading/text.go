package reading

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/clawai/clawai/internal/text/textclass"
)

// These runes stand for a star and a question mark that are not wildcards. Decoding a pattern can
// produce such a character, although the author did not mean a wildcard. A glob cannot quote the
// character, so the pattern and the compared text both get a noncharacter instead. No other text
// may hold these noncharacters.
const (
	quotedStar     = "\uFDD0"
	quotedQuestion = "\uFDD1"
)

var wildcardQuoter = strings.NewReplacer("*", quotedStar, "?", quotedQuestion)

// HasQuoted reports whether a glob holds a quoted wildcard.
func HasQuoted(glob string) bool {
	return strings.Contains(glob, quotedStar) || strings.Contains(glob, quotedQuestion)
}

// QuoteWildcards returns the text in the form in which it is compared with a pattern that has
// quoted wildcards.
func QuoteWildcards(s string) string { return wildcardQuoter.Replace(s) }

// unescapeOnce decodes the percent escapes of a text once. It keeps invalid escapes, and escapes of
// bytes that are not UTF-8, because patterns and compared texts must be valid UTF-8.
func unescapeOnce(s string) string {
	if !hasEscape(s) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		if s[i] != '%' {
			b.WriteByte(s[i])
			i++
			continue
		}
		run, n := escapedBytes(s[i:])
		if n == 0 {
			b.WriteByte('%')
			i++
			continue
		}
		for j := 0; j < len(run); {
			r, size := utf8.DecodeRune(run[j:])
			if r == utf8.RuneError && size == 1 {
				b.WriteString(s[i+3*j : i+3*j+3])
			} else {
				b.Write(run[j : j+size])
			}
			j += size
		}
		i += n
	}
	return b.String()
}

func hasEscape(s string) bool {
	for {
		i := strings.IndexByte(s, '%')
		if i < 0 || i+2 >= len(s) {
			return false
		}
		if hexDigit(s[i+1]) >= 0 && hexDigit(s[i+2]) >= 0 {
			return true
		}
		s = s[i+1:]
	}
}

// escapedBytes decodes the percent escapes at the beginning of s, up to the first other character.
// n is the length of these escapes in s.
func escapedBytes(s string) (run []byte, n int) {
	for n+2 < len(s) && s[n] == '%' {
		hi, lo := hexDigit(s[n+1]), hexDigit(s[n+2])
		if hi < 0 || lo < 0 {
			break
		}
		run = append(run, byte(hi<<4|lo))
		n += 3
	}
	return run, n
}

func hexDigit(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c|0x20 && c|0x20 <= 'f':
		return int(c|0x20-'a') + 10
	}
	return -1
}

// maxDecodings is the largest number of times that a value is decoded. A value that is still not
// stable after that is refused.
const maxDecodings = 3

// decodePattern decodes a pattern maxDecodings times. It marks wildcards that come out of the
// decoding as literal.
func decodePattern(p string) string {
	for range maxDecodings {
		var b strings.Builder
		for rest := p; rest != ""; {
			n := strings.IndexAny(rest, "*?")
			if n < 0 {
				n = len(rest)
			}
			b.WriteString(QuoteWildcards(unescapeOnce(rest[:n])))
			rest = rest[n:]
			wild := len(rest) - len(strings.TrimLeft(rest, "*?"))
			b.WriteString(rest[:wild])
			rest = rest[wild:]
		}
		p = b.String()
	}
	return p
}

// normaliseUnicode applies NFC for the stage composed, and NFKC for the stage compat.
func normaliseUnicode(s string, stage Transforms) string {
	if textclass.IsASCII(s) {
		return s
	}
	if stage == composed {
		return norm.NFC.String(s)
	}
	return norm.NFKC.String(s)
}

// FoldCase returns a text in which letters that differ only in case are equal. It uses Unicode's
// simple folding. It also changes ß to ss, as the full folding of APFS and ext4 does.
func FoldCase(s string) string {
	if textclass.IsASCII(s) {
		return strings.ToLower(s)
	}
	return strings.Map(foldRune, sharpS.Replace(s))
}

var sharpS = strings.NewReplacer("ß", "ss", "ẞ", "ss")

// LowerByte converts an ASCII capital to a small letter. It does not change other bytes.
func LowerByte(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// FoldInto appends the result of FoldCase to a buffer, without an allocation for ASCII.
func FoldInto(b []byte, s string) []byte {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= utf8.RuneSelf {
			return append(b[:0], FoldCase(s)...)
		}
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		b = append(b, c)
	}
	return b
}

func foldRune(r rune) rune {
	least := r
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		least = min(least, f)
	}
	if 'A' <= least && least <= 'Z' {
		return least + 'a' - 'A'
	}
	return least
}

// unreadableReason returns the reason why a path or URI may mean something else than people see; ""
// if there is none.
func unreadableReason(s string) string {
	for _, r := range s {
		switch {
		case ' ' <= r && r < 0x7F:
		case textclass.IsControl(r):
			return "control character in a path"
		case textclass.OddInPath(r):
			return "invisible character in a path"
		case fullWidth(r):
			return "full-width form in a path"
		case syntaxForm(r):
			return "compatibility form of a dot or a slash in a path"
		case r == utf8.RuneError:
			return "invalid text in a path"
		}
	}
	return ""
}

// fullWidth reports whether a code point is the wide form of an ASCII letter or digit, or of a
// character with a meaning in paths. Windows changes these wide forms to the narrow ones if a
// program uses the functions for byte strings. Other compatibility forms are common in names, and
// have their own reading.
func fullWidth(r rune) bool {
	switch r {
	case '．', '／', '＼', '％':
		return true
	}
	return '０' <= r && r <= '９' || 'Ａ' <= r && r <= 'Ｚ' || 'ａ' <= r && r <= 'ｚ'
}

// syntaxForm reports whether NFKC changes a code point into characters with a meaning in paths. If
// this happens after a path is cleaned, the path could lead out of its folder.
func syntaxForm(r rune) bool {
	switch r {
	case '\u2024', '\u2025', '\ufe30', '\ufe52', '\ufe68', '\ufe6a': // NFKC changes these to . .. .. . \ %
		return true
	}
	return false
}

// UnnameableReason returns the reason why people cannot see exactly which name this is; "" if there
// is none. The policy compares such names exactly.
func UnnameableReason(s string) string {
	if isPrintable(s) {
		return ""
	}
	return unnameableText(s)
}

// isPrintable reports whether a text is printable ASCII.
func isPrintable(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < ' ' || c >= 0x7F {
			return false
		}
	}
	return true
}

func unnameableText(s string) string {
	for _, r := range s {
		switch {
		case textclass.IsControl(r):
			return "name with a control character"
		case textclass.OddInPath(r) || r == utf8.RuneError:
			return "name with an invisible character"
		}
	}
	return ""
}

// SpellsJSON reports whether a glob begins like the JSON text of an array or object.
func SpellsJSON(glob string) bool {
	glob = strings.TrimLeft(glob, " \t\r\n")
	return glob != "" && (glob[0] == '[' || glob[0] == '{')
}
