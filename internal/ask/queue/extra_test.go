package queue_test

import (
	"database/sql"
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clawai/clawai/internal/ask/queue"
)

// What comes beside the arguments is kept as it is, of the first call and of
// others, and a clawai that knows nothing of it cannot take the row for whole.
func TestWhatComesBesideTheArguments(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "queue")
	q := open(t, dir, queue.Options{})
	p := attach(t, q, "s1")
	for _, extras := range [][]string{{`{"cwd":"/etc"}`}, {`{"cwd":"/etc"}`, ""}, {"", `{"env":{}}`}, {"", ""}, {"\xff"}} {
		r := write(`{"path":"a"}`)
		for i, extra := range extras {
			if i > 0 {
				r.Calls = append(r.Calls, write(`{"path":"b"}`).Calls[0])
			}
			if extra != "" {
				r.Calls[i].Extra = []byte(extra)
			}
		}
		ticket, err := p.Put(ctx, r)
		if err != nil {
			t.Fatal(err)
		}
		got, err := q.Get(ctx, ticket.ID())
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(r.Calls, got.Calls); d != "" || got.Damage != nil {
			t.Errorf("%q: %v %s", extras, got.Damage, d)
		}
		db, err := sql.Open("sqlite", filepath.Join(dir, "queue.db"))
		if err != nil {
			t.Fatal(err)
		}
		var more sql.NullString
		if err := db.QueryRow("SELECT more_calls FROM requests WHERE id = ?", ticket.ID()).Scan(&more); err != nil {
			t.Fatal(err)
		}
		var list []any // as earlier versions read it
		readable := !more.Valid || json.Unmarshal([]byte(more.String), &list) == nil
		if plain := len(extras) == 2 && extras[0]+extras[1] == ""; readable != plain {
			t.Errorf("%q is stored as %s", extras, more.String)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
}
