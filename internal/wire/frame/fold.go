package frame

import (
	"unicode"
	"unicode/utf8"
)

// FoldName appends the name with folded letters to dst. It folds like the most tolerant
// case-insensitive readers: with Unicode simple folding, which maps U+017F to s and U+212A to k
// (CVE-2026-27896), and with the Turkish i.
func FoldName(dst, name []byte) []byte {
	for len(name) > 0 {
		r, n := foldFirst(name)
		dst, name = utf8.AppendRune(dst, r), name[n:]
	}
	return dst
}

// FoldsTo reports whether FoldName gives the same result for both names.
func FoldsTo[T []byte | string](name T, known string) bool {
	for len(name) > 0 && known != "" {
		r, n := foldFirst(name)
		k, m := foldFirst(known)
		if r != k {
			return false
		}
		name, known = name[n:], known[m:]
	}
	return len(name) == 0 && known == ""
}

// foldFirst returns the folded first character of name, and the character's length n in bytes.
func foldFirst[T []byte | string](name T) (r rune, n int) {
	switch c := name[0]; {
	case 'A' <= c && c <= 'Z':
		return rune(c | 0x20), 1
	case c < utf8.RuneSelf:
		return rune(c), 1
	}
	r, n = utf8.DecodeRuneInString(string(name[:min(len(name), utf8.UTFMax)]))
	return unicode.ToLower(unicode.ToUpper(r)), n
}
