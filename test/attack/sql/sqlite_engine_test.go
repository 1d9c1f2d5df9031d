//go:build attack && linux

package sql

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// sqliteEngine is the shell of SQLite, which has more functions than the library.
type sqliteEngine struct {
	*house
	program string
	fresh   []byte
	last    string
}

func newSQLite(t testing.TB) engine {
	e := &sqliteEngine{house: newHouse(t), program: program(t, "sqlite3")}
	e.setUp(t, e.program, "-batch", "db", `
		CREATE TABLE t (id INTEGER PRIMARY KEY, a, name TEXT, data); CREATE INDEX i ON t (a);
		CREATE TABLE u (id, t_id, name); INSERT INTO u VALUES (1, 1, 'x'), (2, 3, 'y');
		CREATE VIEW v AS SELECT * FROM t;
		CREATE VIRTUAL TABLE f USING fts5 (x); CREATE VIRTUAL TABLE g USING fts4 (x); CREATE VIRTUAL TABLE r USING rtree (id, a, b);
		INSERT INTO f VALUES ('one two'); INSERT INTO g VALUES ('one two'); INSERT INTO r VALUES (1, 1, 2);
		WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 400)
		INSERT INTO t SELECT i, i % 7, 'n' || i, '{"a": 1}' FROM n`)
	var err error
	if e.fresh, err = os.ReadFile(filepath.Join(e.dir, "db")); err != nil {
		t.Fatal(err)
	}
	return e
}

func (e *sqliteEngine) restore(t testing.TB) {
	t.Helper()
	entries, _ := os.ReadDir(e.dir)
	for _, one := range entries {
		_ = os.RemoveAll(filepath.Join(e.dir, one.Name()))
	}
	for name, data := range map[string][]byte{"db": e.fresh, "canary": []byte(canary)} {
		path := filepath.Join(e.dir, name)
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		if e.cred != nil {
			if err := os.Chown(path, int(e.cred.Uid), int(e.cred.Gid)); err != nil {
				t.Fatal(err)
			}
		}
	}
	e.last = ""
}

// tail ends a script: what a session is left in, which no text may change. It begins
// on a line of its own, since an error drops the rest of the line.
const tail = `
;
SELECT 'end', total_changes(), (SELECT group_concat(file <> '') FROM pragma_database_list WHERE name <> 'temp');
PRAGMA query_only; PRAGMA foreign_keys; PRAGMA recursive_triggers; PRAGMA trusted_schema; PRAGMA writable_schema;
PRAGMA locking_mode; PRAGMA journal_mode; PRAGMA synchronous; PRAGMA temp_store; PRAGMA case_sensitive_like;
PRAGMA reverse_unordered_selects; PRAGMA busy_timeout; PRAGMA cache_size; PRAGMA analysis_limit;
BEGIN; ROLLBACK; SELECT 'closed';
`

func (e *sqliteEngine) run(t testing.TB, texts []string) map[int]string {
	t.Helper()
	ctx, done := context.WithTimeout(t.Context(), time.Minute)
	defer done()
	cmd := e.command(ctx, e.program, "-batch", "db")
	// Each text on its own, and a mark behind it.
	cmd.Stdin = strings.NewReader("SELECT 'begin';\n" + strings.Join(texts, "\n;\n") + tail)
	out, errs := &printed{stop: done}, &printed{stop: done}
	cmd.Stdout, cmd.Stderr = out, errs
	_ = cmd.Run()
	did := map[int]string{}
	e.last = "" // of a shell that did not come to its end, nothing is known
	switch {
	case out.canary:
		did[-1] = "read a file"
	case ctx.Err() != nil:
		if len(texts) > 1 {
			return e.each(t, texts)
		}
		t.Logf("without an end: %q", texts[0])
	case !bytes.HasSuffix(out.last, []byte("closed\n")):
		did[-1] = "the shell took the end of it for a part of the text"
	case errs.transaction:
		did[-1] = "left a transaction"
	default:
		e.last = string(out.last[max(0, bytes.LastIndex(out.last, []byte("\nend|"))):])
	}
	return did
}

// printed is what a shell prints, of which no more is kept than is asked for: a text that
// reads may join a table with itself until no memory is left.
type printed struct {
	stop                func()
	size                int
	last                []byte // at most keep, and what came last
	canary, transaction bool
}

const (
	keep = 64 << 10
	// most is how much a shell may print before it is taken for one without an end.
	most = 64 << 20
)

func (p *printed) Write(data []byte) (int, error) {
	p.last = append(p.last, data...)
	p.canary = p.canary || bytes.Contains(p.last, []byte(canary))
	p.transaction = p.transaction || bytes.Contains(p.last, []byte("within a transaction"))
	if over := len(p.last) - keep; over > 0 {
		p.last = append(p.last[:0], p.last[over:]...)
	}
	if p.size += len(data); p.size > most {
		p.stop()
	}
	return len(data), nil
}

func (e *sqliteEngine) each(t testing.TB, texts []string) map[int]string {
	did := map[int]string{}
	for i, text := range texts {
		for _, s := range e.run(t, []string{text}) {
			did[i] = s
		}
	}
	return did
}

func (e *sqliteEngine) state(t testing.TB) string {
	t.Helper()
	if e.last == "" {
		e.run(t, []string{"SELECT 1"})
	}
	data, err := os.ReadFile(filepath.Join(e.dir, "db"))
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("file %x\nsession %q\n%s", sha256.Sum256(data), e.last, e.files(t, func(string) bool { return false }))
}
