package web_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/clawai/clawai/policy/where/authority"
)

func TestAuthority(t *testing.T) {
	for text, want := range map[string]struct {
		name  string
		doubt authority.Doubt
	}{
		"Example.COM.:8443":             {"example.com", authority.Sure},
		"a_b.x--y.example":              {"a_b.x--y.example", authority.Sure},
		"127.0.0.1:80":                  {"127.0.0.1", authority.Sure},
		"[0:0::1]:80":                   {"::1", authority.Sure},
		"bücher.de":                     {"bücher.de", authority.Sure},
		"BÜCHER.de":                     {"bücher.de", authority.Sure},
		"xn--bcher-kva.de":              {"xn--bcher-kva.de", authority.Sure},
		"a@example.com":                 {"", authority.UserInfo},
		"@":                             {"", authority.UserInfo},
		"0x7f.1":                        {"", authority.Number},
		"127.1":                         {"", authority.Number},
		"127.0.0.1.":                    {"", authority.Number},
		"example.com:":                  {"example.com", authority.Port},
		"example.com:0443":              {"example.com", authority.Port},
		"example.com:65536":             {"example.com", authority.Port},
		"[::1]x":                        {"::1", authority.Port},
		"":                              {"", authority.Odd},
		"a..b":                          {"", authority.Odd},
		"127.0.0.1{.example.com":        {"", authority.Odd},
		"127.0.0.1|.example.com":        {"", authority.Odd},
		"example.com,b":                 {"", authority.Odd},
		"straße.de":                     {"", authority.Odd},
		"e\u0301.de":                    {"", authority.Odd},
		"xn--evil-":                     {"", authority.Odd},
		"[::1%25eth0]":                  {"", authority.Odd},
		"[127.0.0.1]":                   {"", authority.Odd},
		"[::1":                          {"", authority.Odd},
		strings.Repeat("a.", 200) + "b": {"", authority.Odd},
		strings.Repeat("a", 64):         {"", authority.Odd},
	} {
		h, doubt := authority.Parse(text)
		if doubt != want.doubt || doubt == authority.Sure && (h.Name != want.name || h.Addr.IsValid() != (strings.ContainsAny(text, "[") || text == "127.0.0.1:80")) {
			t.Errorf("%q: %+v, %q, want %+v", text, h, doubt, want)
		}
	}
}

func TestSchemesOfAuthorities(t *testing.T) {
	for scheme, want := range map[string]string{"http": "80", "wss": "443", "ftp": "21", "ssh": "", "file": "", "s3": ""} {
		port, special := authority.DefaultPort(scheme)
		if port != want || special != (want != "") {
			t.Errorf("%s: %q, %v", scheme, port, special)
		}
		if authority.ConnectsToHost(scheme) != (special || scheme == "ssh") {
			t.Errorf("%s connects: %v", scheme, !special)
		}
	}
}

// FuzzAuthority: what is sure has no more than a host and a port to the standard library,
// and reads the same when it is written again.
func FuzzAuthority(f *testing.F) {
	for _, s := range []string{"a.example:80", "[::1]:443", "bücher.de", "127.0.0.1{.example.com", "a@b", "0x7f.1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		h, doubt := authority.Parse(s)
		if doubt != authority.Sure {
			return
		}
		if head, tail := authority.CutAuthority(s); head != s || tail != "" || strings.ContainsAny(s, "@\\% \t\r\n{}|<>^`\"") {
			t.Errorf("%q is sure", s)
		}
		u, err := url.Parse("https://" + s + "/")
		if err != nil || u.User != nil {
			t.Fatalf("net/url of %q: %v", s, err)
		}
		again, doubt := authority.Parse(u.Host)
		if doubt != authority.Sure || again.Name != h.Name {
			t.Errorf("%q: %q, and %q by net/url (%s)", s, h.Name, again.Name, doubt)
		}
	})
}
