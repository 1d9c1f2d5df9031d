package mcp

import (
	"net/url"
	"path"
	"strings"
	"unicode"

	"github.com/clawai/clawai/internal/text/textclass"
)

// longestMethod limits the work of nearMethod; the longest method of the protocol has 41 bytes.
const longestMethod = 256

// hasHidden reports whether a name holds an invisible character, a character that moves visible
// text, or bytes that are not UTF-8.
func hasHidden(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < ' ' || c >= 0x7f {
			return strings.ContainsFunc(s, textclass.OddInName)
		}
	}
	return false
}

// nearMethod reports whether a method is not the protocol's but becomes one in a lenient server:
// blanks and invisible characters dropped, percent-decoded, full-width forms and backslashes made
// plain, path cleaned, case folded.
func nearMethod(name string) bool {
	plain := strings.Map(func(r rune) rune {
		switch {
		case r == '\\' || r == '∕' || r == '⁄':
			return '/'
		case unicode.IsSpace(r) || textclass.OddInName(r):
			return -1
		}
		return textclass.NarrowRune(r)
	}, name)
	if decoded, err := url.PathUnescape(plain); err == nil && decoded != plain {
		return nearMethod(decoded)
	}
	plain = strings.Trim(path.Clean("/"+plain), "/.")
	for i := range table {
		if strings.EqualFold(plain, table[i].Name) {
			return true
		}
	}
	return false
}
