package frame

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/clawai/clawai/internal/wire/escape"
)

// recallRequest handles the refusal of a line whose only fault is text that readers
// repair in different ways (half of a surrogate pair, bytes that are not UTF-8). If
// the line is the same request after any repair, it stores the request's id in the
// refusal, so that the caller gets an answer. JSON.stringify can write such halves.
func (s *scanner) recallRequest(r *Refusal, from int) {
	if r.Code != CodeSurrogate && r.Code != CodeUTF8 {
		return
	}
	mended := scanner{b: mendText(s.b), depth: s.depth, result: s.result}
	e := envelope{Frame: &Frame{}}
	if mended.finishScan(mended.scanEnvelope(&e, from, 1)) != nil {
		return
	}
	if at := e.at[mID]; bytes.Equal(e.ID, s.b[at:at+len(e.ID)]) {
		e.claimRequest(r)
	}
}

// mendText returns a copy of line, of the same length, in which all text is valid.
func mendText(line []byte) []byte {
	b := bytes.Clone(line)
	for i := 0; i < len(b); {
		switch {
		case b[i] == '\\':
			r, n := escape.ReadEscape(b[i:])
			if utf16.IsSurrogate(r) {
				copy(b[i+2:], "fffd")
			}
			i += max(n, 1)
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
