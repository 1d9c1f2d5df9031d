package queue

import (
	"context"
	"database/sql"
	"errors"

	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/policy"
)

// errLost: the row had been changed before.
var errLost = errors.New("somebody was first")

// tx is a transaction that has the write lock from its beginning.
type tx struct {
	*sql.Tx
	step func(string)
}

// writeChange runs fn in a transaction and then tells everybody. When fn fails nothing
// has happened.
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

// countChange numbers the change. A newer clawai may have marked the database as not
// for this one since it was opened.
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

// exec gives the number of rows it changed.
func (t tx) exec(ctx context.Context, query string, args ...any) (int64, error) {
	done, err := t.ExecContext(ctx, query, args...)
	if err != nil {
		return 0, err
	}
	t.step("statement")
	return done.RowsAffected()
}

// thisChange is the number of the transaction's change.
const thisChange = "(SELECT value FROM about WHERE name = 'changes')"

// finishRequest stores the end of a request that is still pending.
func (t tx) finishRequest(ctx context.Context, end *Request) error {
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

// resolveRequest ends a pending request: the first who does it wins. Then r is as it is
// now; otherwise it is as another one left it.
func (q *Queue) resolveRequest(ctx context.Context, id string, s Status, a Answer, outcome string) (r Request, won bool, err error) {
	r, err = q.selectRequest(ctx, id)
	if err != nil || r.Status != Pending {
		return r, false, err
	}
	end := q.finalRequest(r, s, a, outcome)
	err = q.writeChange(ctx, func(ctx context.Context, t tx) error { return t.finishRequest(ctx, &end) })
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

// finalRequest gives a pending request as it is kept afterwards.
func (q *Queue) finalRequest(r Request, s Status, a Answer, outcome string) Request {
	if r.Damage != nil { // what is stored now is whole again
		r.Calls, r.Damage = []policy.Call{{Malformed: "its row in the queue was damaged"}}, nil
	}
	r = scrubRequest(r)
	r.Status, r.Decided, r.Answer, r.Outcome = s, q.o.Clock(), a, outcome
	return r
}

// statusOf gives how an answered request stands.
func statusOf(r gate.Reply) Status {
	if r.Allows() {
		return Approved
	}
	return Denied
}
