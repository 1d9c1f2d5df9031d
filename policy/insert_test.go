package policy

import (
	"bytes"
	"strings"
	"testing"
)

const newRule = "# new\n[[rule]]\naction = \"allow\"\ntool = \"n\"\n"

func TestInsertAbove(t *testing.T) {
	for _, c := range []struct {
		name, src string
		index     int
		want      string // with § for the new text
	}{
		{"alone", "[[rule]]\naction='deny'\ntool='t'", 0, "§\n[[rule]]\naction='deny'\ntool='t'"},
		{"above its comments", "# file\n\n# one\n# two\n[[rule]]\naction='deny'\ntool='t'\n", 0,
			"# file\n\n§\n# one\n# two\n[[rule]]\naction='deny'\ntool='t'\n"},
		{"comments of another rule stay there", "[[rule]]\naction='deny'\ntool='t' # x\n# tail\n\n[[rule]]\naction='deny'\ntool='u'\n", 1,
			"[[rule]]\naction='deny'\ntool='t' # x\n# tail\n\n§\n[[rule]]\naction='deny'\ntool='u'\n"},
		{"a comment behind a value is not the rule's", "[[rule]]\naction='deny'\ntool='t' # x\n[[rule]]\naction='deny'\ntool='u'\n", 1,
			"[[rule]]\naction='deny'\ntool='t' # x\n§\n[[rule]]\naction='deny'\ntool='u'\n"},
		{"a string that ends like a comment", "[[rule]]\naction='deny'\ntool='t'\ndescription='''\n# no'''\n# yes\n[[rule]]\naction='deny'\ntool='u'\n", 1,
			"[[rule]]\naction='deny'\ntool='t'\ndescription='''\n# no'''\n§\n# yes\n[[rule]]\naction='deny'\ntool='u'\n"},
		{"below a table of args", "[[rule]]\naction='deny'\ntool='t'\n[rule.args]\nx='y'\n[[rule]]\naction='deny'\ntool='u'\n", 1,
			"[[rule]]\naction='deny'\ntool='t'\n[rule.args]\nx='y'\n§\n[[rule]]\naction='deny'\ntool='u'\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, eol := range []string{"\n", "\r\n"} {
				src := strings.ReplaceAll(c.src, "\n", eol)
				want := strings.ReplaceAll(strings.ReplaceAll(c.want, "§", newRule), "\n", eol)
				if got := insert(t, src, c.index); got != want {
					t.Errorf("line end %q:\n%q, want\n%q", eol, got, want)
				}
			}
		})
	}
}

// insert puts newRule above a rule of src.
func insert(t *testing.T, src string, index int) string {
	t.Helper()
	p, err := Parse("p.toml", []byte(src), Options{})
	if err != nil {
		t.Fatal(err)
	}
	rules := p.sources
	out, err := p.InsertAbove([]byte(src), rules[index].Rule, newRule)
	if err != nil {
		t.Fatal(err)
	}
	after, errs := parseSource("p.toml", out)
	if errs != nil || len(after) != len(rules)+1 || after[index].patterns[0] != "n" {
		t.Fatalf("%q reads as %v, %v", out, summarise(after), errs)
	}
	return string(out)
}

func TestInsertAboveKeepsTheIndentation(t *testing.T) {
	src := "  # c\n  [[rule]]\n\t# d\n\taction='deny'\n\ttool='t'\n"
	want := "  # new\n  [[rule]]\n\taction = \"allow\"\n\ttool = \"n\"\n\n" + src
	if got := insert(t, src, 0); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestInsertAboveRefuses(t *testing.T) {
	src := []byte("[[rule]]\naction='deny'\ntool='t'\n")
	p, err := Parse("p.toml", src, Options{})
	if err != nil {
		t.Fatal(err)
	}
	at := func(line, index int) Rule { return Rule{Pos: Position{"p.toml", line, 1}, Index: index} }
	for _, c := range []struct {
		name, src, text, want string
		r                     Rule
	}{
		{"another line", string(src), newRule, "has changed", at(2, 0)},
		{"no such rule", string(src), newRule, "has changed", at(1, 1)},
		{"not TOML any more", "x", newRule, "has changed", at(1, 0)},
		{"the rule lies elsewhere", "\n" + string(src), newRule, "has changed", at(1, 0)},
		{"a rule without keys", "[[rule]]", newRule, "would not load", at(1, 0)},
		{"a rule before a table", "[[rule]]\n[rule.args]", newRule, "would not load", at(1, 0)},
		{"bad text", string(src), "[[rule]]\n", "p.toml:1:1: rule without an action", at(1, 0)},
	} {
		out, err := p.InsertAbove([]byte(c.src), c.r, c.text)
		if err == nil || !strings.Contains(err.Error(), c.want) || out != nil {
			t.Errorf("%s: %q, %v", c.name, out, err)
		}
	}
	if !bytes.Equal(src, []byte("[[rule]]\naction='deny'\ntool='t'\n")) {
		t.Error("the source was changed in place")
	}
}
