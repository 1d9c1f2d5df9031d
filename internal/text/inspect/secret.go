package inspect

import (
	"bytes"
	"encoding/base64"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/clawai/clawai/internal/text/redact"
	"github.com/clawai/clawai/internal/text/textclass"
)

// findSecrets finds the secrets that internal/text/redact finds. If only a name marks a value as a
// secret, the finding is SecretLikely. Placeholders of documentation are no secrets. Only the
// letters of a secret decide whether it is an example; the text around the secret does not matter.
func findSecrets(f *findings) {
	read := redact.Read(f.text)
	known := givenSecrets(f, &read)
	for _, more := range [...][]redact.Span{f.respelledSecrets(), tableSecrets(f.text)} {
		for _, s := range more {
			known = insertSpan(known, s)
		}
	}
	first := 0 // index in known of the first secret that ends after the offset at
	for at := 0; ; {
		s, found := read.Find(at)
		if !found {
			break
		}
		at = max(s.End, s.Start+1)
		for first < len(known) && known[first].End <= s.Start {
			first++
		}
		within := first < len(known) && known[first].Start < s.End
		value := f.text[s.Start:s.End]
		switch {
		case !s.Named:
		case within: // the value overlaps a secret: make one finding of both
			one := &known[first]
			one.Start = min(one.Start, s.Start)
			one.End = max(one.End, s.End)
			for i := first + 1; i < len(known) && known[i].Start < s.End; i++ {
				one.End = max(one.End, known[i].End)
				known[i].Kind = ""
			}
		default:
			if kind := gluedSecret(value); kind != "" {
				f.addSecret(kind, s.Start, s.End)
			} else if plain, _, _ := strings.Cut(value, `\`); !isPlaceholder(plain) { // compare only the part before the first escape
				f.addFinding(SecretLikely, "the value of a secret's name", s.Start, s.End)
			}
		}
	}
	for _, s := range known {
		if s.Kind != "" {
			f.addSecret(s.Kind, s.Start, s.End)
		}
	}
	if at, is := read.Unread(); is && f.wanted.hasKind(Secret) {
		f.noteUnscreened(Secret, "behind what is too long for a secret", at)
	}
}

// addSecret adds a finding of kind Secret, if this kind is wanted.
func (f *findings) addSecret(kind string, start, end int) {
	if f.wanted.hasKind(Secret) {
		f.addFinding(Secret, "a secret ("+kind+")", start, end)
	}
}

// maxWithin limits how many bytes are read again inside secrets and examples, as a multiple of the
// text's length.
const maxWithin = 8

// givenSecrets returns, in order, the secrets that are recognized by their form or their place.
// Another secret may begin inside a secret or an example. givenSecrets also returns this secret if
// it ends after all secrets before it.
func givenSecrets(f *findings, read *redact.Reading) (known []redact.Span) {
	end, seen, within := 0, 0, 0 // end: end of the last secret; seen: end of the text read so far
	for at := 0; ; {
		s, found := read.FindUnnamed(at)
		if !found {
			return known
		}
		at = s.Start + 1
		if s.Start < seen {
			if within += min(seen, s.End) - s.Start; within > maxWithin*len(f.text) {
				if f.wanted.hasKind(Secret) {
					f.noteUnscreened(Secret, "within too many examples of secrets", s.Start)
				}
				return known
			}
		}
		seen = max(seen, s.End)
		if s.End > end && isGenuine(f.text[s.Start:s.End], s) {
			known, end = append(known, s), s.End
		}
	}
}

// shapeIn searches the value of a name. It returns the kind of the first secret that has a known
// form or place and is no example; "" for none. The secret may follow an example word.
func shapeIn(value string) string {
	read := redact.Read(value)
	for at := 0; ; {
		s, found := read.FindUnnamed(at)
		if !found {
			return gluedSecret(value)
		}
		if isGenuine(value[s.Start:s.End], s) {
			return s.Kind
		}
		at = max(s.End, at+1)
	}
}

// gluedSecret returns the kind of a secret that follows an example word without a separator.
func gluedSecret(value string) string {
	for _, word := range exampleWords {
		at := indexFold(value, word)
		if at < 0 {
			continue
		}
		behind := value[at+len(word):]
		if s, ok := redact.FindUnnamed(behind, 0); ok && isGenuine(behind[s.Start:s.End], s) {
			return s.Kind
		}
	}
	return ""
}

// indexFold returns the index of a lower-case word in text, in any case; -1 if there is none.
func indexFold(text, word string) int {
	for at := 0; at+len(word) <= len(text); at++ {
		if text[at]|0x20 == word[0]|0x20 && strings.EqualFold(text[at:at+len(word)], word) {
			return at
		}
	}
	return -1
}

// isGenuine reports whether a secret that was recognized by its form or place is real, and no
// example.
func isGenuine(value string, s redact.Span) bool {
	if s.Placed {
		given := value
		if s.Kind == "basic" {
			said, _ := base64.RawStdEncoding.DecodeString(strings.TrimRight(value, "="))
			value = string(said)
			_, given, _ = strings.Cut(value, ":")
		}
		return shapeIn(value) != "" /* a key as the name in an address */ || !standsIn(given)
	}
	return !isExample(value, s.Kind)
}

// exampleWords are words that documents write in place of a secret.
var exampleWords = []string{"example", "xxxx", "placeholder", "changeme", "redacted", "your_", "your-", "****", "....",
	"1234567890abc", "1234567890abcdefghijklmnopqrstuvwxyz"}

// algorithms are names of OpenSSH's algorithms. They look like a key.
var algorithms = []string{"sk-ssh-ed25519", "sk-ssh-ed25519-cert-v01", "sk-ecdsa-sha2-nistp256", "sk-ecdsa-sha2-nistp256-cert-v01"}

// isExample reports whether a secret that was found by its form is an example: if the example words
// are removed, the rest does not have the form.
func isExample(secret, kind string) bool {
	left := cutExampleWords(secret)
	switch {
	case countDistinct(secret) < 6:
		return true
	case slices.Contains(algorithms, secret):
		return true
	case kind == "kubernetes":
		return !hasData(secret)
	case kind != "bearer" && kind != "sas" && isPhrase(behindKind(secret)):
		return true
	case left == secret, kind == "pem":
		return false
	case kind == "bearer" || kind == "sas": // secrets of these kinds have no form of their own
		return len(left) < 16 || countDistinct(left) < 6
	}
	s, found := redact.FindSecret(left, 0)
	return !found || s.Named || s.Placed
}

// cutExampleWords returns a text without the example words.
func cutExampleWords(text string) string {
	left := make([]byte, 0, len(text))
	for i := 0; i < len(text); {
		n := 0
		for _, word := range exampleWords {
			if len(text)-i >= len(word) && strings.EqualFold(text[i:i+len(word)], word) {
				n = max(n, len(word))
			}
		}
		if n == 0 {
			left = append(left, text[i])
			n = 1
		}
		i += n
	}
	return string(left)
}

// standins are words that documents write for a password in an address or after an option.
var standins = []string{"password", "passwd", "pass", "pwd", "secret", "token", "user", "username", "mypassword", "dbpassword", "postgres", "mysql", "admin", "guest", "hostname"}

// standsIn reports whether a value stands for a secret: it is a stand-in word, or a template that a
// program or a reader fills in. A password may contain a single "<" or "$" too, so these mark a
// template only at the beginning. In a value with a digit, brackets do not mark a template.
func standsIn(value string) bool {
	before, tag, isTag := strings.Cut(value, "<")
	switch {
	case isFilled(value), isTag && (before == "" || strings.Contains(tag, ">")):
		return true
	case slices.Contains(standins, strings.ToLower(before[strings.LastIndexByte(before, '.')+1:])): // the last name of a path of members, such as config.password
		return true
	case strings.ContainsAny(value, "0123456789"):
		return false
	}
	return strings.ContainsAny(value, "{}[]()") || strings.HasPrefix(value, "$") || strings.Contains(value, "**") || isFormat(value)
}

// isFormat reports whether a text is a format for printing: it has %NAME%, several verbs such as
// %s, or a verb at the end of a word.
func isFormat(text string) bool {
	_, behind, found := strings.Cut(text, "%")
	return found && (len(behind) < 2 || !unicode.IsLetter(rune(behind[1])) || strings.Contains(behind, "%"))
}

// isPlaceholder reports whether the value of a name is a placeholder for a secret. In source code
// it may be the name of a type.
func isPlaceholder(value string) bool { return strings.Contains(value, "<") || isFilled(value) }

// isFilled reports whether a value is an example, a variable, or a run of one repeated letter.
func isFilled(value string) bool {
	var room [256]byte
	lower := append(room[:0], value...)
	for i, c := range lower {
		if c >= 'A' && c <= 'Z' {
			lower[i] = c | 0x20
		}
	}
	for _, word := range []string{"example", "xxxx", "placeholder", "changeme", "redacted", "your_", "your-", "${", "{{", "****", "....", "1234567890abc"} {
		if bytes.Contains(lower, []byte(word)) {
			return true
		}
	}
	return countDistinct(value) < 6
}

// countDistinct returns the number of different bytes in a text.
func countDistinct(text string) (n int) {
	var seen [256]bool
	for i := range len(text) {
		if !seen[text[i]] {
			seen[text[i]] = true
			n++
		}
	}
	return n
}

const (
	encodedRun  = 80 // minimum length of a run of base64 letters that is decoded
	encodedLine = 40 // minimum length of each line, if a run has several lines: PEM has 64, base64(1) 76
)

// common are kinds that are also found by chance in the base64 of pictures and style sheets.
var common = []Kind{Comment, CSSHidden, ImageLink, Gap, SecretLikely}

// findEncoded decodes base64 in the text and searches the result, one level deep. All findings in
// one run of base64 become one finding.
func findEncoded(f *findings) {
	if f.inside == nil {
		return
	}
	t := f.text
	for at := encodedLine - 1; at < len(t); at += encodedLine { // a run has at least encodedLine letters, so no step jumps over one
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
			tail, full = wrappedEnd(t, start, first)
		}
		for i, end := range [...]int{tail, full} { // first with the last line, then without it, because it may be an unrelated word
			if end-start < encodedRun || i > 0 && full == tail {
				continue
			}
			if text, ok := decodeBase64(t[start:end]); ok {
				broken := strings.Contains(text, "\ufffd") // a text that is not UTF-8 may have a control character by chance
				inside := slices.DeleteFunc(f.inside(text, f.wanted.own), func(o Found) bool { return slices.Contains(common, o.Kind) || broken && o.Kind == Control })
				if len(inside) > 0 {
					f.addFinding(Encoded, "base64 of a text with "+inside[0].What, start, end)
					break
				}
			}
		}
		at = tail
	}
}

// lettersAt returns the number of base64 letters at the start of a text.
func lettersAt(t string) (n int) {
	for n < len(t) && base64Letters[t[n]] {
		n++
	}
	return n
}

// wrappedEnd returns the end of a run of base64 in lines of equal length. The first line is
// t[start:first]. The result end includes a shorter last line, and the result full does not.
func wrappedEnd(t string, start, first int) (end, full int) {
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

// decodeBase64 decodes base64 with the standard or the URL alphabet. ok means that the result is
// text.
func decodeBase64(run string) (text string, ok bool) {
	run = plainBase64.Replace(run)
	if len(run)%4 == 1 { // one letter too many: the last byte is incomplete
		run = run[:len(run)-1]
	}
	b, err := base64.RawStdEncoding.DecodeString(run)
	if err != nil {
		return "", false
	}
	text = string(narrowText(b))
	n, letters, shown := 0, 0, 0
	for _, r := range text { // range gives one r for each byte that is not UTF-8
		n++
		if unicode.IsLetter(r) || r == ' ' {
			letters++
		}
		if r != '\ufffd' && (unicode.IsPrint(r) || r == '\n' || r == '\t' || r == '\r' || textclass.OddInReply(r)) {
			shown++
		}
	}
	return strings.ToValidUTF8(text, "\ufffd"), letters*10 >= n*6 && utf8.Valid(b) || shown*20 >= n*19
}

// narrowText converts b to UTF-8 if b looks like UTF-16 (little endian), which some programs write.
// Otherwise it returns b.
func narrowText(b []byte) []byte {
	zeros := 0
	for i := 1; i < len(b); i += 2 {
		if b[i] == 0 {
			zeros++
		}
	}
	if len(b) < 4 || zeros*5 < len(b)/2*4 {
		return b
	}
	var units []uint16
	for i := 0; i+1 < len(b); i += 2 {
		units = append(units, uint16(b[i])|uint16(b[i+1])<<8)
	}
	return []byte(string(utf16.Decode(units)))
}
