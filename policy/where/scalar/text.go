package scalar

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/clawai/clawai/internal/text/textclass"
	"github.com/clawai/clawai/policy/reading"
	"github.com/clawai/clawai/policy/where"
)

// Bounds of a regex. The author of the policy writes the regex. The cost of a match is the size of
// the regex times the length of the text.
const (
	maxExpr    = 4096
	maxProgram = 4096 // largest number of instructions
	// Largest depth: half of what package regexp accepts, because the expression is put into a
	// group.
	maxDepth = 500
	maxSteps = 1 << 20
)

// NewRegex returns a constraint that holds for texts that match the RE2 expression from the first
// to the last character. The whole text must match, because an allow for a part would also allow
// the text around the part. Authors write .* where any text may occur. As always in RE2, a dot does
// not match a line break without (?s). Numbers and booleans are matched by their JSON text.
//
// If a text with line breaks does not match as a whole, the answer for a deny or prompt rule is
// Maybe if the expression matches one whole line of the text, or several whole lines together.
//
// ${cwd} stands for the folder in which the server was started, as an absolute path or as a path
// below ~. home is the owner's home.
func NewRegex(expr, home string) (where.Constraint, error) {
	if strings.Contains(expr, reading.BaseWord) {
		return newBasedRegex(expr, home)
	}
	return newRegex(expr)
}

func newRegex(expr string) (*regex, error) {
	row, found := findKnown(expr)
	if !found {
		var err error
		if row, err = parseExpression(expr); err != nil {
			return nil, err
		}
	}
	made := compileLate(expr)
	made.size, made.free = row.steps, row.free
	return made, nil
}

// compileLate returns a constraint for a valid expression. It compiles the expression when the
// constraint first judges a value.
func compileLate(expr string) *regex {
	return &regex{
		expr:  expr,
		re:    sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\A(?:` + expr + `)\z`) }),
		lines: sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(LinesExpression(expr)) }),
	}
}

// parseExpression checks an expression and returns its parse result.
func parseExpression(expr string) (row knownExpression, err error) {
	if len(expr) > maxExpr {
		return row, fmt.Errorf("an expression of %d bytes (at most %d)", len(expr), maxExpr)
	}
	// Parsed without the group, so that the expression cannot close the group.
	parsed, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return row, err
	}
	if strings.Contains(expr, `\Q`) { // \Q without \E would also quote the end of the group
		if _, err := syntax.Parse("(?:"+expr+")", syntax.Perl); err != nil {
			return row, err
		}
	}
	size, deep := countSteps(parsed, maxDepth)
	switch {
	case deep:
		return row, fmt.Errorf("an expression that nests more than %d deep", maxDepth)
	case size > maxProgram:
		return row, fmt.Errorf("an expression that unfolds to %d steps (at most %d)", size, maxProgram)
	}
	return knownExpression{steps: size, free: freeCharacters(parsed)}, nil
}

// asciiSet is a set of ASCII characters, one bit each.
type asciiSet [2]uint64

// containsAll reports whether every character of a text is in the set.
func (s asciiSet) containsAll(text string) bool {
	for i := range len(text) {
		if c := text[i]; c >= utf8.RuneSelf || s[c/64]>>(c%64)&1 == 0 {
			return false
		}
	}
	return true
}

// freeCharacters returns ASCII characters: every text of only these characters matches the
// expression. For (?:[ab]|c.*)* they are a and b. The constraint judges such a text without the
// compiled program, so that a hook process need not compile the expression for one call.
func freeCharacters(re *syntax.Regexp) (free asciiSet) {
	if re.Op != syntax.OpStar {
		return free
	}
	choices := re.Sub
	if choices[0].Op == syntax.OpAlternate {
		choices = choices[0].Sub
	}
	for _, sub := range choices {
		for i := 0; sub.Op == syntax.OpCharClass && i < len(sub.Rune); i += 2 {
			for r := sub.Rune[i]; r <= min(sub.Rune[i+1], unicode.MaxASCII); r++ {
				free[r/64] |= 1 << (r % 64)
			}
		}
	}
	return free
}

// countSteps returns an upper bound of the number of steps in the compiled program of an
// expression. An exact count takes as long as compiling, and a hook reads all rules for each call.
// deep reports whether the expression nests deeper than depth.
func countSteps(re *syntax.Regexp, depth int) (steps int, deep bool) {
	if depth == 0 {
		return 0, true
	}
	for _, sub := range re.Sub {
		below, deeper := countSteps(sub, depth-1)
		steps, deep = min(steps+below, maxSteps), deep || deeper
	}
	switch re.Op {
	case syntax.OpLiteral:
		steps = 1 + len(re.Rune)
	case syntax.OpRepeat:
		steps = min(max(re.Min, re.Max, 1)*(steps+2), maxSteps)
	case syntax.OpAlternate:
		steps += len(re.Sub)
	default:
		steps += 2
	}
	return steps, deep
}

// LinesExpression returns an expression for a text whose breaks are all line feeds. It finds one or
// more whole lines that together match expr from the first to the last character.
func LinesExpression(expr string) string { return `(?:\A|\n)(?ms:` + expr + `)(?:\z|\n)` }

type regex struct {
	expr      string
	size      int
	free      asciiSet
	re, lines func() *regexp.Regexp // compile the expressions when the constraint first judges a value
}

// Expression returns the regular expression as written.
func (c *regex) Expression() string { return c.expr }

func (c *regex) JudgeValue(v where.Value, opens bool) where.Match {
	switch {
	case !hasText(v):
		return where.No
	case c.free != (asciiSet{}) && c.free.containsAll(v.Text), c.re().MatchString(v.Text):
		return where.Yes
	case !opens && strings.ContainsAny(v.Text, textclass.LineBreaks) && c.lines().MatchString(plainBreaks.Replace(v.Text)):
		return where.Maybe
	}
	return where.No
}

var plainBreaks = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\v", "\n", "\f", "\n", "\u0085", "\n", "\u2028", "\n", "\u2029", "\n")

// JudgeCost returns the cost of both expressions, because only the text decides which of them are
// needed.
func (c *regex) JudgeCost(n int) int { return 1000 + 60*c.size + n*(60+20*c.size) }

func hasText(v where.Value) bool {
	return v.Kind == where.String || v.Kind == where.Number || v.Kind == where.Boolean
}

// MaxLength returns a constraint that holds for texts of at most n code points (not
// bytes, and not the UTF-16 units of JavaScript), as they were sent. Numbers and
// booleans are measured by their JSON text. A limit below zero is an error.
func MaxLength(n int) (where.Constraint, error) {
	if n < 0 {
		return nil, errors.New("a length below zero")
	}
	return maxLength(n), nil
}

type maxLength int

func (c maxLength) JudgeValue(v where.Value, _ bool) where.Match {
	if !hasText(v) {
		return where.No
	}
	text := v.Text
	if v.Raw != "" {
		text = v.Raw
	}
	return where.MatchOf(utf8.RuneCountInString(text) <= int(c))
}

func (maxLength) JudgeCost(n int) int { return 20 + 2*n }
