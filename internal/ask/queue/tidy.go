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

// tidying removes old rows from the database, and redacted data from its files. A run starts
// shortly after a change, so that many changes in a short time need only one run.
type tidying struct {
	mu    sync.Mutex
	timer *time.Timer // nil if no run is scheduled
	due   bool        // the last run did not do everything
	over  bool
	runs  sync.WaitGroup
}

// soon is the time from a change to a run. Changes in this time need no further run.
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
			// Perhaps another process tidies up at the same time. A random wait avoids the next
			// collision.
			q.tidyIn(soon + rand.N(5*soon)) //nolint:gosec // the wait is no secret
		}
	})
}

// stopTidying tries the last run again for a short time. A reader of the queue can make a run fail,
// but usually the reader finishes soon. Without a last run, data that must disappear would stay
// until another process runs.
const (
	lastTries = 100 * time.Millisecond
	lastPause = 20 * time.Millisecond
)

// stopTidying makes the run that is due, if there is one, and prevents later runs.
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

// tidyUp ends the requests of dead proxies and removes old requests. Then it empties the log of the
// database, because the log still has the arguments that were redacted.
func (q *Queue) tidyUp(ctx context.Context) error {
	_ = q.removeDead(ctx) // an error is ignored, because the next steps do not depend on this one
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

// pruneRequests removes old requests, and requests beyond Options.Keep, if their outcome is known.
// If more is true, pruneRequests must be called again.
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
	if len(q.o.migrations) >= keptSteps { // an older clawai resolves a request without deleting its row from the table "kept"
		_, err = conn.ExecContext(ctx, "DELETE FROM kept WHERE id NOT IN (SELECT id FROM requests WHERE status = 'pending')")
	}
	return more, err
}

// emptyLog removes deleted data from the files of the database. VACUUM rewrites the database,
// because SQLite overwrites deleted data with zeros, but not the old copies of rows that it has
// moved to another page. Then the log is copied into the database and truncated. If a reader is in
// the way, emptyLog returns an error and does not wait, because the run is repeated.
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
