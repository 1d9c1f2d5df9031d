//go:build attack && linux

package sql

import (
	"context"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/clawai/clawai/policy/where"
)

var (
	suite = flag.String("suite", "", "folder of PostgreSQL's regression tests (src/test/regress of its source)")
	show  = flag.Bool("show", false, "print the statements that are refused")
)

// maxRefused is the greatest share of statements that only read, of PostgreSQL's own
// regression tests, that may be refused.
const maxRefused = 0.05

// The statements of PostgreSQL's regression tests that only read, by what the server
// did and by what their grammar says, are mostly allowed. Its source is no part of
// this repository: `apt-get source postgresql-15`, and -suite.
func TestSuite(t *testing.T) {
	if *suite == "" {
		t.Skip("give -suite FOLDER, PostgreSQL's src/test/regress (docs/attack.md)")
	}
	s, constraint := postgres(t).session(t), judge(t, "postgres")
	own := regexp.MustCompile(`(?i)^\s*(?:BEGIN;\s*)?CREATE\s+(?:OR\s+REPLACE\s+)?(?:FUNCTION|AGGREGATE|OPERATOR)\s+(?:\w+\.)?([^\s(]+)`)
	theirs, reading, refused, causes := map[string]bool{}, 0, 0, map[string]int{}
	s.column(t, "SET statement_timeout = '20s'")
	for _, file := range schedule(t) {
		s.column(t, "ROLLBACK; RESET ALL; RESET ROLE; SET statement_timeout = '20s'")
		for _, text := range statements(t, file) {
			if m := own.FindStringSubmatch(comments.ReplaceAllString(text, "")); m != nil {
				theirs[strings.ToLower(m[1])] = true
			}
			before, err := s.rows(t.Context(), "SELECT pg_snapshot_xmax(pg_current_snapshot()), pg_current_xact_id_if_assigned()")
			limit, done := context.WithTimeout(t.Context(), time.Minute)
			_, failed := s.rows(limit, text)
			done()
			if s.IsClosed() {
				t.Fatalf("%s: %v at: %s", file, failed, text)
			}
			if err != nil || failed != nil || !reads(text) {
				continue
			}
			after, err := s.rows(t.Context(), "SELECT pg_snapshot_xmax(pg_current_snapshot()), pg_current_xact_id_if_assigned()")
			if err != nil || before[0][0] != after[0][0] || before[0][1] != after[0][1] {
				continue
			}
			reading++
			if constraint.Holds(value(text), true) == where.Yes {
				continue
			}
			refused++
			why := cause(text, theirs)
			causes[why]++
			if *show {
				t.Logf("%s: %s: %s", filepath.Base(file), why, text)
			}
		}
	}
	t.Logf("%d statements only read; %d (%.1f %%) are refused", reading, refused, 100*float64(refused)/float64(reading))
	for _, why := range slices.Sorted(maps.Keys(causes)) {
		t.Logf("%6d %s", causes[why], why)
	}
	// A function that the suite makes is anybody's, and rightly a maybe.
	rest, made := refused-causes[ownFunction], reading-causes[ownFunction]
	t.Logf("of the %d without such functions %d (%.1f %%)", made, rest, 100*float64(rest)/float64(made))
	if made < 5000 || float64(rest) > maxRefused*float64(made) {
		t.Errorf("want at most %.0f %% of at least 5000", 100*maxRefused)
	}
}

// schedule are the suite's files in its order.
func schedule(t *testing.T) []string {
	data, err := os.ReadFile(filepath.Join(*suite, "parallel_schedule"))
	if err != nil {
		t.Fatal(err)
	}
	var files []string
	for line := range strings.Lines(string(data)) {
		names, test := strings.CutPrefix(line, "test: ")
		if !test {
			continue
		}
		for name := range strings.FieldsSeq(names) {
			if path := filepath.Join(*suite, "sql", name+".sql"); exists(path) {
				files = append(files, path)
			}
		}
	}
	return files
}

func exists(path string) bool { _, err := os.Stat(path); return err == nil }

// statements cuts a script of psql's into its statements: without its own commands,
// which begin with a backslash, and without the data of COPY.
func statements(t *testing.T, file string) []string {
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	src, _ := filepath.Abs(*suite)
	text := regexp.MustCompile(`(?m)^\\[^.].*$`).ReplaceAllString(string(data), "")
	names := regexp.MustCompile(`(?m)^\\set filename :abs_srcdir '(/data/\S+)'`).FindAllStringSubmatchIndex(string(data), -1)
	for _, m := range names { // one file's data at a time: \set filename stands directly before its COPY
		text = strings.Replace(text, ":'filename'", "'"+src+string(data[m[2]:m[3]])+"'", 1)
	}
	var all []string
	lexeme := regexp.MustCompile(`(?s)^(--[^\n]*|/\*.*?\*/|[eE]'(?:[^'\\]|\\.|'')*'|'(?:[^']|'')*'|"[^"]*"|\w+)`)
	dollar := regexp.MustCompile(`^\$[A-Za-z_]*\$`)
	stdin := regexp.MustCompile(`(?is)^(--[^\n]*\n|\s)*COPY\b.*\bFROM\s+STD(IN|OUT)`)
	start, depth := 0, 0
	for at := 0; at < len(text); {
		rest := text[at:]
		if tag := dollar.FindString(rest); tag != "" {
			if end := strings.Index(rest[len(tag):], tag); end >= 0 {
				at += end + 2*len(tag)
				continue
			}
		}
		if m := lexeme.FindString(rest); m != "" {
			switch strings.ToLower(m) {
			case "atomic":
				depth++
			case "end":
				depth = max(0, depth-1)
			}
			at += len(m)
			continue
		}
		if at++; rest[0] != ';' || depth > 0 {
			continue
		}
		one := strings.TrimSpace(text[start : at-1])
		start = at
		if stdin.MatchString(one) {
			if end := strings.Index(text[at:], "\n\\."); end >= 0 {
				at += end + len("\n\\.")
				start = at
			}
			continue
		}
		if one != "" && !strings.Contains(one, `\g`) {
			all = append(all, one)
		}
	}
	return all
}

const ownFunction = "a function that the suite makes"

var comments = regexp.MustCompile(`(?s)--[^\n]*|/\*.*?\*/`)

// reads says that a statement's grammar is that of one which reads.
func reads(text string) bool {
	text = strings.ToLower(strings.Trim(comments.ReplaceAllString(text, " "), " \t\r\n("))
	if explainsWriting.MatchString(text) {
		return false
	}
	head, _, _ := strings.Cut(strings.ReplaceAll(strings.ReplaceAll(text, "\n", " "), "(", " "), " ")
	return slices.Contains([]string{"select", "values", "table", "explain", "show", "with"}, head)
}

var explainsWriting = regexp.MustCompile(`(?s)^explain\s*(\([^)]*\)|analyze|verbose|\s)*\s(execute|declare|create|update|delete|insert|merge|refresh)\b`)

// cause is why a statement is refused, as far as its text tells.
func cause(text string, theirs map[string]bool) string {
	lower := strings.ToLower(text)
	for _, m := range regexp.MustCompile(`([a-z_0-9]+)\s*\(`).FindAllStringSubmatch(lower, -1) {
		if theirs[m[1]] {
			return ownFunction
		}
	}
	for _, c := range []struct{ shape, why string }{
		{`u&['"]`, "Unicode escapes"},
		{`for\s+(no\s+key\s+)?(update|share|key)`, "row locks"},
		{`\binto\b`, "INTO"},
		{`set_config|pg_sleep|nextval|setval|advisory|lo_\w|pg_read|pg_ls|to_xml|ts_stat|ts_rewrite|setseed|pg_stat_reset|pg_stat_clear|pg_stat_force|txid_current|pg_current_xact_id\(`, "a function that acts"},
		{`\)\s*\.\s*[a-z_"]`, "a field of a value"},
		{`\bsearch\s+(depth|breadth)|\bcycle\b`, "SEARCH and CYCLE"},
		{`operator\s*\(`, "OPERATOR()"},
		{`(?s)\b(update|delete|insert|merge)\b`, "what writes nothing this time"},
		{`\bbrin_|\bgin_clean`, "a function that acts"},
	} {
		if regexp.MustCompile(`(?s)` + c.shape).MatchString(lower) {
			return c.why
		}
	}
	return "else"
}
