package mcp

import (
	"net/url"
	"path"
	"strings"
	"unicode"

	"github.com/clawai/clawai/internal/text/textclass"
)

// longestMethod is the maximum length in bytes of a method. It limits the work of nearMethod. The
// longest method of the protocol has 41 bytes.
const longestMethod = 256

// hasHidden reports whether a name has an invisible character, a character that moves visible text,
// or bytes that are not UTF-8.
func hasHidden(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < ' ' || c >= 0x7f {
			return strings.ContainsFunc(s, textclass.OddInName)
		}
	}
	return false
}

// nearMethod reports whether a lenient server would turn an unknown method into a protocol method.
// Such a server drops blanks and invisible characters, decodes percent signs, replaces full-width
// characters by plain ones and backslashes by slashes, cleans the path, or ignores case.
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
