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
		f.add(kind, what, s.Start, s.End)
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

const (
	encodedRun  = 80 // letters of base64 that are worth a look
	encodedLine = 40 // of one line of several: PEM has 64, base64(1) 76
)

// findEncoded looks one level into base64 that is text: what it finds there counts as
// one finding of the whole run.
func findEncoded(f *findings) {
	if f.inside == nil {
		return
	}
	t := f.text
	for at := encodedLine - 1; at < len(t); at += encodedLine { // which meets every run
		if !base64Letters[t[at]] {
			continue
		}
		start := at
		for start > 0 && base64Letters[t[start-1]] {
			start--
		}
		first := at + lettersAt(t[at:])
		tail, full := first, first
		if first-start >= encodedLine {
			tail, full = wrapped(t, start, first)
		}
		for i, end := range [...]int{tail, full} { // the last line may be a word behind it
			if end-start < encodedRun || i > 0 && full == tail {
				continue
			}
			if text, ok := decoded(t[start:end]); ok {
				if inside := f.inside(text, f.wanted.own); len(inside) > 0 {
					f.add(Encoded, "base64 of a text with "+inside[0].What, start, end)
					break
				}
			}
		}
		at = tail
	}
}

// lettersAt is how many letters of base64 a text begins with.
func lettersAt(t string) (n int) {
	for n < len(t) && base64Letters[t[n]] {
		n++
	}
	return n
}

// wrapped is where a run ends that goes on in lines as long as its first, with a shorter
// last one and without it.
func wrapped(t string, start, first int) (end, full int) {
	end, full = first, first
	for {
		next := full
		if next < len(t) && t[next] == '\r' {
			next++
		}
		if next == len(t) || t[next] != '\n' {
			return end, full
		}
		for next++; next < len(t) && (t[next] == ' ' || t[next] == '\t'); next++ {
		}
		n := lettersAt(t[next:])
		if 0 < n && n <= first-start {
			end = next + n
		}
		if n != first-start {
			return end, full
		}
		full = end
	}
}

var base64Letters = func() (t [256]bool) {
	for _, c := range []byte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_") {
		t[c] = true
	}
	return t
}()

var plainBase64 = strings.NewReplacer("-", "+", "_", "/", "\r", "", "\n", "", " ", "", "\t", "")

// decoded reads base64 in either alphabet; ok is whether it is text.
func decoded(run string) (text string, ok bool) {
	run = plainBase64.Replace(run)
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
