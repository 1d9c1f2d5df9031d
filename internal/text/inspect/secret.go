package inspect

import (
	"bytes"
	"encoding/base64"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clawai/clawai/internal/text/redact"
)

// findSecrets finds what the record would not keep either (internal/text/redact). What only a
// name announces is likely; what documents write in a secret's place is none. A secret of a
// form of its own is judged by its own letters, whatever stands around it.
func findSecrets(f *findings) {
	read := redact.Read(f.text)
	known := givenSecrets(f, &read)
	first := 0 // of the known ones that do not end before at
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
			if s.Kind == "pem" && !within { // an example, which may reach to the end of the text
				at = s.Start + 1
			}
		case within: // one finding, of the value and what goes on behind it
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
			} else if !isPlaceholder(value) {
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

// addSecret notes a secret, and says in words only to whom it matters of which kind it is.
func (f *findings) addSecret(kind string, start, end int) {
	if f.wanted.hasKind(Secret) {
		f.addFinding(Secret, "a secret ("+kind+")", start, end)
	}
}

// maxWithin is how many times its length may be read of what stands within secrets and examples.
const maxWithin = 8

// givenSecrets gives the secrets of a text that no name announces, in order. Within each, and within
// each example, another one may begin: it counts where it goes on behind those before it.
func givenSecrets(f *findings, read *redact.Reading) (known []redact.Span) {
	end, seen, within := 0, 0, 0 // of what is known, and of what was read at all
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

// shapeIn gives the kind of the first secret in the value of a name that is known by its form or
// its place, and is no example; "" for none. It may begin behind a word of examples.
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

// gluedSecret is the kind of a secret that a word of examples stands before, without a sign between them.
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

// indexFold gives strings.Index of a word of small letters, in any case.
func indexFold(text, word string) int {
	for at := 0; at+len(word) <= len(text); at++ {
		if text[at]|0x20 == word[0]|0x20 && strings.EqualFold(text[at:at+len(word)], word) {
			return at
		}
	}
	return -1
}

// isGenuine reports whether what is known by its form or its place is no example.
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

// exampleWords are written where a secret would stand.
var exampleWords = []string{"example", "xxxx", "placeholder", "changeme", "redacted", "your_", "your-", "****", "....",
	"1234567890abc", "1234567890abcdefghijklmnopqrstuvwxyz"}

// algorithms are OpenSSH's names of them that have the form of a key.
var algorithms = []string{"sk-ssh-ed25519", "sk-ssh-ed25519-cert-v01", "sk-ecdsa-sha2-nistp256", "sk-ecdsa-sha2-nistp256-cert-v01"}

// isExample reports a secret of a form of its own that is made up: without such words, what is left
// of it has no form any more.
func isExample(secret, kind string) bool {
	if kind == "pem" {
		return countDistinct(madeUp(armoredKeyText(secret))) < 5
	}
	left := madeUp(secret)
	switch {
	case countDistinct(secret) < 6:
		return true
	case slices.Contains(algorithms, secret):
		return true
	case left == secret:
		return false
	case kind == "bearer" || kind == "sas" || kind == "kubernetes": // these have no form of their own
		return len(left) < 16 || countDistinct(left) < 6
	}
	s, found := redact.FindSecret(left, 0)
	return !found || s.Named || s.Placed
}

// armoredKeyText gives the base64 of a key in PEM armour, without its headers.
func armoredKeyText(key string) string {
	var body strings.Builder
	_, key, _ = strings.Cut(key, "KEY")
	key, _, _ = strings.Cut(key, "-----END")
	for word := range strings.FieldsFuncSeq(key, func(r rune) bool { return r <= ' ' || r == '"' || r == '\\' }) {
		if len(word) > 1 && word[0] == 'n' && strings.Contains(key, `\n`) { // the end of a line of JSON in a text
			word = word[1:]
		}
		if lettersAt(word) == len(strings.TrimRight(word, "=")) && !strings.Contains(word, "-") {
			body.WriteString(word)
			continue
		}
		for run := range strings.FieldsFuncSeq(word, func(r rune) bool { return r > 'z' || !base64Letters[r] || r == '-' || r == '_' }) {
			if len(run) >= encodedLine || len(run) >= gluedLine && strings.ContainsAny(run, "0123456789") { // behind the number of its line
				body.WriteString(run)
			}
		}
	}
	return body.String()
}

// madeUp gives a text without the words of examples.
func madeUp(text string) string {
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

// standins are what documents write for a password in an address or behind an option.
var standins = []string{"password", "passwd", "pass", "pwd", "secret", "token", "user", "username", "mypassword", "dbpassword", "postgres", "mysql", "admin", "guest", "hostname"}

// standsIn reports that a value stands for a secret in its place: a word, or what a program or a
// reader fills in. Of a template there is more than one sign, or it begins or ends the value: a
// password may have one, too.
func standsIn(value string) bool {
	before, tag, isTag := strings.Cut(value, "<")
	switch {
	case isFilled(value), isTag && (before == "" || strings.Contains(tag, ">")):
		return true
	case slices.Contains(standins, strings.ToLower(before)):
		return true
	case strings.ContainsAny(value, "0123456789"):
		return false
	}
	return strings.ContainsAny(value, "{}[]()") || strings.HasPrefix(value, "$") || strings.Contains(value, "**") || isFormat(value)
}

// isFormat reports a text with %NAME%, several verbs such as %s, or one that ends a word.
func isFormat(text string) bool {
	_, behind, found := strings.Cut(text, "%")
	return found && (len(behind) < 2 || !unicode.IsLetter(rune(behind[1])) || strings.Contains(behind, "%"))
}

// isPlaceholder says that the value of a name is written where a secret would stand. In source
// code a name has types as well.
func isPlaceholder(value string) bool { return strings.Contains(value, "<") || isFilled(value) }

// isFilled reports an example, a variable, a run of one letter.
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

// countDistinct gives how many different bytes there are in a text.
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
	encodedRun  = 80 // letters of base64 that are worth a look
	encodedLine = 40 // of one line of several: PEM has 64, base64(1) 76
	gluedLine   = 24 // of one in a private key that a sign stands before; a folder's name has no digit as a rule
)

// common are kinds that pictures and style sheets in base64 have as often as pages do.
var common = []Kind{Comment, CSSHidden, ImageLink, Gap, SecretLikely}

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
			tail, full = wrappedEnd(t, start, first)
		}
		for i, end := range [...]int{tail, full} { // the last line may be a word behind it
			if end-start < encodedRun || i > 0 && full == tail {
				continue
			}
			if text, ok := decodeBase64(t[start:end]); ok {
				inside := slices.DeleteFunc(f.inside(text, f.wanted.own), func(o Found) bool { return slices.Contains(common, o.Kind) })
				if len(inside) > 0 {
					f.addFinding(Encoded, "base64 of a text with "+inside[0].What, start, end)
					break
				}
			}
		}
		at = tail
	}
}

// lettersAt gives how many letters of base64 a text begins with.
func lettersAt(t string) (n int) {
	for n < len(t) && base64Letters[t[n]] {
		n++
	}
	return n
}

// wrappedEnd gives where a run ends that goes on in lines as long as its first, with a shorter
// last one and without it.
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

// decodeBase64 reads base64 in either alphabet; ok is whether it is text.
func decodeBase64(run string) (text string, ok bool) {
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
