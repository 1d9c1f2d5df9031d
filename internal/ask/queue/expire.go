package queue

import (
	"context"
	"errors"
	"slices"
)

// expireDead ends the requests of proxies that have died. If that cannot be stored, the next
// reader tries again; left lists the sessions that the caller must leave out.
func (q *Queue) expireDead(ctx context.Context) (left []string, err error) {
	sessions, err := q.selectTexts(ctx, "SELECT DISTINCT session FROM requests WHERE outcome = ''")
	for _, s := range sessions {
		if q.isAlive(s) {
			continue
		}
		if left != nil || q.expireSession(ctx, s) != nil { // after the first failure, do not wait for the others
			left = append(left, s)
		}
	}
	return left, err
}

// removeDead calls expireDead, and removes the files of sessions that left nothing.
func (q *Queue) removeDead(ctx context.Context) error {
	left, err := q.expireDead(ctx)
	if err != nil {
		return err
	}
	names, err := namesIn(q.filePath(proxies))
	for _, name := range names {
		if !slices.Contains(left, name) {
			err = errors.Join(err, removeStale(q.filePath(proxies, name)))
		}
	}
	return err
}

// Outcomes of the requests of a proxy that is gone.
const (
	itsProxyEnded = "its proxy ended"
	untold        = "its proxy ended before it said what became of the call"
)

// expireSession ends all requests of a session whose proxy is gone.
func (q *Queue) expireSession(ctx context.Context, session string) error {
	waiting, err := q.selectRequests(ctx, "WHERE session = ? AND status = 'pending'", session)
	if err != nil {
		return err
	}
	err = q.writeChange(ctx, func(ctx context.Context, t tx) error {
		for _, r := range waiting {
			end := q.finalRequest(r, Expired, Answer{}, itsProxyEnded)
			if err := q.finishRequest(ctx, t, &end); err != nil && !errors.Is(err, errLost) {
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
	q.scheduleTidy()
	if isSession(session) {
		_ = removeStale(q.filePath(proxies, session)) // nothing depends on the file any more
	}
	return nil
}
