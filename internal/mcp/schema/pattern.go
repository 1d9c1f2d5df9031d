package schema

import (
	"regexp"
	"regexp/syntax"
	"strings"
	"sync"
)

// pattern is a regular expression that means the same in every dialect, for plain ASCII texts.
type pattern struct {
	form *regexp.Regexp
	size int // number of instructions
}

// Limits of compiled patterns.
const (
	maxForm  = 1_000  // instructions of one pattern
	maxForms = 10_000 // instructions of all patterns in a schema
)

// readPattern compiles a pattern. It returns nil if the pattern will not be checked.
func (r *reader) readPattern(n *node, text string) *pattern {
	if len(text) <= maxForm && isPortable(text) {
		if tree, err := syntax.Parse(text, syntax.Perl); err == nil {
			size := regexLength(tree)
			if r.forms += size; size <= maxForm && r.forms <= maxForms {
				if form, err := regexp.Compile(text); err == nil {
					r.left -= size
					return &pattern{form, size}
				}
			}
		}
	}
	n.unknown = "a pattern is too large, or means different things to different readers"
	return nil
}

// regexLength returns a lower bound for the number of instructions of the compiled pattern.
func regexLength(re *syntax.Regexp) int {
	n := 1 + len(re.Rune)
	for _, sub := range re.Sub {
		n += regexLength(sub)
		if n > maxForm {
			return n
		}
	}
	if re.Op == syntax.OpRepeat {
		n *= max(re.Min, re.Max, 1)
	}
	return n
}

// isPortable reports whether a pattern uses only the syntax that ECMA-262, RE2 and Python share.
// The only group with a question mark is (?:. The only escapes are those of classes, controls and
// signs. A class or a brace must have the same meaning in all of them.
func isPortable(text string) bool {
	inClass := false
	for i := 0; i < len(text); i++ {
		c, rest := text[i], text[i+1:]
		switch {
		case c < ' ' || c > '~':
			return false
		case c == '\\':
			if rest == "" || !strings.ContainsRune(`dDwWsSnrtfv^$\.*+?()[]{}|/-`, rune(rest[0])) && (inClass || rest[0] != 'b') {
				return false
			}
			i++
		case inClass:
			switch {
			case c == ']':
				inClass = false
			case c == '[', strings.HasPrefix(text[i:], "&&"), strings.HasPrefix(text[i:], "--"), strings.HasPrefix(text[i:], "||"), strings.HasPrefix(text[i:], "~~"):
				return false
			}
		case c == '[':
			inClass = true
			if strings.HasPrefix(rest, "]") || strings.HasPrefix(rest, "^]") {
				return false
			}
		case c == '(':
			if strings.HasPrefix(rest, "?") && !strings.HasPrefix(rest, "?:") || strings.HasPrefix(rest, "*") {
				return false
			}
		case c == ']' || c == '}':
			return false
		case c == '{':
			if !repeats().MatchString(rest) {
				return false
			}
			i += strings.IndexByte(rest, '}') + 1
		case (c == '^' || c == '$') && strings.IndexAny(rest, "+*?{") == 0:
			return false
		}
	}
	return !inClass
}

// repeats matches the part of a repetition after its {.
var repeats = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9]{1,4}(,[0-9]{0,4})?\}`) })

// matchText matches a text against the pattern and uses up steps. For a text with other characters
// than plain ASCII it returns Unchecked.
func (p *pattern) matchText(c *check, text string) Verdict {
	if c.left -= 1 + len(text)*(8+p.size)/8; c.left < 0 {
		return Unchecked
	}
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' {
			c.setUnchecked("a pattern is about plain ASCII alone")
			return Unchecked
		}
	}
	if p.form.MatchString(text) {
		return Fits
	}
	return Unfit
}
