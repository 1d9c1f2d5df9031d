package audit

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"strconv"
)

// Redaction says what the record keeps of a secret.
type Redaction uint8

// The zero value is the product's default.
const (
	Redacted Redaction = iota // a marker with its kind and length
	Hashed                    // the same and a keyed digest, so that equal secrets can be told
	Full                      // everything, as sent
)

// ParseRedaction reads one of redacted, hash, full.
func ParseRedaction(s string) (Redaction, error) {
	for _, m := range []Redaction{Redacted, Hashed, Full} {
		if s == m.String() {
			return m, nil
		}
	}
	return Redacted, fmt.Errorf("unknown redaction %q (one of redacted, hash, full)", s)
}

func (m Redaction) String() string {
	switch m {
	case Redacted:
		return "redacted"
	case Hashed:
		return "hash"
	case Full:
		return "full"
	}
	return fmt.Sprintf("Redaction(%d)", uint8(m))
}

const (
	redactedMark = "[redacted:" // KIND:LENGTH or KIND:LENGTH:DIGEST, then ]
	cutMark      = "[cut:"      // LENGTH:DIGEST, then ]: of the whole value
)

// IsRedacted reports whether a text from the record is not, or may not be, what
// was sent: all or part of it was replaced by a marker or cut off. A text that
// was sent with such a marker in it counts too; nothing tells them apart.
func IsRedacted(s string) bool {
	return bytes.Contains([]byte(s), []byte(redactedMark)) || bytes.Contains([]byte(s), []byte(cutMark))
}

// Caps of what one record keeps. Beyond them it keeps length and digest.
const (
	maxText  = 4 << 10  // bytes of one string
	maxBlock = 64 << 10 // bytes of the arguments, the names or the declared set, as written
)

// redactor writes texts with their secrets replaced. It keeps scratch space and
// serves one writer at a time.
type redactor struct {
	mode    Redaction
	mac     hash.Hash
	scratch []byte
	sum     [sha256.Size]byte
}

func newRedactor(mode Redaction, key []byte) *redactor {
	return &redactor{mode: mode, mac: hmac.New(sha256.New, key)}
}

// Mode is what it keeps.
func (r *redactor) Mode() Redaction { return r.mode }

// Spare gives scratch space of more than n bytes back.
func (r *redactor) Spare(n int) {
	if cap(r.scratch) > n {
		r.scratch = nil
	}
}

// copied appends a text that is a string of ours.
func (r *redactor) copied(dst []byte, s string) []byte {
	r.scratch = append(r.scratch[:0], s...)
	return r.text(dst, r.scratch, r.scratch)
}

// text appends s, which came from the wire as whole, as the inside of a JSON
// string.
func (r *redactor) text(dst, s, whole []byte) []byte {
	long := len(s) > maxText
	if long {
		s = s[:min(len(s), maxText+maxLook)] // a secret across the cut is still seen
	}
	keep := min(len(s), maxText)
	at := 0
	for r.mode != Full {
		sp, ok := findSecret(s, at)
		if !ok || sp.from >= keep {
			break
		}
		dst = appendEscaped(dst, s[at:sp.from])
		dst = r.mark(dst, sp.kind, s[sp.from:sp.to], "")
		at = sp.to
	}
	if at < keep {
		dst = appendEscaped(dst, s[at:keep])
	}
	if long {
		dst = r.cut(dst, len(whole), whole)
	}
	return dst
}

// mark appends the marker that stands for a secret. The field is part of what
// is hashed, so that equal secrets in different places do not show as equal.
func (r *redactor) mark(dst []byte, kind string, value []byte, field string) []byte {
	dst = append(dst, redactedMark...)
	dst = append(dst, kind...)
	dst = append(dst, ':')
	dst = strconv.AppendInt(dst, int64(len(value)), 10)
	if r.mode == Hashed && bits(value) >= 64 {
		dst = append(dst, ':')
		r.mac.Reset()
		r.mac.Write([]byte(field))
		r.mac.Write([]byte{0})
		r.mac.Write(value)
		dst = hex.AppendEncode(dst, r.mac.Sum(r.sum[:0])[:8])
	}
	return append(dst, ']')
}

// cut appends the marker that stands for the rest of a long value.
func (r *redactor) cut(dst []byte, n int, whole []byte) []byte {
	dst = append(dst, cutMark...)
	dst = strconv.AppendInt(dst, int64(n), 10)
	dst = append(dst, ':')
	sum := sha256.Sum256(whole)
	dst = r.digest(dst, &sum)
	return append(dst, ']')
}

// digest appends what stands for a SHA-256: itself in full mode, else a keyed
// digest of it, because a plain one would let anyone who reads the record try
// out what a short secret was.
func (r *redactor) digest(dst []byte, sum *[sha256.Size]byte) []byte {
	if r.mode == Full {
		return hex.AppendEncode(append(dst, "sha256:"...), sum[:])
	}
	r.mac.Reset()
	r.mac.Write(sum[:])
	return hex.AppendEncode(append(dst, "hmac:"...), r.mac.Sum(r.sum[:0])[:16])
}

// bits is an upper bound of what a value can hold if its characters were drawn
// at random: below 64 a digest, even a keyed one, would give it away to whoever
// gets the key.
func bits(value []byte) int {
	tenths := 33 // of a digit
	for _, c := range value {
		if c < '0' || c > '9' {
			tenths = 47 // of a letter of one case
			if c < 'a' || c > 'z' {
				return len(value) * 65 / 10
			}
		}
	}
	return len(value) * tenths / 10
}
