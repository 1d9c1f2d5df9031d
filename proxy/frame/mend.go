package frame

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// recall adds to the refusal of a line whose only fault is text that readers
// repair in different ways (half of a surrogate pair, bytes that are no UTF-8)
// what is certain about it: repaired in any way, it is the request with that id.
// JSON.stringify writes such halves, and its caller waits.
func (s *scanner) recall(r *Refusal, from int) {
	if r.Code != CodeSurrogate && r.Code != CodeUTF8 {
		return
	}
	mended := scanner{b: mend(s.b), depth: s.depth}
	e, i := mended.envelope(from, 1)
	if mended.finish(i) != nil {
		return
	}
	if at := e.at[mID]; bytes.Equal(e.ID, s.b[at:at+len(e.ID)]) {
		e.claim(r)
	}
}

// mend is a copy of line, of the same length, in which all text is valid.
func mend(line []byte) []byte {
	b := bytes.Clone(line)
	for i := 0; i < len(b); {
		switch {
		case b[i] == '\\':
			i += mendEscape(b[i:])
		case b[i] < utf8.RuneSelf:
			i++
		default:
			r, n := utf8.DecodeRune(b[i:])
			if r == utf8.RuneError && n == 1 {
				b[i] = '?'
			}
			i += n
		}
	}
	return b
}

// mendEscape writes U+FFFD over the escape that b begins with if that is half of
// a surrogate pair, and gives the length of what it has looked at.
func mendEscape(b []byte) int {
	if len(b) < 6 || b[1] != 'u' {
		return 2
	}
	switch r := hex4(b[2:]); {
	case !utf16.IsSurrogate(r):
	case len(b) >= 12 && b[6] == '\\' && b[7] == 'u' && utf16.DecodeRune(r, hex4(b[8:])) != utf8.RuneError:
		return 12
	default:
		copy(b[2:], "fffd")
	}
	return 6
}
