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

// tidying removes old rows, and redacted data from the disk. It runs shortly after the last
// change, so that a burst of changes costs one run.
type tidying struct {
	mu    sync.Mutex
	timer *time.Timer // nil when there is nothing to do
	due   bool        // the last run did not finish everything
	over  bool
	runs  sync.WaitGroup
}

// soon is how long a run waits for further changes.
const soon = time.Second

// scheduleTidy schedules a run.
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
			// Another process may be running too: avoid the next collision.
			q.tidyIn(soon + rand.N(5*soon)) //nolint:gosec // nobody gains by guessing it
		}
	})
}

// At the end the run is retried for a moment: a reader of the queue is usually done soon, and
// otherwise data that must disappear would stay until another process runs.
const (
	lastTries = 100 * time.Millisecond
	lastPause = 20 * time.Millisecond
)

// stopTidying runs what is due at once, and prevents later runs.
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

// tidyUp ends the requests of dead proxies, prunes, and empties the log, which still holds
// redacted arguments.
func (q *Queue) tidyUp(ctx context.Context) error {
	_ = q.removeDead(ctx) // the next steps do not depend on it
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

// atOnce is the maximum number of rows that one transaction removes.
const atOnce = 500

// pruneRequests removes old or surplus requests whose outcome is known.
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
	if len(q.o.migrations) >= keptSteps { // an older clawai resolves a request without deleting its row here
		_, err = conn.ExecContext(ctx, "DELETE FROM kept WHERE id NOT IN (SELECT id FROM requests WHERE status = 'pending')")
	}
	return more, err
}

// emptyLog rewrites the database, copies the log into it and truncates the log. It does not wait
// for readers, because it is retried. SQLite overwrites deleted data with zeros, but not the old
// copies in a page whose rows it moves to another page.
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
