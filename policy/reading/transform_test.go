package reading

import "testing"

// A glob changes as values do, but for its wildcards; what decoding brings to light is none.
func TestTransformGlob(t *testing.T) {
	for _, c := range []struct{ glob, want string }{
		{"/a/**", "/a/**"},
		{"/A/*", "/a/*"},
		{"./././a/*", "a/*"},
		{"~/*.GO", "/home/user/*.go"},
		{"%2f%2a/%3F?*", "/\uFDD0/\uFDD1?*"},
		{`C:\X\*`, "c:/x/*"},
		{"file:///C|/x*", "c:/x*"},
		{"file://host", "/"},
		{"file://h*/x", "*/x"},
		{"file:/x", "/x"},
		{"HTTPS://H:443/*", "https://h/*"},
		{"/\u00C4/*", "/\u00C4/*"},
	} {
		if got := TransformGlob(c.glob, ^Transforms(0), home); got != c.want {
			t.Errorf("%q becomes %q, want %q", c.glob, got, c.want)
		}
		changed := c.glob != c.want
		if h := GlobEffects(c.glob, home); (h != 0) != changed || TransformGlob(c.glob, h, home) != TransformGlob(c.glob, ^Transforms(0), home) {
			t.Errorf("%q is changed by %08b", c.glob, h)
		}
	}
	for text, want := range map[string]bool{"": false, "a*?": false, "ä": false, QuoteWildcards("a*"): true, QuoteWildcards("?"): true} {
		if got := HasQuoted(text); got != want {
			t.Errorf("%q: quoted is %v", text, got)
		}
	}
	if got := QuoteWildcards("a*?"); got != "a\uFDD0\uFDD1" {
		t.Errorf("%q", got)
	}
}

// Letters that differ in case alone are one.
func TestFold(t *testing.T) {
	for s, want := range map[string]string{"aB": "ab", "STRASSE": "strasse", "Stra\u00DFe": "strasse", "\u212A": "k", "\u00E4": FoldCase("\u00C4")} {
		if got := FoldCase(s); got != want {
			t.Errorf("%q: %q, want %q", s, got, want)
		}
		if got := string(FoldInto(make([]byte, 0, 8), s)); got != want {
			t.Errorf("%q into a buffer: %q, want %q", s, got, want)
		}
	}
}

func TestUnnameable(t *testing.T) {
	for name, want := range map[string]string{
		"read_file": "", "\u00E4": "", "a\nb": "name with a control character", "a\u200bb": "name with an invisible character", "\xff": "name with an invisible character",
	} {
		if got := UnnameableReason(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

func TestBoolean(t *testing.T) {
	for _, word := range []string{"true", "false"} {
		seen := map[string]bool{}
		for _, s := range BooleanSpellings(word) {
			if ParseBoolean(s) != word || seen[s] {
				t.Errorf("%q is meant as %q, want %q once", s, ParseBoolean(s), word)
			}
			seen[s] = true
		}
		if len(seen) < 30 {
			t.Errorf("%d spellings of %s", len(seen), word)
		}
	}
	for _, s := range []string{"", "maybe", "falsehood"} {
		if ParseBoolean(s) != "" || BooleanSpellings(s) != nil {
			t.Errorf("%q is a boolean", s)
		}
	}
}

// Where a glob lies, and what it is about, is told from how it begins.
func TestGlobBegins(t *testing.T) {
	for glob, want := range map[string][2]bool{
		"/a": {true, false}, "~/a": {true, false}, `\\a`: {true, false}, "C:/a": {true, false}, "file:///a": {true, false},
		"a/b": {false, false}, "https://h": {false, false}, " [*": {false, true}, "{*": {false, true},
	} {
		if got := [2]bool{IsAbsolute(glob), SpellsJSON(glob)}; got != want {
			t.Errorf("%q: %v, want %v", glob, got, want)
		}
	}
}
