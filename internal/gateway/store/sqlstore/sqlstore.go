// Package sqlstore implements the interface of package store with an SQL database. Each statement is
// written once for all databases. A dialect holds the differences between the databases.
package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/clawai/clawai/internal/gateway/store"
)

// Store implements store.Store.
type Store struct {
	db    *sql.DB
	org   string
	d     dialect
	timed func(operation string, took time.Duration) // nil: no timer is set
	turn  chan struct{}                              // holds one element while a goroutine writes; nil if the database allows several writers
	parts *partPool                                  // pool for parts of segments; nil if parts use db

	watchers watchers
	listener *listener   // nil if no other program changes the database
	reported func(error) // nil: no report function is set
}

var _ store.Store = (*Store)(nil)

// dialect holds the differences between two databases.
type dialect struct {
	types    map[string]string // replacements for the words in braces of the schema
	numbered bool              // the places of values are $1, $2, ... instead of ?
	lock     string            // text after a SELECT that locks the row until the transaction ends; "" for none
	check    string            // a statement that answers "ok" if the database file is whole; "" if the server checks its own files
	ready    string            // a query for the schema's version, whether the database is read-only, and the server's clock in milliseconds; "" if only this program uses the database
	alone    string            // a statement that makes the transaction wait for other transactions with the same statement; "" if transactions never overlap
	migrate  string            // a statement at the beginning of migrate; "" for none
	notify   string            // a statement that notifies all centres of a question after the commit; "" if the database has only one centre
}

// patience is how long a transaction waits for the lock of another transaction.
const patience = 10 * time.Second

// OpenSQLite opens the database in a file. It makes the file if the file is missing. Only trusted users
// may be able to change the file's folder. A committed change is on the disk.
func OpenSQLite(ctx context.Context, path, org string) (*Store, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	slashed := filepath.ToSlash(path)
	if slashed[0] != '/' { // a path on Windows, such as C:/...
		slashed = "/" + slashed
	}
	options := url.Values{
		"_txlock": {"immediate"}, "_defensive": {"1"}, "_error_rc": {"1"}, "_busy_timeout": {strconv.FormatInt(patience.Milliseconds(), 10)},
		"_journal_mode": {"WAL"}, "_synchronous": {"FULL"}, "_pragma": {"trusted_schema=0", "cell_size_check=1", "temp_store=2"},
	}
	c, err := sqlite.NewConnector((&url.URL{Scheme: "file", Path: slashed, RawQuery: options.Encode()}).String())
	if err != nil {
		return nil, err
	}
	s := &Store{db: sql.OpenDB(c), org: org, turn: make(chan struct{}, 1), d: dialect{types: map[string]string{
		"{int}": "INTEGER", "{bytes}": "BLOB", "{serial}": "INTEGER PRIMARY KEY AUTOINCREMENT", "{strict}": " STRICT", "{keyed}": " STRICT, WITHOUT ROWID", "{unguard}": "",
	}, check: "PRAGMA quick_check(1)"}}
	s.db.SetMaxOpenConns(4)
	return s.begin(ctx, path)
}

// begin brings the schema of a new Store up to date. It closes the Store if that fails.
func (s *Store) begin(ctx context.Context, name string) (*Store, error) {
	if err := s.migrate(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("the database %s: %w", name, err), s.Close())
	}
	return s, nil
}

// Check implements store.Store.
func (s *Store) Check(ctx context.Context) error {
	if s.d.check != "" {
		var word string
		if err := s.row(ctx, s.d.check).Scan(&word); err != nil {
			return explain(err)
		}
		if word != "ok" {
			return fmt.Errorf("it is damaged: %s", word)
		}
	}
	return s.change(ctx, func(t *transaction) error {
		_, err := t.exec("INSERT INTO about (name, value) VALUES ('checked', ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value", nanos(time.Now()))
		return err
	})
}

// mostApart is the largest allowed difference between the clocks of a centre and its database.
const mostApart = 30 * time.Second

// CheckReady implements store.Store.
func (s *Store) CheckReady(ctx context.Context, now func() time.Time) error {
	if s.d.ready == "" {
		return nil
	}
	var version int
	var readOnly bool
	var millis int64
	before := now()
	if err := s.row(ctx, s.d.ready).Scan(&version, &readOnly, &millis); err != nil {
		return explain(err)
	}
	after, clock := now(), time.UnixMilli(millis)
	ahead, word := before.Sub(clock), "ahead of"
	if behind := clock.Sub(after); behind > 0 {
		ahead, word = behind, "behind"
	}
	switch {
	case version > len(steps):
		return newerError(version)
	case readOnly:
		return store.ErrReadOnly
	case ahead > mostApart:
		return fmt.Errorf("%w: this machine's is %v %s the database's; set both, for example by systemd-timesyncd", store.ErrClock, ahead.Round(time.Second), word)
	}
	return nil
}

// KeepMark implements store.Store.
func (s *Store) KeepMark(ctx context.Context, mark int64) (kept int64, err error) {
	name := "key " + s.org
	err = s.change(ctx, func(t *transaction) error {
		if mark != 0 {
			if _, err := t.exec("INSERT INTO about (name, value) VALUES (?, ?) ON CONFLICT (name) DO NOTHING", name, mark); err != nil {
				return err
			}
		}
		err := t.row("SELECT value FROM about WHERE name = ?", name).Scan(&kept)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		return err
	})
	return kept, err
}

// Operations for the timer of SetTimer.
const (
	readOperation   = "read"
	changeOperation = "change"
)

// SetTimer implements store.Store.
func (s *Store) SetTimer(f func(operation string, took time.Duration)) { s.timed = f }

// tellTime calls the timer with an operation and the time since began.
func (s *Store) tellTime(operation string, began time.Time) {
	if s.timed != nil {
		s.timed(operation, time.Since(began))
	}
}

// Close closes the database.
func (s *Store) Close() error {
	if s.listener != nil {
		s.listener.close()
	}
	if s.parts != nil {
		return errors.Join(s.parts.db.Close(), s.db.Close())
	}
	return s.db.Close()
}

// writeTypes replaces the words in braces of a schema statement by the types of this database.
func (d *dialect) writeTypes(statement string) string {
	for word, is := range d.types {
		statement = strings.ReplaceAll(statement, word, is)
	}
	return statement
}

// writePlaces writes the places of values (?) in a statement in the form that this database reads.
func (d *dialect) writePlaces(statement string) string {
	if !d.numbered {
		return statement
	}
	var b strings.Builder
	for i, part := range strings.Split(statement, "?") {
		if i > 0 {
			b.WriteString("$" + strconv.Itoa(i))
		}
		b.WriteString(part)
	}
	return b.String()
}

// explain replaces a database error by an error of package store, or adds advice to it. It returns an
// unknown error as it is.
func explain(err error) error {
	if e, ok := errors.AsType[*sqlite.Error](err); ok && e.Code()&0xff == sqlite3.SQLITE_BUSY {
		return store.ErrLocked
	}
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		switch e.Code {
		case "55P03": // lock_not_available
			return store.ErrLocked
		case "25006": // read_only_sql_transaction
			return store.ErrReadOnly
		case "42501": // insufficient_privilege
			return fmt.Errorf("%w; the role of its address must own it, or be allowed to make tables in it: GRANT CREATE, USAGE ON SCHEMA public TO ROLE", err)
		}
	}
	if errors.Is(err, sql.ErrNoRows) {
		return store.ErrNone
	}
	return err
}

// transaction is a change in the database. The database keeps the whole change or nothing.
type transaction struct {
	ctx context.Context
	tx  *sql.Tx
	d   *dialect

	place int64    // value of the column place in the tally; each concurrent writer of parts has another number
	told  []string // questions that change; the commit wakes their watchers
}

func (t *transaction) exec(statement string, values ...any) (int64, error) {
	result, err := t.tx.ExecContext(t.ctx, t.d.writePlaces(statement), values...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

func (t *transaction) row(statement string, values ...any) *sql.Row {
	return t.tx.QueryRowContext(t.ctx, t.d.writePlaces(statement), values...)
}

func (t *transaction) rows(statement string, values ...any) (*sql.Rows, error) {
	return t.tx.QueryContext(t.ctx, t.d.writePlaces(statement), values...)
}

// lockAll waits for other transactions that called lockAll, such as changes of the schema, of bundles
// and of the tree. Later calls wait until this transaction ends.
func (t *transaction) lockAll() (err error) {
	if t.d.alone != "" {
		_, err = t.exec(t.d.alone)
	}
	return err
}

// tell notifies the watchers of a question after the commit.
func (t *transaction) tell(org, question string) (err error) {
	if t.d.notify == "" {
		t.told = append(t.told, question)
		return nil
	}
	_, err = t.exec(t.d.notify, org+"/"+question)
	return err
}

// takeTurn waits until no other goroutine of this process writes. Without takeTurn, writers that wait
// for the lock of the file would hold all connections, and no page could read.
func (s *Store) takeTurn(ctx context.Context) (end func(), err error) {
	if s.turn == nil {
		return func() {}, nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, patience, store.ErrLocked)
	defer cancel()
	select {
	case s.turn <- struct{}{}:
		return func() { <-s.turn }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// change runs the function in the parameter change in a transaction. If this function returns an error,
// the database keeps nothing.
func (s *Store) change(ctx context.Context, change func(*transaction) error) error {
	defer s.tellTime(changeOperation, time.Now())
	end, err := s.takeTurn(ctx)
	if err != nil {
		return err
	}
	defer end()
	return s.transact(ctx, s.db, 0, change)
}

// transact runs a transaction on a connection of the pool db. After the commit it wakes the watchers of
// the changed questions.
func (s *Store) transact(ctx context.Context, db *sql.DB, place int64, change func(*transaction) error) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return explain(err)
	}
	defer func() { _ = tx.Rollback() }()
	t := &transaction{ctx: ctx, tx: tx, d: &s.d, place: place}
	if err := change(t); err != nil {
		return explain(err)
	}
	if err := tx.Commit(); err != nil {
		return explain(err)
	}
	for _, question := range t.told {
		s.watchers.tell(question)
	}
	return nil
}

// execOne runs a statement that changes one row. The error is store.ErrNone if the statement changes no
// row.
func (s *Store) execOne(ctx context.Context, statement string, values ...any) error {
	defer s.tellTime(changeOperation, time.Now())
	end, err := s.takeTurn(ctx)
	if err != nil {
		return err
	}
	defer end()
	result, err := s.db.ExecContext(ctx, s.d.writePlaces(statement), values...)
	if err != nil {
		return explain(err)
	}
	if n, err := result.RowsAffected(); err != nil || n > 0 {
		return err
	}
	return store.ErrNone
}

func (s *Store) row(ctx context.Context, statement string, values ...any) *sql.Row {
	defer s.tellTime(readOperation, time.Now())
	return s.db.QueryRowContext(ctx, s.d.writePlaces(statement), values...)
}

// scanner is a *sql.Row or *sql.Rows.
type scanner interface{ Scan(into ...any) error }

// collect reads and closes all rows. If err is not nil, it only returns err.
func collect[T any](rows *sql.Rows, err error, read func(scanner) (T, error)) (all []T, _ error) {
	if err != nil {
		return nil, explain(err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		one, err := read(rows)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, rows.Err()
}

// list runs a statement and reads all rows.
func list[T any](ctx context.Context, s *Store, read func(scanner) (T, error), statement string, values ...any) ([]T, error) {
	defer s.tellTime(readOperation, time.Now())
	rows, err := s.db.QueryContext(ctx, s.d.writePlaces(statement), values...)
	return collect(rows, err, read)
}

// nanos returns a time as nanoseconds since 1970; 0 for the zero time.
func nanos(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

// fromNanos is the inverse of nanos. The time is in UTC.
func fromNanos(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.Unix(0, n).UTC()
}

// bit returns 1 for true and 0 for false.
func bit(is bool) int {
	if is {
		return 1
	}
	return 0
}
