// Package glob is the only glob matcher of policies: `*` is any run of characters except "/", `**`
// (or a longer run of stars) any run, `?` any one character, and every other character is literal,
// also brackets, braces and backslashes. A pattern is matched against the whole text, and letter
// case matters.
//
// Patterns come from the policy's owner, texts from an attacker. So Match never backtracks, and
// takes time proportional to pattern times text at most. A character is a code point; each byte
// that is not valid UTF-8 counts as one character that only a wildcard matches.
package glob

import (
	"errors"
	"strings"
	"sync/atomic"
	"unicode/utf8"

	"github.com/gobwas/glob"
)

// The errors of Check and Compile for an invalid pattern.
var (
	ErrEmpty   = errors.New("empty pattern")
	ErrInvalid = errors.New("pattern is not valid UTF-8")
)

const (
	wildcards = "*?"
	separator = '/'
)

// Pattern is a compiled glob. It is safe for concurrent use. The zero value matches
// nothing.
type Pattern struct {
	source string
	prefix string // literal text before the first wildcard
	suffix string // literal text after the last wildcard; "" if there is no wildcard
	core   core   // how the text between prefix and suffix is matched
	chunks []string

	compiled atomic.Pointer[glob.Pattern] // the matcher for one run of stars; nil before its first use
	// The matcher for mixed runs and for patterns with "?"; nil before its first use.
	automaton atomic.Pointer[automaton]
}

// core names the algorithm that matches the text between prefix and suffix.
type core uint8

const (
	never       core = iota // the zero Pattern, which matches nothing
	literalOnly             // no wildcard: prefix is the whole pattern
	oneRun                  // one run of stars, on which gobwas cannot backtrack
	deepRuns                // runs of `**`, with literal chunks between
	mixedRuns               // several runs, some of them `*`, and no `?`
	general                 // a `?` somewhere
)

// Check returns an error if a text is not a valid pattern. It costs a fraction of Compile.
func Check(pattern string) error {
	if pattern == "" {
		return ErrEmpty
	}
	if !utf8.ValidString(pattern) {
		return ErrInvalid
	}
	return nil
}

// Compile compiles a pattern; the error is ErrEmpty or ErrInvalid.
func Compile(pattern string) (*Pattern, error) {
	if err := Check(pattern); err != nil {
		return nil, err
	}
	p := &Pattern{source: pattern, prefix: pattern, core: literalOnly}
	first := strings.IndexAny(pattern, wildcards)
	if first < 0 {
		return p, nil
	}
	last := strings.LastIndexAny(pattern, wildcards)
	p.prefix, p.suffix = pattern[:first], pattern[last+1:]
	p.compileCore(pattern[first : last+1])
	return p, nil
}

// compileCore compiles the middle of a pattern, which begins and ends with a wildcard.
func (p *Pattern) compileCore(middle string) {
	if strings.IndexByte(middle, '?') >= 0 {
		p.core = general
		return
	}
	deep, shallow := countRuns(middle)
	switch {
	case shallow+deep == 1:
		p.core = oneRun
		return
	case shallow == 0:
		p.core = deepRuns
	default:
		p.core = mixedRuns
	}
	p.chunks = splitRuns(middle, shallow+deep-1)
}

// splitRuns returns the n literal chunks between the runs of a text that begins and ends with a
// run.
func splitRuns(s string, n int) []string {
	chunks := make([]string, 0, n)
	for len(chunks) < n {
		s = s[countStars(s):]
		end := strings.IndexByte(s, '*')
		chunks, s = append(chunks, s[:end]), s[end:]
	}
	return chunks
}

// compileAutomaton returns the automaton of the middle of a pattern. It builds the automaton on
// first use; the comment of compileRun gives the reason.
func (p *Pattern) compileAutomaton() *automaton {
	if a := p.automaton.Load(); a != nil {
		return a
	}
	a := newAutomaton(p.source[len(p.prefix) : len(p.source)-len(p.suffix)])
	p.automaton.Store(a)
	return a
}

// countRuns counts the runs of two stars or more, and the single stars.
func countRuns(s string) (deep, shallow int) {
	for i := 0; i < len(s); i++ {
		if s[i] != '*' {
			continue
		}
		n := countStars(s[i:])
		if n > 1 {
			deep++
		} else {
			shallow++
		}
		i += n
	}
	return deep, shallow
}

// countStars returns the length of the run of stars that s begins with.
func countStars(s string) int { return len(s) - len(strings.TrimLeft(s, "*")) }

// Match reports whether the pattern matches the whole of s.
func (p *Pattern) Match(s string) bool {
	if len(s) < len(p.prefix)+len(p.suffix) ||
		s[:len(p.prefix)] != p.prefix || s[len(s)-len(p.suffix):] != p.suffix {
		return false
	}
	if p.core == oneRun {
		return p.compileRun().Match(s)
	}
	s = s[len(p.prefix) : len(s)-len(p.suffix)]
	switch p.core {
	case literalOnly:
		return s == ""
	case deepRuns:
		return p.holdsChunks(s)
	case mixedRuns:
		// If s has no "/", every star acts as `**`, so the chunks are enough. If s has a "/", the
		// automaton decides; the cheap test of the chunks comes first because most texts fail it.
		return p.holdsChunks(s) && (strings.IndexByte(s, separator) < 0 || p.compileAutomaton().acceptsText(s))
	case general:
		return p.compileAutomaton().acceptsText(s)
	default:
		return false
	}
}

// compileRun returns gobwas's matcher of a pattern with one run of stars. It compiles the pattern
// on first use, because most patterns of a policy never meet a text with their prefix and suffix.
func (p *Pattern) compileRun() *glob.Pattern {
	if g := p.compiled.Load(); g != nil {
		return g
	}
	run := p.source[len(p.prefix) : len(p.source)-len(p.suffix)]
	if len(run) > 2 {
		run = "**"
	}
	g := glob.MustCompile(glob.QuoteMeta(p.prefix)+run+glob.QuoteMeta(p.suffix), separator)
	p.compiled.Store(g)
	return g
}

// holdsChunks reports whether the literal chunks follow one another in s. It finds each chunk
// as far left as possible, which leaves the most room for the rest.
func (p *Pattern) holdsChunks(s string) bool {
	for _, chunk := range p.chunks {
		i := strings.Index(s, chunk)
		if i < 0 {
			return false
		}
		s = s[i+len(chunk):]
	}
	return true
}

// String returns the pattern as written.
func (p *Pattern) String() string { return p.source }

// HasWildcard reports whether the pattern can match more than one text.
func (p *Pattern) HasWildcard() bool { return p.core > literalOnly }

// LiteralText returns the only text that the pattern matches. It returns false if the pattern has a
// wildcard.
func (p *Pattern) LiteralText() (string, bool) { return p.prefix, p.core == literalOnly }

// LiteralPrefix returns the text that every matched text begins with.
func (p *Pattern) LiteralPrefix() string { return p.prefix }

// LiteralSuffix returns the text that every matched text ends with. It never overlaps the
// prefix. For a pattern without a wildcard it is the whole pattern.
func (p *Pattern) LiteralSuffix() string {
	if p.core == literalOnly {
		return p.source
	}
	return p.suffix
}

// MatchCost returns an upper bound of the cost of Match(s), in units of about a nanosecond. It is 0
// if Match only needs to look at the ends of s.
func (p *Pattern) MatchCost(s string) int {
	if p.core <= literalOnly || !strings.HasPrefix(s, p.prefix) || !strings.HasSuffix(s, p.suffix) {
		return 0
	}
	switch {
	case p.core == general, p.core == mixedRuns && strings.IndexByte(s, separator) >= 0:
		return len(s) * (4 + p.compileAutomaton().words)
	case p.core == oneRun && strings.HasPrefix(p.source[len(p.prefix):], "**"):
		return 0
	}
	return len(s) / 4
}
