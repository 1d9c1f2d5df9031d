package scalar

import (
	"regexp"
	"regexp/syntax"
	"strings"
	"testing"
)

// Steps are counted without compiling. The count is never below what the compiler makes,
// and what it lets through compiles in the forms that values are judged by.
func FuzzSteps(f *testing.F) {
	for _, expr := range []string{
		"", "a", "abc", "a|b|cd", "(a|b)*c", "x{2,5}", "(?:ab{3}){4,}", "[a-z0-9]+@[^ ]*", `(?i)héllo\b`, "(a?){50}", "a{0}", "(?:(?:a{9}){9}){9}", "^$", "(|a|b)+?", `\Qa`, `\Qa)\E`, `\\Qa`, `a\`,
		strings.Repeat("(", 400) + "a" + strings.Repeat(")", 400), strings.Repeat("(", 800) + "a" + strings.Repeat(")", 800), "(?:((a){10}){10}){10}", "((a{100}){100}){9}",
	} {
		f.Add(expr)
	}
	f.Fuzz(func(t *testing.T, expr string) {
		c, err := NewRegex(expr, "")
		if err != nil {
			return
		}
		parsed, err := syntax.Parse(expr, syntax.Perl)
		if err != nil {
			t.Fatalf("%q: %v", expr, err)
		}
		program, err := syntax.Compile(parsed.Simplify())
		if own := c.(*regex); err != nil || own.size+2 < len(program.Inst) {
			t.Fatalf("%q: counted %d steps of %d, %v", expr, own.size, len(program.Inst), err)
		}
		for _, form := range []string{`\A(?:` + expr + `)\z`, LinesExpression(expr)} {
			if _, err := regexp.Compile(form); err != nil {
				t.Fatalf("%q: %v", form, err)
			}
		}
	})
}
