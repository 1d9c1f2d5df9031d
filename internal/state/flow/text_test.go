package flow

import (
	"crypto/aes"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/clawai/clawai/internal/gate"
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
		"DE89370400440532013000 +49 30 1234567 12345678 +4930123": {"de89370400440532013000 +49 30 1234567 12345678 +4930123", "de89370400440532013000 49301234567 -9301234567 -301234567 -01234567 4930123456712345678 12345678 4930123"},
		"Ann's and Bob’s ‘x’ 'y'":                                 {"ann and bob x y", ""},
		"CAFE\u0301 caf\u00e9\u00a0x\u2003y":                      {"caf\u00e9 caf\u00e9 x y", ""},
		"a\xffB":                                                  {"a\ufffdb", ""},
	} {
		var words, to []string
		all := splitWords(text)
		for word := all.nextWord(); word != ""; word = all.nextWord() {
			words = append(words, word)
		}
		visitAddresses(text, func(word, _ string) { to = append(to, word) })
		if got := [2]string{strings.Join(words, " "), strings.Join(to, " ")}; got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// Among the addresses of a text are those of its words, each looked at, in their order; the
// others are parts of its words, as they are or as they read.
func FuzzAddresses(f *testing.F) {
	for _, text := range []string{"see a.example", "A b@c,d http://x.example:80/y", "DE89370400440532013000", "x.\u212aelvin é 1.2.3.4", "a. .b ‘@’ 5", "…a.b“c.de", "//h/x tel:1 x:y ftp://u@h:1?z", `\\h\s [::1]:5`, "+49 (0)30 - 1234567, 2024-01-02", "de89 3704 0044 0532 0130 00", "to=a@b.example&u=http://c.example", "a—b.example", "発a@b.exampleを", "a%40b.example", "ａ＠ｂ．ｃｄ", "::01:"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var got, want []string
		visitAddresses(text, func(word, whole string) {
			if _, digits := countLetters(word); !digits && !isAccountStart(word) {
				got = append(got, word)
			}
			plain := plainForm(whole)
			isPlain := !strings.ContainsFunc(plain, func(r rune) bool { return r >= utf8.RuneSelf })
			if _, err := netip.ParseAddr(word); err == nil {
				return // IPv6 in one of its spellings
			}
			if strings.Contains(word, "xn--") {
				return // a host in its other spelling
			}
			if _, digits := countLetters(word); isPlain && !digits && !isAccountStart(word) && !strings.Contains(whole, word) && !strings.Contains(plain, word) {
				t.Errorf("%q is no part of %q", word, whole)
			}
		})
		all := splitWords(text)
		for word := all.nextWord(); word != ""; word = all.nextWord() {
			before, host, is := parseAddress(word, all.lead)
			for _, one := range []string{word, before, host} {
				if _, digits := countLetters(one); is && one != "" && !digits && !isAccountStart(one) {
					want = append(want, one)
				}
			}
		}
		for left := got; len(want) > 0; left, want = left[1:], want[1:] {
			i := slices.Index(left, want[0])
			if i < 0 {
				t.Fatalf("%q: %q, want %q", text, got, want)
			}
			left = left[i:]
		}
	})
}

// The words of a text, one after the other, are all words of the whole.
func FuzzTokens(f *testing.F) {
	f.Add("To Bob@Example.ORG, https://a.example/x/.", "‘É’ 1.2.3.4:80")
	f.Fuzz(func(t *testing.T, one, two string) {
		list := func(text string) (words []string) {
			all := splitWords(text)
			for word := all.nextWord(); word != ""; word = all.nextWord() {
				words = append(words, word)
			}
			return words
		}
		if got, want := list(one+" "+two), append(list(one), list(two)...); !slices.Equal(got, want) {
			t.Errorf("%q and %q: %q, want %q", one, two, got, want)
		}
	})
}

// BenchmarkMarks is what a message costs behind its reply, by its size: prose with addresses,
// and texts that are made of nothing but beginnings of numbers, schemes and accounts.
func BenchmarkMarks(b *testing.B) {
	var m marks
	m.block, _ = aes.NewCipher(make([]byte, 16))
	of := []gate.Label{{Kind: untrusted, Source: "web fetch"}}
	for name, text := range map[string]string{
		"prose":    "See https://a.example/x?y=1 or call +49 30 1234567 about the invoice, says Bob of the office. ",
		"numbers":  "030 1234567 89 ",
		"schemes":  "a:b://c:d//e ",
		"accounts": "de89 3704 0044 0532 ",
		"dots":     "a.b.c.d.e ",
		"one word": "ab:",
		"one path": "1/22(3+",
		"escapes":  `\\\\\\\\n`,
		"forms":    "\ufdfa\u200b",
	} {
		for _, size := range []int{1 << 19, 1 << 20, 1 << 21, 1 << 22, 1 << 23} {
			b.Run(fmt.Sprintf("%s/MiB=%g", name, float64(size)/(1<<20)), func(b *testing.B) {
				message := `"` + strings.Repeat(text, size/len(text)) + `"`
				b.SetBytes(int64(len(message)))
				for b.Loop() {
					_ = messageMarks(m.hasher, of, message)
				}
			})
		}
	}
}
