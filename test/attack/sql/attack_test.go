//go:build attack && linux

// Package sql attacks the constraint `sql`: texts that it takes for reading are run
// by the engines themselves, and whatever changes is a finding.
package sql

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/clawai/clawai/policy/where"
	"github.com/clawai/clawai/policy/where/sql"
	"github.com/clawai/clawai/test/attack"
)

// judge is the constraint of one dialect.
func judge(t testing.TB, dialect string) where.Constraint {
	t.Helper()
	c, err := sql.New(sql.ReadOnly, dialect)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func value(text string) where.Value { return where.Value{Kind: where.String, Text: text} }

// engine is a real server, or library, and how one sees what a text did to it.
type engine interface {
	// grammar is what texts for it are made of.
	grammar(t testing.TB) *grammar
	// run runs texts, one after the other, and says what some did that can be seen at
	// once: files read, waits, a session that ended. What it says of none in
	// particular it says of -1.
	run(t testing.TB, texts []string) map[int]string
	// state is what a text that reads leaves as it was, one thing a line.
	state(t testing.TB) string
	// restore makes everything as it was at the start.
	restore(t testing.TB)
}

// finding is a text that was allowed and did more than read.
type finding struct{ policy, engine, text, did string }

func (f finding) String() string {
	return fmt.Sprintf("policy  %s\nengine  %s\ntext    %q\ndid     %s", f.policy, f.engine, f.text, f.did)
}

const (
	batch = 250
	// fewest is how many texts an attack makes at least, however short its time.
	fewest = 2 * batch
)

var engines = []struct {
	dialect, name string
	start         func(testing.TB) engine
}{
	{"postgres", "PostgreSQL", newPostgres},
	{"mysql", "MariaDB", newMariaDB},
	{"sqlite", "SQLite", newSQLite},
}

func TestAttack(t *testing.T) {
	budget, err := attack.Budget()
	if err != nil {
		t.Fatal(err)
	}
	seed, err := attack.Seed()
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("ATTACK_SEED=%d", seed)
	for _, one := range engines {
		t.Run(one.name, func(t *testing.T) {
			e := one.start(t)
			e.restore(t)
			g := e.grammar(t)
			g.random = rand.New(rand.NewPCG(seed, 1))
			made, ran, end := 0, 0, time.Now().Add(budget/time.Duration(len(engines)))
			for made < fewest || time.Now().Before(end) {
				// Every fourth batch is judged as by a policy that names no dialect.
				dialect := one.dialect
				if made/batch%4 == 3 {
					dialect = ""
				}
				var allowed []string
				for c := judge(t, dialect); len(allowed) < batch; made++ {
					if text := g.text(); c.JudgeValue(value(text), true) == where.Yes {
						allowed = append(allowed, text)
					}
				}
				ran += len(allowed)
				for _, f := range try(t, e, allowed) {
					f.engine, f.policy = one.name, fmt.Sprintf(`where.text.sql = { mode = "read-only", dialect = %q }`, dialect)
					t.Errorf("ATTACK_SEED=%d\n%s", seed, f)
				}
				if t.Failed() {
					break
				}
			}
			t.Logf("%d texts made, %d allowed and run", made, ran)
		})
	}
}

// try runs texts and looks for what they did: for all of them at once, and only if
// there was something for each.
func try(t testing.TB, e engine, texts []string) []finding {
	t.Helper()
	before := e.state(t)
	seen := e.run(t, texts)
	if after := e.state(t); len(seen) == 0 && after == before {
		return nil
	}
	e.restore(t)
	var all []finding
	for _, text := range texts {
		before := e.state(t)
		did := slices.Sorted(func(yield func(string) bool) {
			for _, s := range e.run(t, []string{text}) {
				if !yield(s) {
					return
				}
			}
		})
		if after := e.state(t); after != before {
			did = append(did, changes(before, after))
		}
		if len(did) > 0 {
			all = append(all, finding{text: text, did: strings.Join(did, "; ")})
			e.restore(t)
		}
	}
	if len(all) == 0 {
		all = append(all, finding{text: strings.Join(texts, "\n"), did: fmt.Sprintf("all of these together: %v; %s", seen, changes(before, e.state(t)))})
	}
	return all
}

// changes are the lines of a state that are not as they were.
func changes(before, after string) string {
	was := strings.Split(before, "\n")
	var all []string
	for i, line := range strings.Split(after, "\n") {
		if i >= len(was) || was[i] != line {
			all = append(all, fmt.Sprintf("%.300s (was %.300s)", line, append(was, make([]string, i+1)...)[i]))
		}
	}
	return strings.Join(all, ", ")
}

// A hole is found: among texts that read, each one that does not is named, and only
// those.
func TestHolesAreFound(t *testing.T) {
	holes := map[string][]string{
		"PostgreSQL": {
			"DELETE FROM t", "SELECT ('x').wipe", "SELECT nextval('s')", "SELECT pg_sleep(30)",
			"SET work_mem = '5MB'", "SELECT pg_advisory_lock(1)", "CREATE TABLE n ()", "SELECT pg_read_file('canary')",
			"SELECT pg_terminate_backend(pg_backend_pid())", "SELECT lo_export(lo_from_bytea(0, 'x'), 'out')",
			"BEGIN", "LISTEN x", "PREPARE p AS SELECT 1", "COPY (SELECT 1) TO PROGRAM 'cat > out'",
		},
		"MariaDB": {
			"DELETE FROM t", "SELECT wipe(1)", "SELECT NEXT VALUE FOR s", "SELECT sleep(30)", "SET sql_mode = ''",
			"SELECT get_lock('x', 0)", "SELECT 1 INTO @a", "SELECT last_insert_id(77)", "CREATE TABLE n (a int)",
			"SELECT 1 INTO OUTFILE 'HOUSE/out'", "SELECT load_file('HOUSE/canary')", "BEGIN", "KILL CONNECTION_ID()",
		},
		"SQLite": {
			"DELETE FROM t", "SELECT a FROM t WHERE a = 3; SELECT * FROM pragma_optimize(65534)", "PRAGMA user_version = 7",
			"SELECT writefile('out', 'x')", "SELECT readfile('canary')", "SELECT data FROM fsdir('.')", "PRAGMA query_only = 1",
			"ATTACH 'out' AS o; CREATE TABLE o.n (a)", "BEGIN", "SELECT 'unclosed", "CREATE TABLE n (a)",
		},
	}
	for _, one := range engines {
		t.Run(one.name, func(t *testing.T) {
			e := one.start(t)
			e.restore(t)
			for _, hole := range holes[one.name] {
				hole = strings.ReplaceAll(hole, "HOUSE", e.grammar(t).house)
				texts := []string{"SELECT 1", "SELECT nonsense", "SELECT id FROM t", hole, "SELECT 2", "SELECT name FROM t"}
				found := try(t, e, texts)
				if len(found) != 1 || found[0].text != hole {
					t.Errorf("%q: found %v", hole, found)
				}
			}
		})
	}
}
