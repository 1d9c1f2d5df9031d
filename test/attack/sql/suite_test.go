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

// maxRefused is the greatest share of the statements known to read, of PostgreSQL's
// own regression tests, that may be refused.
const maxRefused = 0.05

// Of the statements of PostgreSQL's regression tests that are known to read nearly all
// are allowed. Known to read are those that the server ran without an error and without
// a transaction id, and of which its own rewritten tree (views and policies put in)
// shows that they are SHOW or nothing but SELECT without row locks, perhaps behind
// EXPLAIN, and that each function, by its name or by an operator, is one that the server
// brings, immutable or stable or named by catalog/postgres.txt as volatile and reading.
// The source of PostgreSQL is no part of this repository (docs/attack.md).
func TestSuite(t *testing.T) {
	if *suite == "" {
		t.Skip("NOT MEASURED: give -suite FOLDER, PostgreSQL's src/test/regress (docs/attack.md)")
	}
	house := postgres(t)
	s, look := house.session(t), newTrees(t, house)
	constraint, total, refused := judge(t, "postgres"), map[string]int{}, map[string]int{}
	s.column(t, "SET statement_timeout = '20s'")
	for _, file := range schedule(t) {
		s.column(t, "ROLLBACK; RESET ALL; RESET ROLE; SET statement_timeout = '20s'")
		for _, text := range statements(t, file) {
			before, err := s.rows(t.Context(), ids)
			limit, done := context.WithTimeout(t.Context(), time.Minute)
			_, failed := s.rows(limit, text)
			done()
			if s.IsClosed() {
				t.Fatalf("%s: %v at: %s", file, failed, text)
			}
			if err != nil || failed != nil || !asks.MatchString(text) {
				continue
			}
			after, err := s.rows(t.Context(), ids)
			if err != nil || before[0][0] != after[0][0] || before[0][1] != after[0][1] {
				continue
			}
			kind := look.kind(t, s, text)
			total[kind]++
			if constraint.JudgeValue(value(text), true) == where.Yes {
				continue
			}
			refused[kind]++
			if *show {
				t.Logf("%s: %s: %s", filepath.Base(file), kind, text)
			}
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(total)) {
		t.Logf("%6d %s; %d (%.1f %%) are refused", total[kind], kind, refused[kind], 100*float64(refused[kind])/float64(total[kind]))
	}
	if total[reading] < 5000 || float64(refused[reading]) > maxRefused*float64(total[reading]) {
		t.Errorf("want at most %.0f %% of at least 5000", 100*maxRefused)
	}
}

// ids are the next transaction's id and the one that this transaction has.
const ids = "SELECT pg_snapshot_xmax(pg_current_snapshot()), pg_current_xact_id_if_assigned()"

const (
	reading  = "known to read"
	writing  = "that write or lock rows, behind EXPLAIN or without a row to write"
	acting   = "that call a volatile function which is not known to read"
	made     = "that call a function which the suite made"
	unparsed = "that cannot be prepared"
)

var (
	comment = `(?:\s|--[^\n]*(?:\n|$)|/\*.*?\*/)*`
	// asks says that a statement asks for rows, by the word that it begins with.
	asks     = regexp.MustCompile(`(?is)^[\s(]*` + comment + `[\s(]*(select|values|table|explain|show|with)\b`)
	explains = regexp.MustCompile(`(?is)^` + comment + `explain\s*(?:\((?:analyze|verbose|costs|buffers|timing|summary|wal|settings|format|text|json|xml|yaml|on|off|true|false|[\s,])+\)|(?:\s*\b(?:analyze|verbose)\b)*)`)
	shows    = regexp.MustCompile(`(?is)^` + comment + `show\b`)
	commands = regexp.MustCompile(`:commandType\s+([^1\s]|1\d)|:rowMarks\s+\(`)
	called   = regexp.MustCompile(`:(funcid|aggfnoid|winfnoid|opno|eqop|sortop)\s+(\d+)`)
)

// trees asks the server what it makes of a statement.
type trees struct {
	// functions are those that the server brings by their ids, true for one that is
	// known to read; operators are their functions.
	functions map[string]bool
	operators map[string]string
}

func newTrees(t *testing.T, h *house) *trees {
	s, known := h.session(t), judged(t, "postgres").functions
	l := &trees{functions: map[string]bool{}, operators: map[string]string{}}
	rows, err := s.rows(t.Context(), "SELECT oid, proname, provolatile FROM pg_proc")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		l.functions[r[0]] = r[2] != "v" || known[r[1]] == "reads"
	}
	if rows, err = s.rows(t.Context(), "SELECT oid, oprcode::oid FROM pg_operator"); err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		l.operators[r[0]] = r[1]
	}
	return l
}

// kind says what the server's tree shows of a statement that it ran.
func (l *trees) kind(t *testing.T, s *session, text string) string {
	if shows.MatchString(text) {
		return reading
	}
	s.trees = s.trees[:0]
	look := "SET LOCAL client_min_messages = log; SET LOCAL debug_pretty_print = off; SET LOCAL debug_print_rewritten = on; PREPARE looked AS " +
		explains.ReplaceAllString(text, "") + "\n; DEALLOCATE looked"
	if s.TxStatus() == 'I' {
		_, err := s.rows(t.Context(), look)
		if err != nil {
			return unparsed
		}
	} else {
		s.column(t, "SAVEPOINT looked")
		_, err := s.rows(t.Context(), look)
		s.column(t, "ROLLBACK TO looked; RELEASE looked")
		if err != nil {
			return unparsed
		}
	}
	shown := strings.Join(s.trees, "")
	if shown == "" {
		return writing // SELECT INTO
	}
	kind := reading
	for _, m := range called.FindAllStringSubmatch(shown, -1) {
		id := m[2]
		switch m[1] {
		case "opno", "eqop", "sortop":
			if id == "0" {
				continue
			}
			id = l.operators[id]
		}
		reads, brought := l.functions[id]
		if !brought {
			return made
		}
		if !reads {
			kind = acting
		}
	}
	if commands.MatchString(shown) {
		return writing
	}
	return kind
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
