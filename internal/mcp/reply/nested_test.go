package reply

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/clawai/clawai/internal/wire/escape"
)

// Where a part of a text is written holds that part, and no more than whole characters.
func TestWritten(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 17))
	pieces := []string{"a", "bc", "é", "漢", "😀", `\n`, `\"`, `\\`, `\u00e9`, `\u6f22`, `\ud83d\ude00`, " "}
	for range 3000 {
		var b strings.Builder
		for range 1 + r.IntN(12) {
			b.WriteString(pieces[r.IntN(len(pieces))])
		}
		inside := b.String()
		said, _ := escape.DecodeString(nil, inside)
		where := places{inside: inside}
		for range 4 { // in any order
			start := r.IntN(len(said))
			end := start + 1 + r.IntN(len(said)-start)
			from, to := where.findPart(start, end)
			before, _ := escape.DecodeString(nil, inside[:from])
			until, _ := escape.DecodeString(nil, inside[:to])
			for !utf8.RuneStart(said[start]) {
				start--
			}
			for end < len(said) && !utf8.RuneStart(said[end]) {
				end++
			}
			if len(before) != start || len(until) != end {
				t.Fatalf("%q: bytes %d to %d are written at %d to %d", inside, start, end, from, to)
			}
		}
	}
}
