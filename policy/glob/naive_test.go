package glob_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/clawai/clawai/policy/glob"
)

// symbol is one character of a text, or one element of a pattern.
type symbol struct {
	text string // the bytes it was read from
	star int    // 1: any run without "/"; 2: any run; 0: no star
	one  bool   // any one character
}

// naive is the language as its definition says it: a table of which first i
// elements match which first j characters. It shares no code with the matcher.
func naive(pattern, text string) bool {
	return table(elements(pattern), split(text))
}

// elements reads a pattern.
func elements(pattern string) []symbol {
	var p []symbol
	for _, s := range split(pattern) {
		if s.text == "*" && len(p) > 0 && p[len(p)-1].star > 0 {
			p[len(p)-1].star = 2
			continue
		}
		if s.text == "*" {
			s.star = 1
		}
		s.one = s.text == "?"
		p = append(p, s)
	}
	return p
}

func table(p, t []symbol) bool {
	holds, next := make([]bool, len(t)+1), make([]bool, len(t)+1)
	holds[0] = true
	for _, e := range p {
		for j := range next {
			switch {
			case e.star > 0:
				next[j] = holds[j] || j > 0 && next[j-1] && (e.star == 2 || t[j-1].text != "/")
			case j > 0:
				next[j] = holds[j-1] && (e.one || e.text == t[j-1].text)
			default:
				next[j] = false
			}
		}
		holds, next = next, holds
	}
	return holds[len(t)]
}

func split(s string) []symbol {
	var out []symbol
	for len(s) > 0 {
		_, n := utf8.DecodeRuneInString(s)
		out = append(out, symbol{text: s[:n]})
		s = s[n:]
	}
	return out
}

func FuzzMatch(f *testing.F) {
	for _, c := range [][2]string{
		{"*", "a/b"}, {"a**b?c*", "a//bxc"}, {"**/.ssh/**", "/home/u/.ssh/id"}, {"*é?", "\xc3\xa9/"},
		{"?\uFFFD*", "\xff\xef\xbf\xbd"}, {strings.Repeat("a?", 70) + "*b", strings.Repeat("ab", 71)},
		{"*ignore*previous*instructions*", "ignore previous instructions/"}, {"[a]{b}\\*x*", `[a]{b}\x`},
	} {
		f.Add(c[0], c[1])
	}
	f.Fuzz(func(t *testing.T, pattern, text string) {
		p, err := glob.Compile(pattern)
		if bad := pattern == "" || !utf8.ValidString(pattern); bad != (err != nil) {
			t.Fatalf("Compile(%q): %v", pattern, err)
		}
		if err != nil || len(pattern)*len(text) > 1<<20 {
			return
		}
		got := p.Match(text)
		if got != naive(pattern, text) {
			t.Fatalf("%q on %q: %v, the reference says the opposite", pattern, text, got)
		}
		if got && !(strings.HasPrefix(text, p.LiteralPrefix()) && strings.HasSuffix(text, p.LiteralSuffix())) {
			t.Fatalf("%q matches %q, which lacks its literal ends", pattern, text)
		}
		if literal, ok := p.LiteralText(); ok && got != (text == literal) {
			t.Fatalf("%q is literal and matches %q: %v", pattern, text, got)
		}
	})
}
