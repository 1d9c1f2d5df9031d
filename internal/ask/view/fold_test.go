package view

import (
	"strings"
	"testing"
)

func TestFold(t *testing.T) {
	for _, tt := range []struct {
		n          int
		text, want string
	}{
		{0, "  a line of any length stays\n", "  a line of any length stays\n"},
		{10, "short\n\nalso this\n", "short\n\nalso this\n"},
		{20, "Wrapped files, git and memory.\nUndo: x\n", "Wrapped files, git\n  and memory.\nUndo: x\n"},
		{20, "  To take effect: start it again.\n", "  To take effect:\n    start it again.\n"},
		{24, "  --mode M  the M: ask, strict or observe\n", "  --mode M  the M: ask,\n            strict or\n            observe\n"},
		{20, "  clawai lint [options]   (or your own)\n", "  clawai lint\n    [options]   (or\n    your own)\n"},
		{24, "   fix | move the rule above it, or away  \n", "   fix | move the rule\n         above it, or\n         away  \n"},
		{24, "ok     allow  a long line's last  column\n", "ok     allow  a long\n       line's last\n       column\n"},
		{20, "  Or sign in now: clawai auth login https://example.org/mcp\n", "  Or sign in now:\n    clawai auth login https://example.org/mcp\n"},
		{20, "see all of it: clawai-gateway laptops --dir DIR\n", "see all of it:\n  clawai-gateway laptops --dir DIR\n"},
		{12, "a https://example.org/mcp b\n", "a\n  https://example.org/mcp\n  b\n"},
		{12, "日本語 日本語 日本語", "日本語\n  日本語\n  日本語"},
		{30, "Write this? Nothing was written so far. [y/N] ", "Write this? Nothing was\n  written so far. [y/N] "},
	} {
		if got := FoldLines(tt.text, tt.n); got != tt.want {
			t.Errorf("Fold(%q, %d) is\n%s\nwant\n%s", tt.text, tt.n, got, tt.want)
		}
		if strings.Join(strings.Fields(FoldLines(tt.text, tt.n)), " ") != strings.Join(strings.Fields(tt.text), " ") {
			t.Errorf("Fold(%q, %d) loses a word", tt.text, tt.n)
		}
	}
}
