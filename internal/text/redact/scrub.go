package redact

import (
	"crypto/rand"
	"crypto/sha256"

	"github.com/clawai/clawai/internal/wire/escape"
)

// scrubber serves rooms that keep texts outside the record. Its key is thrown
// away, so what a marker says of a part that was cut off cannot be tried out.
func scrubber() *Redactor {
	key := make([]byte, sha256.Size)
	rand.Read(key) // never fails (crypto/rand, since Go 1.24)
	return New(Redacted, key)
}

// Text is s as the record keeps a text by default: secrets replaced by
// [redacted:KIND:LENGTH], a long one cut. Bytes that are not UTF-8 become \xNN.
func Text(s string) string {
	return string(escape.Undo(nil, scrubber().AppendString(nil, s)))
}

// JSON is the same for a JSON value. The result is JSON even where src is
// not; nil stays nil.
func JSON(src []byte) []byte {
	if src == nil {
		return nil
	}
	dst, _ := scrubber().AppendJSON(nil, src)
	return []byte(escape.Readable(dst))
}
