package glob_test

import (
	"errors"
	"strings"
	"testing"

	gobwas "github.com/gobwas/glob"

	"github.com/clawai/clawai/policy/glob"

	"github.com/clawai/clawai/internal/testing/slow"
)

func compile(t testing.TB, pattern string) *glob.Pattern {
	t.Helper()
	p, err := glob.Compile(pattern)
	if err != nil {
		t.Fatalf("Compile(%q): %v", pattern, err)
	}
	return p
}

func TestMatch(t *testing.T) {
	long := strings.Repeat("x", 70)
	for _, c := range []struct {
		pattern string
		yes, no []string
	}{
		{"filesystem_*", []string{"filesystem_", "filesystem_read"}, []string{"filesystem", "filesystem_a/b", "a_filesystem_x", "Filesystem_x"}},
		{"*", []string{"", "a", "a\nb", "a\x00b", "\xff"}, []string{"/", "a/b"}},
		{"**", []string{"", "/", "a/b\n"}, nil},
		{"***", []string{"", "/", "a/b"}, nil},
		{"/etc/**", []string{"/etc/", "/etc/a/b"}, []string{"/etc", "//etc/x"}},
		{"a/**/b", []string{"a//b", "a/x/b", "a/x/y/b"}, []string{"a/b"}},
		{"**/.env*", []string{"/.env", "a/.env.local"}, []string{".env", "a/.env/b"}},
		{"**/*.go", []string{"/x.go", "a/b/c.go"}, []string{"x.go", "a/b.go/c"}},
		{"a**a", []string{"aa", "a/a"}, []string{"a"}},
		{"?", []string{"a", "/", "é", "\xff", "\uFFFD"}, []string{"", "ab", "e\u0301", "\xff\xff"}},
		{"x?y", []string{"x/y", "x☃y"}, []string{"xy", "x//y"}},
		{"*?b", []string{"ab", "/b", "aa/b"}, []string{"b", "a//b"}},
		{"?*?", []string{"ab", "//", "/x/"}, []string{"a", "a//b"}},
		{"[a-c]{x,y}", []string{"[a-c]{x,y}"}, []string{"ax", "a"}},
		{`C:\Users\*`, []string{`C:\Users\me`}, []string{`C:Users*`, `C:\Users`}},
		{`**\x`, []string{`a/\x`}, []string{"x"}},
		{"é*ü", []string{"éü", "éaü"}, []string{"\xc3ü", "é/ü"}},
		{"*é?ü*", []string{"éxü", "aéxü"}, []string{"\xc3\xa9xü/", "a/éxü"}},
		{"*\uFFFD?", []string{"\uFFFDa"}, []string{"\xffa", "\xef\xbfa"}},
		{long + "?" + long + "*", []string{long + "/" + long}, []string{long + long}},
		{"?" + long + "*" + long + "?", []string{"a" + long + "b" + long + "/"}, []string{"a" + long + "/" + long + "b", "a"}},
	} {
		p := compile(t, c.pattern)
		for _, s := range c.yes {
			if !p.Match(s) {
				t.Errorf("%q does not match %q", c.pattern, s)
			}
		}
		for _, s := range c.no {
			if p.Match(s) {
				t.Errorf("%q matches %q", c.pattern, s)
			}
		}
	}
}

func TestZeroPatternMatchesNothing(t *testing.T) {
	if new(glob.Pattern).Match("") || new(glob.Pattern).Match("a") {
		t.Error("the zero pattern matches")
	}
}

func TestCompileRefuses(t *testing.T) {
	for pattern, want := range map[string]error{
		"": glob.ErrEmpty, "\xff": glob.ErrInvalid, "a*\xc3": glob.ErrInvalid, "\xed\xa0\x80?": glob.ErrInvalid,
	} {
		p, err := glob.Compile(pattern)
		if !errors.Is(err, want) || p != nil {
			t.Errorf("Compile(%q) = %v, %v; want %v", pattern, p, err, want)
		}
	}
}

func TestParts(t *testing.T) {
	for _, c := range []struct {
		pattern, prefix, suffix string
		wild                    bool
	}{
		{"abc", "abc", "abc", false},
		{"a*c", "a", "c", true},
		{"*", "", "", true},
		{"ab?", "ab", "", true},
		{"a*b*c", "a", "c", true},
		{"**/x", "", "/x", true},
		{"[é]", "[é]", "[é]", false},
	} {
		p := compile(t, c.pattern)
		if p.LiteralPrefix() != c.prefix || p.LiteralSuffix() != c.suffix || p.HasWildcard() != c.wild || p.String() != c.pattern {
			t.Errorf("%q: prefix %q, suffix %q, wildcard %v, string %q", c.pattern, p.LiteralPrefix(), p.LiteralSuffix(), p.HasWildcard(), p)
		}
		if text, ok := p.LiteralText(); ok == c.wild || ok && text != c.pattern {
			t.Errorf("%q: Literal() = %q, %v", c.pattern, text, ok)
		}
	}
}

// words calls f with every text over the alphabet of up to n symbols.
func words(alphabet []string, n int, f func(string)) {
	var grow func(string, int)
	grow = func(s string, left int) {
		f(s)
		if left == 0 {
			return
		}
		for _, a := range alphabet {
			grow(s+a, left-1)
		}
	}
	grow("", n)
}

// TestExhaustive holds Match to the reference, and to gobwas where the two
// languages agree, on every pattern and text over small alphabets.
func TestExhaustive(t *testing.T) {
	slow.Test(t)
	for _, c := range []struct {
		name           string
		symbols, chars []string
		np, ns         int
	}{
		{"paths", []string{"a", "/", "*", "?"}, []string{"a", "b", "/"}, 6, 5},
		{"stars", []string{"a", "b", "*"}, []string{"a", "b", "/"}, 6, 5},
		{"literals", []string{"[", "{", "\\", ",", "*"}, []string{"[", "\\", ","}, 5, 4},
		{"bytes", []string{"é", "\uFFFD", "*", "?"}, []string{"é", "\xc3", "\uFFFD", "\xff"}, 5, 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			var texts []string
			var symbols [][]symbol
			words(c.chars, c.ns, func(s string) { texts, symbols = append(texts, s), append(symbols, split(s)) })
			words(c.symbols, c.np, func(pattern string) {
				if pattern == "" {
					return
				}
				p := compile(t, pattern)
				reference, other := elements(pattern), second(t, pattern)
				for i, s := range texts {
					got := p.Match(s)
					if want := table(reference, symbols[i]); got != want {
						t.Fatalf("%q on %q: %v, the reference says %v", pattern, s, got, want)
					}
					if other != nil && other.Match(s) != got {
						t.Fatalf("%q on %q: %v, gobwas says the opposite", pattern, s, got)
					}
				}
			})
		})
	}
}

// second is gobwas's reading of a pattern; nil where its language differs from
// ours: its `?` stops at "/", brackets, braces and
// backslashes are not literal, and U+FFFD matches bytes that are not UTF-8.
func second(t *testing.T, pattern string) *gobwas.Pattern {
	t.Helper()
	if strings.ContainsAny(pattern, "?\uFFFD[{\\") {
		return nil
	}
	p, err := gobwas.Compile(pattern, '/')
	if err != nil {
		t.Fatalf("gobwas.Compile(%q): %v", pattern, err)
	}
	return p
}
