package queue

import (
	"context"
	"database/sql"
	"errors"

	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/policy"
)

// errLost means that another process changed the row first.
var errLost = errors.New("somebody was first")

// tx is a transaction that has the write lock from its start.
type tx struct {
	*sql.Tx
	step func(string)
}

// writeChange runs fn in a transaction and then wakes all watchers. If fn returns an error, the
// transaction has no effect.
func (q *Queue) writeChange(ctx context.Context, fn func(ctx context.Context, t tx) error) error {
	err := q.store.useConn(ctx, func(ctx context.Context, conn *sql.Conn) error {
		inner, err := conn.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		defer func() { _ = inner.Rollback() }()
		t := tx{inner, q.o.step}
		t.step("begun")
		if err := t.countChange(ctx, len(q.o.migrations)); err != nil {
			return err
		}
		if err := fn(ctx, t); err != nil {
			return err
		}
		if err := t.Commit(); err != nil {
			return err
		}
		t.step("committed")
		return nil
	})
	if err == nil {
		q.notifyAll()
		q.o.step("rung")
	}
	return err
}

// countChange adds one to the number of changes in the database. It returns an error if a newer
// clawai has made the database unusable for this version in the meantime.
func (t tx) countChange(ctx context.Context, known int) error {
	var oldest int
	err := t.QueryRowContext(ctx, `UPDATE about SET value = value + 1 WHERE name = 'changes'
		RETURNING (SELECT value FROM about WHERE name = 'oldest')`).Scan(&oldest)
	if err == nil && oldest > known {
		err = tooNew(oldest, known)
	}
	t.step("counted")
	return err
}

// exec runs a statement and returns the number of changed rows.
func (t tx) exec(ctx context.Context, query string, args ...any) (int64, error) {
	done, err := t.ExecContext(ctx, query, args...)
	if err != nil {
		return 0, err
	}
	t.step("statement")
	return done.RowsAffected()
}

// thisChange is the SQL expression for the number of the current change.
const thisChange = "(SELECT value FROM about WHERE name = 'changes')"

// finishRequest stores the end of a request that is still pending.
func (q *Queue) finishRequest(ctx context.Context, t tx, end *Request) error {
	if err := q.takeKept(ctx, t, end); err != nil {
		return err
	}
	if err := errors.Join(q.dropPreview(ctx, t, end.ID), q.dropReserved(ctx, t, end.ID)); err != nil {
		return err
	}
	v, err := rowValues(end)
	if err != nil {
		return err
	}
	v = append(v, end.ID)
	n, err := t.exec(ctx, `UPDATE requests SET (`+columns+`, changed) = (`+marks+`, `+thisChange+`)
		WHERE id = ? AND status = 'pending'`, v...)
	if err == nil && n == 0 {
		return errLost
	}
	return err
}

// resolveRequest ends a pending request. won is true if this call ended the request, and r is then
// its new state. Otherwise r is the state that another caller stored.
func (q *Queue) resolveRequest(ctx context.Context, id string, s Status, a Answer, outcome string) (r Request, won bool, err error) {
	r, err = q.selectRequest(ctx, id)
	if err != nil || r.Status != Pending {
		return r, false, err
	}
	end := q.finalRequest(r, s, a, outcome)
	err = q.writeChange(ctx, func(ctx context.Context, t tx) error { return q.finishRequest(ctx, t, &end) })
	if errors.Is(err, errLost) {
		r, err = q.selectRequest(ctx, id)
		return r, false, err
	}
	if err != nil {
		return r, false, err
	}
	q.scheduleTidy()
	return end, true, nil
}

// damagedRow is the text in place of a call that cannot be read.
const damagedRow = "its row in the queue was damaged"

// finalRequest returns a pending request in the form that the database keeps after its end.
func (q *Queue) finalRequest(r Request, s Status, a Answer, outcome string) Request {
	if r.Damage != nil { // the stored form must be readable again
		r.Calls, r.Damage = []policy.Call{{Malformed: damagedRow}}, nil
	}
	r = scrubRequest(r, nil)
	r.Status, r.Decided, r.Answer, r.Outcome = s, q.o.Clock(), a, outcome
	return r
}

// statusOf returns the status of a request after an answer.
func statusOf(r gate.Reply) Status {
	if r.Allows() {
		return Approved
	}
	return Denied
}
