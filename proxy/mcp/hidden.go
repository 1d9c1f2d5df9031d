package mcp

import (
	"net/url"
	"path"
	"strings"
	"unicode"
)

// longestMethod bounds the work nearMethod does; the longest of the protocol's
// own names has forty-one bytes.
const longestMethod = 256

// hidden reports a name that holds a character a person cannot see or that
// moves what they see: controls, format characters (bidi, zero width, tags),
// separators other than the plain space, fillers, variation selectors, and
// bytes that are not UTF-8.
func hidden(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < ' ' || c >= 0x7f {
			return strings.ContainsFunc(s, invisible)
		}
	}
	return false
}

// invisible reports a character that hidden refuses.
func invisible(r rune) bool {
	switch {
	case r < 0x7f:
		return r < ' '
	case r == unicode.ReplacementChar:
		return true
	case unicode.In(r, unicode.Cc, unicode.Cf, unicode.Z, unicode.Co, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point):
		return true
	}
	return r == 0x2800 // the braille blank is a space by another name
}

// nearMethod reports a method that is not the protocol's but becomes so when a
// server is lenient: blanks and invisible characters dropped, percent-decoded,
// full-width forms and backslashes made plain, the path cleaned, case folded.
func nearMethod(name string) bool {
	plain := strings.Map(func(r rune) rune {
		switch {
		case r == '\\' || r == '∕' || r == '⁄':
			return '/'
		case r >= 0xff01 && r <= 0xff5e:
			return r - 0xff01 + '!'
		case unicode.IsSpace(r) || invisible(r):
			return -1
		}
		return r
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
