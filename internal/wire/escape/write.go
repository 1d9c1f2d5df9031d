package escape

import (
	"unicode/utf16"
	"unicode/utf8"
)

const hexDigits = "0123456789abcdef"

// AppendEscaped appends s as the text between the quotes of a JSON string, in printable ASCII. It
// escapes every control character, bidi mark, line separator and terminal escape. A byte that is
// not UTF-8 becomes the text \xNN.
func AppendEscaped[text []byte | string](dst []byte, s text) []byte {
	plain := 0 // s[plain:i] needs no escape
	for i := skipPlain(s, 0); i < len(s); i = skipPlain(s, i) {
		dst = append(dst, s[plain:i]...)
		var n int
		dst, n = appendOdd(dst, []byte(s[i:min(len(s), i+utf8.UTFMax)]))
		i += n
		plain = i
	}
	return append(dst, s[plain:]...)
}

// skipPlain returns the offset of the first byte of s from i on that needs an escape. It returns
// the length of s if there is none.
func skipPlain[text []byte | string](s text, i int) int {
	for len(s)-i >= 8 { // eight bytes at a time, because few bytes of a text need an escape
		if p := s[i : i+8]; isOdd[p[0]]|isOdd[p[1]]|isOdd[p[2]]|isOdd[p[3]]|isOdd[p[4]]|isOdd[p[5]]|isOdd[p[6]]|isOdd[p[7]] != 0 {
			break
		}
		i += 8
	}
	for i < len(s) && isOdd[s[i]] == 0 {
		i++
	}
	return i
}

// AppendASCII appends JSON to dst and escapes every character that is not printable ASCII. The
// meaning of the JSON does not change.
func AppendASCII(dst, src []byte) []byte {
	for len(src) > 0 {
		r, n := utf8.DecodeRune(src)
		switch {
		case r < 0x7f:
			dst = append(dst, src[:n]...)
		case r > 0xffff:
			hi, lo := utf16.EncodeRune(r)
			dst = appendUnit(appendUnit(dst, hi), lo)
		default:
			dst = appendUnit(dst, r)
		}
		src = src[n:]
	}
	return dst
}

// QuoteText returns s as a JSON string in printable ASCII.
func QuoteText(s string) []byte { return append(AppendEscaped([]byte{'"'}, s), '"') }

// isOdd is not zero for the bytes that must be escaped in a string.
var isOdd = func() (t [256]uint8) {
	for c := range t {
		if c < ' ' || c > '~' || c == '"' || c == '\\' {
			t[c] = 1
		}
	}
	return t
}()

// appendOdd appends the escape of the first character of s. It also returns the length of this
// character in s.
func appendOdd(dst, s []byte) ([]byte, int) {
	switch c := s[0]; {
	case c == '"' || c == '\\':
		return append(dst, '\\', c), 1
	case c == '\n':
		return append(dst, '\\', 'n'), 1
	case c == '\r':
		return append(dst, '\\', 'r'), 1
	case c == '\t':
		return append(dst, '\\', 't'), 1
	case c < utf8.RuneSelf:
		return appendUnit(dst, rune(c)), 1
	}
	r, n := utf8.DecodeRune(s)
	switch {
	case r == utf8.RuneError && n == 1:
		return append(dst, '\\', '\\', 'x', hexDigits[s[0]>>4], hexDigits[s[0]&15]), 1
	case r > 0xffff:
		r -= 0x10000
		dst = appendUnit(dst, 0xd800+r>>10)
		return appendUnit(dst, 0xdc00+r&0x3ff), n
	}
	return appendUnit(dst, r), n
}

func appendUnit(dst []byte, r rune) []byte {
	return append(dst, '\\', 'u', hexDigits[r>>12&15], hexDigits[r>>8&15], hexDigits[r>>4&15], hexDigits[r&15])
}

// ReadableJSON returns JSON from the record in which it has replaced each \uXXXX by its character.
// It leaves the escapes of ASCII characters, so that the meaning of the JSON does not change.
func ReadableJSON(args []byte) string {
	var dst []byte
	for i := 0; i < len(args); {
		if args[i] != '\\' || i+1 == len(args) {
			dst = append(dst, args[i])
			i++
			continue
		}
		r, n := ReadEscape(args[i:])
		if n < 6 || r < utf8.RuneSelf || utf16.IsSurrogate(r) {
			dst = append(dst, args[i], args[i+1])
			i += 2
			continue
		}
		dst = utf8.AppendRune(dst, r)
		i += n
	}
	return string(dst)
}
