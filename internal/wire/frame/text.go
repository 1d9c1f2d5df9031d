package frame

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf16"

	"github.com/clawai/clawai/internal/wire/escape"
)

const (
	ones  = 0x0101010101010101 // the lowest bit of each byte is 1
	highs = 0x8080808080808080 // the highest bit of each byte is 1
)

// specialBytes marks the bytes of w that end a run of plain string text: a quote, a backslash, a
// control byte. The lowest set bit of the result is always right. Higher bits may be wrong because
// of a borrow.
func specialBytes(w uint64) uint64 {
	quote := w ^ ones*'"'
	slash := w ^ ones*'\\'
	return ((quote - ones) | (slash - ones) | (w - ones*0x20)) &^ w & highs
}

// plainRun returns the index of the first byte from i on that ends a run of plain text, or len(b).
// high is the bitwise OR of the bytes that were read. It covers all bytes before the index.
func plainRun(b []byte, i int) (end int, high uint64) {
	for ; i <= len(b)-8; i += 8 {
		w := binary.LittleEndian.Uint64(b[i:])
		high |= w
		if m := specialBytes(w); m != 0 {
			return i + bits.TrailingZeros64(m)/8, high
		}
	}
	for i < len(b) && b[i] != '"' && b[i] != '\\' && b[i] >= 0x20 {
		high |= uint64(b[i])
		i++
	}
	return i, high
}

// scanString scans the string whose content begins at offset i. It returns the offset of the
// closing quote, and whether the string has an escape.
func (s *scanner) scanString(i int) (end int, escaped bool) {
	if i <= len(s.b)-8 { // a fast path, because most names end within the first eight bytes
		w := binary.LittleEndian.Uint64(s.b[i:])
		if m := specialBytes(w); m != 0 {
			if end = i + bits.TrailingZeros64(m)/8; s.b[end] == '"' {
				s.high |= w
				return end, false
			}
		}
	}
	for i >= 0 {
		var high uint64
		i, high = plainRun(s.b, i)
		s.high |= high
		switch {
		case i == len(s.b):
			return s.stopScan(CodeSyntax, i), escaped
		case s.b[i] == '"':
			return i, escaped
		case s.b[i] == '\\':
			escaped = true
			i = s.scanEscape(i)
		default:
			return s.stopScan(CodeControl, i), escaped
		}
	}
	return i, escaped
}

// scanEscape scans the escape with its backslash at offset i. It returns the offset after the
// escape, or -1. A surrogate pair is one escape.
func (s *scanner) scanEscape(i int) int {
	switch r, n := escape.ReadEscape(s.b[i:]); {
	case n == 0:
		return s.stopScan(CodeSyntax, i)
	case utf16.IsSurrogate(r):
		return s.stopScan(CodeSurrogate, i)
	default:
		return i + n
	}
}
