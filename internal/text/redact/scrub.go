package redact

import (
	"crypto/rand"
	"crypto/sha256"

	"github.com/clawai/clawai/internal/wire/escape"
)

// newScrubber returns a redactor for stores outside the record. Its key is discarded, so that
// nobody can guess a cut-off part from its digest in the marker.
func newScrubber(k *Known) *Redactor {
	key := make([]byte, sha256.Size)
	rand.Read(key) // never fails (crypto/rand, since Go 1.24)
	r := New(Redacted, key)
	r.HideKnown(k)
	return r
}

// ScrubText returns s as the record keeps a text by default: secrets are replaced by
// [redacted:KIND:LENGTH], and a long text is cut. Bytes that are not UTF-8 become \xNN.
func ScrubText(s string) string { return (*Known)(nil).ScrubText(s) }

// ScrubText works like the package's function of that name, and also replaces the known values.
func (k *Known) ScrubText(s string) string {
	return string(escape.UndoEscapes(nil, newScrubber(k).AppendString(nil, s)))
}

// ScrubJSON returns a JSON value with its secrets replaced and long texts cut, as in ScrubText.
// The result is JSON even if src is not; nil stays nil.
func ScrubJSON(src []byte) []byte { return (*Known)(nil).ScrubJSON(src) }

// ScrubJSON works like the package's function of that name, and also replaces the known values.
func (k *Known) ScrubJSON(src []byte) []byte {
	if src == nil {
		return nil
	}
	dst, _ := newScrubber(k).AppendJSON(nil, src)
	return []byte(escape.ReadableJSON(dst))
}

// HideText returns s with its secrets replaced as in ScrubText, but never cut, and how many were
// replaced.
func (k *Known) HideText(s string) (shown string, hidden int) {
	r := newScrubber(k)
	r.whole = true
	return string(escape.UndoEscapes(nil, r.AppendString(nil, s))), r.hidden
}

// HideJSON returns a JSON value with its secrets replaced as in HideText, and how many were
// replaced. The result is JSON even if src is not; nil stays nil. A secret that was looked at
// twice may be counted twice.
func (k *Known) HideJSON(src []byte) (shown []byte, hidden int) {
	if src == nil {
		return nil, 0
	}
	r := newScrubber(k)
	r.whole = true
	dst, _ := r.AppendJSON(nil, src)
	return []byte(escape.ReadableJSON(dst)), r.hidden
}
