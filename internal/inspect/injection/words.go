package injection

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/clawai/clawai/internal/screen"
)

// reader cuts a text into words as a model would read them, whatever they are written
// with: lower case, digits as 0, letters that imitate as what they imitate, nothing that is
// not drawn. Of other signs only those that say how something is meant are words.
type reader struct {
	text       string
	at         int
	start, end int    // of the last word
	word       uint32 // its hash
	before     [2]uint32
}

const seed = 2166136261

// mix goes on with a hash (FNV-1a, with a wider multiplication).
func mix(h, c uint32) uint32 {
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

// next reads the next word.
func (r *reader) next() bool {
	h, began := uint32(seed), false
	for r.at < len(r.text) {
		c := r.text[r.at]
		if c < utf8.RuneSelf && kept[c] > within && kept[c] != apart { // most of any text
			if !began {
				began, r.start = true, r.at
			}
			h = mix(h, uint32(kept[c]))
			r.at++
			r.end = r.at
			continue
		}
		size, as := 1, byte(apart)
		letter := rune(-1)
		if c < utf8.RuneSelf {
			as = kept[c]
		} else {
			letter, size = folded(r.text[r.at:])
			switch {
			case letter < 0:
				as = within
			case letter < utf8.RuneSelf:
				as = kept[letter]
			}
		}
		switch {
		case as == within:
			r.at += size
			continue
		case as == sign && began, as == apart && began && letter < utf8.RuneSelf:
			r.push(h)
			return true
		case as == sign:
			r.start, h = r.at, mix(h, uint32(r.text[r.at+size-1]))
			r.at += size
			r.end = r.at
			r.push(h)
			return true
		case as == apart && letter < utf8.RuneSelf:
			r.at += size
			continue
		}
		if !began {
			began, r.start = true, r.at
		}
		if letter < utf8.RuneSelf {
			h = mix(h, uint32(as))
		} else {
			h = mix(h, uint32(letter))
		}
		r.at += size
		r.end = r.at
	}
	if began {
		r.push(h)
	}
	return began
}

func (r *reader) push(h uint32) { r.before, r.word = [2]uint32{r.word, r.before[0]}, h }

// features are the buckets of the last word: alone, with the one before, with two, and
// with the one before that.
func (r *reader) features() [4]uint32 {
	a, b, c := r.before[1], r.before[0], r.word
	bc := mix(b, c)
	return [4]uint32{c, bc, mix(a, bc), mix(a^0x5bd1e995, c)}
}

// folded is what the first character of s is drawn as, in lower case: -1 for what is not
// drawn, a blank for what is no letter.
func folded(s string) (rune, int) {
	r, size := utf8.DecodeRuneInString(s)
	if screen.OddInReply(r) || r == 0xad || unicode.Is(unicode.Mn, r) {
		return -1, size
	}
	if int(r) < len(imitated) && imitated[r] > 0 {
		return rune(imitated[r]), size
	}
	if d := norm.NFKC.PropertiesString(s).Decomposition(); len(d) > 0 {
		r, _ = utf8.DecodeRune(d)
	}
	if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
		return ' ', size
	}
	return unicode.ToLower(r), size
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
