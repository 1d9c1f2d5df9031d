package injection

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/clawai/clawai/internal/testing/slow"
	"github.com/clawai/clawai/internal/testing/wordings"
)

// nextOfAll is the definition of nextWord: it reads each character alike.
func (r *reader) nextOfAll() bool {
	h, began := uint32(seed), false
	for r.at < len(r.text) {
		c := r.text[r.at]
		size, said := 1, rune(c)
		switch {
		case c == 0x1b, strings.HasPrefix(r.text[r.at:], "\u009b"):
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
		as, letter := byte(apart), rune(-1) // letter is for a character that is not ASCII
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

func compareWords(t *testing.T, text string) {
	if n, want := readings(text), howManyReadings(text); n != want {
		t.Fatalf("%q: %d readings, want %d", text, n, want)
	}
	for i := range 3 {
		short := *readingOf(text, i)
		long := short
		var s scorer
		var weights, starts []int
		for {
			a, b := short.nextWord(), long.nextOfAll()
			if a != b || short.word != long.word || short.start != long.start || short.end != long.end || short.at != long.at {
				t.Fatalf("%q, reading %d: %v at %d to %d, want %v at %d to %d", text, i, a, short.start, short.end, b, long.start, long.end)
			}
			if !a {
				break
			}
			weight := short.weighWord(table)
			weights, starts = append(weights, weight), append(starts, short.start)
			score, words := s.addWord(weight, short.start)
			narrow, wide := sum(weights[max(0, len(weights)-Narrow):]), sum(weights[max(0, len(weights)-Wide):])*100/wideTo
			want, size := narrow, Narrow
			if wide > narrow {
				want, size = wide, Wide
			}
			if from := starts[max(0, len(starts)-size)]; int(score) != want || words != size || s.windowStart(words) != from {
				t.Fatalf("%q, reading %d: %d of %d words from %d, want %d of %d from %d", text, i, score, words, s.windowStart(words), want, size, from)
			}
		}
	}
}

func sum(all []int) (n int) {
	for _, one := range all {
		n += one
	}
	return n
}

// howManyReadings is the definition of how many readings a text has.
func howManyReadings(text string) int {
	some := strings.Contains(text, "\xef\xbc")
	for i := range len(text) {
		switch text[i] {
		case '&':
			_, size := readEntity(text[i:])
			some = some || size > 1
		case '<':
			if rest := text[i+1:]; rest != "" && strings.Contains(text[i:], ">") && (strings.IndexByte("!?/", rest[0]) >= 0 || isSmall(kept[rest[0]&0x7f])) {
				return 3
			}
		}
	}
	if some {
		return 2
	}
	return 1
}

var wordPieces = []string{"", " ", "\n", "ignore", "Ignore ALL", "don't", "'", "!", "?", ":", "a1b2", "_", "-", "é", "Привет", "раypal", "\u200b", "n\u200bo", "\u00ad", "ｉｇｎｏｒｅ", "！", "：", "\x1b[1m", "\x1b[0K", "\x1b", "\u009b31m", "\u009b", "\xc2", "\xff", "<b>", "</b>", "<p>", "<br/>", "<", ">", "< b", "<!-- x -->", "<!--", "<script>x</script>", "&nbsp;", "&amp;", "&#105;", "&excl;", "&", "&lt;", "previous instructions", "𝐠", "3.14", "{\"a\": 1}"}

func TestGeneratedTextsHaveTheirWords(t *testing.T) {
	slow.Test(t)
	random, s := rand.New(rand.NewPCG(7, 8)), wordings.New(9)
	families := wordings.Families()
	for n := range 50_000 {
		var b strings.Builder
		for range 1 + random.IntN(12) {
			b.WriteString(wordPieces[random.IntN(len(wordPieces))])
		}
		if n%100 == 0 {
			b.WriteString(s.Among(s.Attack(&families[n/100%len(families)])))
		}
		compareWords(t, b.String())
	}
}

// FuzzWords holds nextWord, the readings and the scorer to their definitions.
func FuzzWords(f *testing.F) {
	for i, piece := range wordPieces {
		f.Add(piece + wordPieces[(i+5)%len(wordPieces)] + " " + wordPieces[(i+11)%len(wordPieces)])
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) < 1<<12 {
			compareWords(t, text)
		}
	})
}
