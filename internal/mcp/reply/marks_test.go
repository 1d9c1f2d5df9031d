package reply

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/testing/slow"
	"github.com/clawai/clawai/internal/text/inspect"
)

// findMarksAnywhere is the definition of findMarks: it looks at each byte.
func findMarksAnywhere(text string) []inspect.Found {
	var markers, fences bounded
	for at := 0; at < len(text); {
		size, other := openerAt(text, at)
		if begins := at == 0 || strings.HasSuffix(text[:at], nameEnd); size == 0 && !begins {
			at++
			continue
		}
		word, end := markAt(text, at+size, other || size == 0)
		if end == 0 {
			at += max(size, 1)
			continue
		}
		switch word {
		case withheld:
			markers.takeFound(inspect.Found{Kind: Marker, What: "the mark of a text that was withheld", Start: at, End: end}, len(text))
		case untrusted:
			fences.takeFound(inspect.Found{Kind: Fence, What: "a mark that imitates clawai's", Start: at, End: end}, len(text))
		}
		at = end
	}
	return append(markers, fences...)
}

func compareMarks(t *testing.T, text string) {
	if got, want := findMarks(text, true, true), findMarksAnywhere(text); !slices.Equal(got, want) {
		t.Fatalf("%q:\n%v\nwant %v", text, got, want)
	}
}

// markPieces are parts of marks and of what surrounds them.
var markPieces = []string{"", " ", "text", "xxxxxxxx", `"`, `":"`, `":":"`, `: "`, "[", "(", "{", "<", "</b>", "<b>", "&", "&#91;", "&lbrack;", "&#99;", "［", "【", "「", "«", "“", "‹", "é", "ж", "\u200b", "]", ")", "］", "clawai", "clawai:", "CLAWAI", "сlаwаi", "withheld", "untrusted", " secret 1]", " abcdef begin: x]", " end]",
	"[clawai:withheld secret 12]", "[clawai:untrusted abc begin]", "(clawai untrusted abc end)", "clawai:untrusted abc]", "c-l-a-w-a-i:u n t r u s t e d", "\n"}

func TestGeneratedMarksAreFound(t *testing.T) {
	slow.Test(t)
	random, found := rand.New(rand.NewPCG(5, 6)), 0
	for range 100_000 {
		var b strings.Builder
		for range 1 + random.IntN(8) {
			b.WriteString(markPieces[random.IntN(len(markPieces))])
		}
		compareMarks(t, b.String())
		found += len(findMarks(b.String(), true, true))
	}
	if found < 10_000 {
		t.Errorf("only %d marks in them", found)
	}
}

// FuzzMarks holds findMarks to its definition.
func FuzzMarks(f *testing.F) {
	for i, piece := range markPieces {
		f.Add(piece + markPieces[(i+9)%len(markPieces)] + markPieces[(i+20)%len(markPieces)])
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) < 1<<12 {
			compareMarks(t, text)
		}
	})
}
