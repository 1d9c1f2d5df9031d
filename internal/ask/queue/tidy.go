package queue

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"
)

// tidying removes what was redacted from the disk too, and what is old. It runs
// a moment after the last change, so that a burst costs one run.
type tidying struct {
	mu    sync.Mutex
	timer *time.Timer // nil when there is nothing to do
	due   bool        // the last run could not do all of it
	over  bool
	runs  sync.WaitGroup
}

// soon is how long a run waits for further changes.
const soon = time.Second

// scheduleTidy sees to it that a run follows.
func (q *Queue) scheduleTidy() { q.tidyIn(soon) }

func (q *Queue) tidyIn(d time.Duration) {
	t := &q.tidy
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.timer != nil || t.over {
		return
	}
	t.runs.Add(1)
	t.timer = time.AfterFunc(d, func() {
		defer t.runs.Done()
		t.mu.Lock()
		t.timer = nil
		t.mu.Unlock()
		err := q.tidyUp(context.Background())
		t.mu.Lock()
		t.due = err != nil
		t.mu.Unlock()
		if err != nil {
			// Another process may be at it too: not both again at the same time.
			q.tidyIn(soon + rand.N(5*soon)) //nolint:gosec // nobody gains by guessing it
		}
	})
}

// At the end it is tried again for a moment: whoever reads the queue just then is done with
// it soon, and what others must not find would stay until the next run of another.
const (
	lastTries = 100 * time.Millisecond
	lastPause = 20 * time.Millisecond
)

// stopTidying runs what is due at once, and nothing from then on.
func (q *Queue) stopTidying() {
	t := &q.tidy
	t.mu.Lock()
	due := t.timer != nil && t.timer.Stop()
	t.timer, t.over = nil, true
	t.mu.Unlock()
	if due {
		t.runs.Done()
	}
	t.runs.Wait()
	if !due && !t.due {
		return
	}
	for late := time.Now().Add(lastTries); q.tidyUp(context.Background()) != nil && time.Now().Before(late); {
		time.Sleep(lastPause)
	}
}

// tidyUp ends what dead proxies left, prunes, and empties the log, in which
// redacted arguments stand still.
func (q *Queue) tidyUp(ctx context.Context) error {
	_ = q.removeDead(ctx) // what follows does not depend on it
	for more := true; more; {
		err := q.store.useConn(ctx, func(ctx context.Context, conn *sql.Conn) (err error) {
			more, err = q.pruneRequests(ctx, conn)
			return err
		})
		if err != nil {
			return err
		}
	}
	return q.store.useConn(ctx, func(ctx context.Context, conn *sql.Conn) error {
		err := emptyLog(ctx, conn, q.o.Patience)
		q.o.step("emptied")
		return err
	})
}

// atOnce bounds how many rows one transaction removes.
const atOnce = 500

// pruneRequests removes requests that are old or too many, once their outcome is known.
func (q *Queue) pruneRequests(ctx context.Context, conn *sql.Conn) (more bool, err error) {
	const remove = "DELETE FROM requests WHERE number IN (SELECT number FROM requests WHERE %s LIMIT %d)"
	for which, limit := range map[string]any{
		"decided_at > '' AND decided_at < ? AND outcome <> ''":               packTime(q.o.Clock().Add(-q.o.KeepFor)),
		"number <= (SELECT max(number) FROM requests) - ? AND outcome <> ''": q.o.Keep,
	} {
		done, err := conn.ExecContext(ctx, fmt.Sprintf(remove, which, atOnce), limit)
		if err != nil {
			return false, err
		}
		q.o.step("pruned")
		n, err := done.RowsAffected()
		if err != nil {
			return false, err
		}
		more = more || n == atOnce
	}
	return more, nil
}

// emptyLog writes the database anew, copies the log into it and cuts that off, without
// waiting for those who read: it is tried again. What SQLite deletes it overwrites with
// zeros, but not what it leaves behind in a page whose rows it moves to another.
func emptyLog(ctx context.Context, conn *sql.Conn, patience time.Duration) error {
	if _, err := conn.ExecContext(ctx, "PRAGMA busy_timeout = 0"); err != nil {
		return err
	}
	_, err := conn.ExecContext(ctx, "VACUUM")
	var busy, frames, copied int
	err = errors.Join(err, conn.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &frames, &copied))
	if _, e := conn.ExecContext(ctx, fmt.Sprintf("PRAGMA busy_timeout = %d", patience.Milliseconds())); e != nil {
		return e
	}
	if err == nil && busy != 0 {
		err = ErrLocked
	}
	return err
}
