package sqlstore

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/gateway/store"
	"github.com/clawai/clawai/internal/testing/slow"
	"github.com/clawai/clawai/policy"
)

// indexOfList are lists with filters that people use, and the index that each reads from the newest record on, so that a
// page costs the same however many records there are. Of two, a database takes the one that it knows to be shorter.
var indexOfList = []struct {
	q     store.Query
	index string
}{
	{store.Query{}, "record_by_time"},
	{store.Query{Since: time.Unix(100, 0), Until: time.Unix(200, 0)}, "record_by_time"},
	{store.Query{Kind: "decision"}, "record_by_time"},
	{store.Query{Kind: "decision", Before: store.Place{Time: time.Unix(100, 0), ID: 7}}, "record_by_time"},
	{store.Query{Kind: "outcome"}, "record_by_time"},
	{store.Query{Kind: "answered"}, "record_by_kind"},
	{store.Query{Kind: "answered", Server: "files"}, "record_by_kind_server"},
	{store.Query{Kind: "answered", Server: "files", Tool: "read"}, "record_by_kind_tool|record_by_kind_server"},
	{store.Query{Kind: "answered", Laptop: "one"}, "record_by_laptop"},
	{store.Query{Look: store.LookAllowed}, "record_by_time"},
	{store.Query{Look: store.LookAsked}, "record_by_look"},
	{store.Query{Look: store.LookRefused, Since: time.Unix(100, 0)}, "record_by_look"},
	{store.Query{Look: store.LookRefused, Server: "files"}, "record_by_look_server"},
	{store.Query{Look: store.LookRefused, Server: "files", Tool: "read"}, "record_by_look_tool|record_by_look_server"},
	{store.Query{Look: store.LookRefused, Laptop: "one"}, "record_by_look_laptop"},
	{store.Query{Look: store.LookAsked, Rule: "policy.toml:7"}, "record_by_look_rule"},
	{store.Query{Kind: "decision", Tool: "read"}, "record_by_tool"},
	{store.Query{Kind: "decision", Tool: "read", NamesOnly: true}, "record_by_tool"},
	{store.Query{Kind: "decision", Server: "files"}, "record_by_server"},
	{store.Query{Kind: "decision", Server: "files", Tool: "read"}, "record_by_tool"},
	{store.Query{Look: store.LookAllowed, Server: "files", Tool: "read"}, "record_by_tool"},
	{store.Query{Kind: "decision", Rule: "policy.toml:7"}, "record_by_rule"},
	{store.Query{Look: store.LookAllowed, Rule: "policy.toml:7"}, "record_by_rule"},
	{store.Query{Kind: "decision", Label: policy.Untrusted}, "record_by_untrusted"},
	{store.Query{Kind: "decision", Label: policy.PrivateData, Since: time.Unix(100, 0)}, "record_by_private"},
	{store.Query{Label: policy.Secret, Before: store.Place{Time: time.Unix(100, 0), ID: 7}}, "record_by_secret"},
	{store.Query{Look: store.LookRefused, Label: policy.Secret}, "record_by_secret"},
	{store.Query{Kind: "decision", Label: policy.Secret, Laptop: "one", Server: "files", Tool: "read", Rule: "policy.toml:7"}, "record_by_secret"},
	{store.Query{Label: policy.Untrusted, Session: "k3f9x2m7qa"}, "record_by_session"},
	{store.Query{Kind: "decision", Laptop: "one", Tool: "read", Server: "files"}, "record_by_laptop"},
	{store.Query{Laptop: "one", Session: "k3f9x2m7qa"}, "record_by_session"},
}

// checkPlans compares the index that a database takes for each list with the one that is meant.
func checkPlans(t *testing.T, plan func(statement string, values []any) (string, error), s *Store, sorts, reads string) {
	t.Helper()
	for _, c := range indexOfList {
		c.q.Most = 101
		statement, values := s.writeList(&c.q)
		text, err := plan(statement, values)
		if err != nil {
			t.Fatal(err)
		}
		read := func(index string) bool { return strings.Contains(text, reads+index+" ") }
		if !slices.ContainsFunc(strings.Split(c.index, "|"), read) || strings.Contains(text, sorts) {
			t.Errorf("%+v: it should read %s in its order:\n%s", c.q, c.index, text)
		}
	}
}

func TestListsOfSQLiteReadAnIndex(t *testing.T) {
	t.Parallel()
	s, err := OpenSQLite(t.Context(), filepath.Join(t.TempDir(), "gateway.db"), "main")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	checkPlans(t, func(statement string, values []any) (string, error) {
		lines, err := list(t.Context(), s, func(r scanner) (line string, err error) { return line, r.Scan(new(int), new(int), new(int), &line) }, "EXPLAIN QUERY PLAN "+statement, values...)
		return strings.Join(lines, "\n"), err
	}, s, "TEMP B-TREE", "USING INDEX ")
}

func TestListsOfPostgresReadAnIndex(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	s, err := OpenPostgres(t.Context(), shared.address(t), "main")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	one, err := s.db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer one.Close()
	// An empty table is read whole where that is allowed.
	for _, way := range []string{"seqscan", "bitmapscan", "sort", "incremental_sort"} {
		if _, err := one.ExecContext(t.Context(), "SET enable_"+way+" = off"); err != nil {
			t.Fatal(err)
		}
	}
	checkPlans(t, func(statement string, values []any) (string, error) {
		rows, err := one.QueryContext(t.Context(), s.d.writePlaces("EXPLAIN "+statement), values...)
		lines, err := collect(rows, err, func(r scanner) (line string, err error) { return line, r.Scan(&line) })
		return strings.Join(lines, "\n"), err
	}, s, "Sort", " using ")
}

// A database that was made before indexes had conditions keeps its records, its sums, and what its filters find.
func TestAnOlderDatabaseHasTheSameLists(t *testing.T) {
	slow.Test(t)
	path, address := filepath.Join(t.TempDir(), "gateway.db"), ""
	for name, open := range map[string]func() (*Store, error){
		"SQLite": func() (*Store, error) { return OpenSQLite(t.Context(), path, "main") },
		"PostgreSQL": func() (*Store, error) {
			if address == "" {
				address = shared.address(t)
			}
			return OpenPostgres(t.Context(), address, "main")
		},
	} {
		t.Run(name, func(t *testing.T) { checkOlder(t, open) })
	}
}

func checkOlder(t *testing.T, open func() (*Store, error)) {
	all := steps
	steps = all[:8] // up to outwardStep
	s, err := open()
	steps = all
	if err != nil {
		t.Fatal(err)
	}
	run := func(statement string, values ...any) {
		t.Helper()
		if _, err := s.db.ExecContext(t.Context(), s.d.writePlaces(statement), values...); err != nil {
			t.Fatal(err)
		}
	}
	hour := int64(3600_000_000_000)
	for i, look := range []string{"allowed", "", "refused", "asked"} {
		kind := "decision"
		if look == "" {
			kind = "outcome"
		}
		run("INSERT INTO record (org, "+strings.Replace(recordColumns, "labels, ", "", 1)+") VALUES ('main', 'one', 'k3f9x2m7qa', ?, ?, ?, ?, 'files', 'tool', 'read', 'tools/call', '', 'rule', '', 'policy.toml:7', '', '', 'segment', ?, 10)", i, 5*hour, kind, look, i*100)
	}
	for _, laptop := range []string{"one", "two"} {
		run("INSERT INTO tally (org, hour, laptop, server, name, look, calls) VALUES ('main', ?, ?, 'files', 'read', 'refused', 3)", 5*hour, laptop)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if s, err = open(); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, c := range []struct {
		q store.Query
		n int
	}{
		{store.Query{}, 4}, {store.Query{Kind: "decision"}, 3}, {store.Query{Look: store.LookRefused, Tool: "read"}, 1}, {store.Query{Rule: "policy.toml:7"}, 4}, {store.Query{Look: store.LookAsked, Server: "files"}, 1},
	} {
		c.q.Most = 10
		if got, err := s.ListRecords(t.Context(), c.q); err != nil || len(got) != c.n {
			t.Errorf("%+v: %d records, %v", c.q, len(got), err)
		}
	}
	sums, err := s.CountTools(t.Context(), store.LookRefused, time.Unix(0, 5*hour), 5)
	if err != nil || len(sums) != 1 || sums[0].N != 6 {
		t.Errorf("%+v, %v", sums, err)
	}
	if near, err := s.ListNeighbours(t.Context(), "one", "k3f9x2m7qa", 1, 2); err != nil || len(near) != 2 {
		t.Errorf("%d neighbours, %v", len(near), err)
	}
}
