package injection

import (
	"html"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/clawai/clawai/internal/text/textclass"
)

// reader cuts a text into words as a model would read them, whatever they are written
// with: lower case, digits as 0, letters that imitate as what they imitate, nothing that is
// not drawn. Of other signs only those that say how something is meant are words.
type reader struct {
	text       string
	drawn      bool // tags and references of HTML, and signs of full width, are read as they are drawn
	at         int
	start, end int    // of the last word
	word       uint32 // its hash
	before     [2]uint32
}

const seed = 2166136261

// mixHash goes on with a hash (FNV-1a, with a wider multiplication).
func mixHash(h, c uint32) uint32 {
	h = (h ^ c) * 0x9e3779b1
	return h ^ h>>15
}

// kept says what a byte of ASCII is in a word: itself in lower case, 0 for a digit, 1 for
// a sign that is a word, 2 for one that is drawn over nothing, 255 for what separates.
var kept = func() (t [128]byte) {
	for c := range t {
		switch c := byte(c); {
		case c >= 'a' && c <= 'z':
			t[c] = c
		case c >= 'A' && c <= 'Z':
			t[c] = c | 0x20
		case c >= '0' && c <= '9':
			t[c] = '0'
		case c == '!' || c == ':' || c == '?':
			t[c] = sign
		case c == '\'':
			t[c] = within
		default:
			t[c] = apart
		}
	}
	return t
}()

const (
	sign   = 1
	within = 2
	apart  = 255
)

// nextWord reads the next word.
func (r *reader) nextWord() bool {
	h, began := uint32(seed), false
	for r.at < len(r.text) {
		c := r.text[r.at]
		if c < utf8.RuneSelf && kept[c] > within && kept[c] != apart { // most of any text
			if !began {
				began, r.start = true, r.at
			}
			h = mixHash(h, uint32(kept[c]))
			r.at++
			r.end = r.at
			continue
		}
		size, said := 1, rune(c)
		switch {
		case c >= utf8.RuneSelf:
			said, size = foldRune(r.text[r.at:], r.drawn)
		case r.drawn && c == '<':
			said, size = readTag(r.text[r.at:])
		case r.drawn && c == '&':
			said, size = readEntity(r.text[r.at:])
		}
		as, letter := byte(apart), rune(-1) // of which no byte of ASCII is
		switch {
		case said < 0:
			as = within
		case said < utf8.RuneSelf:
			as = kept[said]
		default:
			letter = said
		}
		switch {
		case as == within:
			r.at += size
			continue
		case as == sign && began, as == apart && began && letter < utf8.RuneSelf:
			r.pushWord(h)
			return true
		case as == sign:
			r.start, h = r.at, mixHash(h, uint32(said))
			r.at += size
			r.end = r.at
			r.pushWord(h)
			return true
		case as == apart && letter < utf8.RuneSelf:
			r.at += size
			continue
		}
		if !began {
			began, r.start = true, r.at
		}
		if letter < utf8.RuneSelf {
			h = mixHash(h, uint32(as))
		} else {
			h = mixHash(h, uint32(letter))
		}
		r.at += size
		r.end = r.at
	}
	if began {
		r.pushWord(h)
	}
	return began
}

func (r *reader) pushWord(h uint32) { r.before, r.word = [2]uint32{r.word, r.before[0]}, h }

// wordFeatures gives the buckets of the last word: alone, with the one before, with two, and
// with the one before that.
func (r *reader) wordFeatures() [4]uint32 {
	a, b, c := r.before[1], r.before[0], r.word
	bc := mixHash(b, c)
	return [4]uint32{c, bc, mixHash(a, bc), mixHash(a^0x5bd1e995, c)}
}

// foldRune gives what the first character of s is drawn as, in lower case: -1 for what is not
// drawn, a blank for what is no letter, or the sign of ASCII that it is drawn like.
func foldRune(s string, drawn bool) (rune, int) {
	r, size := utf8.DecodeRuneInString(s)
	if textclass.OddInReply(r) || r == 0xad || unicode.Is(unicode.Mn, r) {
		return -1, size
	}
	if int(r) < len(imitated) && imitated[r] > 0 {
		return rune(imitated[r]), size
	}
	if d := norm.NFKC.PropertiesString(s).Decomposition(); len(d) > 0 {
		r, _ = utf8.DecodeRune(d)
	}
	switch {
	case r < utf8.RuneSelf && drawn: // of full width
		return r, size
	case !unicode.IsLetter(r) && !unicode.IsDigit(r):
		return ' ', size
	}
	return unicode.ToLower(r), size
}

// hasMarkup reports a text with a tag or a reference of HTML in it, or a sign of full width.
func hasMarkup(text string) bool {
	const wide = "\xef\xbc" // U+FF00 to U+FF3F begin so
	if strings.Contains(text, wide) {
		return true
	}
	for i := 0; i < len(text); i++ {
		n := strings.IndexAny(text[i:], "<&")
		if n < 0 {
			return false
		}
		i += n
		size := 0
		if text[i] == '<' {
			_, size = readTag(text[i:])
		} else {
			_, size = readEntity(text[i:])
		}
		if size > 1 {
			return true
		}
	}
	return false
}

// inline are tags of HTML that end no word.
var inline = []string{"a", "abbr", "b", "bdi", "code", "em", "font", "i", "kbd", "mark", "s", "small", "span", "strong", "sub", "sup", "u", "wbr"}

// How long a tag may be, in bytes and in blanks, that is read as none: in a longer one there may
// be a sentence.
const (
	maxTag    = 120
	maxBlanks = 4
)

// readTag gives a tag of HTML that a text begins with: a blank, or nothing where it ends no word.
func readTag(s string) (rune, int) {
	at := 1
	if at < len(s) && s[at] == '/' {
		at++
	}
	end := strings.IndexAny(s[at:min(len(s), maxTag)], "<>")
	if end <= 0 || s[at+end] != '>' || kept[s[at]&0x7f] < 'a' || kept[s[at]&0x7f] > 'z' || s[at] >= utf8.RuneSelf {
		return '<', 1
	}
	name := s[at : at+end]
	if strings.Count(name, " ") > maxBlanks {
		return '<', 1
	}
	if n := strings.IndexAny(name, " \t\r\n/"); n >= 0 {
		name = name[:n]
	}
	if slices.ContainsFunc(inline, func(is string) bool { return strings.EqualFold(is, name) }) {
		return -1, at + end + 1
	}
	return ' ', at + end + 1
}

// readEntity gives the character that a reference of HTML, which a text begins with, stands for.
func readEntity(s string) (rune, int) {
	const longest = 34 // of those that have a name
	n := strings.IndexByte(s[:min(len(s), longest)], ';') + 1
	if n == 0 {
		if !strings.HasPrefix(s, "&nbsp") {
			return '&', 1
		}
		n = len("&nbsp")
	}
	is := html.UnescapeString(s[:n])
	if is == s[:n] {
		return '&', 1
	}
	if is[0] < utf8.RuneSelf {
		return rune(is[0]), n
	}
	said, _ := foldRune(is, true)
	return said, n
}

// imitated has the letter that a character below U+0600 is drawn like (UTS 39).
var imitated = func() (t [0x600]byte) {
	const (
		imitators = "асԁеһіјӏорԛѕухѵԝАВЕНІЈКМОРЅТХУСЁοναιγκρτυχΑΒΕΖΗΙΚΜΝΟΡΤΥΧօսոհզɑɡıʟ"
		as        = "acdehijlopqsyxvwabehijkmopstxyceovaiykptuxabezhikmnoptyxounhqagil"
	)
	n := 0
	for _, r := range imitators {
		t[r] = as[n]
		n++
	}
	return t
}()
