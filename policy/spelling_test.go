package policy

import (
	"testing"

	"github.com/clawai/clawai/internal/text/spelling"
)

func TestNearestWord(t *testing.T) {
	words := []string{"policy", "proxy", "log", "demo", "unwrap", "wrap"}
	for word, want := range map[string]string{
		"polcy":       "policy",
		"poilcy":      "policy",
		"prxy":        "proxy",
		"warp":        "wrap",
		"lg":          "log",
		"version":     "",
		"":            "",
		"unwrapp":     "unwrap",
		"étrange":     "",
		"policypolic": "",
	} {
		if got := spelling.NearestWord(word, words); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", word, got, want)
		}
	}
	if got := spelling.NearestWord("a", nil); got != "" {
		t.Errorf("of nothing: %q", got)
	}
}
