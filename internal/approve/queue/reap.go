package queue

import (
	"context"
	"errors"
	"slices"
)

// reap ends what proxies left that died. Where that cannot be stored the next
// one who looks does it; unburied says whose it is, for the caller to leave out.
func (q *Queue) reap(ctx context.Context) (unburied []string, err error) {
	sessions, err := q.words(ctx, "SELECT DISTINCT session FROM requests WHERE outcome = ''")
	for _, s := range sessions {
		if q.alive(s) {
			continue
		}
		if unburied != nil || q.bury(ctx, s) != nil { // one failure is enough to wait for
			unburied = append(unburied, s)
		}
	}
	return unburied, err
}

// sweep is reap, and removes the files of sessions that left nothing.
func (q *Queue) sweep(ctx context.Context) error {
	unburied, err := q.reap(ctx)
	if err != nil {
		return err
	}
	names, err := namesIn(q.path(proxies))
	for _, name := range names {
		if !slices.Contains(unburied, name) {
			err = errors.Join(err, clearAway(q.path(proxies, name)))
		}
	}
	return err
}

// What becomes of the requests of a proxy that is gone.
const (
	itsProxyEnded = "its proxy ended"
	untold        = "its proxy ended before it said what became of the call"
)

// bury ends everything of a session whose proxy is gone.
func (q *Queue) bury(ctx context.Context, session string) error {
	waiting, err := q.list(ctx, "WHERE session = ? AND status = 'pending'", session)
	if err != nil {
		return err
	}
	err = q.write(ctx, func(ctx context.Context, t tx) error {
		for _, r := range waiting {
			end := q.ended(r, Expired, Answer{}, itsProxyEnded)
			if err := t.finish(ctx, &end); err != nil && !errors.Is(err, errLost) {
				return err
			}
		}
		if len(q.o.migrations) > 1 {
			if _, err := t.exec(ctx, "DELETE FROM grants WHERE session = ?", session); err != nil {
				return err
			}
		}
		_, err := t.exec(ctx, "UPDATE requests SET outcome = ?, changed = "+thisChange+
			" WHERE session = ? AND status <> 'pending' AND outcome = ''", untold, session)
		return err
	})
	if err != nil {
		return err
	}
	q.untidy()
	if isSession(session) {
		_ = clearAway(q.path(proxies, session)) // nothing depends on it any more
	}
	return nil
}
