package workload

import (
	"strings"
	"testing"
)

func TestPatterns(t *testing.T) {
	for _, c := range []struct {
		pattern    string
		yes, other []string
	}{
		{"team/policy", []string{"team/policy"}, []string{"team/policy ", "team/Policy", "team/policy/", "team/policy2", "", "team/./policy"}},
		{"team/*", []string{"team/policy", "team/p.q"}, []string{"team/", "team", "team/a/b", "team/a/../b", "team/..", "team/.", "team/repo:evil", "team/repo@evil", "Team/a", "evil/team/a", "team//a"}},
		{"team/**", []string{"team/a", "team/a/b"}, []string{"team/a/../b", "team/a//b", "team/..", "team/a:b", "team/a@b", "team/"}},
		{"refs/heads/release-?", []string{"refs/heads/release-1"}, []string{"refs/heads/release-", "refs/heads/release-10", "refs/heads/release-/", "refs/heads/release-:"}},
		{"repo:team/*:ref:refs/heads/main", []string{"repo:team/a:ref:refs/heads/main"}, []string{
			"repo:team/a:environment:x:ref:refs/heads/main", "repo:team/a:ref:refs/heads/main:x", "repo:team/a/b:ref:refs/heads/main", "repo:team/:ref:refs/heads/main", "repo:team/a@ref:refs/heads/main",
		}},
		{"team/ci/.github/workflows/*@refs/heads/main", []string{"team/ci/.github/workflows/a.yml@refs/heads/main"}, []string{"team/ci/.github/workflows/a.yml@x@refs/heads/main", "team/ci/.github/workflows/a.yml@refs/heads/main2"}},
		{"system:serviceaccount:ci:*", []string{"system:serviceaccount:ci:publisher"}, []string{"system:serviceaccount:ci:", "system:serviceaccount:ci:a:b", "system:serviceaccount:ci2:a", "system:serviceaccount::a"}},
		{"a::*", nil, []string{"a::b", "a:x:b"}}, // an empty part is never what somebody meant
	} {
		p, err := newPattern(c.pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, value := range c.yes {
			if !p.accepts(value) {
				t.Errorf("%s refuses %q", c.pattern, value)
			}
		}
		for _, value := range c.other {
			if p.accepts(value) {
				t.Errorf("%s accepts %q", c.pattern, value)
			}
		}
	}
}

// FuzzPattern: a wildcard stands for nothing that ends a part or leads elsewhere, and a text without one is
// compared as it is.
func FuzzPattern(f *testing.F) {
	for _, seed := range []string{"team/*", "team/**", "repo:team/*:ref:*", "?", "a::b*", "*@*", "team/policy", "*\xff"} {
		f.Add(seed, "team/a")
		f.Add(seed, "repo:team/a:ref:refs/heads/../main")
	}
	f.Fuzz(func(t *testing.T, text, value string) {
		p, err := newPattern(text)
		ok := p.accepts(value)
		switch {
		case err != nil && ok:
			t.Errorf("%q cannot be read, and accepts %q", text, value)
		case !hasWildcard(text) && ok != (text == value):
			t.Errorf("%q, %q: %v", text, value, ok)
		case hasWildcard(text) && ok:
			for _, sign := range separators {
				if strings.Count(text, string(sign)) != strings.Count(value, string(sign)) {
					t.Errorf("%q accepts %q", text, value)
				}
			}
			if !strings.Contains(text, "**") && strings.Count(text, "/") != strings.Count(value, "/") || strings.Contains("/"+value+"/", "/../") || strings.Contains(value, "//") {
				t.Errorf("%q accepts %q", text, value)
			}
			if before, _, _ := strings.Cut(text, "*"); !strings.Contains(before, "?") && !strings.HasPrefix(value, before) {
				t.Errorf("%q accepts %q", text, value)
			}
		}
	})
}

// FuzzReadIssuer: what is read names an issuer as a text of three parts, and no larger one is looked at.
func FuzzReadIssuer(f *testing.F) {
	f.Add("eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJodHRwczovL2lzc3Vlci5leGFtcGxlIn0.AA")
	f.Add("e30.e30.")
	f.Add("eyJ0eXAiOlsxXX0.e30.")
	f.Add("bnVsbA.bnVsbA.")
	f.Fuzz(func(t *testing.T, raw string) {
		name, err := readIssuer(raw)
		if err != nil {
			if name != "" {
				t.Errorf("%q with %v", name, err)
			}
			return
		}
		if len(raw) > maxToken || !IsToken(raw) || strings.ContainsAny(raw, " \r\n={\"") {
			t.Errorf("%q of %q", name, raw)
		}
	})
}
