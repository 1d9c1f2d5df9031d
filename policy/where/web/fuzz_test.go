package web_test

import (
	"net/netip"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/clawai/clawai/policy/where"
	"github.com/clawai/clawai/policy/where/web"
)

// FuzzHost holds a Yes against three other ways of finding a host: the standard
// library's (RFC 3986), a WHATWG parser's, and that of RFC 3986's own expression
// (appendix B). They must agree, and what is public must not be an address that
// the standard library calls otherwise.
func FuzzHost(f *testing.F) {
	for _, c := range notPublic {
		f.Add(c.url)
	}
	for _, u := range addressable {
		f.Add(u)
	}
	any, _ := web.NewHosts([]string{"**"})
	f.Fuzz(func(t *testing.T, s string) {
		if public, closed := web.NewPublic(true).JudgeValue(text(s), true), web.NewPublic(false).JudgeValue(text(s), true); public == where.Yes && closed != where.No {
			t.Errorf("%q is public and is not", s)
		}
		if any.JudgeValue(text(s), true) != where.Yes {
			if web.NewPublic(true).JudgeValue(text(s), true) == where.Yes {
				t.Errorf("%q is public and has no host", s)
			}
			return
		}
		u, err := url.Parse(s)
		if err != nil {
			if strings.Contains(err.Error(), "invalid URL escape") || strings.Contains(err.Error(), "first path segment") {
				return // in what follows the host
			}
			t.Fatalf("net/url refuses %q: %v", s, err)
		}
		name := canonical(u.Hostname())
		if c, err := web.NewHosts([]string{strings.NewReplacer("*", "", "?", "").Replace(name)}); err != nil || c.JudgeValue(text(s), true) != where.Yes {
			t.Errorf("net/url finds %q in %q, which does not hold: %v", name, s, err)
		}
		if got := canonical(browserHost(s)); got != name {
			t.Errorf("a browser finds %q in %q, net/url %q", got, s, name)
		}
		if got := canonical(appendixB(s)); got != name {
			t.Errorf("RFC 3986 finds %q in %q, net/url %q", got, s, name)
		}
		if a, err := netip.ParseAddr(name); err == nil && web.NewPublic(true).JudgeValue(text(s), true) == where.Yes {
			if a = a.Unmap(); a.IsPrivate() || a.IsLoopback() || !a.IsGlobalUnicast() {
				t.Errorf("%q is public", s)
			}
		}
	})
}

func canonical(name string) string {
	name = strings.ToLower(strings.TrimSuffix(name, "."))
	if a, err := netip.ParseAddr(name); err == nil {
		return a.String()
	}
	return name
}

// browserHost finds a host as the URL standard's state machine does: tabs and
// line ends dropped, backslashes as slashes and any number of them after the
// scheme for special schemes, the last @ before the host.
func browserHost(s string) string {
	s = strings.NewReplacer("\t", "", "\n", "", "\r", "").Replace(strings.TrimFunc(s, func(r rune) bool { return r <= ' ' }))
	scheme, rest, _ := strings.Cut(s, ":")
	ends := "/?#"
	switch strings.ToLower(scheme) {
	case "http", "https", "ws", "wss", "ftp":
		ends = `/\?#`
		rest = strings.TrimLeft(rest, `/\`)
	default:
		rest = strings.TrimPrefix(rest, "//")
	}
	if i := strings.IndexAny(rest, ends); i >= 0 {
		rest = rest[:i]
	}
	rest = rest[strings.LastIndexByte(rest, '@')+1:]
	if strings.HasPrefix(rest, "[") {
		rest, _, _ = strings.Cut(rest[1:], "]")
		return rest
	}
	rest, _, _ = strings.Cut(rest, ":")
	return rest
}

var uri = regexp.MustCompile(`^(([^:/?#]+):)?(//([^/?#]*))?([^?#]*)(\?([^#]*))?(#(.*))?`)

func appendixB(s string) string {
	authority := uri.FindStringSubmatch(s)[4]
	authority = authority[strings.LastIndexByte(authority, '@')+1:]
	if strings.HasPrefix(authority, "[") {
		authority, _, _ = strings.Cut(authority[1:], "]")
		return authority
	}
	authority, _, _ = strings.Cut(authority, ":")
	return authority
}

func BenchmarkHost(b *testing.B) {
	c := host(b, "*.example.com", "api.github.com")
	v := text("https://api.github.com/repos/a/b/issues?per_page=100")
	b.ReportAllocs()
	for b.Loop() {
		c.JudgeValue(v, true)
	}
}

func BenchmarkPublic(b *testing.B) {
	for _, u := range []string{"https://api.github.com/repos/a/b/issues?per_page=100", "http://169.254.169.254/latest", "http://[2606:4700::1111]/", "https://bücher.de/"} {
		b.Run(u, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				web.NewPublic(true).JudgeValue(text(u), true)
			}
		})
	}
}

func BenchmarkLongest(b *testing.B) {
	v := text("https://example.com?" + strings.Repeat("é", 30000))
	c := host(b, "example.com")
	b.ReportAllocs()
	for b.Loop() {
		c.JudgeValue(v, true)
	}
	b.ReportMetric(float64(c.JudgeCost(len(v.Text))), "cost")
}
