package spelling

import "testing"

func TestNearest(t *testing.T) {
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
		if got := Nearest(word, words); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", word, got, want)
		}
	}
	if got := Nearest("a", nil); got != "" {
		t.Errorf("of nothing: %q", got)
	}
}
