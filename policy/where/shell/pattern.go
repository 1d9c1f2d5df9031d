package shell

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"unicode/utf8"

	"github.com/clawai/clawai/internal/text/textclass"
	"github.com/clawai/clawai/policy/glob"
	"github.com/clawai/clawai/policy/where"
)

// The limits of a pattern.
const (
	maxPattern = 4096
	// notWords are characters that are special to shells. A pattern with such a character is not a
	// list of words: its author wrote shell text.
	notWords = "\\`$;&|<>()"
)

// pattern is a simple command as a list of words. Each word is a glob.
type pattern struct {
	source string
	texts  []string // the glob of each word
	rest   bool     // the pattern ends in **, so any number of words may follow
	wild   bool     // the first word has a wildcard
	globs  atomic.Pointer[[]*glob.Pattern]
}

// words returns the compiled globs. It compiles them on first use, because most patterns of a
// policy are never compared with a command that has the same first word.
func (p *pattern) words() []*glob.Pattern {
	if globs := p.globs.Load(); globs != nil {
		return *globs
	}
	globs := make([]*glob.Pattern, len(p.texts))
	for i, text := range p.texts {
		globs[i], _ = glob.Compile(text) // no error: splitPattern returns only valid globs
	}
	p.globs.Store(&globs)
	return globs
}

// mayBegin reports whether a command with this first word may match.
func (p *pattern) mayBegin(text string) bool {
	return len(p.texts) > 0 && (p.texts[0] == text || p.wild && p.words()[0].Match(text))
}

func parsePattern(source string) (*pattern, error) {
	if !utf8.ValidString(source) {
		return nil, errors.New("is not valid UTF-8")
	}
	if len(source) > maxPattern {
		return nil, fmt.Errorf("is longer than %d bytes", maxPattern)
	}
	words, err := splitPattern(source)
	if err != nil {
		return nil, err
	}
	if len(words) == 0 {
		return nil, errors.New("is empty; write a command such as \"git status\"")
	}
	p := &pattern{source: source, texts: words}
	if words[len(words)-1] == "**" {
		p.rest, p.texts = true, words[:len(words)-1]
	}
	p.wild = len(p.texts) > 0 && strings.ContainsAny(p.texts[0], "*?")
	return p, nil
}

// splitPattern splits a pattern at its blanks. Quotes keep a blank, or a character that is special
// to shells, in a word.
func splitPattern(source string) ([]string, error) {
	words := make([]string, 0, 1+strings.Count(source, " "))
	// From is the start of the current word, or -1 between words; quoted means that the word has
	// quotes.
	from, quoted := -1, false
	end := func(i int) {
		switch {
		case quoted:
			words = append(words, removeQuotes(source[from:i]))
		case from >= 0:
			words = append(words, source[from:i])
		}
		from, quoted = -1, false
	}
	quote := rune(0)
	for i, r := range source {
		switch {
		case 'a' <= r && r <= 'z': // a fast path for letters
		case r != ' ' && textclass.OddInSyntax(r):
			return nil, fmt.Errorf("holds the character %U; words are separated by blanks", r)
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && isQuote(r):
			quote, quoted = r, true
		case quote != 0 && (r == '*' || r == '?'):
			return nil, fmt.Errorf("holds a quoted %c, which cannot be written; a ? without quotes stands for one character", r)
		case quote == 0 && r < utf8.RuneSelf && strings.IndexByte(notWords, byte(r)) >= 0:
			return nil, fmt.Errorf("holds %q: a pattern is the words of one command; put quotes around the word, or a ? in place of the character", r)
		case quote == 0 && r == ' ':
			end(i)
			continue
		}
		if from < 0 {
			from = i
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("has an opening %c without a closing one", quote)
	}
	if end(len(source)); slices.Contains(words, "") {
		return nil, errors.New("holds an empty word")
	}
	return words, nil
}

func isQuote(r rune) bool { return r == '\'' || r == '"' }

// removeQuotes returns a word without its quotes. Every quote in it must be closed.
func removeQuotes(word string) string {
	var b strings.Builder
	quote := rune(0)
	for _, r := range word {
		switch {
		case quote == 0 && isQuote(r):
			quote = r
		case r == quote:
			quote = 0
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// matchWords reports whether the pattern matches these words: Yes if it matches for every possible
// expansion of the words by a shell, No if it matches for no expansion.
func (p *pattern) matchWords(words []word) where.Match {
	if first := len(words) > 0 && len(p.texts) > 0; first && words[0].known && !words[0].many && !p.mayBegin(words[0].text) && !goesUp(words[0].text) {
		return where.No
	}
	certain := true
	for i, g := range p.words() {
		if i == len(words) {
			return where.No
		}
		w := &words[i]
		switch {
		case w.many:
			return where.Maybe
		case !w.known:
			certain = certain && matchesAll(g)
		case g.Match(w.text):
			certain = certain && (!g.HasWildcard() || isBareGlob(g.String()) || !goesUp(w.text))
		case g.HasWildcard() && goesUp(w.text):
			certain = false
		default:
			return where.No
		}
	}
	more := words[len(p.texts):]
	switch {
	case !p.rest && slices.ContainsFunc(more, func(w word) bool { return !w.many }):
		return where.No
	case !p.rest && len(more) > 0, !certain:
		return where.Maybe
	}
	return where.Yes
}

// opensOption reports whether the pattern names word i of a command. Either the pattern's word i
// has no wildcard, or it names the option, as --output=* does.
func (p *pattern) opensOption(i int, text string) bool {
	if i >= len(p.texts) || !p.words()[i].HasWildcard() {
		return i < len(p.texts)
	}
	name, _, _ := strings.Cut(p.texts[i], "*")
	option, _, ok := strings.Cut(name, "=")
	return ok && strings.HasPrefix(option, "-") && !strings.Contains(option, "?") && strings.HasPrefix(text, option+"=")
}

// spellsWords reports whether the pattern contains at least a part of every word, so that no word
// matches by wildcards alone.
func (p *pattern) spellsWords(words []word) bool {
	if p.rest || hasUnknownWord(words) {
		return false
	}
	for i := range words {
		if !p.namesWord(i) {
			return false
		}
	}
	return true
}

// namesWord reports whether the pattern contains at least a part of word i.
func (p *pattern) namesWord(i int) bool { return i < len(p.texts) && !isBareGlob(p.texts[i]) }

// isExact reports whether the pattern has no wildcard at all.
func (p *pattern) isExact() bool {
	return !p.rest && !slices.ContainsFunc(p.words(), (*glob.Pattern).HasWildcard)
}

// isBareGlob reports whether a glob consists only of wildcards.
func isBareGlob(text string) bool { return strings.Trim(text, "*?") == "" }

// matchesAll reports whether a glob matches every text.
func matchesAll(g *glob.Pattern) bool {
	s := g.String()
	return len(s) > 1 && strings.Trim(s, "*") == ""
}

// goesUp reports whether a path in the text has "..". `src/**` matches src/../../etc, but the
// author of `src/**` does not mean this path.
func goesUp(text string) bool {
	ends := func(at int) bool { return at < 0 || at == len(text) || strings.IndexByte("/\\=:,", text[at]) >= 0 }
	for at := 0; ; at++ {
		i := strings.Index(text[at:], "..")
		if i < 0 {
			return false
		}
		if at += i; ends(at-1) && ends(at+2) {
			return true
		}
	}
}
