package flow

import (
	"html"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/clawai/clawai/internal/text/textclass"
	"github.com/clawai/clawai/internal/wire/escape"
)

// maxReadings bounds how often escapes within escapes are decoded: four levels of JSON in JSON.
const maxReadings = 5

// visitReadings visits a text and what who reads it may take it for: JSON or HTML in a text has
// escapes, which hide where a word begins.
func visitReadings(text string, visit func(text string)) {
	for range maxReadings {
		visit(text)
		plain := decodeText(text)
		if plain == text {
			return
		}
		text = plain
	}
}

// decodeText gives a text without one level of the escapes of JSON and HTML, and without wide
// letters and what nobody sees.
func decodeText(text string) string {
	if strings.IndexByte(text, '\\') >= 0 {
		text = string(escape.UndoEscapes(nil, []byte(text)))
	}
	if text = html.UnescapeString(text); isPlainASCII(text) {
		return text
	}
	return foldForms(text)
}

// foldForms gives a text with plain characters in place of their wide and other forms, and
// without what nobody sees. It is never longer.
func foldForms(text string) string {
	var room [utf8.UTFMax]byte
	return strings.Map(func(r rune) rune {
		if r < utf8.RuneSelf {
			return r
		}
		if textclass.Format.HasRune(r) {
			return -1
		}
		if plain := norm.NFKD.Properties(utf8.AppendRune(room[:0], r)).Decomposition(); len(plain) == 1 {
			return rune(plain[0])
		}
		return r
	}, text)
}

func isPlainASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// words are what stands in a text between blanks, commas, quotes and brackets, as it is
// compared: in lower case, without the marks around it and the scheme of an address.
type words struct {
	rest string
	lead lead // what stood in front of the word that was read last
}

// splitWords begins the words of a text. It copies one that is not plain lower case.
func splitWords(text string) words {
	for i := range len(text) {
		if c := text[i]; c >= utf8.RuneSelf || c >= 'A' && c <= 'Z' {
			// The same letters are the same bytes; behind a byte that is none, norm may leave one out.
			return words{rest: strings.ToLower(norm.NFC.String(strings.ToValidUTF8(text, "\ufffd")))}
		}
	}
	return words{rest: text}
}

// nextWord gives the next word, "" behind the last.
func (w *words) nextWord() (word string) {
	for word == "" && w.rest != "" {
		end, size, plain := 0, 0, true
		for ; end < len(w.rest); end += size {
			size = 1
			if isAlphanumeric(w.rest[end]) {
				continue
			}
			var ends bool
			if ends, size = startsSeparator(w.rest[end:]); ends {
				break
			}
			plain = false
		}
		if word, w.lead = w.rest[:end], noLead; !plain {
			word, w.lead = plainWord(word)
		}
		w.rest = w.rest[min(end+size, len(w.rest)):]
	}
	return word
}

// startsSeparator reports whether a text begins with what stands between words, and how long its first
// character is.
func startsSeparator(text string) (is bool, size int) {
	if text[0] < utf8.RuneSelf {
		return isSeparator(rune(text[0])), 1
	}
	r, size := utf8.DecodeRuneInString(text)
	return isSeparator(r), size
}

func isSeparator(r rune) bool {
	if r < utf8.RuneSelf {
		return r <= ' ' || r == 0x7f || strings.IndexByte("\"`,;|<>()[]{}", byte(r)) >= 0
	}
	return unicode.IsSpace(r) || unicode.IsControl(r) || strings.ContainsRune(longMarks, r)
}

// longMarks are quotes and other marks between words that are no plain characters.
const longMarks = "“”„‚«»‹›「」『』《》…"

// plainWord gives a word without the marks around it, and what led it.
func plainWord(word string) (plain string, by lead) {
	if strings.HasPrefix(word, "::") && strings.Count(word, ":") > 2 { // of IPv6, and no mark
		if plain := strings.TrimRight(word, "'’:!?*./\\"); isIPv6(plain) {
			return plain, noLead
		}
	}
	if word != "" && !isAlphanumeric(word[0]) {
		word = strings.TrimLeft(word, "'‘’:!?#@*")
	}
	word = strings.TrimRight(word, "'‘’:!?*./\\")
	for _, possessive := range [...]string{"'s", "’s"} {
		word = strings.TrimSuffix(word, possessive)
	}
	word, by = trimSchemes(word)
	return strings.TrimLeft(word, "'‘’:!?#@*"), by
}

func isAlphanumeric(c byte) bool { return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' }

// countLetters counts the letters and digits of a text; digits says that it has nothing else
// than digits.
func countLetters(text string) (n int, digits bool) {
	digits = true
	for _, r := range text {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			n++
		}
		digits = digits && (r >= '0' && r <= '9' || strings.ContainsRune(" .-+", r))
	}
	return n, digits
}

// isTelling says of a value whether it is long enough that it stands in a text for itself,
// and not for something else: "13" does not.
func isTelling(value string) bool {
	n, digits := countLetters(value)
	return n >= 5 || n == 4 && !digits
}

// isOdd says of a word that it is no word of a language: an address, a path, a name with
// digits.
func isOdd(word string) bool {
	return strings.ContainsFunc(word, func(r rune) bool { return !unicode.IsLetter(r) && r != '\'' && r != '’' })
}

// What runs are made of: of two texts that have runLength+runWindow-1 folded characters in a
// row in common, at least one run is the same (winnowing, Schleimer and others, 2003).
const (
	runLength = 16
	runWindow = 9
	runBase   = 0x9E3779B97F4A7C15
)

// visitRuns are fingerprints of a text: of its letters and digits alone, in lower case.
func visitRuns(text string, visit func(hash uint64)) {
	var chars [runLength]uint64
	var mixed [runWindow]uint64
	var hash uint64
	n, now, least := 0, 0, 0 // now and least are places in mixed; age is how old least is
	age := runWindow
	for i := 0; i < len(text); {
		r := rune(text[i])
		if i++; !isAlphanumeric(text[i-1]) {
			if r, i = nextLetter(text, i-1); r == 0 {
				break
			}
		}
		hash = hash*runBase + uint64(r) - runTop*chars[n%runLength] //nolint:gosec // a character is not negative
		chars[n%runLength] = uint64(r)                              //nolint:gosec // as above
		if n++; n < runLength {
			continue
		}
		if now++; now == runWindow {
			now = 0
		}
		mixed[now] = mixHash(hash)
		if n < runLength+runWindow-1 {
			continue
		}
		switch age++; {
		case age >= runWindow:
			least, age = now, 0
			for back := 1; back < runWindow; back++ {
				if at := (now + runWindow - back) % runWindow; mixed[at] < mixed[least] {
					least, age = at, back
				}
			}
		case mixed[now] <= mixed[least]:
			least, age = now, 0
		default:
			continue
		}
		visit(mixed[least])
	}
}

// runTop is what the character before a run counts in its hash: runBase to the runLength.
const (
	runBase2 = runBase * runBase & (1<<64 - 1)
	runBase4 = runBase2 * runBase2 & (1<<64 - 1)
	runBase8 = runBase4 * runBase4 & (1<<64 - 1)
	runTop   = runBase8 * runBase8 & (1<<64 - 1)
)

func mixHash(h uint64) uint64 {
	h ^= h >> 31
	h *= 0xBF58476D1CE4E5B9
	return h ^ h>>29
}

// nextLetter gives the first letter or digit of a text from at on, in lower case, and what is
// behind it; 0 where there is none. What a text in a text has before a line end or a quote
// is left out.
func nextLetter(text string, at int) (r rune, next int) {
	for at < len(text) {
		c := text[at]
		at++
		switch {
		case isAlphanumeric(c):
			return rune(c), at
		case c >= 'A' && c <= 'Z':
			return rune(c | 0x20), at
		case c == '\\' && at < len(text) && strings.IndexByte(`nrt"\`, text[at]) >= 0:
			at++
		case c >= utf8.RuneSelf:
			r, size := utf8.DecodeRuneInString(text[at-1:])
			at += size - 1
			if unicode.IsLetter(r) || unicode.IsDigit(r) {
				return unicode.ToLower(r), at
			}
		}
	}
	return 0, at
}
