package queue

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
	"modernc.org/sqlite"
)

// store is the only database connection of the process. SQLite allows only one writer. So the
// goroutines take turns, and each wait has a limit.
type store struct {
	q    *Queue
	turn chan struct{} // holds one element while the connection is in use

	db   *sql.DB
	file fs.FileInfo // identifies the open file

	opened int // number of times that the database was opened
}

// idle is how long an unused connection stays open.
const idle = time.Minute

// useConn calls fn with the connection, when it is this goroutine's turn. It waits until ctx ends,
// but not longer than twice Options.Patience. It does not interrupt fn: each statement in fn waits
// for a lock at most Options.Patience.
func (s *store) useConn(ctx context.Context, fn func(ctx context.Context, conn *sql.Conn) error) error {
	patience := time.NewTimer(2 * s.q.o.Patience)
	defer patience.Stop()
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case s.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	case <-patience.C:
		return fmt.Errorf("the queue in %q: %w", s.q.dir, ErrLocked)
	}
	defer func() { <-s.turn }()
	ctx = context.WithoutCancel(ctx)
	err := s.openDatabase(ctx)
	if err == nil {
		err = s.withConn(ctx, fn)
	}
	if err == nil || errors.Is(err, ErrUnknown) || errors.Is(err, ErrAmbiguous) || errors.Is(err, ErrClosed) {
		return err
	}
	return fmt.Errorf("the queue in %q: %w", s.q.dir, explainSQLite(err))
}

func (s *store) withConn(ctx context.Context, fn func(ctx context.Context, conn *sql.Conn) error) (err error) {
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	return fn(ctx, conn)
}

// openDatabase opens the database, and opens it again if the file was replaced or removed.
func (s *store) openDatabase(ctx context.Context) error {
	select {
	case <-s.q.closing:
		return ErrClosed
	default:
	}
	path := s.q.filePath(database)
	if s.db != nil {
		if there, err := os.Lstat(path); err == nil && os.SameFile(there, s.file) {
			return nil
		}
		_ = s.db.Close() // SQLite notices that its file is gone, and does not touch the log of the new file
		s.db = nil
	}
	if err := s.q.makeFolders(); err != nil {
		return err
	}
	s.q.watcher.rewatch()
	for _, end := range []string{"", "-wal", "-shm", "-journal"} {
		if err := privateFile(path+end, end == ""); err != nil {
			return err
		}
	}
	// Only one process may set up a new database file.
	alone, err := s.lockOpening(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = alone.Close() }()
	c, err := sqlite.NewConnector(databaseURL(path, s.q.o.Patience))
	if err != nil {
		return err
	}
	if s.file, err = os.Lstat(path); err != nil {
		return err
	}
	s.db = sql.OpenDB(c)
	s.opened++
	s.db.SetMaxOpenConns(1)
	s.db.SetConnMaxIdleTime(idle)
	if err = s.withConn(ctx, s.prepareDatabase); err != nil {
		err = errors.Join(err, s.db.Close())
		s.db = nil
	}
	return err
}

// lockOpening takes the lock that a process needs to open the database.
func (s *store) lockOpening(ctx context.Context) (*flock.Flock, error) {
	ctx, cancel := context.WithTimeout(ctx, s.q.o.Patience)
	defer cancel()
	f := flock.New(s.q.filePath(opening), flock.SetFlag(os.O_CREATE|os.O_RDWR|noFollow), flock.SetPermissions(0o600))
	ok, err := f.TryLockContext(ctx, time.Millisecond)
	if !ok && errors.Is(err, context.DeadlineExceeded) {
		err = ErrLocked
	}
	return f, err
}

// prepareDatabase sets up the tables in a new file, or checks an existing database.
func (s *store) prepareDatabase(ctx context.Context, conn *sql.Conn) error {
	if err := checkLength(ctx, conn, s.q.filePath(database)); err != nil {
		return err
	}
	return migrateSchema(ctx, conn, s.q.o.migrations, s.q.o.step)
}

// checkLength returns an error if the end of the file is missing. If less than a page is missing,
// SQLite itself would read zeros there. While the database has a log, there is no check, because
// the log may hold the missing pages.
func checkLength(ctx context.Context, conn *sql.Conn, path string) error {
	var count, size int64
	if err := conn.QueryRowContext(ctx, "PRAGMA page_count").Scan(&count); err != nil {
		return err
	}
	if err := conn.QueryRowContext(ctx, "PRAGMA page_size").Scan(&size); err != nil {
		return err
	}
	if log, err := os.Lstat(path + "-wal"); err == nil && log.Size() > 0 {
		return nil
	}
	file, err := os.Lstat(path)
	if err == nil && file.Size() < count*size {
		err = fmt.Errorf("%w: it has %d bytes of %d", ErrDamaged, file.Size(), count*size)
	}
	return err
}

// databaseURL returns the URL of the database, with the settings of every connection: SQLite
// overwrites deleted data, and writes no temporary files.
func databaseURL(path string, patience time.Duration) string {
	path = filepath.ToSlash(path)
	if path[0] != '/' { // a path with a drive, such as C:/...
		path = "/" + path
	}
	options := url.Values{
		"mode": {"rw"}, "_txlock": {"immediate"}, "_defensive": {"1"}, "_error_rc": {"1"},
		"_busy_timeout": {fmt.Sprint(patience.Milliseconds())},
		"_journal_mode": {"WAL"}, "_synchronous": {"NORMAL"},
		"_pragma": {"secure_delete=1", "temp_store=2", "trusted_schema=0", "cell_size_check=1", "cache_size=-1024"},
	}
	return (&url.URL{Scheme: "file", Path: path, RawQuery: options.Encode()}).String()
}

func (s *store) close() error {
	s.turn <- struct{}{}
	defer func() { <-s.turn }()
	if s.db == nil {
		return nil
	}
	err := s.db.Close()
	s.db = nil
	return err
}
