package audit

import (
	"crypto/rand"

	"github.com/clawai/clawai/internal/escape"
)

// scrubber serves rooms that keep texts outside the record. Its key is thrown
// away, so what a marker says of a part that was cut off cannot be tried out.
func scrubber() *redactor {
	key := make([]byte, 32)
	rand.Read(key) // never fails (crypto/rand, since Go 1.24)
	return newRedactor(Redacted, key)
}

// ScrubText is s as the record keeps a text by default: secrets replaced by
// [redacted:KIND:LENGTH], a long one cut. Bytes that are not UTF-8 become \xNN.
func ScrubText(s string) string {
	return string(escape.Undo(nil, scrubber().copied(nil, s)))
}

// ScrubJSON is the same for a JSON value. The result is JSON even where src is
// not; nil stays nil.
func ScrubJSON(src []byte) []byte {
	if src == nil {
		return nil
	}
	dst, _ := scrubber().json(nil, src)
	return []byte(Readable(dst))
}
