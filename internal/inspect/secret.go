package inspect

import (
	"bytes"
	"encoding/base64"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clawai/clawai/internal/redact"
)

// findSecrets finds what the record would not keep either (internal/redact). What only a
// name announces is likely; what documents write in a secret's place is none.
func findSecrets(f *findings) {
	for at := 0; ; {
		s, found := redact.Find(f.text, at)
		if !found {
			return
		}
		value := f.text[s.Start:s.End]
		if placeholder(value) {
			at = max(s.End, s.Start+1)
			continue
		}
		kind, what := Secret, ""
		if s.Named {
			if own, shaped := redact.Find(value, 0); !shaped || own.Named {
				kind, what = SecretLikely, "the value of a secret's name"
			} else {
				s.Kind = own.Kind
			}
		}
		if kind == Secret && f.wanted.has(Secret) {
			what = "a secret (" + s.Kind + ")"
		}
		if !f.add(kind, what, s.Start, s.End) {
			return
		}
		at = max(s.End, s.Start+1)
	}
}

// placeholder says that a value is written where a secret would stand: an example, a
// variable, a run of one letter.
func placeholder(value string) bool {
	var room [256]byte
	lower := append(room[:0], value...)
	for i, c := range lower {
		if c >= 'A' && c <= 'Z' {
			lower[i] = c | 0x20
		}
	}
	for _, word := range []string{"example", "xxxx", "placeholder", "changeme", "redacted", "your_", "your-", "<", "${", "{{", "****", "....", "1234567890abc"} {
		if bytes.Contains(lower, []byte(word)) {
			return true
		}
	}
	var seen [256]bool
	n := 0
	for i := range len(value) {
		if !seen[value[i]] {
			seen[value[i]] = true
			n++
		}
	}
	return n < 6
}

const encodedRun = 80 // letters of base64 that are worth a look

// findEncoded looks one level into base64 that is text: what it finds there counts as
// one finding of the whole run.
func findEncoded(f *findings) {
	if f.inside == nil {
		return
	}
	t := f.text
	for at := encodedRun - 1; at < len(t); at += encodedRun { // which meets every run
		if !base64Letters[t[at]] {
			continue
		}
		start, end := at, at
		for start > 0 && base64Letters[t[start-1]] {
			start--
		}
		for end < len(t) && base64Letters[t[end]] {
			end++
		}
		if end-start >= encodedRun {
			if text, ok := decoded(t[start:end]); ok {
				if inside := f.inside(text, f.wanted.own); len(inside) > 0 && !f.add(Encoded, "base64 of a text with "+inside[0].What, start, end) {
					return
				}
			}
		}
		at = end
	}
}

var base64Letters = func() (t [256]bool) {
	for _, c := range []byte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_") {
		t[c] = true
	}
	return t
}()

// decoded reads base64 in either alphabet; ok is whether it is text.
func decoded(run string) (text string, ok bool) {
	run = strings.NewReplacer("-", "+", "_", "/").Replace(run)
	if len(run)%4 == 1 { // of no whole byte
		run = run[:len(run)-1]
	}
	b, err := base64.RawStdEncoding.DecodeString(run)
	if err != nil || !utf8.Valid(b) {
		return "", false
	}
	letters := 0
	for _, r := range string(b) {
		if unicode.IsLetter(r) || r == ' ' {
			letters++
		}
	}
	return string(b), letters*10 >= utf8.RuneCount(b)*6
}
