//go:build attack

package url_test

import (
	"math/rand/v2"
	"strings"
)

// grammar makes URLs that want to be taken for one host by some and for another by
// others: known tricks put together at random, and then a character or two changed.
type grammar struct{ *rand.Rand }

func (g grammar) of(all ...string) string { return all[g.IntN(len(all))] }

// one says yes one time in n.
func (g grammar) one(n int) bool { return g.IntN(n) == 0 }

// delimiters are what some parser may take for the end of a name, or drop.
var delimiters = func() (all []string) {
	for c := rune(0); c < 0x80; c++ {
		if c < '0' || c > '9' && c < 'A' || c > 'Z' && c < 'a' || c > 'z' {
			all = append(all, string(c))
		}
	}
	return append(all, "\u0080", "\u0085", "\u00a0", "\u00ad", "\u034f", "\u061c", "\u115f", "\u1680", "\u180e", "\u2000", "\u200b",
		"\u200c", "\u200d", "\u200e", "\u2024", "\u2025", "\u2026", "\u2028", "\u202e", "\u2044", "\u2047", "\u2048", "\u2060", "\u2100",
		"\u2101", "\u2105", "\u2106", "\u2215", "\u2260", "\u2488", "\u2a74", "\u3000", "\u3002", "\ufe0f", "\ufe13", "\ufe16", "\ufe52",
		"\ufe55", "\ufe56", "\ufe5f", "\ufe6b", "\ufeff", "\uff03", "\uff05", "\uff0e", "\uff0f", "\uff1a", "\uff1f", "\uff20", "\uff3b",
		"\uff3c", "\uff61", "\ufffd", "\U000E0041", "%00", "%09", "%0a", "%20", "%23", "%2e", "%2f", "%3a", "%3f", "%40", "%5b", "%5c",
		"%5d", "%7b", "%25", "%252f", "%c0%ae", "%u002f", "&#47;", "\\u002f", "{a,b}", "[1-3]", "${x}", "<", "..", "//", `\\`, "@@", "::")
}()

var friends = []string{"api.example.com", "a.example.com", "example.com", "x.y.example.com", "b\u00fccher.example.com", "xn--bcher-kva.example.com",
	"8.8.8.8", "[2606:4700::1111]", "1.example.com", "a_b.example.com", "\u4f8b\u3048.example.com", "fa\u00df.example.com", "\u03c3\u03c2.example.com"}

var foes = []string{"evil.example", "evil.org", "127.0.0.1", "169.254.169.254", "localhost", "[::1]", "[::ffff:127.0.0.1]", "[fd00::1]", "2130706433", "0x7f.1",
	"0x7f000001", "0177.0.0.1", "127.1", "127.0.1", "0", "10.0.0.1", "\uff11\uff12\uff17.0.0.1", "\u2460\u2461\u2466.0.0.1", "127\u30020\u30020\u30021", "evil\u3002example",
	"e\u0301vil.example", "\uff45vil.example", "evil.exam\u00adple", "\u24d4vil.example", "ev\u0131l.example", "xn--", "xn--evil-", "%65vil.example", "127.0.0.1.nip.io",
	"example.com.evil.org", "evilexample.com", "api.example.com.", "api.example.com..", "user"}

func (g grammar) host() string {
	switch g.IntN(9) {
	case 0, 1, 2:
		return g.cased(g.of(friends...))
	case 3:
		return g.cased(g.of(foes...))
	case 4, 5, 6:
		return g.of(foes...) + g.of(delimiters...) + g.of("", ".", "@", ":") + g.of(friends...)
	case 7:
		return g.of(friends...) + g.of(delimiters...) + g.of("", ".", "@", ":") + g.of(foes...)
	}
	return g.of("[", "[[", "") + g.of(foes...) + g.of("]", "]]", "]:", "%25eth0]", "") + g.of("", ".") + g.of(friends...)
}

func (g grammar) cased(s string) string {
	if g.one(4) {
		return strings.ToUpper(s)
	}
	return s
}

func (g grammar) port() string {
	if !g.one(4) {
		return ""
	}
	return g.of(":", ":0", ":80", ":443", ":8443", ":0443", ":00443", ":65536", ":66079", ":4294967739", ":443 ", ":443x", ":x", ":-1", ":+443", ":443:80", ":\uff14\uff14\uff13",
		":80@"+g.of(foes...), ":443#", ":443?", `:443\`, ":1_0", ": 443", ":\u0664")
}

func (g grammar) user() string {
	if !g.one(7) {
		return ""
	}
	return g.of("user", "user:pw", "", ":", "a@b", "api.example.com", "https://api.example.com", "a%40b", `api.example.com\`, "api.example.com:443", "api.example.com/", "api.example.com#") + "@"
}

func (g grammar) path() string {
	var b strings.Builder
	b.WriteString(g.of("/v1/", "/v1/", "/", "", "/admin", "/v1"))
	for range g.IntN(5) {
		b.WriteString(g.of("a", "v1", "admin", "ADMIN", "..", ".", "%2e%2e", "%2E.", "..;x", "%252e%252e", "x", "", "{id}", "a|b", "a:b", "a@b", "\uff0e\uff0e", "%61dmin", "ad\tmin", "a b", `..\..`))
		b.WriteString(g.of("/", "/", "//", `\`, "%2f", "%5c", "/./", "", "\u2215", "\t/", "/\n"))
	}
	if g.one(4) {
		b.WriteString(g.of("?", "#", "?#", "#?") + g.of("x", "", "@"+g.of(foes...)+"/", `\@`+g.of(foes...), "."+g.of(friends...), "u=https://evil.example/", "q={a|b}"))
	}
	return b.String()
}

// url makes one URL.
func (g grammar) url() string {
	scheme := g.of("https", "https", "https", "https", "http", "http", "HTTPS", "Http", "wss", "ftp", "ssh", "redis", "git+https", "view-source:https", "file", "javascript", "blob:https", "url:https", "ht\ttps", "\u017fhttp", "foo", "s3", "")
	slashes := "://"
	if g.one(12) {
		slashes = g.of(":", ":/", ":///", `:\\`, `:/\`, `:\/`, ":////", "//", ": //", ":\t//", ":\n//", ":/ /", "%3a//", "\uff1a//", ":\uff0f\uff0f")
	}
	s := scheme + slashes + g.user() + g.host() + g.port() + g.path()
	if g.one(12) {
		s = g.of(" ", "\n", "\t", "\u00a0", "\x00", "\x1f", "<", "\ufeff", "\u200b", "'", `"`, "(", "URL:") + s
	}
	if g.one(12) {
		s += g.of(" ", "\n", "\t", "\u00a0", "\x00", ">", "\r\nHost: evil.example", " @evil.example/", "#", "?")
	}
	for range g.IntN(12) / 9 {
		s = g.mutated(s)
	}
	return s
}

// mutated changes one place of a text.
func (g grammar) mutated(s string) string {
	rs := []rune(s)
	if len(rs) == 0 {
		return s
	}
	i := g.IntN(len(rs))
	switch g.IntN(4) {
	case 0:
		return string(rs[:i]) + string(rs[i+1:])
	case 1:
		return string(rs[:i]) + g.of(delimiters...) + string(rs[i:])
	case 2:
		return string(rs[:i]) + g.of(delimiters...) + string(rs[i+1:])
	}
	return string(rs[:i]) + string(rs[i:]) + string(rs[i:])
}
