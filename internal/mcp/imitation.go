package mcp

import (
	"html"
	"slices"
	"strings"
	"unicode"

	"github.com/clawai/clawai/internal/wire/jsonscan"
	"golang.org/x/text/unicode/norm"

	"github.com/clawai/clawai/internal/text/textclass"
)

// imitates is the reason for the refusal of a server's form.
const imitates = "it speaks in clawai's name, or as only clawai's own questions do"

// ourName and ourPhrases identify clawai's own questions. They are written in the letters that
// likenessWords returns. Our own forms are never checked here.
const ourName = "clawal"

var ourPhrases = [...][]string{
	{"let", "thls", "call", "through"},                           // from the first line of elicit's message
	{"nothlng", "ls", "done", "before", "you", "answer"},         // from the last line of that message
	{"allow", "thls", "call", "untll", "the", "sesslon", "ends"}, // from a choice in elicit's form
}

// speaksAsUs reports whether a person could mistake a text for a question of clawai. The text may
// be shown as plain text, Markdown or HTML.
func speaksAsUs(text string) bool {
	if oursIn(likenessWords(text)) {
		return true
	}
	if !strings.ContainsAny(text, "&<") {
		return false
	}
	shown := html.UnescapeString(text)
	return oursIn(likenessWords(shown)) || oursIn(likenessWords(stripTags(shown)))
}

// stripTags returns HTML text without the tags.
func stripTags(s string) string {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(s, "<")
		b.WriteString(before)
		_, after, closed := strings.Cut(rest, ">")
		if !found || !closed {
			return b.String()
		}
		s = after
	}
}

func oursIn(words []string) bool {
	for i := range words {
		if spellsUs(words[i:]) {
			return true
		}
		for _, phrase := range ourPhrases {
			if rest := words[i:]; len(rest) >= len(phrase) && slices.Equal(rest[:len(phrase)], phrase) {
				return true
			}
		}
	}
	return false
}

// spellsUs reports whether words begin with our name, as one word or spelled in several ("Claw AI",
// "c l a w a i").
func spellsUs(words []string) bool {
	if strings.Contains(words[0], ourName) {
		return true
	}
	spelled := ""
	for _, w := range words {
		if spelled += w; !strings.HasPrefix(ourName, spelled) || spelled == ourName {
			break
		}
	}
	return spelled == ourName
}

// likenessWords returns the words of a text as a person sees them. It removes differences in case,
// accents and width, and invisible characters. It replaces look-alike letters of other scripts. I,
// l and 1 become the same letter.
func likenessWords(text string) []string {
	s := strings.Map(func(r rune) rune {
		r = unicode.ToLower(r)
		switch {
		case unicode.Is(unicode.Mn, r), textclass.OddInName(r) && !unicode.IsSpace(r) && !textclass.BlankLike.HasRune(r):
			return -1
		case r < unicode.MaxASCII && (r < 'a' || r > 'z') && asLetter(r) == 0:
			return ' '
		}
		if like := asLetter(r); like != 0 {
			return like
		}
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return ' '
	}, norm.NFKD.String(text))
	return strings.Fields(strings.ReplaceAll(s, "vv", "w"))
}

// asLetter returns the letter of our name or phrases that r looks like, in lower case, or 0. It
// knows look-alikes (Unicode TR 39 confusables) and signs that logos use for letters.
func asLetter(r rune) rune {
	for _, l := range [...]struct {
		letter rune
		like   string
	}{
		{'a', "@4αаɑᴀ⍺ꭺʌλᴧ∧δꓮᗅ"},
		{'c', "¢сϲςᴄⲥꮯƈʗꓚ"},
		{'l', "i1|!ıɩιіӏɪʟłƚǀǃ¡ꓲꓡꮮן׀ߊ"},
		{'v', "νѵυᴠⅴꮩ"},
		{'w', "ωѡԝᴡɯшщաꮃꮤⱳʍꓪ"},
	} {
		if strings.ContainsRune(l.like, r) {
			return l.letter
		}
	}
	return 0
}

// anySpeaksAsUs reports whether speaksAsUs is true for a string or a member name in the schema of a
// form.
func anySpeaksAsUs(schema jsonscan.Value) (found bool) {
	schema.VisitLeaves(func(name string, leaf jsonscan.Value) {
		found = found || speaksAsUs(name) || speaksAsUs(leaf.Text())
	})
	return found
}
