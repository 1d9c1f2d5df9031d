package queue

import (
	"context"
	"database/sql"
	"fmt"
)

// migration is one step of the schema. A step only adds tables and columns. So an older clawai that
// knows fewer steps can still use the database, because its statements name their columns. A step
// after which an older clawai must not use the database has a higher number in oldest.
type migration struct {
	sql    string
	oldest int // after this step, only a clawai that knows at least this many steps can use the database
}

// migrations are the steps of the schema, in order. A released step never changes.
var migrations = []migration{{firstStep, 1}, {grantsStep, 1}, {reachStep, 1}, {keptStep, 1}, {previewStep, 1}, {reservedStep, 1}}

const firstStep = `
CREATE TABLE about (
	name  TEXT PRIMARY KEY,
	value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO about VALUES ('changes', 0), ('oldest', 1);

CREATE TABLE requests (
	number           INTEGER PRIMARY KEY AUTOINCREMENT,
	id               TEXT NOT NULL UNIQUE,
	status           TEXT NOT NULL,           -- pending, approved, denied, expired
	created_at       TEXT NOT NULL,           -- UTC
	deadline_at      TEXT NOT NULL,           -- by the clock of the proxy, which alone expires it
	timeout_seconds  INTEGER NOT NULL,
	session          TEXT NOT NULL,
	pid              INTEGER NOT NULL,        -- of the proxy
	server           TEXT NOT NULL,
	client           TEXT NOT NULL,
	project          TEXT NOT NULL,
	call_server      TEXT NOT NULL,           -- the first call, most often the only one
	method           TEXT NOT NULL,
	subject          TEXT NOT NULL,
	names            TEXT,                    -- JSON: the name of the tool, the URIs, ...
	arguments        TEXT,                    -- as they will be executed; redacted once settled
	malformed        TEXT NOT NULL,
	more_calls       TEXT,                    -- JSON: all the others
	digest           TEXT NOT NULL,           -- SHA-256 of the frame; emptied once settled
	rule_action      TEXT NOT NULL,
	rule_file        TEXT NOT NULL,
	rule_line        INTEGER NOT NULL,
	rule_column      INTEGER NOT NULL,
	rule_index       INTEGER NOT NULL,
	rule             TEXT NOT NULL,           -- its description
	policy_revision  TEXT NOT NULL,
	reason           TEXT NOT NULL,
	findings         TEXT,                    -- JSON
	risk             TEXT NOT NULL,
	lasting          INTEGER NOT NULL,
	offers           TEXT,                    -- JSON: rules that "always" could write
	no_offer         TEXT NOT NULL,
	decided_at       TEXT NOT NULL DEFAULT '',
	decided_by       TEXT NOT NULL DEFAULT '',
	reply            TEXT NOT NULL DEFAULT '', -- once, session, always, deny, deny always
	scope            TEXT NOT NULL DEFAULT '',
	rung             TEXT NOT NULL DEFAULT '', -- where it was answered
	note             TEXT NOT NULL DEFAULT '', -- words for the agent
	outcome          TEXT NOT NULL DEFAULT '', -- what became of the call
	changed          INTEGER NOT NULL          -- counts every change of every row
) STRICT;
CREATE INDEX requests_by_change ON requests(changed);
CREATE INDEX requests_by_decision ON requests(decided_at);
CREATE INDEX requests_by_session ON requests(session, changed);
CREATE INDEX requests_pending ON requests(session) WHERE status = 'pending';
CREATE INDEX requests_open ON requests(session) WHERE outcome = '';
`

const grantsStep = `
CREATE TABLE grants (
	session          TEXT NOT NULL,
	id               TEXT NOT NULL,
	server           TEXT NOT NULL,
	client           TEXT NOT NULL,
	project          TEXT NOT NULL,
	rule_action      TEXT NOT NULL,
	rule_file        TEXT NOT NULL,
	rule_line        INTEGER NOT NULL,
	rule_column      INTEGER NOT NULL,
	rule_index       INTEGER NOT NULL,
	rule             TEXT NOT NULL,
	calls            TEXT,                    -- JSON, redacted
	since            TEXT NOT NULL,
	uses             INTEGER NOT NULL,
	revoked          INTEGER NOT NULL DEFAULT 0,
	PRIMARY KEY (session, id)
) STRICT, WITHOUT ROWID;
`

const reachStep = `ALTER TABLE grants ADD COLUMN reach TEXT NOT NULL DEFAULT ''`

const keptStep = `
CREATE TABLE kept (
	id               TEXT PRIMARY KEY,        -- of the pending request
	calls            TEXT,                    -- JSON, redacted
	reason           TEXT NOT NULL,
	findings         TEXT
) STRICT, WITHOUT ROWID;
`

const previewStep = `
CREATE TABLE previews (
	id               TEXT PRIMARY KEY,        -- of the pending request
	preview          TEXT NOT NULL            -- JSON
) STRICT, WITHOUT ROWID;
`

const reservedStep = `
CREATE TABLE reserved (
	id               TEXT PRIMARY KEY,        -- of the pending request
	who              TEXT NOT NULL            -- alone can allow it, at a team's centre
) STRICT, WITHOUT ROWID;
`

// migrateSchema adds the missing steps to the schema. It returns an error if this clawai is too old
// for the database.
func migrateSchema(ctx context.Context, conn *sql.Conn, steps []migration, at func(string)) error {
	version, err := schemaVersion(ctx, conn)
	if err != nil || version == len(steps) {
		return err
	}
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	// Read the version again, because another process may have added the steps in the meantime.
	if version, err = schemaVersion(ctx, tx); err != nil {
		return err
	}
	if version > len(steps) {
		return checkUsable(ctx, tx, len(steps))
	}
	at("migrate begun")
	for i := version; i < len(steps); i++ {
		if _, err := tx.ExecContext(ctx, steps[i].sql); err != nil {
			return fmt.Errorf("step %d of the schema: %w", i+1, err)
		}
		at("migrate step")
		if _, err := tx.ExecContext(ctx, "UPDATE about SET value = max(value, ?) WHERE name = 'oldest'", steps[i].oldest); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", i+1)); err != nil {
			return err
		}
		at("migrate version")
	}
	return tx.Commit()
}

type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

func schemaVersion(ctx context.Context, q querier) (n int, err error) {
	return n, q.QueryRowContext(ctx, "PRAGMA user_version").Scan(&n)
}

// checkUsable returns an error if this clawai is too old for the database.
func checkUsable(ctx context.Context, q querier, known int) error {
	var oldest int
	err := q.QueryRowContext(ctx, "SELECT value FROM about WHERE name = 'oldest'").Scan(&oldest)
	if err == nil && oldest > known {
		err = tooNew(oldest, known)
	}
	return err
}

func tooNew(oldest, known int) error {
	return fmt.Errorf("%w (it needs schema %d, this one knows %d)", ErrNewer, oldest, known)
}
