package redact_test

import (
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/text/redact"
)

func TestMaskAddress(t *testing.T) {
	for text, want := range map[string]string{
		"https://login.example/team":            "https://login.example/team",
		"https://ann:hunter2@login.example":     "https://•••@login.example",
		"https://ghp_token@login.example/a?b=c": "https://•••@login.example/a?•••",
		"https://ann:hun/ter#2@login.example":   "https://•••@login.example", // net/url ends the host at the slash
		"ann:hunter2@login.example":             "•••@login.example",
		"https://login.example/#hunter2":        "https://login.example/#•••",
		"":                                      "",
	} {
		if got := redact.MaskAddress(text); got != want {
			t.Errorf("MaskAddress(%q) = %q, want %q", text, got, want)
		}
	}
}

func FuzzMaskAddress(f *testing.F) {
	f.Add("https://", "ann:hunter2", "login.example/?a")
	f.Fuzz(func(t *testing.T, scheme, user, rest string) {
		const secret = "SECRET"
		if strings.Contains(scheme+user+rest, secret) || strings.Contains(user, "://") {
			return
		}
		for _, address := range []string{scheme + user + secret + user + "@" + rest, scheme + rest + "?" + secret, rest + "#" + secret} {
			if got := redact.MaskAddress(address); strings.Contains(got, secret) {
				t.Errorf("MaskAddress(%q) = %q", address, got)
			}
		}
	})
}
