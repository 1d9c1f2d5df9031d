//go:build attack && linux

package sql

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
)

type mariadbEngine struct {
	*house
	attacker, observer *sql.Conn
	id                 string
	planted            []string
}

func newMariaDB(t testing.TB) engine {
	h := mariadb(t)
	if err := os.WriteFile(filepath.Join(h.dir, "canary"), []byte(canary), 0o644); err != nil {
		t.Fatal(err)
	}
	_ = mysql.SetLogger(quiet{}) // it tells of each session that a hole ends
	return &mariadbEngine{house: h, observer: h.connection(t), planted: append([]string{"wipe", "poke"}, keywords...)}
}

type quiet struct{}

func (quiet) Print(...any) {}

func (e *mariadbEngine) must(t testing.TB, conn *sql.Conn, text string) {
	t.Helper()
	if _, err := conn.ExecContext(t.Context(), text); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
}

// attach opens the session in which texts run.
func (e *mariadbEngine) attach(t testing.TB) {
	t.Helper()
	e.attacker = e.connection(t)
	e.must(t, e.attacker, "USE d; SET max_statement_time = 2, lock_wait_timeout = 1, group_concat_max_len = 1000000; SET @a = NULL")
	e.id = column(t, e.attacker, "SELECT connection_id()")[0]
}

func (e *mariadbEngine) restore(t testing.TB) {
	t.Helper()
	if e.attacker != nil {
		_, _ = e.observer.ExecContext(t.Context(), "KILL "+e.id)
		_ = e.attacker.Close()
	}
	e.must(t, e.observer, `
		CREATE DATABASE IF NOT EXISTS d; USE d;
		DROP TABLE IF EXISTS t, u, n; DROP VIEW IF EXISTS v; DROP SEQUENCE IF EXISTS s;
		SET group_concat_max_len = 1000000;
		CREATE TABLE t (id int PRIMARY KEY, a int, name text, data text);
		INSERT INTO t SELECT seq, seq % 7, concat('n', seq), '{"a": 1}' FROM seq_1_to_20;
		CREATE TABLE u (id int, t_id int, name text); INSERT INTO u VALUES (1, 1, 'x'), (2, 3, 'y');
		CREATE VIEW v AS SELECT * FROM t; CREATE SEQUENCE s NOCACHE`)
	for _, name := range e.planted {
		if slices.Contains(elsewhere, name) {
			continue
		}
		_, _ = e.observer.ExecContext(t.Context(), "CREATE FUNCTION d."+name+" (x text) RETURNS int BEGIN DELETE FROM d.t; RETURN 1; END")
	}
	e.planted = nil // once is enough
	_ = os.Remove(filepath.Join(e.dir, "out"))
	e.attach(t)
	_ = e.state(t)
}

func (e *mariadbEngine) run(t testing.TB, texts []string) map[int]string {
	t.Helper()
	did := map[int]string{}
	for i, text := range texts {
		read, err := e.results(t.Context(), text)
		var refused *mysql.MySQLError
		switch {
		case strings.Contains(read, canary):
			did[i] = "read a file"
		case errors.As(err, &refused) && refused.Number == 1969:
			if waiting := e.waits(t, text); waiting != "" {
				did[i] = "waits: " + waiting
			}
		}
		if err != nil && (!errors.As(err, &refused) || refused.Number == 1927 || refused.Number == 1317) {
			if e.attacker.PingContext(t.Context()) != nil {
				did[i] = fmt.Sprintf("the session ended: %v", err)
				_ = e.attacker.Close()
				e.attach(t)
			}
		}
	}
	return did
}

// results are the values of all rows of a text.
func (e *mariadbEngine) results(ctx context.Context, text string) (string, error) {
	rows, err := e.attacker.QueryContext(ctx, text)
	if err != nil {
		return "", err
	}
	defer rows.Close()
	var all strings.Builder
	for {
		columns, err := rows.Columns()
		if err != nil {
			return all.String(), err
		}
		values := make([]any, len(columns))
		for i := range values {
			values[i] = new(sql.RawBytes)
		}
		for rows.Next() {
			if err := rows.Scan(values...); err != nil {
				return all.String(), err
			}
			for _, v := range values {
				all.Write(*v.(*sql.RawBytes))
			}
		}
		if !rows.NextResultSet() {
			return all.String(), rows.Err()
		}
	}
}

// waits runs a text again and looks what it waits for, since one that is slow is none
// that waits.
func (e *mariadbEngine) waits(t testing.TB, text string) string {
	ended := make(chan struct{})
	go func() { _, _ = e.results(t.Context(), text); close(ended) }()
	waiting, tick := "", time.NewTicker(20*time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ended:
			return waiting
		case <-tick.C:
			for _, s := range column(t, e.observer, "SELECT state FROM information_schema.processlist WHERE id = "+e.id) {
				if strings.HasPrefix(s, "User ") || strings.Contains(s, "Waiting") {
					waiting = s
				}
			}
		}
	}
}

func (e *mariadbEngine) state(t testing.TB) string {
	t.Helper()
	const volatile = `('TIMESTAMP', 'RAND_SEED1', 'RAND_SEED2', 'ERROR_COUNT', 'WARNING_COUNT', 'PSEUDO_THREAD_ID', 'LAST_GTID', 'INNODB_BUFFER_POOL_SIZE')`
	var all []string
	inside, err := e.results(t.Context(), `
		SELECT last_insert_id(), @@in_transaction, database(), current_user(), coalesce(@a, ''), coalesce(@b, ''),
			(SELECT md5(group_concat(variable_name, '=', coalesce(variable_value, '') ORDER BY 1)) FROM information_schema.session_variables
			WHERE variable_name NOT IN `+volatile+`)`)
	all = append(all, "session "+inside, fmt.Sprint(err))
	for _, q := range []string{
		"SELECT concat('t ', coalesce(md5(group_concat(id, a, name, data ORDER BY id)), '')) FROM d.t",
		"SELECT concat('sequence ', next_not_cached_value) FROM d.s",
		"SELECT concat('tables ', count(*), coalesce(max(create_time), '')) FROM information_schema.tables WHERE table_schema NOT IN ('information_schema', 'performance_schema')",
		"SELECT concat('routines ', count(*)) FROM information_schema.routines",
		"SELECT concat('users ', count(*), md5(group_concat(priv ORDER BY 1))) FROM mysql.global_priv",
		"SELECT concat('locks ', coalesce(is_used_lock('x'), ''), coalesce(is_used_lock('1'), ''), coalesce(is_used_lock('canary'), ''))",
		"SELECT concat('server ', md5(group_concat(variable_name, '=', coalesce(variable_value, '') ORDER BY 1))) FROM information_schema.global_variables WHERE variable_name NOT LIKE '%gtid%' AND variable_name NOT LIKE 'innodb%'",
		"SELECT concat('plugins ', count(*)) FROM information_schema.plugins",
	} {
		all = append(all, column(t, e.observer, q)...)
	}
	return strings.Join(all, "\n") + "\n" + e.files(t, func(path string) bool {
		return path == "/log" || path == "/s" || strings.HasPrefix(path, "/#") || strings.HasPrefix(path, "/data/ib") || strings.HasPrefix(path, "/data/undo") ||
			strings.HasPrefix(path, "/data/aria") || strings.HasPrefix(path, "/data/mysql") || strings.HasPrefix(path, "/data/d") || strings.HasPrefix(path, "/data/#")
	})
}
