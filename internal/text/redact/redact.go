package redact

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"strconv"

	"github.com/clawai/clawai/internal/wire/escape"
)

// Mode tells how much of a secret is kept.
type Mode uint8

// The zero value is the default mode.
const (
	Redacted Mode = iota // a marker with the kind and the length of the secret
	Hashed               // the same marker with a keyed digest, so that equal secrets can be recognized
	Full                 // the text as it was sent, secrets included
)

// ParseMode parses one of the words redacted, hash, full.
func ParseMode(s string) (Mode, error) {
	for _, m := range []Mode{Redacted, Hashed, Full} {
		if s == m.String() {
			return m, nil
		}
	}
	return Redacted, fmt.Errorf("unknown redaction %q (one of redacted, hash, full)", s)
}

func (m Mode) String() string {
	switch m {
	case Redacted:
		return "redacted"
	case Hashed:
		return "hash"
	case Full:
		return "full"
	}
	return fmt.Sprintf("Mode(%d)", uint8(m))
}

const (
	redactedMark = "[redacted:" // followed by KIND:LENGTH or KIND:LENGTH:DIGEST, and ]
	cutMark      = "[cut:"      // followed by LENGTH:DIGEST of the whole value, and ]
)

// IsRedacted reports whether a text of the record may differ from the text that was sent, because a
// marker is in it or its end was cut off. It also returns true for a text that was sent with such a
// marker.
func IsRedacted(s string) bool {
	return bytes.Contains([]byte(s), []byte(redactedMark)) || bytes.Contains([]byte(s), []byte(cutMark))
}

// Maximum sizes of a text that is kept. Of the rest only length and digest are kept.
const (
	MaxText  = 4 << 10  // bytes of one string
	MaxBlock = 64 << 10 // bytes, as written, of the arguments, of the names, or of the set that a server declares
)

// Redactor writes texts with their secrets replaced. Only one goroutine may use it at a time,
// because it reuses a buffer.
type Redactor struct {
	mode    Mode
	known   *Known
	mac     hash.Hash
	whole   bool // do not cut long texts
	hidden  int  // number of secrets that were replaced
	scratch []byte
	sum     [sha256.Size]byte
}

// New returns a Redactor. key is the HMAC-SHA-256 key of the digests that replace text. The mode
// Full needs no key.
func New(mode Mode, key []byte) *Redactor {
	return &Redactor{mode: mode, mac: hmac.New(sha256.New, key)}
}

// HideKnown makes the Redactor replace known secret values in every mode.
func (r *Redactor) HideKnown(k *Known) { r.known = k }

// lookAhead returns how many bytes after the place of a cut are searched, because a secret may
// begin before the cut.
func (r *Redactor) lookAhead() int {
	if r.known == nil {
		return maxLook
	}
	return max(maxLook, r.known.longest)
}

// findSpan returns the first secret in s at or after the given offset. If a known value and another
// secret overlap, the result covers both.
func (r *Redactor) findSpan(s []byte, from int) (sp span, ok bool) {
	if r.mode != Full {
		sp, ok = findSecret(s, from)
	}
	if r.known == nil {
		return sp, ok
	}
	start, end, known := r.known.FindKnown(s, from)
	switch {
	case !known || ok && sp.to <= start:
	case ok && sp.from < end:
		sp = span{min(sp.from, start), max(sp.to, end), "vault"}
	default:
		sp, ok = span{start, end, "vault"}, true
	}
	return sp, ok
}

// Mode returns the redactor's mode.
func (r *Redactor) Mode() Mode { return r.mode }

// ReleaseScratch frees the buffer if it has more than n bytes.
func (r *Redactor) ReleaseScratch(n int) {
	if cap(r.scratch) > n {
		r.scratch = nil
	}
}

// AppendString is AppendText for a string that was not cut before.
func (r *Redactor) AppendString(dst []byte, s string) []byte {
	r.scratch = append(r.scratch[:0], s...)
	return r.AppendText(dst, r.scratch, r.scratch)
}

// AppendText appends s as the inside of a JSON string, without quotes. The parameter whole is the
// text as it came from the wire; s is this text or the beginning of it.
func (r *Redactor) AppendText(dst, s, whole []byte) []byte {
	if len(s) <= MaxText || r.whole {
		return r.appendStart(dst, s, len(s))
	}
	s = s[:min(len(s), MaxText+r.lookAhead())] // include text after the cut, so that a secret at the cut is found
	return r.AppendCut(r.appendStart(dst, s, MaxText), len(whole), whole)
}

// appendStart appends the first bytes of s, as many as keep, and each secret that begins in them.
func (r *Redactor) appendStart(dst, s []byte, keep int) []byte {
	at := 0
	for r.mode != Full || r.known != nil {
		sp, ok := r.findSpan(s, at)
		if !ok || sp.from >= keep {
			break
		}
		dst = escape.AppendEscaped(dst, s[at:sp.from])
		dst = r.appendMarker(dst, sp.kind, s[sp.from:sp.to], "")
		at = sp.to
	}
	if at < keep {
		dst = escape.AppendEscaped(dst, s[at:keep])
	}
	return dst
}

// appendMarker appends the marker for a secret. The digest includes the name of the field, so that
// equal secrets in different fields have different digests.
func (r *Redactor) appendMarker(dst []byte, kind string, value []byte, field string) []byte {
	r.hidden++
	dst = append(dst, redactedMark...)
	dst = append(dst, kind...)
	dst = append(dst, ':')
	dst = strconv.AppendInt(dst, int64(len(value)), 10)
	if r.mode == Hashed && entropyBits(value) >= 64 {
		dst = append(dst, ':')
		r.mac.Reset()
		r.mac.Write([]byte(field))
		r.mac.Write([]byte{0})
		r.mac.Write(value)
		dst = hex.AppendEncode(dst, r.mac.Sum(r.sum[:0])[:8])
	}
	return append(dst, ']')
}

// AppendCut appends the marker for the rest of a value that was cut. n is the length of the whole
// value, in bytes or elements.
func (r *Redactor) AppendCut(dst []byte, n int, whole []byte) []byte {
	dst = append(dst, cutMark...)
	dst = strconv.AppendInt(dst, int64(n), 10)
	dst = append(dst, ':')
	sum := sha256.Sum256(whole)
	dst = r.AppendDigest(dst, &sum)
	return append(dst, ']')
}

// AppendDigest appends a digest of the SHA-256 sum. In the mode Full it appends the sum itself. In
// the other modes it appends a keyed digest, because anybody who reads the record could guess a
// short secret from a plain digest.
func (r *Redactor) AppendDigest(dst []byte, sum *[sha256.Size]byte) []byte {
	if r.mode == Full {
		return hex.AppendEncode(append(dst, "sha256:"...), sum[:])
	}
	r.mac.Reset()
	r.mac.Write(sum[:])
	return hex.AppendEncode(append(dst, "hmac:"...), r.mac.Sum(r.sum[:0])[:16])
}

// entropyBits returns an upper limit for the entropy of a value, if its characters are random. With
// less than 64 bits, a person who gets the key could find the value from its keyed digest.
func entropyBits(value []byte) int {
	tenths := 33 // 3.3 bits for each digit, in tenths of a bit
	for _, c := range value {
		if c < '0' || c > '9' {
			tenths = 47 // 4.7 bits for each letter, in tenths of a bit
			if c < 'a' || c > 'z' {
				return len(value) * 65 / 10
			}
		}
	}
	return len(value) * tenths / 10
}
