package mcp

import (
	"html"
	"strings"
	"unicode"

	"github.com/clawai/clawai/internal/wire/jsonscan"
	"golang.org/x/text/unicode/norm"

	"github.com/clawai/clawai/internal/text/textclass"
)

// imitates is why a server's form is refused.
const imitates = "it speaks in clawai's name, or as only clawai's own questions do"

// ourName and ourPhrases are what a person knows a question of clawai's by, as
// likeness writes them. Our own forms never pass through here.
const ourName = "clawal"

var ourPhrases = [...][]string{
	{"let", "thls", "call", "through"},                           // the first line of elicit's message
	{"nothlng", "ls", "done", "before", "you", "answer"},         // its last one
	{"allow", "thls", "call", "untll", "the", "sesslon", "ends"}, // a choice of its form
}

// speaksAsUs reports whether a person could take a text, as some client shows it,
// for a question of clawai's: plain, as Markdown, or as HTML.
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

// stripTags gives what stays of HTML.
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
			if hasWordPrefix(words[i:], phrase) {
				return true
			}
		}
	}
	return false
}

// spellsUs says that words begin with our name: in one of them, or spelled over
// several ("Claw AI", "c l a w a i").
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

func hasWordPrefix(words, with []string) bool {
	if len(words) < len(with) {
		return false
	}
	for i := range with {
		if words[i] != with[i] {
			return false
		}
	}
	return true
}

// likenessWords gives a text as the words a person reads: no difference of case, accents,
// width, or script where letters look alike, and nothing that cannot be seen. I, l
// and 1 are one letter.
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

// asLetter gives the letter of ours that a character is drawn like (Unicode TR 39
// confusables, and what logos put in its place), in lower case; 0 for none.
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

// anySpeaksAsUs looks at every string and member name of a form's schema.
func anySpeaksAsUs(schema jsonscan.Value) (found bool) {
	schema.VisitLeaves(func(name string, leaf jsonscan.Value) {
		found = found || speaksAsUs(name) || speaksAsUs(leaf.Text())
	})
	return found
}
