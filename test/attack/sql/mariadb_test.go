//go:build attack && linux

package sql

import (
	"database/sql"
	"path/filepath"
	"testing"

	_ "github.com/go-sql-driver/mysql"
)

// mariadb starts a server of its own and returns its house.
func mariadb(t testing.TB) *house {
	t.Helper()
	h := newHouse(t)
	data, socket := filepath.Join(h.dir, "data"), filepath.Join(h.dir, "s")
	h.setUp(t, program(t, "mariadb-install-db"), "--no-defaults", "--datadir="+data, "--auth-root-authentication-method=normal", "--skip-test-db")
	h.serve(t, func() error {
		db, err := sql.Open("mysql", h.mariadbURL())
		if err != nil {
			return err
		}
		defer db.Close()
		return db.PingContext(t.Context())
	}, program(t, "mariadbd", "/usr/sbin/mariadbd"), "--no-defaults", "--datadir="+data, "--socket="+socket,
		"--skip-networking", "--tmpdir="+h.dir, "--pid-file="+filepath.Join(h.dir, "pid"),
		"--innodb-flush-log-at-trx-commit=0", "--innodb-buffer-pool-size=32M", "--innodb-stats-auto-recalc=OFF")
	return h
}

func (h *house) mariadbURL() string {
	return "root@unix(" + filepath.Join(h.dir, "s") + ")/?multiStatements=true"
}

// connection is the one connection to a MariaDB server.
func (h *house) connection(t testing.TB) *sql.Conn {
	t.Helper()
	db, err := sql.Open("mysql", h.mariadbURL())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return conn
}

// column is the first column of a query that has to go well.
func column(t testing.TB, conn *sql.Conn, text string) []string {
	t.Helper()
	rows, err := conn.QueryContext(t.Context(), text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	defer rows.Close()
	var all []string
	for rows.Next() {
		var s sql.NullString
		if err := rows.Scan(&s); err != nil {
			t.Fatal(err)
		}
		all = append(all, s.String)
	}
	return all
}
