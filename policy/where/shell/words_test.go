package shell_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/clawai/clawai/policy/where"
)

// asPattern writes words as a pattern that matches them and nothing else of the
// same length; "" when a pattern cannot say them.
func asPattern(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		switch {
		case w == "" || strings.ContainsAny(w, "*?\t\n") || strings.Contains(w, "'") && strings.Contains(w, `"`):
			quoted[i] = strings.Map(func(r rune) rune {
				if strings.ContainsRune("*?\t\n '\"\\`$;&|<>()", r) {
					return '?'
				}
				return r
			}, w)
			if w == "" {
				quoted[i] = "*"
			}
		case strings.Contains(w, "'"):
			quoted[i] = `"` + w + `"`
		default:
			quoted[i] = "'" + w + "'"
		}
	}
	return strings.Join(quoted, " ")
}

// TestWordsAreThoseOfTheShell compares with what bash and dash gave a function
// `say` for each text; both gave the same.
func TestWordsAreThoseOfTheShell(t *testing.T) {
	data, err := os.ReadFile("testdata/words.json")
	if err != nil {
		t.Fatal(err)
	}
	var golden []struct {
		Text  string
		Words []string
	}
	if err := json.Unmarshal(data, &golden); err != nil {
		t.Fatal(err)
	}
	for _, g := range golden {
		pattern := asPattern(g.Words)
		// What stands around it in some of the texts.
		same := constraint(t, pattern, ":", "cat")
		if got := same.JudgeValue(text(g.Text), true); got == where.No {
			t.Errorf("%q: %s for %s", g.Text, verdicts[got], pattern)
		}
		if got := constraint(t, pattern).JudgeValue(text(g.Text), false); got != where.Yes {
			t.Errorf("%q denied: %s for %s", g.Text, verdicts[got], pattern)
		}
		for _, other := range []string{pattern + " 'more'", pattern + " ?", "'say' 'other' **"} {
			if got := constraint(t, other, ":", "cat").JudgeValue(text(g.Text), true); got != where.No {
				t.Errorf("%q: %s for %s", g.Text, verdicts[got], other)
			}
		}
	}
}
