package frame

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"
)

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// special marks the bytes of w that end a run of plain string text: a quote, a
// backslash, a control byte. Its lowest set bit is exact; a borrow may set
// false ones above it, never below.
func special(w uint64) uint64 {
	quote := w ^ ones*'"'
	slash := w ^ ones*'\\'
	return ((quote - ones) | (slash - ones) | (w - ones*0x20)) &^ w & highs
}

// run returns the index of the first byte from i on that ends a run of plain
// text, len(b) if none does, and the bytes it passed or-ed together.
func run(b []byte, i int) (end int, high uint64) {
	for ; i <= len(b)-8; i += 8 {
		w := binary.LittleEndian.Uint64(b[i:])
		high |= w
		if m := special(w); m != 0 {
			return i + bits.TrailingZeros64(m)/8, high
		}
	}
	for i < len(b) && b[i] != '"' && b[i] != '\\' && b[i] >= 0x20 {
		high |= uint64(b[i])
		i++
	}
	return i, high
}

// text scans the string whose content begins at i. It returns the index of the
// closing quote and whether there is an escape before it.
func (s *scanner) text(i int) (end int, escaped bool) {
	if i <= len(s.b)-8 { // most names end within a word
		w := binary.LittleEndian.Uint64(s.b[i:])
		if m := special(w); m != 0 {
			if end = i + bits.TrailingZeros64(m)/8; s.b[end] == '"' {
				s.high |= w
				return end, false
			}
		}
	}
	for i >= 0 {
		var high uint64
		i, high = run(s.b, i)
		s.high |= high
		switch {
		case i == len(s.b):
			return s.stop(CodeSyntax, i), escaped
		case s.b[i] == '"':
			return i, escaped
		case s.b[i] == '\\':
			escaped = true
			i = s.escape(i)
		default:
			return s.stop(CodeControl, i), escaped
		}
	}
	return i, escaped
}

// escape scans the escape whose backslash is at i and returns the index behind
// it, or -1. The two halves of a surrogate pair are one escape.
func (s *scanner) escape(i int) int {
	if i+1 >= len(s.b) {
		return s.stop(CodeSyntax, i)
	}
	switch s.b[i+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return i + 2
	case 'u':
		r := hex4(s.b[i+2:])
		if r < 0 {
			return s.stop(CodeSyntax, i)
		}
		if !utf16.IsSurrogate(r) {
			return i + 6
		}
		if rest := s.b[i+6:]; len(rest) >= 6 && rest[0] == '\\' && rest[1] == 'u' &&
			utf16.DecodeRune(r, hex4(rest[2:])) != utf8.RuneError {
			return i + 12
		}
		return s.stop(CodeSurrogate, i)
	}
	return s.stop(CodeSyntax, i)
}

// hex4 reads four hexadecimal digits; -1 when there are none.
func hex4(b []byte) rune {
	if len(b) < 4 {
		return -1
	}
	var r rune
	for _, c := range b[:4] {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return -1
		}
		r = r<<4 | rune(c)
	}
	return r
}

// unescape appends what the text of a string says. The text has been scanned,
// so every escape is whole.
func unescape(dst, text []byte) []byte {
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' {
			dst = append(dst, text[i])
			continue
		}
		i++
		switch c := text[i]; c {
		case 'b':
			dst = append(dst, '\b')
		case 'f':
			dst = append(dst, '\f')
		case 'n':
			dst = append(dst, '\n')
		case 'r':
			dst = append(dst, '\r')
		case 't':
			dst = append(dst, '\t')
		case 'u':
			r := hex4(text[i+1:])
			i += 4
			if utf16.IsSurrogate(r) {
				r = utf16.DecodeRune(r, hex4(text[i+3:]))
				i += 6
			}
			dst = utf8.AppendRune(dst, r)
		default:
			dst = append(dst, c)
		}
	}
	return dst
}
