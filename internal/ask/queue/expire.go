package queue

import (
	"context"
	"errors"
	"slices"
)

// expireDead ends the requests of proxies that have died. The returned list has the sessions whose
// end could not be stored. The caller must not remove their files, so that the next reader tries
// again.
func (q *Queue) expireDead(ctx context.Context) (left []string, err error) {
	sessions, err := q.selectTexts(ctx, "SELECT DISTINCT session FROM requests WHERE outcome = ''")
	for _, s := range sessions {
		if q.isAlive(s) {
			continue
		}
		if left != nil || q.expireSession(ctx, s) != nil { // after the first error do not try the other sessions, because each try may wait for a lock
			left = append(left, s)
		}
	}
	return left, err
}

// removeDead calls expireDead. Then it removes the files of the dead sessions that have no open
// requests.
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

// Outcomes of requests whose proxy has ended.
const (
	itsProxyEnded = "its proxy ended"
	untold        = "its proxy ended before it said what became of the call"
)

// expireSession ends all requests of a session whose proxy has ended.
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
		_ = removeStale(q.filePath(proxies, session)) // the error is ignored, because the file has no effect any more
	}
	return nil
}
