//go:build attack && linux

package sql

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// canary is the content of a file that no text which only reads rows can see.
const canary = "canary-4f1d"

// elsewhere are keywords that are functions of some engine: without a dialect those of
// every engine are taken at their word.
var elsewhere = []string{"cube", "datetime", "glob", "isnull", "member", "path", "regexp", "year"}

type postgresEngine struct {
	*house
	attacker, observer *session
}

func newPostgres(t testing.TB) engine {
	h := postgres(t)
	if err := os.WriteFile(filepath.Join(h.dir, "data", "canary"), []byte(canary), 0o644); err != nil {
		t.Fatal(err)
	}
	return &postgresEngine{house: h, observer: h.session(t)}
}

// planted are functions of somebody's that write: by the names of keywords too, of
// each that may be one's, and operators.
func planted(words []string) string {
	var b strings.Builder
	for _, w := range words {
		for _, arg := range []string{"int", "text", "name", "regclass", "float8", "bool", "jsonb"} {
			fmt.Fprintf(&b, "CREATE FUNCTION public.%s (%s) RETURNS int LANGUAGE sql AS 'DELETE FROM public.t RETURNING 1';", w, arg)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func (e *postgresEngine) restore(t testing.TB) {
	t.Helper()
	if e.attacker != nil {
		_ = e.attacker.Close(context.Background())
	}
	limit, done := context.WithTimeout(t.Context(), time.Minute)
	defer done()
	_, _ = e.observer.rows(limit, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'")
	e.observer.column(t, `
		DROP SCHEMA IF EXISTS public CASCADE; CREATE SCHEMA public;
		SELECT lo_unlink(oid) FROM pg_largeobject_metadata;
		CREATE TABLE t (id int PRIMARY KEY, a int, name text, data jsonb);
		INSERT INTO t SELECT i, i % 7, 'n' || i, '{"a": 1}' FROM generate_series(1, 20) AS i;
		CREATE TABLE u (id int, t_id int, name text); INSERT INTO u VALUES (1, 1, 'x'), (2, 3, 'y');
		CREATE VIEW v AS SELECT * FROM t; CREATE SEQUENCE s; CREATE TYPE pair AS (f int, g text)`)
	// Not each word may name a function; one that is some engine's too is taken at its
	// word (docs/where.md).
	own := e.observer.column(t, "SELECT DISTINCT proname FROM pg_proc WHERE pronamespace = 'pg_catalog'::regnamespace")
	theirs := slices.DeleteFunc(slices.Clone(keywords), func(w string) bool { return slices.Contains(own, w) || slices.Contains(elsewhere, w) })
	for line := range strings.Lines(planted(append([]string{"wipe", `"Lower"`, `"wi""pe"`}, theirs...))) {
		_, _ = e.observer.rows(t.Context(), line)
	}
	e.observer.column(t, `
		CREATE FUNCTION poke (int, int) RETURNS int LANGUAGE sql AS 'DELETE FROM public.t RETURNING 1';
		CREATE OPERATOR ### (LEFTARG = int, RIGHTARG = int, FUNCTION = poke);
		CREATE OPERATOR !! (RIGHTARG = int, FUNCTION = wipe);
		CREATE OPERATOR =? (LEFTARG = int, RIGHTARG = int, FUNCTION = poke)`)
	_ = os.Remove(filepath.Join(e.dir, "data", "out"))
	e.attacker = e.session(t)
	e.attacker.column(t, "SET statement_timeout = '2s'; SET lock_timeout = '1s'")
	_ = e.state(t) // the first look fills caches
}

func (e *postgresEngine) run(t testing.TB, texts []string) map[int]string {
	t.Helper()
	did := map[int]string{}
	for i, text := range texts {
		results, err := e.attacker.Exec(t.Context(), text).ReadAll()
		if e.attacker.IsClosed() {
			did[i] = fmt.Sprintf("the session ended: %v", err)
			e.attacker = e.session(t)
			e.attacker.column(t, "SET statement_timeout = '2s'; SET lock_timeout = '1s'")
			continue
		}
		var refused *pgconn.PgError
		if errors.As(err, &refused) && (refused.Code == "57014" || refused.Code == "55P03") {
			if event := e.waits(t, text); event != "" {
				did[i] = "waits: " + event
			}
		}
		for _, r := range results {
			for _, row := range r.Rows {
				for _, v := range row {
					if strings.Contains(string(v), canary) || strings.Contains(string(v), "63616e6172792d34663164") {
						did[i] = "read a file"
					}
				}
			}
		}
	}
	return did
}

// waits runs a text again and looks what it waits for, since one that is slow is none
// that waits.
func (e *postgresEngine) waits(t testing.TB, text string) string {
	pid := e.attacker.PID()
	ended := make(chan struct{})
	go func() { _, _ = e.attacker.Exec(t.Context(), text).ReadAll(); close(ended) }()
	event, tick := "", time.NewTicker(20*time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ended:
			return event
		case <-tick.C:
			for _, w := range e.observer.column(t, fmt.Sprintf("SELECT wait_event FROM pg_stat_activity WHERE pid = %d AND wait_event_type IN ('Timeout', 'Lock')", pid)) {
				event = w
			}
		}
	}
}

func (e *postgresEngine) state(t testing.TB) string {
	t.Helper()
	transaction := string(e.attacker.TxStatus())
	inside, err := e.attacker.rows(t.Context(), `
		SELECT current_user || session_user || current_setting('search_path'),
			(SELECT md5(string_agg(name || coalesce(setting, ''), ',' ORDER BY name)) FROM pg_settings),
			(SELECT count(*) FROM pg_prepared_statements) + (SELECT count(*) FROM pg_cursors WHERE name <> '') || 'prepared',
			(SELECT count(*) FROM pg_listening_channels()) || 'channels'`)
	if err != nil {
		inside = [][]string{{err.Error()}}
	}
	outside := e.observer.column(t, `
		SELECT 'transactions ' || pg_snapshot_xmax(pg_current_snapshot())
		UNION ALL SELECT 't ' || coalesce(md5(string_agg(t::text, ',' ORDER BY id)), '') FROM t
		UNION ALL SELECT 'sequence ' || last_value || is_called FROM s
		UNION ALL SELECT 'locks ' || count(*) FROM pg_locks WHERE locktype = 'advisory'
		UNION ALL SELECT 'slots ' || count(*) FROM pg_replication_slots
		UNION ALL SELECT 'origins ' || count(*) FROM pg_replication_origin
		UNION ALL SELECT 'large objects ' || count(*) FROM pg_largeobject_metadata
		UNION ALL SELECT 'configuration ' || pg_conf_load_time()
		UNION ALL SELECT 'statistics ' || coalesce(max(stats_reset)::text, '') FROM pg_stat_database
		UNION ALL SELECT 'statistics ' || coalesce(max(stats_reset)::text, '') FROM pg_stat_slru
		UNION ALL SELECT 'segment ' || pg_walfile_name(pg_current_wal_lsn())`)
	files := e.files(t, func(path string) bool {
		for _, own := range []string{"/log", "/data/base", "/data/global", "/data/pg_wal", "/data/pg_xact", "/data/pg_subtrans", "/data/pg_stat", "/data/pg_stat_tmp", "/data/pg_multixact", "/data/pg_dynshmem", "/data/pg_logical", "/.s.PGSQL"} {
			if strings.HasPrefix(path, own) {
				return true
			}
		}
		return false
	})
	return "in a transaction " + transaction + "\n" + strings.Join(inside[0], "\n") + "\n" + strings.Join(outside, "\n") + "\n" + files
}
