package sql_test

import (
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/clawai/clawai/policy/where"
	"github.com/clawai/clawai/policy/where/sql"
)

var products = []string{"postgres", "mysql", "sqlite", "sqlserver"}

// entry is one text of a corpus.
type entry struct {
	dialects []string
	source   string
	text     string
}

// corpus reads a file of testdata, the form of which its first lines tell.
func corpus(t testing.TB, file string) []entry {
	t.Helper()
	data, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	var all []entry
	for _, block := range strings.Split(string(data), "\n@ ")[1:] {
		head, body, _ := strings.Cut(block, "\n")
		names, source, _ := strings.Cut(head, " | ")
		e := entry{source: source, text: unescape(t, strings.TrimSuffix(body, "\n"))}
		every, only := strings.CutPrefix(names, "!")
		if e.dialects = strings.Fields(every); every == "*" {
			e.dialects = slices.Clone(products)
		}
		if !only {
			e.dialects = append(e.dialects, "")
		}
		all = append(all, e)
	}
	return all
}

func unescape(t testing.TB, s string) string {
	t.Helper()
	var b strings.Builder
	for len(s) > 0 {
		if s[0] != '\\' {
			b.WriteByte(s[0])
			s = s[1:]
			continue
		}
		digits := map[byte]int{'x': 2, 'u': 4}[s[1]]
		switch s[1] {
		case '0':
			b.WriteByte(0)
		case 'r':
			b.WriteByte('\r')
		case '\\':
			b.WriteByte('\\')
		case 'x', 'u':
			n, err := strconv.ParseUint(s[2:2+digits], 16, 32)
			if err != nil {
				t.Fatal(err)
			}
			if digits == 2 {
				b.WriteByte(byte(n))
			} else {
				b.WriteRune(rune(n))
			}
		default:
			t.Fatalf("unknown escape in %q", s)
		}
		s = s[2+digits:]
	}
	return b.String()
}

func constraint(t testing.TB, dialect string) where.Constraint {
	t.Helper()
	c, err := sql.New(sql.ReadOnly, dialect)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func str(s string) where.Value { return where.Value{Kind: where.String, Text: s} }

func TestEvasions(t *testing.T) {
	all := corpus(t, "evasions.txt")
	if len(all) < 150 {
		t.Fatalf("only %d entries", len(all))
	}
	for _, e := range all {
		if e.source == "" {
			t.Errorf("%q has no source", e.text)
		}
		for _, d := range e.dialects {
			c := constraint(t, d)
			for _, s := range []string{e.text, "SELECT 1;\n" + e.text, e.text + "\n;SELECT 1", "SELECT 1;\r\n" + strings.ReplaceAll(e.text, " ", "\t")} {
				if got := c.JudgeValue(str(s), true); got == where.Yes {
					t.Errorf("%q: %q is a Yes (%s)", d, s, e.source)
				}
			}
		}
	}
}

func TestReads(t *testing.T) {
	all := corpus(t, "reads.txt")
	if len(all) < 100 {
		t.Fatalf("only %d entries", len(all))
	}
	for _, e := range all {
		for _, d := range e.dialects {
			c := constraint(t, d)
			for _, s := range []string{e.text, e.text + "\n", "\n\n" + strings.ReplaceAll(e.text, "\n", "\r\n")} {
				for _, opens := range []bool{true, false} {
					if got := c.JudgeValue(str(s), opens); got != where.Yes {
						t.Errorf("%q: %q is %d", d, s, got)
					}
				}
			}
		}
	}
}

// What each dialect alone reads differently must not be a Yes where the dialect
// is not declared.
func TestUndeclaredDialectIsEveryDialect(t *testing.T) {
	for _, e := range corpus(t, "reads.txt") {
		if slices.Contains(e.dialects, "") {
			continue
		}
		if got := constraint(t, "").JudgeValue(str(e.text), true); got == where.Yes {
			t.Errorf("%q is marked as read differently, but is a Yes", e.text)
		}
	}
}

func TestVerdicts(t *testing.T) {
	for _, test := range []struct {
		dialect, text string
		opens, other  where.Match
	}{
		{"postgres", "DELETE FROM t", where.No, where.No},
		{"", "DELETE FROM t", where.No, where.No},
		{"postgres", "SELECT 1; DELETE FROM t", where.No, where.Yes},
		{"postgres", "DELETE FROM t; DROP TABLE u", where.No, where.No},
		{"sqlserver", "DELETE FROM t SELECT 1", where.No, where.Maybe},
		{"sqlserver", "SELECT 1 DELETE FROM t", where.No, where.Maybe},
		{"postgres", "SELECT own()", where.Maybe, where.Maybe},
		{"postgres", "SELECT own(); SELECT 1", where.Maybe, where.Yes},
		{"postgres", "SELECT own(); DROP TABLE t", where.No, where.Maybe},
		{"postgres", "SELECT pg_sleep(1)", where.No, where.No},
		{"postgres", "SELECT 'unclosed", where.No, where.Maybe},
		{"mysql", "SELECT '\\' OR 1", where.Maybe, where.Maybe},
		{"mysql", "SELECT /*! 1 */", where.Maybe, where.Maybe},
		{"", "SELECT `a`", where.Maybe, where.Maybe},
		{"postgres", "hello", where.Maybe, where.Maybe},
		{"postgres", "", where.Maybe, where.Maybe},
		{"postgres", " ; ; ", where.Maybe, where.Maybe},
		{"postgres", "SELECT 1\x00", where.Maybe, where.Maybe},
		{"postgres", "SELECT\r1", where.Maybe, where.Maybe},
		{"postgres", "SELECT 1\v", where.Maybe, where.Maybe},
	} {
		c := constraint(t, test.dialect)
		if got := c.JudgeValue(str(test.text), true); got != test.opens {
			t.Errorf("%q: %q, opening: %d, want %d", test.dialect, test.text, got, test.opens)
		}
		if got := c.JudgeValue(str(test.text), false); got != test.other {
			t.Errorf("%q: %q, not opening: %d, want %d", test.dialect, test.text, got, test.other)
		}
	}
}

// The answers that docs/where.md shows are those that are given.
func TestDocumentedAnswers(t *testing.T) {
	page, err := os.ReadFile("../../../docs/where.md")
	if err != nil {
		t.Fatal(err)
	}
	answers := map[string]where.Match{"yes": where.Yes, "no": where.No, "maybe": where.Maybe}
	shown := regexp.MustCompile("(?m)^\\| (\\w+) \\| `(.*)` \\| (\\w+) \\|$").FindAllStringSubmatch(string(page), -1)
	if len(shown) < 25 {
		t.Fatalf("only %d answers", len(shown))
	}
	for _, row := range shown {
		d := row[1]
		if d == "any" {
			d = ""
		}
		if got := constraint(t, d).JudgeValue(str(row[2]), true); got != answers[row[3]] {
			t.Errorf("%s: %s is %d, shown as %s", row[1], row[2], got, row[3])
		}
	}
}

func TestOnlyStringsAreSQL(t *testing.T) {
	c := constraint(t, "")
	for k := where.Absent; k <= where.List; k++ {
		want := where.MatchOf(k == where.String)
		if got := c.JudgeValue(where.Value{Kind: k, Text: "SELECT 1"}, true); got != want {
			t.Errorf("kind %d: %d", k, got)
		}
	}
}

func TestLimits(t *testing.T) {
	c := constraint(t, "")
	for _, test := range []struct {
		text string
		want where.Match
	}{
		{"SELECT " + strings.Repeat("1, ", 80_000) + "1", where.Yes},
		{"SELECT '" + strings.Repeat("x", 256<<10) + "'", where.Maybe},
		{"SELECT " + strings.Repeat("(", 90) + "1" + strings.Repeat(")", 90), where.Yes},
		{"SELECT " + strings.Repeat("(", 101) + "1" + strings.Repeat(")", 101), where.Maybe},
		{strings.Repeat("(", 100_000), where.Maybe},
		{strings.Repeat(")", 100_000), where.No},
	} {
		if got := c.JudgeValue(str(test.text), true); got != test.want {
			t.Errorf("%.30q… (%d bytes): %d, want %d", test.text, len(test.text), got, test.want)
		}
	}
}

// What stands in a FROM is not sought for ever: 18,000 casts took seconds.
func TestSearchIsBounded(t *testing.T) {
	text := "SELECT t.a" + strings.Repeat(", cast(a as b)", 18000) + " FROM t"
	if got := constraint(t, "postgres").JudgeValue(str(text), true); got != where.Maybe {
		t.Errorf("all of it was searched: %d", got)
	}
}

func TestCostIsBounded(t *testing.T) {
	one, all := constraint(t, "sqlite"), constraint(t, "")
	if a, b := one.JudgeCost(1000), all.JudgeCost(1000); a >= b || one.JudgeCost(100) >= a {
		t.Errorf("1000 bytes cost %d in one dialect, %d in all", a, b)
	}
	if n := all.JudgeCost(1 << 30); n > 1000 {
		t.Errorf("a text that is not read costs %d", n)
	}
}

func TestNewSaysWhatWasMeant(t *testing.T) {
	for _, test := range []struct{ mode, dialect, want string }{
		{"readonly", "", `"read-only"`},
		{"", "", `"read-only"`},
		{"read-only", "PostgreSQL", `write "postgres"`},
		{"read-only", "mariadb", `write "mysql"`},
		{"read-only", "oracle", `"sqlserver"`},
	} {
		_, err := sql.New(test.mode, test.dialect)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("New(%q, %q): %v, want mention of %s", test.mode, test.dialect, err, test.want)
		}
	}
}

// seeds adds every text of the corpora to a fuzz target.
func seeds(f *testing.F) {
	f.Helper()
	for _, file := range []string{"evasions.txt", "reads.txt"} {
		for _, e := range corpus(f, file) {
			f.Add(e.text)
		}
	}
}

// What is a Yes where the dialect is not declared is one in every dialect that
// knows its words; what is a Yes alone is one beside another reading statement,
// and not beside a writing one.
func FuzzHolds(f *testing.F) {
	seeds(f)
	all := map[string]where.Constraint{}
	for _, d := range append([]string{""}, products...) {
		all[d] = constraint(f, d)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for d, c := range all {
			if c.JudgeValue(str(s), true) != where.Yes {
				continue
			}
			if !utf8.ValidString(s) || strings.ContainsRune(s, 0) {
				t.Errorf("%q: %q is a Yes", d, s)
			}
			if c.JudgeValue(str(s), false) != where.Yes {
				t.Errorf("%q: %q opens but does not close", d, s)
			}
			for _, bad := range []string{s + "\n;DROP TABLE t", "DROP TABLE t;" + s, s + "\n;'"} {
				if c.JudgeValue(str(bad), true) == where.Yes {
					t.Errorf("%q: %q is a Yes", d, bad)
				}
			}
			if both := "SELECT 1;" + s; len(both) <= 256<<10 && c.JudgeValue(str(both), true) != where.Yes {
				t.Errorf("%q: %q is no Yes", d, both)
			}
		}
	})
}
