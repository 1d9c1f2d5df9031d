package centre

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// Whatever a person types is a whole code or none, and whatever a laptop says becomes a text that a
// database keeps.
func FuzzTexts(f *testing.F) {
	for _, text := range []string{"BCDF-GHJK", "bcdf ghjk", "\x00\xff", strings.Repeat("ä", 100), "\u017f\u212a"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if code := plainCode(text); code != "" && (len(code) != codeLength || strings.Trim(code, codeLetters) != "" || plainCode(strings.ToLower(code)) != code) {
			t.Errorf("%q is the code %q", text, code)
		}
		if clean := cleanText(text, 40); !utf8.ValidString(clean) || strings.Contains(clean, "\x00") || len(clean) > 40+len("…") || cleanText(clean, 100) != clean {
			t.Errorf("%q becomes %q", text, clean)
		}
	})
}
