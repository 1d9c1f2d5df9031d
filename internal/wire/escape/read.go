// Package escape reads and writes the escapes of JSON strings (RFC 8259, section 7).
package escape

import (
	"bytes"
	"slices"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
	"unsafe"
)

// ReadEscape reads the escape at the beginning of s. It returns the code point and the length of
// the escape in bytes. The length is 0 if s begins with no escape. A surrogate pair is one escape.
// A single half of a pair is returned as that surrogate.
func ReadEscape(s []byte) (r rune, n int) {
	if len(s) < 2 || s[0] != '\\' {
		return 0, 0
	}
	if c := short[s[1]]; c > 0 {
		return rune(c), 2
	}
	r, ok := readUnit(s)
	if !ok {
		return 0, 0
	}
	if utf16.IsSurrogate(r) {
		low, _ := readUnit(s[6:])
		if both := utf16.DecodeRune(r, low); both != utf8.RuneError {
			return both, 12
		}
	}
	return r, 6
}

// readUnit reads one \uXXXX at the beginning of s.
func readUnit(s []byte) (r rune, ok bool) {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return 0, false
	}
	unit, err := strconv.ParseUint(string(s[2:6]), 16, 16)
	return rune(unit), err == nil
}

// short maps the second byte of a two-byte escape to the character that it means.
var short = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// UndoEscapes decodes s, the text between the quotes of a JSON string, and appends the result to
// dst. It leaves a backslash that begins no escape, and a single half of a surrogate pair,
// unchanged.
func UndoEscapes(dst, s []byte) []byte {
	for {
		i := bytes.IndexByte(s, '\\')
		if i < 0 {
			return append(dst, s...)
		}
		dst, s = append(dst, s[:i]...), s[i:]
		r, n := ReadEscape(s)
		if n == 0 || utf16.IsSurrogate(r) {
			r, n = '\\', 1
		}
		dst, s = utf8.AppendRune(dst, r), s[n:]
	}
}

// DecodeString decodes the text that stands between the quotes of a JSON string (inside), and
// appends the result to dst. It returns false if a backslash begins no escape. A single half of a
// surrogate pair becomes U+FFFD.
func DecodeString(dst []byte, inside string) ([]byte, bool) {
	s := unsafe.Slice(unsafe.StringData(inside), len(inside)) // safe, because s is only read
	if len(s) > cap(dst)-len(dst) {
		dst = slices.Grow(dst, len(s)) // enough room, because decoded text is never longer
	}
	for {
		i := bytes.IndexByte(s, '\\')
		if i < 0 {
			return append(dst, s...), true
		}
		if i+1 < len(s) && short[s[i+1]] > 0 { // a fast path for the most frequent escapes
			dst, s = append(append(dst, s[:i]...), short[s[i+1]]), s[i+2:]
			continue
		}
		r, n := ReadEscape(s[i:])
		if n == 0 {
			return dst, false
		}
		dst, s = utf8.AppendRune(append(dst, s[:i]...), r), s[i+n:]
	}
}
