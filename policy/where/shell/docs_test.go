package shell_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/clawai/clawai/policy/where"
)

// TestDocumentedCommands: the tables of docs/where.md are true.
func TestDocumentedCommands(t *testing.T) {
	data, err := os.ReadFile("../../../docs/where.md")
	if err != nil {
		t.Fatal(err)
	}
	code := regexp.MustCompile("`[^`]+`")
	cells := func(s string) []string {
		var list []string
		for _, c := range code.FindAllString(s, -1) {
			list = append(list, strings.Trim(c, "`"))
		}
		return list
	}
	rows := 0
	undecided := false
	for line := range strings.Lines(string(data)) {
		row := strings.Split(strings.TrimSpace(line), "|")
		if len(row) != 5 {
			continue
		}
		if strings.Contains(line, "is undecided") {
			undecided = true
			continue
		}
		patterns := cells(row[1])
		if len(patterns) == 0 {
			continue
		}
		rows++
		c := constraint(t, patterns...)
		want := where.Yes
		if undecided {
			want = where.Maybe
		}
		for _, s := range cells(row[2]) {
			if got := c.JudgeValue(text(s), true); got != want {
				t.Errorf("under %q: %q is %s, want %s", patterns, s, verdicts[got], verdicts[want])
			}
		}
		for _, s := range cells(row[3]) {
			if undecided {
				constraint(t, s)
			} else if got := c.JudgeValue(text(s), true); got == where.Yes {
				t.Errorf("under %q: %q is yes", patterns, s)
			}
		}
	}
	if rows < 12 {
		t.Errorf("%d rows found", rows)
	}
}
