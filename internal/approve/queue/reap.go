package queue

import (
	"context"
	"errors"
)

// reap ends what proxies left that died, and says which ones did. Where that
// cannot be stored the next one who looks does it; the caller leaves theirs out
// meanwhile.
func (q *Queue) reap(ctx context.Context) (dead map[string]bool, err error) {
	sessions, err := q.words(ctx, "SELECT DISTINCT session FROM requests WHERE outcome = ''")
	var failed error
	for _, s := range sessions {
		if q.alive(s) {
			continue
		}
		if dead == nil {
			dead = map[string]bool{}
		}
		dead[s] = true
		if failed == nil {
			failed = q.bury(ctx, s)
		}
	}
	return dead, err
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
	q.untidy()
	return err
}
