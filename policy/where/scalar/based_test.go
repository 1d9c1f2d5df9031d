package scalar_test

import (
	"strings"
	"testing"

	"github.com/clawai/clawai/policy/where"
	"github.com/clawai/clawai/policy/where/scalar"
)

// ${cwd} in an expression is the folder itself, letter by letter, and below the home also with ~.
func TestRegexWithTheFolder(t *testing.T) {
	c := must(t)(scalar.NewRegex(`cd ${cwd}(?:/\w+)*`, "/home/u"))
	for _, tt := range []struct {
		text, base string
		want       where.Match
	}{
		{"cd /home/u/a", "/home/u/a", where.Yes},
		{"cd ~/a", "/home/u/a", where.Yes},
		{"cd ~/a/src", "/home/u/a", where.Yes},
		{"cd /srv/a.b/src", "/srv/a.b", where.Yes},
		{"cd /srv/aXb", "/srv/a.b", where.No},
		{"cd /home/u/ab", "/home/u/a", where.No},
		{"cd /home/u/a/../b", "/home/u/a", where.No},
		{"cd ~/b", "/home/u/a", where.No},
		{"cd ~/a", "/srv/a", where.No},
		{"cd ${cwd}", "/home/u/a", where.No},
		{"cd /home/u/a", "", where.Maybe},
		{"cd /home/u", "/home/u", where.Maybe}, // it surrounds the home
		{"cd /home", "/home", where.Maybe},
		{"cd /", "/", where.Maybe},
		{"cd /srv/a b", "/srv/a b", where.Maybe}, // a shell reads two words
		{"cd /srv/$a", "/srv/$a", where.Maybe},
		{`cd C:\a`, `C:\a`, where.Maybe},
		{"cd /srv/a.", "/srv/a.", where.Maybe},
		{"cd /" + strings.Repeat("a", 300), "/" + strings.Repeat("a", 300), where.Maybe},
	} {
		for _, opens := range []bool{true, false} {
			if got := c.JudgeValue(where.Value{Kind: where.String, Text: tt.text, Base: tt.base}, opens); got != tt.want {
				t.Errorf("%q in %q: %v, want %v", tt.text, tt.base, got, tt.want)
			}
		}
	}
	if got := c.JudgeValue(where.Value{Kind: where.Object, Base: "/home/u/a"}, true); got != where.No {
		t.Errorf("an object: %v", got)
	}
	if !scalar.NamesBase(c) || scalar.NamesBase(must(t)(scalar.NewRegex("a", ""))) {
		t.Error("which expressions have ${cwd}")
	}
	if _, err := scalar.NewRegex("${cwd}(", ""); err == nil {
		t.Error("a wrong expression loads")
	}
	if e, is := c.(interface{ Expression() string }); !is || e.Expression() != `cd ${cwd}(?:/\w+)*` {
		t.Error("it is not shown as it was written")
	}
	if other := must(t)(scalar.NewRegex(`cd x(?:/\w+)*`, "")); c.JudgeCost(10) <= other.JudgeCost(10) {
		t.Error("a long folder costs nothing")
	}
}
