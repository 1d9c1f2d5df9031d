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

// Mode says what is kept of a secret.
type Mode uint8

// The zero value is the product's default.
const (
	Redacted Mode = iota // a marker with its kind and length
	Hashed               // the same and a keyed digest, so that equal secrets can be told
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
	cutMark      = "[cut:"      // LENGTH:DIGEST, then ]: of the whole value
)

// IsRedacted reports whether a text from the record is not, or may not be, what
// was sent: all or part of it was replaced by a marker or cut off. A text that
// was sent with such a marker in it counts too; nothing tells them apart.
func IsRedacted(s string) bool {
	return bytes.Contains([]byte(s), []byte(redactedMark)) || bytes.Contains([]byte(s), []byte(cutMark))
}

// Caps of what is kept. Beyond them length and digest are.
const (
	MaxText  = 4 << 10  // bytes of one string
	MaxBlock = 64 << 10 // bytes of the arguments, the names or the declared set, as written
)

// Redactor writes texts with their secrets replaced. It keeps scratch space and
// serves one writer at a time.
type Redactor struct {
	mode    Mode
	known   *Known
	mac     hash.Hash
	scratch []byte
	sum     [sha256.Size]byte
}

// New makes a redactor. The key is of the digests that stand for what is not
// kept (HMAC-SHA-256); Full needs none.
func New(mode Mode, key []byte) *Redactor {
	return &Redactor{mode: mode, mac: hmac.New(sha256.New, key)}
}

// HideKnown has values that are known to be secret kept out, in every mode.
func (r *Redactor) HideKnown(k *Known) { r.known = k }

// lookAhead gives how far behind a cut a secret is still looked for that begins before it.
func (r *Redactor) lookAhead() int {
	if r.known == nil {
		return maxLook
	}
	return max(maxLook, r.known.longest)
}

// findSpan gives the first secret in s at or after from. Where one that is known and another
// overlap, they are one.
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

// Mode is what it keeps.
func (r *Redactor) Mode() Mode { return r.mode }

// ReleaseScratch gives scratch space of more than n bytes back.
func (r *Redactor) ReleaseScratch(n int) {
	if cap(r.scratch) > n {
		r.scratch = nil
	}
}

// AppendString gives AppendText of a whole string.
func (r *Redactor) AppendString(dst []byte, s string) []byte {
	r.scratch = append(r.scratch[:0], s...)
	return r.AppendText(dst, r.scratch, r.scratch)
}

// AppendText appends s, which came from the wire as whole, as the inside of a JSON
// string.
func (r *Redactor) AppendText(dst, s, whole []byte) []byte {
	long := len(s) > MaxText
	if long {
		s = s[:min(len(s), MaxText+r.lookAhead())] // a secret across the cut is still seen
	}
	keep := min(len(s), MaxText)
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

// appendMarker appends the marker that stands for a secret. The field is part of what
// is hashed, so that equal secrets in different places do not show as equal.
func (r *Redactor) appendMarker(dst []byte, kind string, value []byte, field string) []byte {
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

// AppendCut appends the marker that stands for the rest of a long value, of n
// bytes or elements.
func (r *Redactor) AppendCut(dst []byte, n int, whole []byte) []byte {
	dst = append(dst, cutMark...)
	dst = strconv.AppendInt(dst, int64(n), 10)
	dst = append(dst, ':')
	sum := sha256.Sum256(whole)
	dst = r.AppendDigest(dst, &sum)
	return append(dst, ']')
}

// AppendDigest appends what stands for a SHA-256: itself in full mode, else a keyed
// digest of it, because a plain one would let anyone who reads the record try
// out what a short secret was.
func (r *Redactor) AppendDigest(dst []byte, sum *[sha256.Size]byte) []byte {
	if r.mode == Full {
		return hex.AppendEncode(append(dst, "sha256:"...), sum[:])
	}
	r.mac.Reset()
	r.mac.Write(sum[:])
	return hex.AppendEncode(append(dst, "hmac:"...), r.mac.Sum(r.sum[:0])[:16])
}

// entropyBits gives an upper bound of what a value can hold if its characters were drawn
// at random: below 64 a digest, even a keyed one, would give it away to whoever
// gets the key.
func entropyBits(value []byte) int {
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
