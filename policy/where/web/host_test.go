package web_test

import (
	"testing"

	"github.com/clawai/clawai/policy/where"
	"github.com/clawai/clawai/policy/where/web"
)

func host(t testing.TB, globs ...string) where.Constraint {
	t.Helper()
	c, err := web.NewHosts(globs)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestHostEvaded holds that no text passes for one at *.example.com or example.com
// that some program could connect elsewhere for. Sources as for notPublic.
func TestHostEvaded(t *testing.T) {
	c := host(t, "*.example.com", "example.com")
	evasions := []string{
		"https://evil.com/", "https://example.com.evil.com/", "https://example.comevil.com/", "https://evilexample.com/",
		"https://evil.com/example.com", "https://evil.com/?example.com", "https://evil.com/#example.com", "https://evil.com/?x=.example.com",
		"https://example.com@evil.com/", "https://example.com:443@evil.com/", "https://user:pw@example.com/", "https://@example.com/",
		"https://evil.com#@example.com/", "https://evil.com?@example.com/", "https://example.com#@evil.com/", "https://example.com?@evil.com/",
		`https://evil.com\@example.com/`, `https://example.com\@evil.com/`, `https://evil.com\.example.com/`, `https://example.com\.evil.com/`,
		"https://evil.com%2f.example.com/", "https://evil.com%23.example.com/", "https://evil.com%00.example.com/", "https://evil.com%0d%0a.example.com/",
		"https://evil.com\t.example.com/", "https://evil.com\n.example.com/", "https://evil.com .example.com/", "https://evil.com\x00.example.com/",
		"https://evil.com;.example.com/", "https://evil.com,example.com/", "https://evil.com&.example.com/", "https://evil.com'.example.com/",
		"https:example.com/", "https:/example.com/", "https:///example.com/", `https:\\example.com/`, `https:/\example.com/`, "//example.com/",
		" https://example.com/", "https://example.com/ ", "https://example.com/\r\nHost: evil.com", "ht\ntps://example.com/",
		"https://evil.com／.example.com/", "https://evil.com＃.example.com/", "https://evil.com？.example.com/", "https://evil.com＠example.com/",
		"https://evil。com/", "https://evil.com℀.example.com/", "https://ｅｘａｍｐｌｅ.com/", "https://ⓔxample.com/", "https://exam\u00adple.com/",
		"https://eхample.com/", "https://example.com:443:80/", "https://example.com:80:evil.com/", "https://example.com:99999/", "https://example.com:/",
		"https://example.com../", "https://example..com/", "https://.example.com/", "https://[::1].example.com/", "https://[example.com]/",
		"https://example.com|.evil.com/", "https://{evil.com,example.com}/", "jar:https://evil.com!/example.com", "URL:https://example.com/",
		"<https://example.com/>", "view-source:https://example.com/", "file://example.com/x", "example.com/x", "a.example.com:443",
		"https://example.com https://evil.com", "data:text/html,example.com", "javascript://example.com/%0aalert(1)", "data://example.com/,x", "s3://example.com/key", "php://example.com/resource=x",
		"local_file://example.com/etc/passwd", "intent://example.com/#Intent;end", "javascript:location='https://example.com'", "", "https://",
	}
	if len(evasions) < 40 {
		t.Fatal(len(evasions))
	}
	for _, url := range evasions {
		for _, opens := range []bool{false, true} {
			if got := c.JudgeValue(text(url), opens); got == where.Yes {
				t.Errorf("%q passes for example.com", url)
			}
		}
	}
}

func TestHost(t *testing.T) {
	for _, c := range []struct {
		glob string
		urls []string
	}{
		{"example.com", []string{
			"https://example.com", "https://example.com/", "HTTPS://EXAMPLE.COM/", "https://Example.Com:8443/", "https://example.com./", "https://example.com?q",
			"https://example.com#f", "http://example.com:80/a@b", "ws://example.com/", "ftp://example.com/x", "git+ssh://example.com/r", "https://example.com/?u=@evil.com",
			"https://example.com/@evil.com", "https://example.com/#@evil.com", "https://example.com//evil.com", `https://example.com/a\b`, "https://example.com/http://evil.com",
			"https://example.com/%40evil.com", "https://example.com/%00", "https://example.com:443", "https://example.com/straße", "redis://example.com:6379/0",
		}},
		{"*.example.com", []string{
			"https://a.example.com/", "https://a.b.example.com/", "https://A.EXAMPLE.COM/", "https://a.example.com.:443/", "https://xn--bcher-kva.example.com/",
			"https://bücher.example.com/", "https://a_b.example.com/", "https://1.example.com/", "https://127.0.0.1.example.com/", "https://localhost.example.com/",
			"https://a-b.example.com?x", "https://www.example.com/x?y=z#w",
		}},
		{"*.EXAMPLE.com.", []string{"https://a.example.com/"}},
		{"bücher.de", []string{"https://bücher.de/", "https://BÜCHER.de/"}},
		{"пример.рф", []string{"https://пример.рф/", "https://ПРИМЕР.РФ/"}},
		{"127.0.0.1", []string{"http://127.0.0.1/", "http://127.0.0.1:80/x", "http://127.0.0.1?x"}},
		{"10.*", []string{"http://10.0.0.1/", "http://10.255.255.255:99/"}},
		{"::1", []string{"http://[::1]/", "http://[0:0:0:0:0:0:0:1]:80/", "http://[0000::0001]/"}},
		{"[2001:DB8::1]", []string{"http://[2001:db8::1]/", "http://[2001:db8:0:0:0:0:0:1]/"}},
		{"localhost", []string{"http://localhost/", "http://LOCALHOST:3000/", "http://localhost./"}},
		{"ex?mple.com", []string{"https://example.com/", "https://exämple.com/"}},
		{"**", []string{"https://anything.example.com/", "http://localhost/", "http://[::1]/", "https://bücher.de/"}},
	} {
		for _, url := range c.urls {
			for _, opens := range []bool{false, true} {
				if got := host(t, c.glob).JudgeValue(text(url), opens); got != where.Yes {
					t.Errorf("host = %q of %q: %d", c.glob, url, got)
				}
			}
		}
	}
}

func TestHostVerdicts(t *testing.T) {
	for _, c := range []struct {
		glob, url string
		want      where.Match
	}{
		{"*.example.com", "https://example.com/", where.No},
		{"example.com", "https://a.example.com/", where.No},
		{"example.com", "https://example.org/", where.No},
		{"127.0.0.1", "http://[::ffff:127.0.0.1]/", where.Maybe},
		{"127.0.0.1", "http://[64:ff9b::7f00:1]/", where.Maybe},
		{"127.0.0.1", "http://0x7f.1/", where.Maybe},
		{"127.0.0.1", "http://127.0.0.2/", where.No},
		{"bücher.de", "https://xn--bcher-kva.de/", where.Maybe},
		{"bücher.de", "https://buecher.de/", where.No},
		{"xn--bcher-kva.de", "https://bücher.de/", where.Maybe},
		{"xn--bcher-kva.de", "https://xn--bcher-kva.de/", where.Yes},
		{"strasse.de", "https://straße.de/", where.Maybe},
		{"evil.com", "evil.com/x", where.Maybe},
		{"evil.com", "evil.com:80", where.Maybe},
		{"evil.com", "good.com:80", where.No},
		{"evil.com", "http:evil.com", where.Maybe},
		{"evil.com", `\\evil.com\share`, where.Maybe},
		{"evil.com", "evil.com /x", where.No},
		{"evil.com", "evil\t.com/x", where.Maybe},
		{"evil.com", "some prose about evil.com", where.No},
		{"evil.com", "look at https://evil.com", where.Maybe},
		{"evil.com", "file:///evil.com", where.No},
		{"evil.com", "file:/evil.com", where.No},
		{"evil.com", `file:\\evil.com\x`, where.Maybe},
		{"evil.com", "file://evil.com/x", where.Maybe},
		{"evil.com", "file:////evil.com/x", where.Maybe},
		{"evil.com", "file:@evil.com/x##", where.Maybe},
		{"evil.com", "FILE:a:b@evil.com", where.Maybe},
		{"evil.com", "file:/a@evil.com", where.No},
		{"evil.com", "mailto:a@evil.com", where.No},
		{"evil.com", "foo:///evil.com", where.No},
		{"evil.com", "foo://evil.com/", where.Maybe},
		{"evil.com", "ssh://evil.com/", where.Yes},
		{"evil.com", "c://evil.com/", where.Maybe},
		{"evil.com", `c:\evil.com`, where.No},
		{"evil.com", "/evil.com", where.No},
		{"evil.com", " /evil.com", where.No},
		{"evil.com", " ", where.No},
		{"evil.com", "https://///", where.No},
		{"evil.com", "https:/", where.No},
	} {
		if got := host(t, c.glob).JudgeValue(text(c.url), false); got != c.want {
			t.Errorf("host = %q of %q: %d, want %d", c.glob, c.url, got, c.want)
		}
	}
}

func TestHostErrors(t *testing.T) {
	for _, globs := range [][]string{nil, {""}, {"."}, {"https://example.com"}, {"example.com/x"}, {"example.com:443"}, {"a@b"}, {"[::1]:80"}, {"fe80::1%eth0"}, {"a b"}, {"ok", "\xff"}} {
		if _, err := web.NewHosts(globs); err == nil {
			t.Errorf("Host(%q) is no error", globs)
		}
	}
}

func TestScheme(t *testing.T) {
	c, err := web.NewScheme([]string{"HTTPS", "git+ssh", "file", "s3"})
	if err != nil {
		t.Fatal(err)
	}
	for url, want := range map[string]where.Match{
		"https://example.com/":       where.Yes,
		"HttpS://example.com/":       where.Yes,
		"git+ssh://example.com/":     where.Yes,
		"file:///etc/passwd":         where.Yes,
		"http://example.com/":        where.No,
		"data:,https":                where.No,
		"https:example.com":          where.Maybe,
		"https://a@b/":               where.Maybe,
		" https://example.com/":      where.Maybe,
		"view-source:https://a.com/": where.Maybe,
		"//example.com/":             where.Maybe,
		"example.com":                where.Maybe,
		"ftp:\\\\example.com":        where.Maybe,
		"some text":                  where.No,
		"/a/path":                    where.No,
		"":                           where.No,
	} {
		for _, opens := range []bool{false, true} {
			if got := c.JudgeValue(text(url), opens); got != want {
				t.Errorf("scheme of %q: %d, want %d", url, got, want)
			}
		}
	}
	for _, names := range [][]string{nil, {""}, {"https://"}, {"https:"}, {"1a"}, {"a b"}, {"é"}} {
		if _, err := web.NewScheme(names); err == nil {
			t.Errorf("Scheme(%q) is no error", names)
		}
	}
}
