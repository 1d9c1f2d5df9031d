package reply

import (
	"fmt"
	"html"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/clawai/clawai/internal/text/inspect"
	"github.com/clawai/clawai/internal/text/textclass"
)

// The first words of clawai's marks.
const (
	withheld  = "clawai:withheld"
	untrusted = "clawai:untrusted"
)

// Numbers gives equal numbers to equal values within one session. It must be made by NewNumbers. It
// is not safe for concurrent use.
type Numbers struct {
	digest func(value string) [32]byte
	known  map[[32]byte]int
	last   int
	shown  []string // the escapes that were shown instead of characters, without repeats
}

// maxEscapes is the maximum number of escapes that are remembered in a session.
const maxEscapes = 64

// maxNumbers is the maximum number of values that are remembered in a session. After that every
// value gets a new number.
const maxNumbers = 1 << 16

// NewNumbers begins a session. digest is a one-way function with a key of the session. So the
// values themselves need not be stored.
func NewNumbers(digest func(value string) [32]byte) *Numbers {
	return &Numbers{digest: digest, known: map[[32]byte]int{}}
}

// makeMarker returns the mark for a withheld value. It has at most 40 bytes and needs no escapes in
// JSON.
func (n *Numbers) makeMarker(kind, value string) string {
	d := n.digest(kind + "\x00" + value)
	number, ok := n.known[d]
	if !ok {
		n.last++
		number = n.last
		if len(n.known) < maxNumbers {
			n.known[d] = number
		}
	}
	const most = 40 - len("["+withheld+"  ]")
	digits := strconv.Itoa(number)
	if room := most - len(digits); len(kind) > room {
		kind = kind[:room]
	}
	return fmt.Sprintf("[%s %s %s]", withheld, kind, digits)
}

// noteEscape remembers that an escape was shown instead of a character.
func (n *Numbers) noteEscape(escape string) {
	if len(n.shown) < maxEscapes && !slices.Contains(n.shown, escape) {
		n.shown = append(n.shown, escape)
	}
}

// ShownEscapes returns the escapes that replaced characters in the session's forwarded messages.
// The original texts had none of them.
func (n *Numbers) ShownEscapes() []string { return slices.Clip(n.shown) }

// findEscapes searches a text for the escapes in the list shown.
func findEscapes(text string, shown []string) (found []inspect.Found) {
	for _, escape := range shown {
		for at := 0; len(found) <= maxFound; {
			n := strings.Index(text[at:], escape)
			if n < 0 {
				break
			}
			found = append(found, inspect.Found{Kind: Marker, What: escape, Start: at + n, End: at + n + len(escape)})
			at += n + len(escape)
		}
	}
	return found
}

// findMarks finds clawai's marks and imitations of them. An imitation is any text that looks like a
// mark, even with other characters than letters in it.
func findMarks(text string, marker, fence bool) []inspect.Found {
	var markers, fences bounded
	for at, begin, opener := 0, 0, -1; at < len(text); {
		if begin < at {
			begin = nextText(text, at)
		}
		if opener < at {
			opener = nextOpener(text, at)
		}
		if at = min(opener, begin); at == len(text) {
			break
		}
		size, other := openerAt(text, at)
		if size == 0 && at < begin || at+size < len(text) && startsNoMark[text[at+size]] {
			at += max(size, 1)
			continue
		}
		// A mark may be split over two texts. Then its bracket is at the end of the first text, and
		// this text begins with the rest.
		word, end := markAt(text, at+size, other || size == 0)
		if end == 0 {
			at += max(size, 1)
			continue
		}
		switch {
		case word == withheld && marker:
			markers.takeFound(inspect.Found{Kind: Marker, What: "the mark of a text that was withheld", Start: at, End: end}, len(text))
		case word == untrusted && fence:
			fences.takeFound(inspect.Found{Kind: Fence, What: "a mark that imitates clawai's", Start: at, End: end}, len(text))
		}
		at = end
	}
	return append(markers, fences...)
}

// nextText searches the text, beginning at the offset in the parameter at. It returns the next
// offset where a string of the message begins after the name of its member (see nameEnd). It
// returns the length of the text if there is none. A string also begins at offset 0.
func nextText(text string, at int) int {
	from := max(at-len(nameEnd), 0)
	n := strings.Index(text[from:], nameEnd)
	if n < 0 {
		return len(text)
	}
	return from + n + len(nameEnd)
}

// nextOpener searches the text, beginning at the offset in the parameter at. It returns the next
// offset where openerAt may find a bracket. It returns the length of the text if there is none.
func nextOpener(text string, at int) int {
	for rest := text[at:]; len(rest) >= 8; rest = rest[8:] { // eight bytes at a time, because few bytes of a text can begin a bracket
		if opens[rest[0]]|opens[rest[1]]|opens[rest[2]]|opens[rest[3]]|opens[rest[4]]|opens[rest[5]]|opens[rest[6]]|opens[rest[7]] != 0 {
			break
		}
		at += 8
	}
	for at < len(text) && opens[text[at]] == 0 {
		at++
	}
	return at
}

// opens is not zero for the bytes that can begin a bracket (see openerAt).
var opens = func() (t [256]uint8) {
	for c := 0xe0; c <= 0xe3; c++ {
		t[c] = 1
	}
	for _, c := range []byte("[({<&\xef\xc2") {
		t[c] = 1
	}
	return t
}()

// startsNoMark is true for a byte which shows that the bracket before it begins no mark. Such bytes
// are brackets, and all letters and digits except the letter with which clawai's marks begin
// (spellings). In most texts only such bytes follow a bracket.
var startsNoMark = func() (t [256]bool) {
	for c := range utf8.RuneSelf {
		r := rune(c)
		t[c] = (unicode.IsLetter(r) || unicode.IsDigit(r)) && unicode.ToLower(r) != rune(withheld[0]) || isOpener(r) || isCloser(r)
	}
	return t
}()

// openerAt returns the length of the bracket at text[at], or 0. The bracket may be an HTML
// reference. The result other is true for a quotation mark and for a kind of bracket that is
// frequent in texts. openerAt is fast for most bytes, because few can begin a bracket.
func openerAt(text string, at int) (size int, other bool) {
	switch c := text[at]; {
	case c == '[':
		return 1, false
	case c == '(', c == '{', c == '<':
		return 1, true
	case c == '&':
		if r, n := drawnAt(text, at); n > 1 && (isOpener(r) || isOtherOpener(r)) {
			return n, !isOpener(r)
		}
	case c == 0xef, c >= 0xe0 && c <= 0xe3, c == 0xc2: // no other byte begins a bracket
		if r, n := utf8.DecodeRuneInString(text[at:]); isOpener(r) || isOtherOpener(r) {
			return n, !isOpener(r)
		}
	}
	return 0, false
}

func isOpener(r rune) bool { return r == '[' || r >= utf8.RuneSelf && unicode.Is(unicode.Ps, r) }

func isCloser(r rune) bool { return r == ']' || r >= utf8.RuneSelf && unicode.Is(unicode.Pe, r) }

func isOtherOpener(r rune) bool {
	return r == '(' || r == '{' || r == '<' || r >= utf8.RuneSelf && unicode.Is(unicode.Pi, r)
}

func isOtherCloser(r rune) bool {
	return r == ')' || r == '}' || r == '>' || r >= utf8.RuneSelf && unicode.Is(unicode.Pf, r)
}

// drawnAt returns the character that a reader sees for the text at i, and the length of this text
// in bytes. For an HTML reference it is the character of the reference. For a tag it is -1, because
// a tag is not seen.
func drawnAt(text string, i int) (r rune, size int) {
	const longestReference, longestTag = len("&#0000091;"), 128
	switch rest := text[i:]; {
	case rest[0] == '&':
		n := strings.IndexByte(rest[:min(len(rest), longestReference)], ';') + 1
		if r, _ := utf8.DecodeRuneInString(html.UnescapeString(rest[:n])); n > 0 && r != '&' {
			return r, n
		}
	case rest[0] == '<' && len(rest) > 1 && (rest[1] == '/' || rest[1] == '!' || rest[1]|0x20 >= 'a' && rest[1]|0x20 <= 'z'):
		if n := strings.IndexByte(rest[:min(len(rest), longestTag)], '>') + 1; n > 0 {
			return -1, n
		}
	}
	return utf8.DecodeRuneInString(text[i:])
}

// bounded holds a limited number of findings of one kind. If there are more, its last element
// stands for the rest.
type bounded []inspect.Found

func (b *bounded) takeFound(f inspect.Found, end int) {
	switch n := len(*b); {
	case n < maxFound:
		*b = append(*b, f)
	case n == maxFound:
		*b = append(*b, inspect.Found{Kind: inspect.Unscreened, What: "behind too many findings", Start: f.Start, End: end, Of: f.Kind})
	}
}

// maxMark is how many bytes of a text are searched for the end of a mark.
const maxMark = 400

// spellings are the first letters of clawai's marks. I, l and 1 count as the same letter.
var spellings = [...]struct{ word, letters string }{{withheld, "clawalwlthheld"}, {untrusted, "clawaluntrusted"}}

// markAt returns the word of the mark that follows a bracket, and the offset after the mark. The
// offset is 0 if there is no mark. The mark of a withheld value must contain a word and a number.
// If the parameter other is true (see openerAt), markAt accepts only a fence mark that has an end.
func markAt(text string, at int, other bool) (word string, end int) {
	stop := min(len(text), at+maxMark)
	var letters [len("clawaluntrusted")]byte
	n, i, size := 0, at, 0
	for ; i < stop && word == ""; i += size {
		var drawn rune
		if drawn, size = drawnAt(text, i); drawn < 0 {
			continue
		}
		if isOpener(drawn) || isCloser(drawn) { // another mark begins here, or this text ends
			return "", 0
		}
		r := foldRune(drawn)
		if r == 'i' || r == '1' {
			r = 'l'
		}
		if r >= 0 && r < utf8.RuneSelf {
			letters[n] = byte(r)
			if fits, whole := spellsMark(letters[:n+1]); fits {
				n, word = n+1, whole
				continue
			}
		}
		if unicode.IsLetter(drawn) || unicode.IsDigit(drawn) {
			return "", 0
		}
	}
	if word == "" || other && word != untrusted {
		return "", 0
	}
	var behind strings.Builder
	for depth := 0; i < stop; i += size {
		var drawn rune
		switch drawn, size = drawnAt(text, i); {
		case drawn < 0:
			continue
		case isOpener(drawn):
			depth++
		case !isCloser(drawn) && (!other || !isOtherCloser(drawn)):
		case depth > 0:
			depth--
		default:
			if fields := strings.Fields(behind.String()); word == withheld && (len(fields) != 2 || !isNumber(fields[1])) {
				return "", 0
			}
			return word, i + size
		}
		if r := foldRune(drawn); r >= 0 {
			behind.WriteRune(r)
		}
	}
	if word == untrusted && !other {
		return word, stop
	}
	return "", 0
}

// spellsMark reports whether the given letters are the beginning of one of clawai's marks. If they
// spell a whole mark, the result whole is the word of this mark.
func spellsMark(letters []byte) (fits bool, whole string) {
	for _, s := range spellings {
		if strings.HasPrefix(s.letters, string(letters)) {
			if len(s.letters) == len(letters) {
				return true, s.word
			}
			fits = true
		}
	}
	return fits, ""
}

func isNumber(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// foldRune returns the letter that r looks like, in lower case. It returns -1 if r is not visible.
func foldRune(r rune) rune {
	switch {
	case r < utf8.RuneSelf && unicode.IsLetter(r):
		return unicode.ToLower(r)
	case textclass.OddInReply(r), r == 0xad, unicode.Is(unicode.Mn, r):
		return -1
	case unicode.IsSpace(r):
		return ' '
	}
	if as, ok := imitations()[unicode.ToLower(r)]; ok {
		return as
	}
	for d := norm.NFKC.PropertiesString(string(r)).Decomposition(); len(d) > 0; { // for letters that are bold, in a circle, or with an accent
		letter, size := utf8.DecodeRune(d)
		if unicode.IsLetter(letter) || unicode.IsDigit(letter) {
			r = letter
			break
		}
		d = d[size:]
	}
	return unicode.ToLower(r)
}

// imitations maps characters to the letters of clawai's marks that they look like.
var imitations = sync.OnceValue(func() map[rune]rune {
	like := map[rune]rune{}
	for latin, all := range map[rune]string{
		'c': "сϲⅽᴄⲥꮯꓚ", 'l': "ӏⅼǀ|ʟꓡꮮ", 'a': "аɑαꭺᴀꓮ⍺", 'w': "ԝѡᴡꮃꮤꓪ", 'i': "іⅰıɩιɪꓲ", 'h': "һհʜ", 't': "тτᴛ", 'e': "еҽ℮ᴇ", 'd': "ԁⅾꓒᴅ",
		'u': "υսᴜ", 'n': "ոɴ", 'r': "гᴦʀ", 's': "ѕꜱ",
	} {
		for _, r := range all {
			like[r] = latin
		}
	}
	for n := range rune(26) { // white letters in circles and squares, and flag letters
		like[0x1f150+n], like[0x1f170+n], like[0x1f1e6+n] = 'a'+n, 'a'+n, 'a'+n
	}
	return like
})
