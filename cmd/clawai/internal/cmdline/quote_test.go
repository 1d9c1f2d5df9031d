package cmdline_test

import (
	"testing"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
)

// A command that is shown to be pasted is one command, and a shell runs nothing of its words.
func TestQuote(t *testing.T) {
	for word, want := range map[string]string{
		"plain":                   "plain",
		"":                        `""`,
		"two words":               `"two words"`,
		`a"b`:                     `"a\"b"`,
		"https://h/$(id)":         `'https://h/$(id)'`,
		"`id`":                    "'`id`'",
		"it's $HOME":              `'it'\''s $HOME'`,
		"a;reboot":                `"a;reboot"`,
		"https://h/~user/*?a=b&c": `"https://h/~user/*?a=b&c"`,
		"!!":                      `'!!'`,
	} {
		if got := cmdline.Quote([]string{word}); got != want {
			t.Errorf("%q: %s, want %s", word, got, want)
		}
	}
}
