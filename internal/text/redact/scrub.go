package redact

import (
	"crypto/rand"
	"crypto/sha256"

	"github.com/clawai/clawai/internal/wire/escape"
)

// newScrubber returns a Redactor for stores that are not the record. Its key is random and is not
// stored, so nobody can guess a cut text from the digest in its marker.
func newScrubber(k *Known) *Redactor {
	key := make([]byte, sha256.Size)
	rand.Read(key) // never fails (crypto/rand, since Go 1.24)
	r := New(Redacted, key)
	r.HideKnown(k)
	return r
}

// ScrubText returns s in the form of the record's default mode: [redacted:KIND:LENGTH] replaces
// each secret, and a long text is cut. A byte that is not UTF-8 becomes \xNN.
func ScrubText(s string) string { return (*Known)(nil).ScrubText(s) }

// ScrubText does the work of the function ScrubText, and also replaces the known values.
func (k *Known) ScrubText(s string) string {
	return string(escape.UndoEscapes(nil, newScrubber(k).AppendString(nil, s)))
}

// ScrubJSON returns a JSON value with its secrets replaced and its long texts cut, like ScrubText.
// The result is JSON even if src is not. nil stays nil.
func ScrubJSON(src []byte) []byte { return (*Known)(nil).ScrubJSON(src) }

// ScrubJSON does the work of the function ScrubJSON, and also replaces the known values.
func (k *Known) ScrubJSON(src []byte) []byte {
	if src == nil {
		return nil
	}
	dst, _ := newScrubber(k).AppendJSON(nil, src)
	return []byte(escape.ReadableJSON(dst))
}

// HideText replaces the secrets in s like ScrubText, but never cuts the text. hidden is the number
// of replaced secrets.
func (k *Known) HideText(s string) (shown string, hidden int) {
	r := newScrubber(k)
	r.whole = true
	return string(escape.UndoEscapes(nil, r.AppendString(nil, s))), r.hidden
}

// HideJSON replaces the secrets in a JSON value like HideText. hidden is the number of replaced
// secrets; it may count a secret twice. The result is JSON even if src is not. nil stays nil.
func (k *Known) HideJSON(src []byte) (shown []byte, hidden int) {
	if src == nil {
		return nil, 0
	}
	r := newScrubber(k)
	r.whole = true
	dst, _ := r.AppendJSON(nil, src)
	return []byte(escape.ReadableJSON(dst)), r.hidden
}
