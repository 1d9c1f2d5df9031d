package frame_test

import (
	"strings"
	"testing"
	"unicode"

	"github.com/clawai/clawai/internal/testing/slow"
	"github.com/clawai/clawai/internal/wire/frame"
)

func fold(s string) string { return string(frame.FoldName(nil, []byte(s))) }

// Fold must put together at least what any case-insensitive reader does.
func TestFoldIsAsGenerousAsAnyReader(t *testing.T) {
	slow.Test(t)
	for r := rune(0); r <= unicode.MaxRune; r++ {
		same := fold(string(r))
		for _, other := range []rune{unicode.SimpleFold(r), unicode.ToUpper(r), unicode.ToLower(r), unicode.ToTitle(r)} {
			if fold(string(other)) != same {
				t.Fatalf("%U and %U differ", r, other)
			}
		}
		if fold(same) != same {
			t.Fatalf("%U is folded twice", r)
		}
	}
	if fold("İDıſK") != "idisk" || !strings.EqualFold(fold("straẞe"), "STRAßE") {
		t.Errorf("%q", fold("İDıſK"))
	}
}

func TestFoldKeepsWhatHasNoCase(t *testing.T) {
	for _, s := range []string{"", "name", "a.b-c_d/0@[`{~", "日本", "\xff\x80a"} {
		if got := fold(s); got != strings.ToValidUTF8(s, "\uFFFD") && got != "\uFFFD\uFFFDa" {
			t.Errorf("%q became %q", s, got)
		}
	}
}
