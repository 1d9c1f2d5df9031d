package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

// schemaLock is the number of the advisory lock that lockAll takes in PostgreSQL.
const schemaLock = 0x636c6177

// Settings of the centre's main pool of connections. The listening connection and the pool of parts are
// separate.
const (
	most = 10
	idle = time.Minute

	idleChange = patience / 2 // shorter than patience, because a transaction that waits for the same lock gives up after patience
)

// prepare sets the options of a new connection. It turns synchronous_commit on if the administrator
// turned it off, because acknowledged data must survive a crash of the server. A statement waits for a
// lock no longer than patience. The server ends a transaction that is idle for idleChange, because a
// stopped or unreachable centre would otherwise keep its locks.
func prepare(ctx context.Context, conn *pgx.Conn) error {
	_, err := conn.Exec(ctx, "SELECT set_config('lock_timeout', $1, false), set_config('idle_in_transaction_session_timeout', $2, false), "+
		"CASE current_setting('synchronous_commit') WHEN 'off' THEN set_config('synchronous_commit', 'on', false) END", pgx.QueryExecModeSimpleProtocol, patience.String(), idleChange.String())
	return err
}

// errPooled means that a pooler between the centre and the server shares connections among its users.
var errPooled = errors.New("its address is that of a pooler that gives a connection to others after each transaction; let it pool sessions (pool_mode = session in PgBouncer), or write the address of the server itself into gateway.toml")

// checkSession returns an error if two statements of one connection can reach two processes of the
// server, because then settings, prepared statements and LISTEN do not work. It tests this with a
// second connection that is in a transaction: a pooler of transactions must then give another process
// to the first connection.
func (s *Store) checkSession(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience) // a pooler with a single connection would wait for ever
	defer cancel()
	var was, is int
	pid := func(to *int, query func(context.Context, string, ...any) *sql.Row) error {
		return query(ctx, "SELECT pg_backend_pid()", pgx.QueryExecModeSimpleProtocol).Scan(to)
	}
	one, err := s.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = one.Close() }()
	if err := pid(&was, one.QueryRowContext); err != nil {
		return err
	}
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	if err := errors.Join(pid(&is, tx.QueryRowContext), pid(&is, one.QueryRowContext)); err != nil {
		return err
	}
	if is != was {
		return errPooled
	}
	return nil
}

// OpenPostgres opens a database of PostgreSQL 14 or newer. url has the syntax of libpq.
func OpenPostgres(ctx context.Context, url, org string) (*Store, error) {
	c, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, err // the error of pgx does not contain the password
	}
	open := func() *sql.DB { return stdlib.OpenDB(*c, stdlib.OptionAfterConnect(prepare)) }
	s := &Store{db: open(), org: org, d: dialect{
		types: map[string]string{"{int}": "BIGINT", "{bytes}": "BYTEA", "{serial}": "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY", "{strict}": "", "{keyed}": "",
			"{unguard}": "ALTER TABLE record DROP CONSTRAINT record_org_laptop_segment_begins_key"},
		numbered: true, lock: " FOR UPDATE", alone: fmt.Sprintf("SELECT pg_advisory_xact_lock(%d)", schemaLock),
		// Another centre may take minutes to change the schema, so this lock has no time limit.
		migrate: "SET LOCAL lock_timeout = 0",
		ready:   "SELECT value, current_setting('transaction_read_only') = 'on', (EXTRACT(EPOCH FROM clock_timestamp()) * 1000)::bigint FROM about WHERE name = 'schema'",
		notify:  "SELECT pg_notify('" + questionChannel + "', ?)",
	}}
	s.listener = newListener(c)
	s.db.SetMaxOpenConns(most)
	s.db.SetMaxIdleConns(most) // with fewer idle connections, each burst of requests would open new connections
	s.db.SetConnMaxIdleTime(idle)
	s.parts = newPartPool(open())
	name := c.Database + " at " + c.Host
	if err := s.checkSession(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("the database %s: %w", name, explain(err)), s.Close())
	}
	return s.begin(ctx, name)
}
