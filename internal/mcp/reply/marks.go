package reply

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clawai/clawai/internal/text/inspect"
	"github.com/clawai/clawai/internal/text/textclass"
)

// What our marks begin with.
const (
	withheld  = "clawai:withheld"
	untrusted = "clawai:untrusted"
	ours      = "clawai"
)

// Numbers gives equal values equal numbers, for one session. The zero value is not ready:
// NewNumbers makes one. It is not safe for concurrent use.
type Numbers struct {
	digest func(value string) [32]byte
	known  map[[32]byte]int
	last   int
	shown  []string // escapes in the place of characters, each once
}

// maxEscapes is how many of them a session knows.
const maxEscapes = 64

// maxNumbers is how many values a session tells apart; a later one is always new.
const maxNumbers = 1 << 16

// NewNumbers begins a session. digest is one-way, and keyed by the session: no value is
// kept.
func NewNumbers(digest func(value string) [32]byte) *Numbers {
	return &Numbers{digest: digest, known: map[[32]byte]int{}}
}

// makeMarker stands for a value that is withheld: at most 40 bytes, none of which a JSON
// string escapes.
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

// noteEscape notes that a character was shown as an escape.
func (n *Numbers) noteEscape(escape string) {
	if len(n.shown) < maxEscapes && !slices.Contains(n.shown, escape) {
		n.shown = append(n.shown, escape)
	}
}

// ShownEscapes gives the escapes that stood for characters in what the session has sent on: none of
// them is in the text itself.
func (n *Numbers) ShownEscapes() []string { return slices.Clip(n.shown) }

// findEscapes finds some of them in a text.
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

// findMarks finds what is, or imitates, one of our marks: whatever is drawn like it, with
// anything that is not drawn in between.
func findMarks(text string, marker, fence bool) []inspect.Found {
	var markers, fences bounded
	const wide = "［"
	nextWide := 0
	for at := 0; at < len(text); {
		if nextWide >= 0 && nextWide <= at {
			if n := strings.Index(text[at:], wide); n >= 0 {
				nextWide = at + n
			} else {
				nextWide = -1
			}
		}
		until := len(text)
		if nextWide >= 0 {
			until = nextWide
		}
		if n := strings.IndexByte(text[at:until], '['); n >= 0 {
			at += n
		} else if at = until; at == len(text) {
			break
		}
		_, size := utf8.DecodeRuneInString(text[at:])
		word, end := markAt(text, at+size)
		if end == 0 {
			at += size
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

// bounded are findings of one kind, and that there are more.
type bounded []inspect.Found

func (b *bounded) takeFound(f inspect.Found, end int) {
	switch n := len(*b); {
	case n < maxFound:
		*b = append(*b, f)
	case n == maxFound:
		*b = append(*b, inspect.Found{Kind: inspect.Unscreened, What: "behind too many findings", Start: f.Start, End: end, Of: f.Kind})
	}
}

// maxMark is how far the end of a mark is looked for.
const maxMark = 400

// markAt reads the mark behind a bracket: which it is, and where it ends; 0 for none. A
// mark that stands for a value has a word and a number.
func markAt(text string, at int) (word string, end int) {
	stop := min(len(text), at+maxMark)
	var said strings.Builder
	for i := at; i < stop; {
		r, size := utf8.DecodeRuneInString(text[i:])
		i += size
		switch r = foldRune(r); {
		case r == ']':
			fields := strings.Fields(said.String())
			switch {
			case len(fields) == 3 && fields[0] == withheld && isNumber(fields[2]):
				return withheld, i
			case len(fields) > 1 && fields[0] == untrusted:
				return untrusted, i
			}
			return "", 0
		case r == '[': // another begins
			return "", 0
		case r >= 0:
			said.WriteRune(r)
		}
		if n := said.Len(); n >= len(ours) && said.String()[:len(ours)] != ours {
			return "", 0
		}
	}
	if fields := strings.Fields(said.String()); len(fields) > 0 && fields[0] == untrusted {
		return untrusted, stop
	}
	return "", 0
}

func isNumber(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// foldRune gives the letter that r is drawn as, in lower case; -1 where nothing is drawn.
func foldRune(r rune) rune {
	if textclass.OddInReply(r) || r == 0xad || unicode.Is(unicode.Mn, r) {
		return -1
	}
	r = unicode.ToLower(textclass.NarrowRune(r))
	if unicode.IsSpace(r) {
		return ' '
	}
	if as, ok := imitations[r]; ok {
		return as
	}
	return r
}

// imitations are drawn like the letters of our marks.
var imitations = func() map[rune]rune {
	like := map[rune]rune{}
	for latin, all := range map[rune]string{
		'c': "сϲⅽᴄ", 'l': "ӏⅼǀ|", 'a': "аɑαꭺ", 'w': "ԝѡᴡ", 'i': "іⅰıɩι", 'h': "һհ", 't': "тτᴛ", 'e': "еҽ℮", 'd': "ԁⅾꓒ",
		'u': "υսᴜ", 'n': "ոո", 'r': "гᴦ", 's': "ѕꜱ", ':': "∶ː꞉˸", ']': "⁆］",
	} {
		for _, r := range all {
			like[r] = latin
		}
	}
	return like
}()
