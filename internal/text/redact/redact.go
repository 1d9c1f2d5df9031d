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

// Mode is how much of a secret is kept.
type Mode uint8

// The zero value is the default mode.
const (
	Redacted Mode = iota // a marker with its kind and length
	Hashed               // the same and a keyed digest, so that equal secrets can be recognized
	Full                 // everything, as sent
)

// ParseMode reads one of redacted, hash, full.
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
	redactedMark = "[redacted:" // KIND:LENGTH or KIND:LENGTH:DIGEST, then ]
	cutMark      = "[cut:"      // LENGTH:DIGEST of the whole value, then ]
)

// IsRedacted reports whether a text from the record may differ from the text that was sent: a
// marker replaced all or part of it, or it was cut off. A text that was sent with such a marker
// counts too, because nothing distinguishes the two.
func IsRedacted(s string) bool {
	return bytes.Contains([]byte(s), []byte(redactedMark)) || bytes.Contains([]byte(s), []byte(cutMark))
}

// Limits on kept text. Beyond them only length and digest are kept.
const (
	MaxText  = 4 << 10  // bytes of one string
	MaxBlock = 64 << 10 // bytes of the arguments, the names or the declared set, as written
)

// Redactor writes texts with their secrets replaced. It reuses a scratch buffer and serves one
// goroutine at a time.
type Redactor struct {
	mode    Mode
	known   *Known
	mac     hash.Hash
	whole   bool // nothing is cut
	hidden  int  // markers that were written in the place of secrets
	scratch []byte
	sum     [sha256.Size]byte
}

// New returns a redactor. The key is for the digests that replace omitted text (HMAC-SHA-256);
// Full needs no key.
func New(mode Mode, key []byte) *Redactor {
	return &Redactor{mode: mode, mac: hmac.New(sha256.New, key)}
}

// HideKnown makes the redactor replace known secret values, in every mode.
func (r *Redactor) HideKnown(k *Known) { r.known = k }

// lookAhead returns how many bytes after a cut are read, for a secret that begins before the cut.
func (r *Redactor) lookAhead() int {
	if r.known == nil {
		return maxLook
	}
	return max(maxLook, r.known.longest)
}

// findSpan returns the first secret in s at or after from. A known secret and another secret that
// overlap are merged.
func (r *Redactor) findSpan(s []byte, from int) (sp span, ok bool) {
	if r.mode != Full {
		sp, ok = findSecret(s, from)
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

// ReleaseScratch frees a scratch buffer of more than n bytes.
func (r *Redactor) ReleaseScratch(n int) {
	if cap(r.scratch) > n {
		r.scratch = nil
	}
}

// AppendString calls AppendText for a whole string.
func (r *Redactor) AppendString(dst []byte, s string) []byte {
	r.scratch = append(r.scratch[:0], s...)
	return r.AppendText(dst, r.scratch, r.scratch)
}

// AppendText appends s as the inside of a JSON string; whole is s as it came from the wire.
func (r *Redactor) AppendText(dst, s, whole []byte) []byte {
	long := len(s) > MaxText && !r.whole
	if long {
		s = s[:min(len(s), MaxText+r.lookAhead())] // a secret across the cut is still found
	}
	keep := len(s)
	if long {
		keep = MaxText
	}
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
	if long {
		dst = r.AppendCut(dst, len(whole), whole)
	}
	return dst
}

// appendMarker appends the marker that replaces a secret. The field is part of the hashed data,
// so that equal secrets in different fields have different digests.
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

// AppendCut appends the marker that replaces the rest of a long value of n bytes or elements.
func (r *Redactor) AppendCut(dst []byte, n int, whole []byte) []byte {
	dst = append(dst, cutMark...)
	dst = strconv.AppendInt(dst, int64(n), 10)
	dst = append(dst, ':')
	sum := sha256.Sum256(whole)
	dst = r.AppendDigest(dst, &sum)
	return append(dst, ']')
}

// AppendDigest appends a SHA-256 in full mode, otherwise a keyed digest of it: with a plain
// digest, any reader of the record could guess a short secret.
func (r *Redactor) AppendDigest(dst []byte, sum *[sha256.Size]byte) []byte {
	if r.mode == Full {
		return hex.AppendEncode(append(dst, "sha256:"...), sum[:])
	}
	r.mac.Reset()
	r.mac.Write(sum[:])
	return hex.AppendEncode(append(dst, "hmac:"...), r.mac.Sum(r.sum[:0])[:16])
}

// entropyBits returns an upper bound of a value's entropy if its characters are random: below 64
// bits even a keyed digest would reveal the value to anyone who gets the key.
func entropyBits(value []byte) int {
	tenths := 33 // per digit
	for _, c := range value {
		if c < '0' || c > '9' {
			tenths = 47 // per letter of one case
			if c < 'a' || c > 'z' {
				return len(value) * 65 / 10
			}
		}
	}
	return len(value) * tenths / 10
}
