//go:build attack && linux

package sql

import (
	"bytes"
	"flag"
	"fmt"
	"go/format"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/clawai/clawai/policy/where"
)

const room = "../../../policy/where/sql/"

var update = flag.Bool("update", false, "write the tables of functions anew, from the engines that are installed")

// The tables of functions that the room judges by are those of the engines here. On
// a server of another version the text cannot be the same; then no function that
// this server says may act is read, and what is new is told.
func TestTables(t *testing.T) {
	for dialect, made := range map[string]func(testing.TB) *table{
		"postgres": postgresTable, "mysql": mysqlTable, "sqlite": sqliteTable, "sqlserver": sqlserverTable,
	} {
		t.Run(dialect, func(t *testing.T) {
			c := made(t)
			file, code := room+"functions_"+dialect+".go", c.code()
			if *update {
				if err := os.WriteFile(file, code, 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			committed, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			head, _, _ := strings.Cut(string(committed), "\n")
			if strings.Contains(head, " "+c.source+";") && !bytes.Equal(committed, code) {
				t.Errorf("%s is not what catalog/%s.txt and %s make of it; run go generate ./policy/where/sql", file, dialect, c.source)
			}
			c.compare(t)
		})
	}
}

// compare holds what the room says of each function against the engine.
func (c *table) compare(t *testing.T) {
	constraint := judge(t, c.dialect)
	for _, name := range slices.Sorted(maps.Keys(c.functions)) {
		if strings.Contains(name, ".") {
			continue
		}
		allowed := constraint.JudgeValue(value("SELECT "+name+"(1)"), true) == where.Yes
		switch reads := c.functions[name] == "reads"; {
		case allowed && !reads && !grammatical[name]:
			t.Errorf("%s: %s is read; %s says: %s", c.dialect, name, c.source, c.functions[name])
		case !allowed && reads && !grammatical[name]:
			t.Logf("%s: %s could be read, by %s; go generate ./policy/where/sql", c.dialect, name, c.source)
		}
	}
}

// grammatical are names that are words of the language before they are functions.
var grammatical = map[string]bool{
	"char": true, "delete": true, "div": true, "filter": true, "in": true, "insert": true, "is": true, "like": true,
	"match": true, "procedure": true, "regexp": true, "rlike": true, "values": true, "xor": true,
}

// table is what one dialect's functions are known to be.
type table struct {
	dialect, source string
	// functions and tables map names to classes, prefixes map beginnings of names.
	functions, tables, prefixes, tablePrefixes map[string]string
	// columns maps functions to the columns of their rows; operators are the built-in ones.
	columns   map[string]string
	operators []string
}

// judged reads what catalog/DIALECT.txt says of functions by name, beside what the
// engine says.
func judged(t testing.TB, dialect string) *table {
	t.Helper()
	data, err := os.ReadFile(room + "catalog/" + dialect + ".txt")
	if err != nil {
		t.Fatal(err)
	}
	c := &table{
		dialect: dialect, functions: map[string]string{}, tables: map[string]string{},
		prefixes: map[string]string{}, tablePrefixes: map[string]string{}, columns: map[string]string{},
	}
	class, inTable := "", false
	for n, line := range strings.Split(string(data), "\n") {
		switch {
		case line == "" || line[0] == '#':
		case line[0] != ' ':
			head, reason, _ := strings.Cut(line, ": ")
			class, inTable = strings.CutPrefix(head, "table ")
			if reason == "" || !slices.Contains([]string{"reads", "doubt", "acts"}, class) {
				t.Fatalf("catalog/%s.txt:%d: want \"reads|doubt|acts: reason\"", dialect, n+1)
			}
		default:
			for name := range strings.FieldsSeq(line) {
				into, prefixes := c.functions, c.prefixes
				if inTable {
					into, prefixes = c.tables, c.tablePrefixes
				}
				name, every := strings.CutSuffix(name, "*")
				if every {
					into = prefixes
				}
				if was := into[name]; was != "" && was != class {
					t.Fatalf("catalog/%s.txt:%d: %s is both %s and %s", dialect, n+1, name, was, class)
				}
				into[name] = class
			}
		}
	}
	return c
}

// tell adds what an engine says of a name, where nothing is said of it by hand.
func (c *table) tell(name, class string) {
	if c.functions[name] == "" && c.prefixed(name) == "" {
		c.functions[name] = class
	}
}

func (c *table) prefixed(name string) string {
	for p, class := range c.prefixes {
		if strings.HasPrefix(name, p) {
			return class
		}
	}
	return ""
}

// extensions are those of PostgreSQL's own whose functions are known too.
var extensions = []string{"pg_trgm", "unaccent", "fuzzystrmatch", "pgcrypto", "uuid-ossp", "earthdistance", "hstore"}

func postgresTable(t testing.TB) *table {
	c, s := judged(t, "postgres"), postgres(t).session(t)
	c.source = "PostgreSQL " + strings.Fields(s.column(t, "SHOW server_version")[0])[0]
	for _, e := range extensions {
		s.column(t, `CREATE EXTENSION IF NOT EXISTS "`+e+`" CASCADE`)
	}
	rows, err := s.rows(t.Context(), `
		SELECT proname, bool_and(provolatile <> 'v' AND prokind <> 'p' AND prorettype <> ALL (pseudo)
			AND NOT proargtypes::oid[] && pseudo)
		FROM pg_proc, (SELECT '{internal,cstring,trigger,event_trigger,language_handler,fdw_handler,index_am_handler,
			table_am_handler,tsm_handler}'::regtype[]::oid[]) AS p (pseudo)
		GROUP BY 1`)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		class := "doubt"
		if r[1] == "t" {
			class = "reads"
		}
		c.tell(r[0], class)
	}
	for _, name := range s.column(t, `
		SELECT typname FROM pg_type WHERE typnamespace = 'pg_catalog'::regnamespace AND typtype IN ('b', 'r', 'm') AND typname ~ '^[a-z]' AND typname <> 'cstring'`) {
		c.tell(name, "reads") // a cast in the form of a call
	}
	rows, err = s.rows(t.Context(), `
		SELECT proname, string_agg(DISTINCT n, ' ' ORDER BY n)
		FROM pg_proc, unnest(proargnames, proargmodes) AS a (n, m) WHERE m IN ('o', 'b', 't') AND n ~ '^[a-z0-9_]+$' GROUP BY 1`)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		if c.functions[r[0]] == "reads" {
			c.columns[r[0]] = r[1]
		}
	}
	c.operators = s.column(t, "SELECT DISTINCT oprname COLLATE \"C\" FROM pg_operator ORDER BY 1")
	return c
}

func mysqlTable(t testing.TB) *table {
	c, conn := judged(t, "mysql"), mariadb(t).connection(t)
	c.source = "MariaDB " + strings.Split(column(t, conn, "SELECT version()")[0], "-")[0]
	identifier := regexp.MustCompile(`^[a-z_][a-z0-9_]*$`)
	for _, q := range []string{
		"SELECT lower(function) FROM information_schema.sql_functions",
		`SELECT lower(replace(t.name, '\\', '')) FROM mysql.help_topic t JOIN mysql.help_category c USING (help_category_id)
			WHERE c.name LIKE '%Functions%' OR c.name = 'Geographic Features' AND t.name LIKE '%\_%'`,
	} {
		for _, name := range column(t, conn, q) {
			if identifier.MatchString(name) {
				c.tell(name, "reads")
			}
		}
	}
	return c
}

func sqliteTable(t testing.TB) *table {
	c := judged(t, "sqlite")
	ask := func(text string) []string {
		out, err := exec.CommandContext(t.Context(), program(t, "sqlite3"), "-batch", ":memory:", text).Output()
		if err != nil {
			t.Fatal(err)
		}
		return strings.Fields(string(out))
	}
	c.source = "SQLite " + ask("SELECT sqlite_version()")[0]
	identifier := regexp.MustCompile(`^[a-z_][a-z0-9_]*$`)
	for _, row := range ask("SELECT name || '|' || min(flags & 0x200000 <> 0) FROM pragma_function_list GROUP BY name") {
		name, innocuous, _ := strings.Cut(row, "|")
		switch {
		case !identifier.MatchString(name):
		case innocuous == "1":
			c.tell(name, "reads")
		default:
			c.tell(name, "doubt")
		}
	}
	for name, class := range c.tables {
		c.tell(name, class) // called with arguments
	}
	return c
}

// sqlserverTable has no engine to ask.
func sqlserverTable(t testing.TB) *table {
	c := judged(t, "sqlserver")
	c.source = "the Transact-SQL reference"
	return c
}

// code is the table as Go.
func (c *table) code() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "// Code generated by go generate from catalog/%s.txt and %s; DO NOT EDIT.\n\npackage sql\n\n", c.dialect, c.source)
	c.writeLists(&b, "Functions", "holds the names of functions in lower case, by class", c.functions)
	if len(c.tables) > 0 {
		c.writeLists(&b, "Tables", "holds names in a FROM clause that are not tables, by class", c.tables)
	}
	for _, p := range []struct {
		name string
		of   map[string]string
	}{{"Prefixes", c.prefixes}, {"TablePrefixes", c.tablePrefixes}} {
		if len(p.of) == 0 {
			continue
		}
		fmt.Fprintf(&b, "// %s%s are beginnings of names that only this engine uses.\nvar %s%s = []prefix{\n", c.dialect, p.name, c.dialect, p.name)
		for _, name := range slices.Sorted(maps.Keys(p.of)) {
			fmt.Fprintf(&b, "{%q, %s},\n", name, p.of[name])
		}
		b.WriteString("}\n\n")
	}
	if len(c.columns) > 0 {
		fmt.Fprintf(&b, "// %sColumns returns the columns of the rows that a function returns, each between blanks; \"\" if unknown.\nfunc %sColumns(name string) string {\nswitch name {\n", c.dialect, c.dialect)
		for _, name := range slices.Sorted(maps.Keys(c.columns)) {
			fmt.Fprintf(&b, "case %q:\nreturn %q\n", name, " "+c.columns[name]+" ")
		}
		b.WriteString("}\nreturn \"\"\n}\n\n")
	}
	if len(c.operators) > 0 {
		fmt.Fprintf(&b, "// %sOperator reports whether the server has a built-in operator with this name.\nfunc %sOperator(name string) bool {\nswitch name {\n", c.dialect, c.dialect)
		writeCase(&b, c.operators)
		b.WriteString("return true\n}\nreturn false\n}\n")
	}
	text, err := format.Source(b.Bytes())
	if err != nil {
		panic(err)
	}
	return text
}

func (c *table) writeLists(b *bytes.Buffer, suffix, does string, classes map[string]string) {
	fmt.Fprintf(b, "// %s%s %s.\nvar %s%s = lists{\n", c.dialect, suffix, does, c.dialect, suffix)
	for _, class := range []string{"reads", "doubt", "acts"} {
		var names []string
		for _, name := range slices.Sorted(maps.Keys(classes)) {
			if classes[name] == class {
				names = append(names, name)
			}
		}
		if len(names) > 0 {
			fmt.Fprintf(b, "%s: `%s`,\n", class, lines(names))
		}
	}
	b.WriteString("}\n\n")
}

// lines are names in lines of at most 110 characters.
func lines(names []string) string {
	var b strings.Builder
	width := 0
	for i, name := range names {
		switch {
		case i == 0:
		case width+1+len(name) > 110:
			b.WriteByte('\n')
			width = 0
		default:
			b.WriteByte(' ')
			width++
		}
		b.WriteString(name)
		width += len(name)
	}
	return b.String()
}

// writeCase writes a case in lines of at most 110 characters.
func writeCase(b *bytes.Buffer, names []string) {
	line := "case "
	for i, name := range names {
		item := fmt.Sprintf("%q", name)
		if i < len(names)-1 {
			item += ", "
		}
		if len(line)+len(item) > 110 {
			fmt.Fprintf(b, "%s\n", strings.TrimRight(line, " "))
			line = "\t"
		}
		line += item
	}
	fmt.Fprintf(b, "%s:\n", line)
}
