package frame

import (
	"unicode"
	"unicode/utf8"
)

// Fold appends the name with its letters folded as the most generous of the
// case-insensitive readers folds them: Unicode simple folding, which takes
// U+017F for s and U+212A for k (CVE-2026-27896), and the Turkish i besides.
func Fold(dst, name []byte) []byte {
	for i := 0; i < len(name); {
		c := name[i]
		if c < utf8.RuneSelf {
			if 'A' <= c && c <= 'Z' {
				c |= 0x20
			}
			dst = append(dst, c)
			i++
			continue
		}
		r, n := utf8.DecodeRune(name[i:])
		dst = utf8.AppendRune(dst, unicode.ToLower(unicode.ToUpper(r)))
		i += n
	}
	return dst
}
