package escape

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestUndo(t *testing.T) {
	for in, want := range map[string]string{
		``:                      "",
		`plain`:                 "plain",
		`\"\\\/\b\f\n\r\t`:      "\"\\/\b\f\n\r\t",
		`a\u0041\u00e9\u00E9b`:  "aAééb",
		`\ud83d\ude00!`:         "😀!",
		`\uFFFD`:                "\ufffd",
		`\ud83d`:                `\ud83d`,
		`\ude00\ud83d`:          `\ude00\ud83d`,
		`\ud83d\ud83d\ude00`:    `\ud83d😀`,
		`\ud83d\n`:              `\ud83d` + "\n",
		`\ud83d\ude0`:           `\ud83d\ude0`,
		`\u12`:                  `\u12`,
		`\u+123 \u00g0 \x41 \a`: `\u+123 \u00g0 \x41 \a`,
		`end\`:                  `end\`,
		"\xff\\n":               "\xff\n",
	} {
		if got := string(UndoEscapes([]byte("<"), []byte(in))); got != "<"+want {
			t.Errorf("%s says %q, want %q", in, got[1:], want)
		}
	}
}

func TestDecode(t *testing.T) {
	for in, want := range map[string]string{
		``: "", `a\u0041\n\/\ud83d\ude00!`: "aA\n/😀!", `\ud83d`: "\ufffd", `\ud83d\u0041`: "\ufffdA", `\ude00\ud83d\ude00`: "\ufffd😀",
	} {
		if got, ok := DecodeString([]byte("<"), in); string(got) != "<"+want || !ok {
			t.Errorf("%s says %q, %v, want %q", in, got, ok, want)
		}
	}
	for _, in := range []string{`\`, `a\x`, `\u12`, `\u12zz`, `\ud83d\ude0`} {
		if got, ok := DecodeString(nil, in); ok {
			t.Errorf("%s says %q", in, got)
		}
	}
}

func TestReadTellsHalfAPair(t *testing.T) {
	for in, want := range map[string]rune{`\ud83d`: 0xd83d, `\ude00\ud83d`: 0xde00, `\uD83D\u0041`: 0xd83d} {
		if r, n := ReadEscape([]byte(in)); r != want || n != 6 {
			t.Errorf("%s: %U, %d bytes", in, r, n)
		}
	}
	for _, in := range []string{``, `\`, `n`, `\u`, `\u004`, `\v`} {
		if r, n := ReadEscape([]byte(in)); n != 0 {
			t.Errorf("%q: %U, %d bytes", in, r, n)
		}
	}
}

// FuzzUndo: what encoding/json reads without repairing it, is read the same; Decode makes
// the same of half a pair, too.
func FuzzUndo(f *testing.F) {
	f.Add(`\u0041 \ud83d\ude00 \\n`)
	f.Fuzz(func(t *testing.T, in string) {
		var want string
		if json.Unmarshal([]byte(`"`+in+`"`), &want) != nil || strings.ToValidUTF8(in, "") != in {
			return
		}
		if got, ok := DecodeString(nil, in); string(got) != want || !ok {
			t.Errorf("%s says %q, %v, want %q", in, got, ok, want)
		}
		if strings.ContainsRune(want, '\ufffd') {
			return
		}
		if got := string(UndoEscapes(nil, []byte(in))); got != want {
			t.Errorf("%s says %q, want %q", in, got, want)
		}
	})
}
