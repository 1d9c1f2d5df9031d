package sqlstore

import (
	"context"
	"database/sql"
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
)

// insistOnDisk has a connection commit only what is on the disk, where the server's administrator chose otherwise:
// what is acknowledged to a laptop must outlive the server. Other settings wait for the disk, too.
func insistOnDisk(ctx context.Context, conn *pgx.Conn) error {
	_, err := conn.Exec(ctx, "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'")
	return err
}

// OpenPostgres opens a database of PostgreSQL 14 or newer. url is as libpq reads it.
func OpenPostgres(ctx context.Context, url, org string) (*Store, error) {
	c, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, err // pgx leaves the password out
	}
	open := func() *sql.DB { return stdlib.OpenDB(*c, stdlib.OptionAfterConnect(insistOnDisk)) }
	s := &Store{db: open(), org: org, d: dialect{
		types: map[string]string{"{int}": "BIGINT", "{bytes}": "BYTEA", "{serial}": "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY", "{strict}": "", "{keyed}": "",
			"{unguard}": "ALTER TABLE record DROP CONSTRAINT record_org_laptop_segment_begins_key"},
		numbered: true, lock: " FOR UPDATE", alone: fmt.Sprintf("SELECT pg_advisory_xact_lock(%d)", schemaLock),
		notify: "SELECT pg_notify('" + questionChannel + "', ?)",
	}}
	s.listener = newListener(c)
	s.db.SetMaxOpenConns(most)
	s.db.SetMaxIdleConns(most) // or each burst of answers would wait for new connections
	s.db.SetConnMaxIdleTime(idle)
	s.parts = newPartPool(open())
	return s.begin(ctx, c.Database+" at "+c.Host)
}
