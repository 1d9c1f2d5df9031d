package sql_test

import (
	"context"
	stdsql "database/sql"
	"regexp"
	"strings"
	"testing"
	"time"

	_ "modernc.org/sqlite"
	"pgregory.net/rapid"

	"github.com/clawai/clawai/policy/where"

	"github.com/clawai/clawai/internal/testing/slow"
)

// database is a small database in memory, and the one connection to it.
type database struct {
	conn *stdsql.Conn
}

func open(t testing.TB) *database {
	t.Helper()
	db, err := stdsql.Open("sqlite", ":memory:")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	conn, err := db.Conn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	d := &database{conn}
	for _, s := range []string{
		"CREATE TABLE t (id INTEGER PRIMARY KEY, a, b, name TEXT)",
		"CREATE TABLE users (id INTEGER PRIMARY KEY, name, email, created_at, data)",
		"CREATE TABLE orders (id INTEGER PRIMARY KEY, user_id, total, placed, created_at)",
		"CREATE VIEW v AS SELECT * FROM t",
		"INSERT INTO t VALUES (1, 2, 3, 'x'), (2, 3, 4, 'y')",
		"INSERT INTO users VALUES (1, 'n', 'a@b.c', '2026-01-01', '{}')",
	} {
		if _, err := conn.ExecContext(context.Background(), s); err != nil {
			t.Fatal(err)
		}
	}
	return d
}

// state is what a text that only reads leaves as it was.
func (d *database) state(t testing.TB) string {
	t.Helper()
	var all strings.Builder
	for _, q := range []string{
		"SELECT total_changes()", "PRAGMA schema_version", "PRAGMA user_version", "PRAGMA application_id",
		"PRAGMA query_only", "PRAGMA foreign_keys", "PRAGMA journal_mode", "PRAGMA writable_schema",
		"SELECT group_concat(name || file) FROM pragma_database_list WHERE name <> 'temp'",
		"SELECT group_concat(type || name || sql) FROM (SELECT * FROM sqlite_master UNION ALL SELECT * FROM sqlite_temp_master)",
		"SELECT group_concat(id || name) FROM t", "SELECT count(*) FROM users",
	} {
		var s stdsql.NullString
		if err := d.conn.QueryRowContext(context.Background(), q).Scan(&s); err != nil {
			t.Fatalf("%s: %v", q, err)
		}
		all.WriteString(s.String + "\n")
	}
	return all.String()
}

// run executes every statement of a text, and says whether all went well.
func (d *database) run(s string) bool {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	rows, err := d.conn.QueryContext(ctx, s)
	if err != nil {
		return false
	}
	defer rows.Close()
	for range 1000 {
		if !rows.Next() {
			break
		}
	}
	return rows.Err() == nil
}

// check runs a text that is a Yes and fails if that changed anything, or if it
// could not have run in a database that may only be read (query_only, and no
// statement that opens a transaction).
func (d *database) check(t testing.TB, s string) {
	t.Helper()
	before := d.state(t)
	fine := d.run(s)
	if after := d.state(t); after != before {
		t.Fatalf("%q is a Yes and changed\n%s\nto\n%s", s, before, after)
	}
	if _, err := d.conn.ExecContext(context.Background(), "PRAGMA query_only = 1"); err != nil {
		t.Fatal(err)
	}
	if fine && !d.run(s) {
		t.Fatalf("%q is a Yes and does not run where only reading is allowed", s)
	}
	if _, err := d.conn.ExecContext(context.Background(), "PRAGMA query_only = 0"); err != nil {
		t.Fatal(err)
	}
}

// Every text of the corpora that is a Yes leaves a real database as it is; enough
// of them are understood by it for that to mean something.
func TestSQLiteAgreesWithCorpora(t *testing.T) {
	slow.Test(t)
	c, ran := constraint(t, "sqlite"), 0
	for _, file := range []string{"reads.txt", "evasions.txt"} {
		for _, e := range corpus(t, file) {
			if c.JudgeValue(str(e.text), true) != where.Yes {
				continue
			}
			d := open(t)
			d.check(t, e.text)
			if d.run(e.text) {
				ran++
			}
		}
	}
	if ran < 15 {
		t.Errorf("only %d texts ran", ran)
	}
}

// pieces are what the generator makes statements of: most of them are refused by
// somebody, and what nobody refuses must not write.
var pieces = strings.Split(`SELECT|INSERT INTO t VALUES (9,9,9,9)|DELETE FROM t|UPDATE t SET a = 0|DROP TABLE t|CREATE TABLE n (x)|WITH|w AS|RECURSIVE|FROM|t|users|v|WHERE|id|a|1|2|,|;|(|)|*|=|'|''|"|[|]|`+"`"+`|--|/*|*/|\|#|$a|$|:b|@c|?|UNION|ALL|VALUES|(1)|EXPLAIN|QUERY PLAN|PRAGMA|user_version|= 7|table_info(t)|schema_version|writable_schema|INTO|AS|x|REPLACE|REPLACE INTO t VALUES (8,8,8,8)|RETURNING|E'|\'|\n|$$|[a]]|"a""b"|'a''b'|count(*)|max(a)|ATTACH ':memory:' AS z|BEGIN|COMMIT|;DELETE FROM t;|'; DELETE FROM t; --|*/ DELETE FROM t; --|`+"`; DELETE FROM t; --|]; DELETE FROM t; --|\"; DELETE FROM t; --|) DELETE FROM t", "|")

func TestSQLiteAgreesWithWhatIsGenerated(t *testing.T) {
	c, d, held := constraint(t, "sqlite"), open(t), 0
	rapid.Check(t, func(r *rapid.T) {
		parts := rapid.SliceOfN(rapid.SampledFrom(pieces), 1, 14).Draw(r, "parts")
		glue := rapid.SampledFrom([]string{" ", "", "\n", "/**/"}).Draw(r, "glue")
		s := rapid.SampledFrom([]string{"", "SELECT 1 ", "SELECT ", "SELECT 1;", "WITH w AS (SELECT 1) "}).Draw(r, "head") +
			strings.ReplaceAll(strings.Join(parts, glue), `\n`, "\n")
		if c.JudgeValue(str(s), true) == where.Yes {
			held++
			d.check(t, s)
		}
	})
	t.Logf("%d held", held)
}

func FuzzSQLite(f *testing.F) {
	seeds(f)
	for _, p := range pieces {
		f.Add("SELECT 1 " + p)
	}
	c := constraint(f, "sqlite")
	// What fills the memory, or cannot be interrupted, finds nothing here.
	endless := regexp.MustCompile(`(?i)blob|printf|format|recursive|replace|join|,.*,.*,.*,`)
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) < 500 && !endless.MatchString(s) && c.JudgeValue(str(s), true) == where.Yes {
			open(t).check(t, s)
		}
	})
}

func BenchmarkHolds(b *testing.B) {
	c := constraint(b, "")
	for name, s := range map[string]string{
		"query":   "SELECT u.id, COUNT(*) FROM users u JOIN orders o ON o.user_id = u.id WHERE u.name = 'x' GROUP BY u.id",
		"words":   "SELECT " + strings.Repeat("a, ", 80_000) + "a",
		"calls":   "SELECT " + strings.Repeat("pg_x(", 90) + "1" + strings.Repeat(")", 90),
		"letters": "SELECT " + strings.Repeat("é,", 80_000) + "a",
		"quotes":  "SELECT " + strings.Repeat("'',", 80_000) + "a",
		"parens":  "SELECT " + strings.Repeat("(),", 80_000) + "a",
		"dollars": "SELECT " + strings.Repeat("$a ", 80_000) + "a",
		"tags":    "SELECT " + strings.Repeat("$a$$b$,", 30_000) + "a",
		"all":     "SELECT " + strings.Repeat("é('\\\\',\"a\"),", 15_000) + "a",
		"unused":  "SELECT " + strings.Repeat("a; ", 80_000) + "a",
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(s)))
			for b.Loop() {
				c.JudgeValue(str(s), true)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(s)), "ns/byte")
		})
	}
}
