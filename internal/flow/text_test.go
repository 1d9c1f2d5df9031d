package flow

import (
	"slices"
	"strings"
	"testing"
)

// What stands between words, around them and before them is no part of them; of a web
// address the host alone is one, too.
func TestTokens(t *testing.T) {
	for text, want := range map[string][2]string{
		"":                               {"", ""},
		" ,;\n":                          {"", ""},
		"To Bob@Example.ORG, now!":       {"to bob@example.org now", "bob@example.org"},
		"https://A.example/x/.":          {"a.example/x", "a.example/x a.example"},
		"http://a.example:8080":          {"a.example:8080", "a.example:8080 a.example"},
		"mailto:b@c.example|(d.example)": {"b@c.example d.example", "b@c.example d.example"},
		"1.2.3.4 1.2.3.4:80/x 1.2.3":     {"1.2.3.4 1.2.3.4:80/x 1.2.3", "1.2.3.4 1.2.3.4:80/x 1.2.3.4:80 1.2.3.4"},
		"report.pdf v1.2 a.b":            {"report.pdf v1.2 a.b", ""},
		"DE89370400440532013000 +49 30 1234567 12345678 +4930123": {"de89370400440532013000 +49 30 1234567 12345678 +4930123", "de89370400440532013000 49301234567 4930123456712345678 12345678 4930123"},
		"Ann's and Bob’s ‘x’ 'y'":                                 {"ann and bob x y", ""},
		"CAFE\u0301 caf\u00e9\u00a0x\u2003y":                      {"caf\u00e9 caf\u00e9 x y", ""},
		"a\xffB":                                                  {"a\ufffdb", ""},
	} {
		var words, to []string
		all := tokens(text)
		for word := all.next(); word != ""; word = all.next() {
			words = append(words, word)
		}
		addresses(text, func(word, _ string) { to = append(to, word) })
		if got := [2]string{strings.Join(words, " "), strings.Join(to, " ")}; got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// The addresses of a text are those of its words, each looked at, and numbers beside them.
func FuzzAddresses(f *testing.F) {
	for _, text := range []string{"see a.example", "A b@c,d http://x.example:80/y", "DE89370400440532013000", "x.\u212aelvin é 1.2.3.4", "a. .b ‘@’ 5", "…a.b“c.de", "//h/x tel:1 x:y ftp://u@h:1?z", `\\h\s [::1]:5`, "+49 (0)30 - 1234567, 2024-01-02", "de89 3704 0044 0532 0130 00"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var got, want []string
		addresses(text, func(word, whole string) {
			if _, digits := letters(word); !digits && !isAccountStart(word) {
				got = append(got, word)
			}
			if !strings.Contains(whole, word) {
				t.Errorf("%q is no part of %q", word, whole)
			}
		})
		all := tokens(text)
		for word := all.next(); word != ""; word = all.next() {
			before, host, is := address(word, all.lead)
			for _, one := range []string{word, before, host} {
				if _, digits := letters(one); is && one != "" && !digits && !isAccountStart(one) {
					want = append(want, one)
				}
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	})
}

// The words of a text, one after the other, are all words of the whole.
func FuzzTokens(f *testing.F) {
	f.Add("To Bob@Example.ORG, https://a.example/x/.", "‘É’ 1.2.3.4:80")
	f.Fuzz(func(t *testing.T, one, two string) {
		list := func(text string) (words []string) {
			all := tokens(text)
			for word := all.next(); word != ""; word = all.next() {
				words = append(words, word)
			}
			return words
		}
		if got, want := list(one+" "+two), append(list(one), list(two)...); !slices.Equal(got, want) {
			t.Errorf("%q and %q: %q, want %q", one, two, got, want)
		}
	})
}
