package queue

import (
	"cmp"
	"errors"
	"fmt"

	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"
)

// Errors of functions that take an id or open a queue.
var (
	ErrUnknown   = errors.New("nothing in the queue has this id; see what waits with: clawai approve --list")
	ErrAmbiguous = errors.New("this could mean several in the queue; give more of the id's characters (8 are enough)")
	ErrClosed    = errors.New("the queue is closed")
	ErrTooLarge  = errors.New("a call of more than 16 MiB cannot wait in the queue")
	// ErrLocked means that another program has held the write lock of the database for longer than
	// Options.Patience.
	ErrLocked   = errors.New("another program keeps the queue locked; close what edits it (sqlite3?) and try again")
	ErrFull     = errors.New("the queue cannot be written; if the disk is full, make room and try again")
	errUnopened = errors.New("queue.db cannot be opened; another program may keep it to itself: close that and try again")
	// ErrDamaged means that the database is damaged. The queue deletes nothing, because a person
	// may want to look at the file.
	ErrDamaged = errors.New("the queue is damaged; stop every clawai and move queue.db, queue.db-wal and queue.db-shm away: a new one is made, and only waiting questions and their history are lost")
	// ErrBroken is in the Damage of a request whose row cannot be read. Other requests can still be
	// read.
	ErrBroken = errors.New("its row in the queue is damaged; deny it, or it denies by itself at its deadline")
	// ErrNewer means that a newer clawai has changed the database so that this version must not use
	// it.
	ErrNewer = errors.New("the queue belongs to a newer clawai; update this one, or stop every clawai and move queue.db away")
)

const unsaid = "not said"

// ResolvedError is the error for an answer to a request that has already ended. Request tells how
// it ended.
type ResolvedError struct{ Request Request }

func (e *ResolvedError) Error() string {
	r := &e.Request
	at := r.Decided.Local().Format("15:04:05")
	if r.Status != Approved && r.Status != Denied {
		return fmt.Sprintf("too late: it expired at %s (%s); nothing was executed", at, cmp.Or(r.Outcome, unsaid))
	}
	by := "somebody"
	if r.Answer.By != "" {
		by = fmt.Sprintf("%q", r.Answer.By)
	}
	return fmt.Sprintf("already %s by %s (%s) at %s; your answer was not used", r.Status, by, cmp.Or(r.Answer.Channel, unsaid), at)
}

// explainSQLite returns a SQLite error in words, with a remedy.
func explainSQLite(err error) error {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return err
	}
	var known error
	switch e.Code() & 0xff { // the lower eight bits are the kind of error; the others only give details
	case lib.SQLITE_BUSY, lib.SQLITE_LOCKED:
		known = ErrLocked
	case lib.SQLITE_CANTOPEN:
		known = errUnopened
	case lib.SQLITE_FULL:
		known = ErrFull
	case lib.SQLITE_CORRUPT, lib.SQLITE_NOTADB:
		known = ErrDamaged
	case lib.SQLITE_IOERR:
		switch e.Code() {
		case lib.SQLITE_IOERR_WRITE, lib.SQLITE_IOERR_FSYNC, lib.SQLITE_IOERR_SHMSIZE:
			known = ErrFull
		case lib.SQLITE_IOERR_SHORT_READ:
			known = ErrDamaged
		}
	}
	if known == nil {
		return err
	}
	return fmt.Errorf("%w: %w", known, err)
}
