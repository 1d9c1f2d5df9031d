//go:build attack && linux

package sql

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

// postgres starts a server of its own and returns its house.
func postgres(t testing.TB) *house {
	t.Helper()
	h := newHouse(t)
	const debian = "/usr/lib/postgresql/*/bin/"
	data := filepath.Join(h.dir, "data")
	h.setUp(t, program(t, "initdb", debian+"initdb"), "-D", data, "-U", "postgres", "-A", "trust", "--no-sync", "--locale=C.UTF-8", "-E", "UTF8")
	h.serve(t, func() error {
		conn, err := pgconn.Connect(t.Context(), h.postgresURL("postgres"))
		if err == nil {
			err = conn.Close(t.Context())
		}
		return err
	}, program(t, "postgres", debian+"postgres"), "-D", data,
		"-c", "listen_addresses=", "-c", "unix_socket_directories="+h.dir, "-c", "fsync=off", "-c", "autovacuum=off",
		"-c", "dynamic_shared_memory_type=mmap", "-c", "shared_buffers=32MB", "-c", "max_wal_senders=0", "-c", "wal_level=minimal")
	return h
}

func (h *house) postgresURL(user string) string {
	return "host=" + h.dir + " user=" + user + " dbname=postgres sslmode=disable"
}

// session is one connection to a PostgreSQL server.
type session struct {
	*pgconn.PgConn
	// trees are what the server was told to print of statements, without its own commands.
	trees []string
}

func (h *house) session(t testing.TB) *session {
	t.Helper()
	config, err := pgconn.ParseConfig(h.postgresURL("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	s := &session{}
	config.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) {
		if n.Message == "rewritten parse tree:" && !strings.HasPrefix(n.Detail, "({QUERY :commandType 6 ") {
			s.trees = append(s.trees, n.Detail)
		}
	}
	if s.PgConn, err = pgconn.ConnectConfig(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close(context.Background()) })
	return s
}

// rows are the rows of the last statement, as text, NULL as the empty string.
func (s *session) rows(ctx context.Context, text string) ([][]string, error) {
	results, err := s.Exec(ctx, text).ReadAll()
	if err != nil || len(results) == 0 {
		return nil, err
	}
	var rows [][]string
	for _, row := range results[len(results)-1].Rows {
		var r []string
		for _, v := range row {
			r = append(r, string(v))
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// column is the first column of a query that has to go well.
func (s *session) column(t testing.TB, text string) []string {
	t.Helper()
	rows, err := s.rows(t.Context(), text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	var all []string
	for _, r := range rows {
		all = append(all, strings.Join(r, " "))
	}
	return all
}
