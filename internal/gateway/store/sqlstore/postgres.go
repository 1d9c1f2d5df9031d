package sqlstore

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

// schemaLock is the number of the lock that changes of the schema and of bundles take.
const schemaLock = 0x636c6177

// OpenPostgres opens a database of PostgreSQL 14 or newer. url is as libpq reads it.
func OpenPostgres(ctx context.Context, url, org string) (*Store, error) {
	c, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, err // pgx leaves the password out
	}
	s := &Store{db: stdlib.OpenDB(*c), org: org, d: dialect{
		types: map[string]string{"{int}": "BIGINT", "{bytes}": "BYTEA", "{serial}": "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY", "{strict}": "", "{keyed}": "",
			"{unguard}": "ALTER TABLE record DROP CONSTRAINT record_org_laptop_segment_begins_key"},
		numbered: true, lock: " FOR UPDATE", alone: fmt.Sprintf("SELECT pg_advisory_xact_lock(%d)", schemaLock),
	}}
	s.db.SetMaxOpenConns(10)
	s.db.SetMaxIdleConns(10)
	s.parts = newPartPool(stdlib.OpenDB(*c))
	return s.begin(ctx, c.Database+" at "+c.Host)
}
