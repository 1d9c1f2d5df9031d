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

// reader splits a text into words as a model reads them. Words are in lower case; a digit is 0; a
// look-alike letter is the letter that it imitates; characters that are not drawn are left out.
// Among the signs only "!", ":" and "?" are words.
type reader struct {
	text       string
	drawn      bool // read HTML tags, HTML references and full-width signs as a browser draws them
	page       bool // also skip what a browser does not draw: comments, scripts, whole tags
	seek       seeker
	at         int
	start, end int       // place of the last word in the text
	word       uint32    // hash of the last word
	before     [2]uint32 // hashes of the two words before the last one; the nearer word comes first
}

const seed = 2166136261

// mixHash adds c to the hash h (like FNV-1a, with a larger factor).
func mixHash(h, c uint32) uint32 {
	h = (h ^ c) * 0x9e3779b1
	return h ^ h>>15
}

// kept tells how nextWord reads an ASCII byte. For a letter it holds the letter in lower case, and
// for a digit it holds '0'. For other bytes it holds one of three constants: sign for a byte that
// is a word by itself, within for a byte that is skipped inside a word, and apart for a byte that
// separates words.
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

// plain is like kept, but has the constant mixed for each byte whose meaning depends on the reading
// of the text (as written or as drawn). Most bytes mean the same in every reading.
var plain = func() (t [256]byte) {
	for c := range t {
		t[c] = mixed
		if c < len(kept) && strings.IndexByte("\x1b<&!:?'", byte(c)) < 0 {
			t[c] = kept[c]
		}
	}
	return t
}()

const (
	sign   = 1
	within = 2
	mixed  = 254 // larger than all letters and digits
	apart  = 255
)

// nextWord reads the next word. This is the fast way, for a word without mixed bytes. Other words
// go to nextMixed.
func (r *reader) nextWord() bool {
	text, at := r.text, uint(r.at)
	for at < uint(len(text)) && plain[text[at]] == apart {
		at++
	}
	from, h := at, uint32(seed)
	for ; at < uint(len(text)); at++ {
		as := plain[text[at]]
		if as >= mixed {
			if as == mixed {
				r.at = int(from)
				return r.nextMixed()
			}
			break
		}
		h = mixHash(h, uint32(as))
	}
	r.at = int(at)
	if at == from {
		return false
	}
	r.start, r.end = int(from), int(at)
	r.pushWord(h)
	return true
}

// nextMixed reads the next word, whatever bytes it has.
func (r *reader) nextMixed() bool {
	h, began := uint32(seed), false
	for r.at < len(r.text) {
		text, at := r.text, r.at
		from := at
		for at < len(text) {
			as := plain[text[at]]
			if as >= mixed {
				break
			}
			h = mixHash(h, uint32(as))
			at++
		}
		if at > from {
			if !began {
				began, r.start = true, from
			}
			r.end = at
		}
		r.at = at
		if at == len(text) {
			break
		}
		c := text[at]
		if began && plain[c] == apart {
			r.pushWord(h)
			return true
		}
		size, said := 1, rune(c)
		switch {
		case c == 0x1b, c == 0xc2 && strings.HasPrefix(r.text[r.at:], "\u009b"):
			_, size = utf8.DecodeRuneInString(r.text[r.at:])
			said, size = readEscape(r.text[r.at:], size)
		case c >= utf8.RuneSelf:
			said, size = foldRune(r.text[r.at:], r.drawn)
		case r.page && c == '<':
			said, size = r.readPage()
		case r.drawn && c == '<':
			said, size = readTag(r.text[r.at:])
		case r.drawn && c == '&':
			said, size = readEntity(r.text[r.at:])
		}
		as, letter := byte(apart), rune(-1) // letter is the character if it is not ASCII, otherwise -1
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

// wordFeatures returns four hashes: of the last word; of the last two words; of the last three
// words; and of the last word with the second word before it.
func (r *reader) wordFeatures() (alone, two, three, apart uint32) {
	a, b, c := r.before[1], r.before[0], r.word
	two = mixHash(b, c)
	return c, two, mixHash(a, two), mixHash(a^0x5bd1e995, c)
}

// foldRune returns the first character of s in lower case; for a look-alike, it returns the letter
// or the ASCII sign that the character looks like. It returns -1 if the character is not drawn, and
// a blank for any other sign. It also returns the character's length.
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
	case r < utf8.RuneSelf && drawn: // a full-width form
		return r, size
	case !unicode.IsLetter(r) && !unicode.IsDigit(r):
		return ' ', size
	}
	return unicode.ToLower(r), size
}

// readings returns the number of ways to read a text. One way is the text as written. If the text
// has an HTML tag, an HTML reference or a full-width sign, there is also the text as drawn. If it
// has a tag, there is also the text as drawn without what a browser hides.
func readings(text string) int {
	for at, last := indexFrom(text, '<', 0), -1; at >= 0; at = indexFrom(text, '<', at+1) {
		if last < 0 {
			last = strings.LastIndexByte(text, '>')
		}
		if at > last {
			break
		}
		if next := text[at+1]; next == '!' || next == '?' || next == '/' || isSmall(kept[next&0x7f]) {
			return 3
		}
	}
	const wide = "\xef\xbc" // the first bytes of U+FF00 to U+FF3F
	some := strings.Contains(text, wide)
	for at := indexFrom(text, '&', 0); at >= 0 && !some; at = indexFrom(text, '&', at+1) {
		_, size := readEntity(text[at:])
		some = size > 1
	}
	if some {
		return 2
	}
	return 1
}

// readingOf returns a reader that reads a text in way number i. The function readings counts the
// ways.
func readingOf(text string, i int) *reader { return &reader{text: text, drawn: i > 0, page: i > 1} }

func isSmall(c byte) bool { return 'a' <= c && c <= 'z' }

// indexFrom returns the offset of the first byte c at or after the given offset; -1 if there is
// none.
func indexFrom(text string, c byte, from int) int {
	n := strings.IndexByte(text[from:], c)
	if n < 0 {
		return -1
	}
	return from + n
}

// inline are the HTML tags that may stand inside a word.
var inline = []string{"a", "abbr", "b", "bdi", "code", "em", "font", "i", "kbd", "mark", "s", "small", "span", "strong", "sub", "sup", "u", "wbr"}

// Limits of a tag: its length in bytes, and the number of its blanks. Longer text is not read as a
// tag, because it may contain a sentence.
const (
	maxTag    = 120
	maxBlanks = 4
)

// readTag returns the character that stands for the HTML tag at the start of a text, and the length
// of the tag. The character is a blank; it is -1 if the tag may stand inside a word. If there is no
// tag, the character is '<'.
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

// seeker remembers the place of the next end for each sort of end (see nextEnd). So a text with
// many beginnings is searched only once for each sort.
type seeker struct {
	ends  [len(unseen) + 2]int // offset of the next end plus one; 0: not searched yet; -1: no end is left
	tried int                  // bytes that were read for tags without an end
}

// unseen are the HTML tags whose content a browser does not draw as text. blocks are the HTML tags
// that end a word.
var (
	unseen = [...]string{"script", "style", "template", "iframe", "noembed", "noframes", "noscript", "title", "datalist", "audio", "video", "canvas", "rp"}
	blocks = strings.Fields("address article aside blockquote body br button caption center dd details dialog dir div dl dt fieldset figcaption figure footer form frameset " +
		"h1 h2 h3 h4 h5 h6 head header hgroup hr html img input legend li main menu nav object ol optgroup option p pre search section select summary table tbody td textarea tfoot th thead title tr ul video")
)

// longTag is the maximum length of a tag, as a browser reads it. maxTried limits the bytes that are
// read for tags without an end, as a multiple of the text's length.
const (
	longTag  = 1024
	maxTried = 8
)

// nextEnd returns the offset of the next end of an element or a comment, at or after the given
// offset; -1 if there is none. The parameter n is the sort of the end. For an end tag it is the
// index of the tag in the list unseen. The two numbers after these indexes stand for the two ends
// of a comment.
func (r *reader) nextEnd(n, from int) int {
	at := &r.seek.ends[n]
	for *at >= 0 && *at <= from {
		var next int
		switch n - len(unseen) {
		case 0:
			next = strings.Index(r.text[from:], "-->")
		case 1:
			next = strings.Index(r.text[from:], "--!>")
		default:
			if next = strings.Index(r.text[from:], "</"); next >= 0 && !hasPrefixFold(r.text[from+next+2:], unseen[n]) {
				from += next + 2
				continue
			}
		}
		if *at = -1; next >= 0 {
			*at = from + next + 1
		}
	}
	return max(*at-1, -1)
}

func hasPrefixFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}

// readPage reads the tag or comment that begins with the next "<". It returns the character that a
// browser draws for it, in the form of readTag, and the length of the skipped text.
func (r *reader) readPage() (rune, int) {
	at, s := r.at, r.text[r.at:]
	if strings.HasPrefix(s, "<!--") {
		end, other := r.nextEnd(len(unseen), at+len("<!")), r.nextEnd(len(unseen)+1, at+len("<!--"))
		switch {
		case other >= 0 && (end < 0 || other < end):
			return -1, other + len("--!>") - at
		case end >= 0:
			return -1, end + len("-->") - at
		}
		return '<', 1
	}
	if r.seek.tried > maxTried*len(r.text) {
		return readTag(s)
	}
	name, size := wholeTag(s[:min(len(s), longTag)])
	if size == 0 {
		r.seek.tried += min(len(s), longTag)
		return readTag(s)
	}
	for n, tag := range unseen {
		if !strings.EqualFold(name, tag) {
			continue
		}
		if end := r.nextEnd(n, at+size); end >= 0 && s[1] != '/' {
			return -1, end - at
		}
		return -1, size
	}
	if slices.ContainsFunc(blocks, func(is string) bool { return strings.EqualFold(is, name) }) {
		return ' ', size
	}
	return -1, size
}

// wholeTag returns the name and the length of the tag at the start of a text. The name is "" if
// browsers take the text for a comment. The length is 0 if there is no tag, or no end of the tag.
func wholeTag(s string) (name string, size int) {
	at := 1
	if at < len(s) && s[at] == '/' {
		at++
	}
	switch {
	case at == len(s):
		return "", 0
	case s[at]|0x20 < 'a' || s[at]|0x20 > 'z':
		if s[at] != '!' && s[at] != '?' && at == 1 {
			return "", 0
		}
		return "", strings.IndexByte(s, '>') + 1
	}
	n := strings.IndexAny(s[at:], " \t\r\n\f/>")
	if n < 0 {
		return "", 0
	}
	name = s[at : at+n]
	for at += n; at < len(s); at++ {
		switch s[at] {
		case '>':
			return name, at + 1
		case '=':
			value := strings.TrimLeft(s[at+1:], " \t\r\n\f")
			if value == "" || value[0] != '"' && value[0] != '\'' {
				continue
			}
			n := strings.IndexByte(value[1:], value[0])
			if n < 0 {
				return "", 0
			}
			at = len(s) - len(value) + n + 1
		}
	}
	return "", 0
}

// readEntity returns the character of the HTML reference at the start of a text, and the length of
// the reference. Like browsers, it accepts some references without a semicolon. If there is no
// reference, it returns '&' and 1.
func readEntity(s string) (rune, int) {
	n := entityLength(s)
	if n == 0 {
		return '&', 1
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

// entityLength returns the length of the HTML reference at the start of a text; 0 if there is none.
func entityLength(s string) int {
	const longest = 34 // length of the longest reference by name
	run := func(from, to int, among string) int {
		for from < to && strings.IndexByte(among, s[from]|0x20) >= 0 {
			from++
		}
		return from
	}
	const digits, letters = "0123456789", "abcdefghijklmnopqrstuvwxyz"
	if strings.HasPrefix(s, "&#") {
		from, among := 2, digits
		if len(s) > 2 && s[2]|0x20 == 'x' {
			from, among = 3, digits+letters[:6]
		}
		end := run(from, len(s), among)
		switch {
		case end == from:
			return 0
		case end < len(s) && s[end] == ';':
			end++
		}
		return end
	}
	end := run(1, min(len(s), longest), digits+letters)
	if end < len(s) && s[end] == ';' {
		if is := html.UnescapeString(s[:end+1]); is == ";" || !strings.HasSuffix(is, ";") {
			return end + 1
		}
	}
	is := html.UnescapeString(s[:end])
	if is == s[:end] {
		return 0
	}
	_, size := utf8.DecodeRuneInString(is)
	return end - (len(is) - size) // letters that follow a name without a semicolon are not in the reference
}

// readEscape reads the terminal escape at the start of a text. It returns the character for the
// escape, and the escape's length. size is the length of the first character. An escape that colors
// or erases (ECMA-48, CSI) gives -1, so that it does not divide a word.
func readEscape(s string, size int) (rune, int) {
	at, alone := size, rune(-1) // U+009B itself is not drawn
	if s[0] == 0x1b {
		if alone = ' '; !strings.HasPrefix(s[at:], "[") {
			return alone, size
		}
		at++
	}
	from := at
	for at < len(s) && s[at] >= '0' && s[at] <= '?' {
		at++
	}
	switch {
	case at < len(s) && (s[at] == 'm' || s[at] == 'K'):
		at++
	case at == from:
		return alone, size
	case at < len(s) && s[at] >= '@' && s[at] <= '~':
		at++
	}
	return -1, at
}

// imitated maps a character below U+0600 to the Latin letter that it looks like (UTS 39).
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
