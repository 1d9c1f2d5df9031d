package inspect

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/testing/slow"
)

// slowly is the definition of a search: every pass looks at every text.
func slowly(text string, wanted Kinds) []Found {
	return slowlyIn(&findings{text: text, wanted: wanted, inside: func(decoded string, own []*Pack) []Found {
		return slowlyIn(&findings{text: decoded, wanted: Kinds{own: own}})
	}})
}

func slowlyIn(f *findings) []Found {
	for i := range kinds {
		if d := &kinds[i]; d.find != nil && (f.wanted.looksFor(d.kind) || wantsShared(i, f.wanted)) {
			d.find(f)
		}
	}
	slices.SortStableFunc(f.found, byPlace)
	return f.found
}

// sets are the sets of kinds that are compared: all, each alone, and those of the starters.
func sets(t testing.TB) (all []Kinds) {
	words := [][]string{nil, {"*"}, {"hidden", "template-token", "secret"}, {"hidden", "control", "template-token", "secret", "injection:strict", "encoded", "concealed"}, {"pci", "ssn"}}
	for _, word := range KindWords() {
		words = append(words, []string{word})
	}
	for _, w := range words {
		ks, err := ParseKinds(w)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, ks, ks.WithCloseLook())
	}
	return all
}

// No text with a find leaves before a pass that finds it: what passes need, and the passes, are
// held together.
func FuzzNeeds(f *testing.F) {
	for _, d := range kinds {
		f.Add(d.shows, 0)
		f.Add(strings.Repeat("x", 90)+d.shows+strings.Repeat(" ", 220)+"y", len(d.shows)/2)
	}
	every := sets(f)
	f.Fuzz(func(t *testing.T, text string, cut int) {
		if len(text) > 1<<12 {
			return
		}
		for _, part := range []string{text, text[:max(0, min(cut, len(text)))], text[max(0, min(cut, len(text))):]} {
			for i, ks := range every {
				if got, want := SearchText(part, ks), slowly(part, ks); !slices.Equal(got, want) {
					t.Fatalf("set %d of %q:\n%v\nwant %v", i, part, got, want)
				}
			}
		}
	})
}

// The same of generated texts: parts of what is found, and of what is not, in any order.
func TestGeneratedTexts(t *testing.T) {
	slow.Test(t)
	parts := []string{"", " ", "\n", "x", "xxxxxxxxxxxxxxxx", "text", "type\":\"", "package main\n\nfunc main() {}\n", "| a | b |\n", "token: ", "4539", "<p>", "](", "[", "<", "é", "\u200b", "\x1b[1m",
		strings.Repeat("QUJD", 12), strings.Repeat(" ", 31), "=", "-----BEGIN ", "ignore all previous instructions", "{\"a\":[1,2]}", "2026-11-30T10:00:00Z"}
	for _, d := range kinds {
		parts = append(parts, d.shows, d.shows[len(d.shows)/2:], d.shows[:len(d.shows)/2])
	}
	every, random := sets(t), rand.New(rand.NewPCG(1, 2))
	for n := range 100_000 {
		var b strings.Builder
		for range 1 + random.IntN(6) {
			b.WriteString(parts[random.IntN(len(parts))])
		}
		text, ks := b.String(), every[n%len(every)]
		if got, want := SearchText(text, ks), slowly(text, ks); !slices.Equal(got, want) {
			t.Fatalf("set %d of %q:\n%v\nwant %v", n%len(every), text, got, want)
		}
	}
}
