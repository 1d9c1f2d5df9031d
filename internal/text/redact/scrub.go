package redact

import (
	"crypto/rand"
	"crypto/sha256"

	"github.com/clawai/clawai/internal/wire/escape"
)

// newScrubber serves rooms that keep texts outside the record. Its key is thrown
// away, so what a marker says of a part that was cut off cannot be tried out.
func newScrubber() *Redactor {
	key := make([]byte, sha256.Size)
	rand.Read(key) // never fails (crypto/rand, since Go 1.24)
	return New(Redacted, key)
}

// ScrubText gives s as the record keeps a text by default: secrets replaced by
// [redacted:KIND:LENGTH], a long one cut. Bytes that are not UTF-8 become \xNN.
func ScrubText(s string) string {
	return string(escape.UndoEscapes(nil, newScrubber().AppendString(nil, s)))
}

// ScrubJSON gives the same for a JSON value. The result is JSON even where src is
// not; nil stays nil.
func ScrubJSON(src []byte) []byte {
	if src == nil {
		return nil
	}
	dst, _ := newScrubber().AppendJSON(nil, src)
	return []byte(escape.ReadableJSON(dst))
}
