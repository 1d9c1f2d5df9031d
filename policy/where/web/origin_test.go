package web_test

import (
	"testing"

	"github.com/clawai/clawai/policy/where/web"
)

func TestOrigin(t *testing.T) {
	for address, want := range map[string]string{
		"https://h.example/a?b#c":    "https://h.example:443",
		"HTTPS://H.Example:443":      "https://h.example:443",
		"https://h.example.:443/":    "https://h.example:443",
		"https://BÜCHER.example":     "https://bücher.example:443",
		"http://h.example:8080":      "http://h.example:8080",
		"http://h.example?x=a:1":     "http://h.example:80",
		"wss://h.example":            "wss://h.example:443",
		"http://[2001:DB8::1]":       "http://2001:db8::1:80",
		"http://[2001:db8:0::1]:81/": "http://2001:db8::1:81",
		"https://user@h.example":     "",
		"https://h.example:0443":     "",
		"https://h.example\\@x":      "",
		" https://h.example":         "",
		"https:h.example":            "",
		"//h.example":                "",
		"h.example":                  "",
		"docs://h.example":           "",
		"git://h.example":            "",
		"file:///etc/passwd":         "",
		"data:text/plain,https://h":  "",
		"":                           "",
	} {
		if got := web.OriginOf(address); got != want {
			t.Errorf("%q has the origin %q, want %q", address, got, want)
		}
	}
}
