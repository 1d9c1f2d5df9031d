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

// schemaLock is the number of the lock that changes of the schema and of bundles take.
const schemaLock = 0x636c6177

// Connections of one centre to PostgreSQL, beside the one that listens and those of parts.
const (
	most = 10
	idle = time.Minute

	idleChange = patience / 2 // those who wait for its locks have patience left
)

// prepare sets what a connection needs. It commits only what is on the disk, where the server's administrator chose
// otherwise: what is acknowledged to a laptop must outlive the server. Other settings wait for the disk, too. It
// waits for a lock no longer than patience, and the server ends a transaction that does nothing for idleChange: a centre
// that is stopped, or whose network is lost, would keep its locks from all others.
func prepare(ctx context.Context, conn *pgx.Conn) error {
	_, err := conn.Exec(ctx, "SELECT set_config('lock_timeout', $1, false), set_config('idle_in_transaction_session_timeout', $2, false), "+
		"CASE current_setting('synchronous_commit') WHEN 'off' THEN set_config('synchronous_commit', 'on', false) END", pgx.QueryExecModeSimpleProtocol, patience.String(), idleChange.String())
	return err
}

// errPooled says that somebody between the centre and the server shares connections.
var errPooled = errors.New("its address is that of a pooler that gives a connection to others after each transaction; let it pool sessions (pool_mode = session in PgBouncer), or write the address of the server itself into gateway.toml")

// checkSession returns an error if two statements of one connection can reach two processes of the server: then
// settings, prepared statements and LISTEN do not hold. While one connection is in a transaction, a pooler must
// give another process to the other.
func (s *Store) checkSession(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience) // a pooler may have one connection alone
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

// OpenPostgres opens a database of PostgreSQL 14 or newer. url is as libpq reads it.
func OpenPostgres(ctx context.Context, url, org string) (*Store, error) {
	c, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, err // pgx leaves the password out
	}
	open := func() *sql.DB { return stdlib.OpenDB(*c, stdlib.OptionAfterConnect(prepare)) }
	s := &Store{db: open(), org: org, d: dialect{
		types: map[string]string{"{int}": "BIGINT", "{bytes}": "BYTEA", "{serial}": "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY", "{strict}": "", "{keyed}": "",
			"{unguard}": "ALTER TABLE record DROP CONSTRAINT record_org_laptop_segment_begins_key"},
		numbered: true, lock: " FOR UPDATE", alone: fmt.Sprintf("SELECT pg_advisory_xact_lock(%d)", schemaLock),
		// Another centre may change the schema for minutes.
		migrate: "SET LOCAL lock_timeout = 0",
		ready:   "SELECT value, current_setting('transaction_read_only') = 'on', (EXTRACT(EPOCH FROM clock_timestamp()) * 1000)::bigint FROM about WHERE name = 'schema'",
		notify:  "SELECT pg_notify('" + questionChannel + "', ?)",
	}}
	s.listener = newListener(c)
	s.db.SetMaxOpenConns(most)
	s.db.SetMaxIdleConns(most) // or each burst of answers would wait for new connections
	s.db.SetConnMaxIdleTime(idle)
	s.parts = newPartPool(open())
	name := c.Database + " at " + c.Host
	if err := s.checkSession(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("the database %s: %w", name, explain(err)), s.Close())
	}
	return s.begin(ctx, name)
}
