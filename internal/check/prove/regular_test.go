package prove

import (
	"regexp"
	"testing"

	"pgregory.net/rapid"
)

func TestRegular(t *testing.T) {
	for _, c := range []struct {
		inner, outer string
		within       bool
	}{
		{`abc`, `abc`, true},
		{`^abc$`, `abc`, true},
		{`abc`, `\Aabc\z`, true},
		{`a|b`, `b|a`, true},
		{`a|b`, `[ab]`, true},
		{`[ab]`, `a`, false},
		{`git (status|log)`, `git [a-z]+`, true},
		{`git [a-z]+`, `git (status|log)`, false},
		{`(ab)*`, `(ab)*(ab)?`, true},
		{`a{2,4}`, `aa+`, true},
		{`.*`, `(?s).*`, true},
		{`(?s).*`, `.*`, false},                   // a line break
		{`(?i)key`, `[kK\x{212A}][eE][yY]`, true}, // the Kelvin sign folds to k
		{`(?i)key`, `[kK][eE][yY]`, false},
		{`\d+`, `\w+`, true},
		{`\pL`, `\w`, false},
		{`a^b`, `never`, true}, // holds nothing
		{``, `a*`, true},
		{`a*`, ``, false},
		{`x$|y`, `[xy]`, true},
	} {
		in, out := newRegular(c.inner), newRegular(c.outer)
		text, found, all := apartText([]*regular{in}, []*regular{out})
		if !all || found == c.within {
			t.Errorf("%s within %s: %v, %q", c.inner, c.outer, !found, text)
		}
		if found && (!full(c.inner).MatchString(text) || full(c.outer).MatchString(text)) {
			t.Errorf("%q is not text of %s without %s", text, c.inner, c.outer)
		}
	}
	for _, expr := range []string{`a\b`, `(?m)^a`, `(?m)a$`, `(`, `\B`} {
		if newRegular(expr) != nil {
			t.Errorf("%s is compared, and what it looks at is not", expr)
		}
	}
	// What would take too long is neither.
	if text, found, all := apartText([]*regular{newRegular(`(a|b)*a(a|b){14}`)}, []*regular{newRegular(`(a|b)*b(a|b){14}|[ab]*`)}); found || all {
		t.Errorf("%q %v %v", text, found, all)
	}
}

func full(expr string) *regexp.Regexp { return regexp.MustCompile(`\A(?:` + expr + `)\z`) }

// expressionsOf draws expressions over a, b and a line break, nested so deeply.
func expressionsOf(depth int) *rapid.Generator[string] {
	atom := rapid.SampledFrom([]string{"a", "b", ".", "[ab]", "[^a]", "(?i:a)", "^", "$", `\n`, "(?s:.)", ""})
	if depth == 0 {
		return atom
	}
	expr := expressionsOf(depth - 1)
	return rapid.Custom(func(t *rapid.T) string {
		switch rapid.IntRange(0, 4).Draw(t, "form") {
		case 0:
			return "(?:" + expr.Draw(t, "left") + "|" + expr.Draw(t, "right") + ")"
		case 1, 2:
			return expr.Draw(t, "first") + expr.Draw(t, "second")
		case 3:
			return "(?:" + expr.Draw(t, "again") + ")" + rapid.SampledFrom([]string{"*", "+", "?", "{2}"}).Draw(t, "times")
		}
		return atom.Draw(t, "atom")
	})
}

// TestRegularAgainstBruteForce: what is said of two expressions holds for every
// short text, as package regexp reads them.
func TestRegularAgainstBruteForce(t *testing.T) {
	texts, last := []string{""}, []string{""}
	for range 4 {
		var next []string
		for _, s := range last {
			for _, c := range "abA\nx" {
				next = append(next, s+string(c))
			}
		}
		texts, last = append(texts, next...), next
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b := expressionsOf(3).Draw(t, "a"), expressionsOf(3).Draw(t, "b")
		x, y := newRegular(a), newRegular(b)
		in, out := full(a), full(b)
		for _, without := range []bool{true, false} {
			var text string
			var found, all bool
			if without {
				text, found, all = apartText([]*regular{x}, []*regular{y})
			} else {
				text, found, all = apartText([]*regular{x, y}, nil)
			}
			if found && (!in.MatchString(text) || out.MatchString(text) == without) {
				t.Fatalf("%q does not show %s and %s", text, a, b)
			}
			for _, s := range texts {
				if !found && all && in.MatchString(s) && out.MatchString(s) != without {
					t.Fatalf("%q was not found for %s and %s", s, a, b)
				}
			}
		}
	})
}
