package view

import (
	"strings"
	"testing"
)

func TestWords(t *testing.T) {
	for _, tc := range []struct{ was, is, want string }{
		{"List the issues of a repository.", "List all issues of a repository.", " List|-the|+all| issues of a repository."},
		{"a b c d e f g h X", "a b c d e f g h Y", " … c d e f g h|-X|+Y"},
		{"X a b c d e f g h", "Y a b c d e f g h", "-X|+Y| a b c d e f …"},
		{"X 1 2 3 4 5 6 7 8 9 a b c d e Y", "W 1 2 3 4 5 6 7 8 9 a b c d e Z", "-X|+W| 1 2 3 4 5 6 … 2 words … 9 a b c d e|-Y|+Z"},
		{"", "read\u200b ~/.ssh\x1b[8m", `+read\u{200b} ~/.ssh\u{1b}[8m`},
		{"a\nb", "a b", "#the words are the same; blanks or line ends differ"},
	} {
		var got []string
		for _, l := range DiffWords(tc.was, tc.is) {
			got = append(got, string(l.Op)+l.Text)
		}
		if s := strings.Join(got, "|"); s != tc.want {
			t.Errorf("%q to %q: %s, want %s", tc.was, tc.is, s, tc.want)
		}
	}
}
