package inspect

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"math"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"github.com/pelletier/go-toml/v2"
)

// Pack is a named list of things to find: built-in kinds, and the owner's patterns.
type Pack struct {
	Name     string    `toml:"name"`
	Says     string    `toml:"says"` // what the pack finds, for people
	Kinds    []Kind    `toml:"kinds"`
	Patterns []Pattern `toml:"pattern"`

	text   []byte      // the TOML text of the pack
	begins *beginnings // index of the near words, for findOwn
}

// Pattern describes one form of text to find. Its regex is run only near certain words, so it is
// not run for most texts.
type Pattern struct {
	Says  string   `toml:"says"`
	Near  []string `toml:"near"`  // words, in any case; the form must be within 96 bytes of one of them
	Regex string   `toml:"regex"` // the form, in RE2
	Check string   `toml:"check"` // name of an entry in checks, such as "npi"; "" for none
	Match []string `toml:"match"` // example texts with the form; at least one
	Not   []string `toml:"not"`   // example texts without the form; at least one

	form *regexp.Regexp
	size int // number of instructions of the regex: the cost for one byte of text
}

// Limits of a pack, because each pattern costs time for each text that is searched.
const (
	maxPack     = 256 << 10 // bytes
	maxPatterns = 64
	maxNear     = 16   // words per pattern
	maxRegex    = 1024 // bytes of a regex; RE2 itself limits repetitions and needs linear time
	maxSize     = 1000 // instructions of one regex
	maxSizes    = 4000 // instructions of all regexes of a pack
	around      = 96   // bytes before and after a near word
)

//go:embed packs/*.toml
var packFiles embed.FS

// packs are the built-in packs. They are read on first use.
var packs = sync.OnceValue(func() (all []*Pack) {
	files, err := packFiles.ReadDir("packs")
	for _, f := range files {
		src, readErr := packFiles.ReadFile("packs/" + f.Name())
		p, parseErr := ParsePack(src)
		if err = errors.Join(err, readErr, parseErr); err != nil {
			break
		}
		all = append(all, p)
	}
	if err != nil {
		panic(err) // cannot happen, because a test reads all packs
	}
	return all
})

// PackError tells why a pack does not load.
type PackError struct {
	Line int // from 1; 0 if the error is about the whole pack
	Err  error
}

func (e *PackError) Error() string {
	if e.Line == 0 {
		return e.Err.Error()
	}
	return fmt.Sprintf("line %d: %v", e.Line, e.Err)
}

// Unwrap returns the error without the line.
func (e *PackError) Unwrap() error { return e.Err }

// ParsePack parses a pack and checks its examples. It returns an error if an example has the wrong
// result. Every error is a *PackError.
func ParsePack(src []byte) (*Pack, error) {
	fail := func(line int, err error) (*Pack, error) { return nil, &PackError{line, err} }
	if len(src) > maxPack {
		return fail(0, fmt.Errorf("%d bytes: at most %d", len(src), maxPack))
	}
	p := &Pack{text: src}
	d := toml.NewDecoder(bytes.NewReader(src)).DisallowUnknownFields()
	if err := d.Decode(p); err != nil {
		if strict, ok := errors.AsType[*toml.StrictMissingError](err); ok && len(strict.Errors) > 0 {
			line, _ := strict.Errors[0].Position()
			return fail(line, fmt.Errorf("unknown key %q", strings.Join(strict.Errors[0].Key(), ".")))
		}
		if wrong, ok := errors.AsType[*toml.DecodeError](err); ok {
			line, _ := wrong.Position()
			return fail(line, err)
		}
		return fail(0, err)
	}
	alien := slices.IndexFunc(p.Kinds, func(k Kind) bool { return !slices.Contains(shareable, k) })
	switch {
	case p.Name == "" || len(p.Name) > 32 || strings.Trim(p.Name, "abcdefghijklmnopqrstuvwxyz0123456789-:") != "":
		return fail(0, fmt.Errorf("name %q is not made of small letters, digits, dashes and colons, at most 32", p.Name))
	case !oneLine(p.Says):
		return fail(0, fmt.Errorf("says: %q is not one line of text", p.Says))
	case len(p.Patterns) > maxPatterns:
		return fail(0, fmt.Errorf("%d patterns: at most %d", len(p.Patterns), maxPatterns))
	case len(p.Patterns)+len(p.Kinds) == 0:
		return fail(0, errors.New("it looks for nothing: give kinds, or a [[pattern]]"))
	case alien >= 0:
		return fail(0, fmt.Errorf("kinds: %q is not a kind that packs can have (%v)", p.Kinds[alien], shareable))
	}
	sizes := 0
	for i := range p.Patterns {
		err := p.Patterns[i].compilePattern()
		if sizes += p.Patterns[i].size; err == nil && sizes > maxSizes {
			err = fmt.Errorf("the regexes up to this have %d steps: at most %d", sizes, maxSizes)
		}
		if err != nil {
			return fail(headerLine(src, i), fmt.Errorf("pack %s, pattern %d (%s): %w", p.Name, i+1, strings.Trim(strconv.Quote(p.Patterns[i].Says), `"`), err))
		}
	}
	var err error
	if p.begins, err = beginningsOf(p); err != nil {
		return fail(0, err)
	}
	return p, nil
}

// headerLine returns the line of [[pattern]] number n, counted from 0. It returns 0 if the header
// is written in another way.
func headerLine(src []byte, n int) int {
	at := 0
	for line := range bytes.Lines(src) {
		at++
		if bytes.HasPrefix(bytes.TrimSpace(line), []byte("[[pattern]]")) {
			if n--; n < 0 {
				return at
			}
		}
	}
	return 0
}

// oneLine reports whether a text can be shown to people unchanged, on one line.
func oneLine(says string) bool {
	return !strings.ContainsFunc(says, func(r rune) bool { return !unicode.IsPrint(r) })
}

// compilePattern compiles the regex of a pattern and checks the examples.
func (p *Pattern) compilePattern() (err error) {
	switch {
	case !oneLine(p.Says):
		return errors.New("says is not one line of text")
	case len(p.Regex) > maxRegex:
		return fmt.Errorf("regex of %d bytes: at most %d", len(p.Regex), maxRegex)
	case len(p.Near) > maxNear:
		return fmt.Errorf("near has %d words: at most %d", len(p.Near), maxNear)
	case len(p.Near) == 0 || slices.ContainsFunc(p.Near, func(w string) bool { return len(w) < 2 || len(w) > 64 || w != strings.ToLower(w) }):
		return errors.New("near: give at least one word in small letters, of 2 to 64 bytes")
	case len(p.Match) == 0 || len(p.Not) == 0:
		return errors.New("give a text in match and one in not")
	case p.Check != "" && checks[p.Check] == nil:
		return fmt.Errorf("unknown check %q", p.Check)
	}
	if p.form, err = regexp.Compile(p.Regex); err != nil {
		if bad, ok := errors.AsType[*syntax.Error](err); ok {
			return fmt.Errorf("regex: %s: %q", bad.Code, bad.Expr)
		}
		return err
	}
	if p.size, err = sizeOf(p.Regex); err != nil {
		return err
	}
	if p.form.MatchString("") {
		return errors.New("the regex matches nothing at all, which is everywhere")
	}
	for _, texts := range []struct {
		of   []string
		want bool
	}{{p.Match, true}, {p.Not, false}} {
		for _, text := range texts.of {
			found := false
			p.findPlaces(text, nil, func(int, int) bool { found = true; return false })
			if found != texts.want {
				return fmt.Errorf("%q: found is %v, and the example says %v", text, found, texts.want)
			}
		}
	}
	return nil
}

// findPlaces visits the places where the form is near one of its words. It merges the ranges around
// words that are close together, so that the regex reads no byte twice. The parameter left is the
// remaining work. When it is used up, findPlaces stops. If it is nil, there is no limit.
func (p *Pattern) findPlaces(text string, left *int, visit func(start, end int) bool) {
	from, to := 0, -1
	read := func() bool {
		for from < to {
			if left != nil {
				if *left -= (to - from) * p.size; *left < 0 {
					return false
				}
			}
			m := p.form.FindStringIndex(text[from:to])
			if m == nil {
				return true
			}
			start, end := from+m[0], from+m[1]
			if check := checks[p.Check]; (check == nil || check(text[start:end])) && !visit(start, end) {
				return false
			}
			from = max(end, start+1)
		}
		return true
	}
	for at := range wordPlaces(text, p.Near) {
		begin, end := wordStart(text, max(0, at-around)), min(len(text), at+around)
		if begin > to {
			if !read() {
				return
			}
			from = begin
		}
		to = end
	}
	read()
}

// wordStart returns the start of the word around i, or i if it is not inside a word.
func wordStart(text string, i int) int {
	for n := 0; n < around && i > 0 && partOfNumber(text[i-1]); n++ {
		i--
	}
	return i
}

// wordPlaces visits the places of words in a text, in order. It ignores case.
func wordPlaces(text string, words []string) func(yield func(at int) bool) {
	return func(yield func(at int) bool) {
		var first [256]bool
		for _, w := range words {
			first[w[0]], first[toUpper(w[0])] = true, true
		}
		for i := range len(text) {
			if !first[text[i]] {
				continue
			}
			for _, w := range words {
				if standsAt(text, i, w) {
					if !yield(i) {
						return
					}
					break
				}
			}
		}
	}
}

// standsAt reports whether a word is at i, in any case, and does not begin inside another word.
// After a word of more than four letters, more letters may follow.
func standsAt(text string, i int, word string) bool {
	end := i + len(word)
	switch {
	case end > len(text), i > 0 && isLetter(text[i-1]) && isLetter(word[0]):
		return false
	case len(word) <= 4 && end < len(text) && isLetter(text[end]) && isLetter(word[len(word)-1]):
		return false
	}
	return strings.EqualFold(text[i:end], word)
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func toUpper(c byte) byte {
	if c >= 'a' && c <= 'z' {
		return c - 'a' + 'A'
	}
	return c
}

// nearWord is a near word, with the number of its pattern in the index.
type nearWord struct {
	word    string
	pattern int
}

// begins is the index of the near words of all built-in packs.
var begins = sync.OnceValue(func() *beginnings {
	b, err := beginningsOf(packs()...)
	if err != nil {
		panic(err) // cannot happen, because a test reads all packs
	}
	return b
})

func beginningsOf(packs ...*Pack) (*beginnings, error) {
	b := &beginnings{words: make([][]nearWord, 1)}
	n := 0
	for _, p := range packs {
		for i := range p.Patterns {
			for _, w := range p.Patterns[i].Near {
				at := &b.list[foldPair(w[0], w[1])]
				if *at == 0 {
					if len(b.words) > math.MaxUint8 {
						return nil, fmt.Errorf("near: at most %d words that begin with other letters", math.MaxUint8)
					}
					*at = uint8(len(b.words))
					b.words = append(b.words, nil)
				}
				b.some[foldPair(w[0], w[1])>>6] |= 1 << (foldPair(w[0], w[1]) & 63)
				b.words[*at] = append(b.words[*at], nearWord{w, n})
			}
			n++
		}
	}
	return b, nil
}

// beginnings is an index of near words by their first two bytes. At most places of a text no near
// word begins; then the search reads only one bit.
type beginnings struct {
	some  [1 << 10]uint64 // a bit for each entry of list that is not 0; small, so it stays in the processor's cache
	list  [1 << 16]uint8  // index in words, by the first two bytes in lower case; 0 if no word begins with them
	words [][]nearWord
}

func foldPair(a, b byte) uint16 { return uint16(a|0x20)<<8 | uint16(b|0x20) }

// noteWords marks the patterns that have a near word in the text. It reads the text once.
func (b *beginnings) noteWords(text string, says *[maxPatterns]bool) {
	before := uint16(0)
	for i := range len(text) {
		pair := before<<8 | uint16(text[i]|0x20)
		before = pair
		if b.some[pair>>6]&(1<<(pair&63)) == 0 || i == 0 {
			continue
		}
		for _, w := range b.words[b.list[pair]] {
			says[w.pattern] = says[w.pattern] || standsAt(text, i-1, w.word)
		}
	}
}

// findPacks finds the matches of the patterns of the wanted packs.
func findPacks(f *findings) {
	var says [maxPatterns]bool
	begins().noteWords(f.text, &says)
	n := -1
	for _, p := range packs() {
		k := Kind(p.Name)
		for j := range p.Patterns {
			pattern := &p.Patterns[j]
			if n++; !says[n] || !f.wanted.hasKind(k) {
				continue
			}
			pattern.findPlaces(f.text, nil, func(start, end int) bool {
				f.addFinding(k, pattern.Says, start, end)
				return true
			})
		}
	}
}
