package escape

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// What Append wrote is printable ASCII and says what it was given; Readable says
// the same.
func TestAppend(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := rapid.String().Draw(rt, "s")
		got := append(AppendEscaped([]byte{'"'}, s), '"')
		for _, c := range got {
			if c < ' ' || c > '~' {
				rt.Fatalf("%q is written as %q", s, got)
			}
		}
		for _, text := range []string{string(got), ReadableJSON(got)} {
			var back string
			if err := json.Unmarshal([]byte(text), &back); err != nil || back != s {
				rt.Fatalf("%q is written as %s: %v", s, text, err)
			}
		}
	})
	for in, want := range map[string]string{
		"a\"b\\c":        `a\"b\\c`,
		"\t\r\n\x00\x7f": `\t\r\n\u0000\u007f`,
		"é\u202e😀":       `\u00e9\u202e\ud83d\ude00`,
		"\xff8":          `\\xff8`,
	} {
		if got := string(AppendEscaped(nil, in)); got != want || got != string(AppendEscaped(nil, []byte(in))) {
			t.Errorf("%q is written as %s, want %s", in, got, want)
		}
	}
}

func TestReadable(t *testing.T) {
	for in, want := range map[string]string{
		`"caf\u00e9 \u202e"`:  "\"café \u202e\"",
		`"\ud83d\ude00"`:      `"😀"`,
		`"\ud83d\n\\u00e9\""`: `"\ud83d\n\\u00e9\""`, // half a pair, and what is no escape
		`"\u0041\u001b"`:      `"\u0041\u001b"`,      // ASCII stays as it is written
		`\`:                   `\`,
	} {
		if got := ReadableJSON([]byte(in)); got != want || !utf8.ValidString(got) {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

// An odd byte is escaped wherever it stands, and what is around it stays.
func TestAppendAtEachPlace(t *testing.T) {
	for c := range 256 {
		alone := string(AppendEscaped(nil, []byte{byte(c)}))
		for before := range 18 {
			for behind := range 10 {
				left, right := strings.Repeat("a", before), strings.Repeat("z", behind)
				if got, want := string(AppendEscaped(nil, left+string([]byte{byte(c)})+right)), left+alone+right; got != want {
					t.Fatalf("%q, want %q", got, want)
				}
			}
		}
	}
}
