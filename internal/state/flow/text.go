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

// maxReadings limits how often nested escapes are decoded. It is enough for four levels of JSON in
// JSON.
const maxReadings = 5

// visitReadings visits a text and its decoded forms. A text may contain JSON or HTML, whose
// escapes hide where a word begins.
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

// decodeText returns a text with one level of JSON and HTML escapes decoded, fullwidth letters
// replaced by plain ones, and invisible characters removed.
func decodeText(text string) string {
	if strings.IndexByte(text, '\\') >= 0 {
		text = string(escape.UndoEscapes(nil, []byte(text)))
	}
	if text = html.UnescapeString(text); isPlainASCII(text) {
		return text
	}
	return foldForms(text)
}

// foldForms returns a text with plain characters in place of fullwidth and similar forms, and
// without invisible characters. The result is never longer than the text.
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
		if unicode.IsDigit(r) {
			return plainDigit(r)
		}
		return r
	}, text)
}

// plainDigit returns a digit of any script as an ASCII digit. In Unicode the ten digits of a script
// follow one another.
func plainDigit(r rune) rune {
	for _, one := range unicode.Nd.R16 {
		if rune(one.Lo) <= r && r <= rune(one.Hi) {
			return '0' + (r-rune(one.Lo))%10
		}
	}
	return r
}

func isPlainASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// words reads the words of a text in the form that is used for comparison. Blanks, commas, quotes
// and brackets separate the words. A word is in lower case, without the marks around it and without
// the scheme of an address.
type words struct {
	rest string
	lead lead // the prefix of the last word
}

// splitWords returns the words of a text. It copies the text unless the text is plain lower case.
func splitWords(text string) words {
	for i := range len(text) {
		if c := text[i]; c >= utf8.RuneSelf || c >= 'A' && c <= 'Z' {
			// After normalization, equal letters have equal bytes. The package norm may drop a
			// letter after an invalid byte, so invalid bytes are replaced first.
			return words{rest: strings.ToLower(norm.NFC.String(strings.ToValidUTF8(text, "\ufffd")))}
		}
	}
	return words{rest: text}
}

// nextWord returns the next word; "" after the last word.
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

// startsSeparator reports whether a text begins with a separator of words, and returns the length
// of its first character.
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

// longMarks are quotes and other marks between words. They are not ASCII.
const longMarks = "“”„‚«»‹›「」『』《》…"

// plainWord returns a word without the marks around it, and the kind of its prefix.
func plainWord(word string) (plain string, by lead) {
	if strings.HasPrefix(word, "::") && strings.Count(word, ":") > 2 { // the colons belong to an IPv6 address and are not marks
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

// countLetters counts the letters and digits of a text. digits is true if the text has only ASCII
// digits and the characters " .-+".
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

// isTelling reports whether a value is so long that a text does not contain it by chance. "13" is
// too short.
func isTelling(value string) bool {
	n, digits := countLetters(value)
	return n >= 5 || n == 4 && !digits
}

// isOdd reports whether a word has a character that words of a language do not have. Examples of
// such words are addresses, paths, and names with digits.
func isOdd(word string) bool {
	return strings.ContainsFunc(word, func(r rune) bool { return !unicode.IsLetter(r) && r != '\'' && r != '’' })
}

// Parameters of the runs. If two texts have runLength+runWindow-1 folded characters in a row in
// common, visitRuns visits at least one run of both (winnowing, Schleimer and others, 2003).
const (
	runLength = 16
	runWindow = 9
	runBase   = 0x9E3779B97F4A7C15
)

// visitRuns visits fingerprints of a text. It uses only the letters and digits of the text, in
// lower case.
func visitRuns(text string, visit func(hash uint64)) {
	var chars [runLength]uint64
	var mixed [runWindow]uint64
	var hash uint64
	n, now, least := 0, 0, 0 // now and least are indexes in mixed; age tells how long ago least was set
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

// runTop is runBase to the power runLength. The character before a run has this factor in the hash.
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

// nextLetter returns the next letter or digit of a text, in lower case, and the place after it. The
// search begins at the given offset. nextLetter returns 0 if there is no further letter or digit.
// It skips an escape for a line end, a tab, a quote or a backslash.
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
