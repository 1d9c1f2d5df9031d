package queue

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"maps"
	"time"
)

// startPolling starts pollLoop if it does not run. The caller holds p.mu.
func (p *Proxy) startPolling() {
	if p.polling {
		return
	}
	p.polling = true
	p.polls.Go(p.pollLoop)
}

// retryDelay is the wait after a failed poll.
const retryDelay = 500 * time.Millisecond

// pollLoop reads the changes of the session's requests. All requests of a session share this
// goroutine, so that each wake-up costs one query.
func (p *Proxy) pollLoop() {
	heard, stop := p.q.watcher.listenPath(p.q.filePath(proxies, p.s.ID))
	defer stop()
	check := time.NewTicker(p.q.o.Check)
	defer check.Stop()
	for {
		err := p.pollAnswers()
		if p.stopIfIdle() {
			return
		}
		var retry <-chan time.Time
		if err != nil {
			retry = time.After(min(retryDelay, p.q.o.Check))
		}
		select {
		case <-p.stop:
			return
		case <-heard:
		case <-retry:
		case <-check.C:
			p.compareWaiting()
		}
	}
}

// stopIfIdle marks the polling as ended if the session waits for nothing any more. It reports
// whether it did so.
func (p *Proxy) stopIfIdle() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.polling = len(p.waiting) > 0 || len(p.unsaved) > 0 || p.granted
	return !p.polling
}

// change is a changed row of a request.
type change struct {
	number int64
	id     string
	status Status
	answer Answer
}

// pollAnswers reads the rows that have changed since the last poll, and passes the answers to their
// tickets.
func (p *Proxy) pollAnswers() error {
	ctx := context.Background()
	var changes []change
	err := p.q.store.useConn(ctx, func(ctx context.Context, conn *sql.Conn) error {
		if opened := p.q.store.opened; opened != p.opened { // a newly opened database may be a different file, whose numbers of changes begin at 1 again
			p.opened, p.lastChange = opened, 0
		}
		return eachRow(ctx, conn, `SELECT changed, id, status, reply, scope, rung, decided_by, note
			FROM requests WHERE session = ? AND changed > ? ORDER BY changed`, []any{p.s.ID, p.lastChange}, func(rows *sql.Rows) error {
			var c change
			var status, reply string
			err := rows.Scan(&c.number, &c.id, &status, &reply, &c.answer.Scope, &c.answer.Channel, &c.answer.By, &c.answer.Words)
			c.status, c.answer.Reply = unpackStatus(status, reply)
			changes = append(changes, c)
			return err
		})
	})
	if err != nil {
		return err
	}
	for _, c := range changes {
		p.lastChange = c.number
		p.endWaiting(c)
	}
	return p.pollGrants(ctx)
}

// endWaiting gives a ticket its answer if the request has ended.
func (p *Proxy) endWaiting(c change) {
	if c.status == Pending {
		return
	}
	p.mu.Lock()
	t := p.waiting[c.id]
	delete(p.waiting, c.id)
	p.mu.Unlock()
	if t != nil {
		p.q.scheduleTidy()
		t.finishDecided(c.status, c.answer)
	}
}

// compareWaiting looks up all pending requests in the database. Polling alone would miss rows that
// were changed by hand, and a database that replaced ours.
func (p *Proxy) compareWaiting() {
	ctx := context.Background()
	before := p.copyTickets()
	ids, err := p.q.selectTexts(ctx, "SELECT id FROM requests WHERE session = ? AND status = 'pending'", p.s.ID)
	if err != nil {
		return
	}
	for _, id := range ids {
		if before[id] != nil {
			delete(before, id)
		} else {
			p.expireUnwaited(id)
		}
	}
	for id, t := range before {
		switch r, err := p.q.selectRequest(ctx, id); {
		case err == nil:
			p.endWaiting(change{id: id, status: r.Status, answer: r.Answer})
		case errors.Is(err, ErrUnknown) && t.stored.Load():
			p.forgetTicket(t)
			t.finishWait(Answer{}, ErrUnknown)
		}
	}
	p.saveUnsaved(ctx)
}

// copyTickets returns a copy of the map of pending requests.
func (p *Proxy) copyTickets() map[string]*Ticket {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.Clone(p.waiting)
}

// resolution is how a request has ended, if the database could not store it yet.
type resolution struct {
	status  Status
	answer  Answer
	outcome string
}

// saveLater remembers the end of a request, so that pollLoop can store it later.
func (p *Proxy) saveLater(id string, d resolution) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.waiting, id)
	if !p.closed { // after Close there is nothing to do, because Close ends all requests
		p.unsaved[id] = d
		p.startPolling()
	}
}

// expireUnwaited ends a request of this session for which no ticket waits.
func (p *Proxy) expireUnwaited(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, ended := p.unsaved[id]; !ended && p.waiting[id] == nil {
		p.unsaved[id] = resolution{Expired, Answer{}, "nobody waited for the answer"}
	}
}

// saveUnsaved stores the ends in p.unsaved. An answer that a person gave in the meantime is lost.
// If another program holds the lock, saveUnsaved stops after the first wait.
func (p *Proxy) saveUnsaved(ctx context.Context) {
	p.mu.Lock()
	unsaved := maps.Clone(p.unsaved)
	p.mu.Unlock()
	for id, d := range unsaved {
		select {
		case <-p.stop: // Close stores all ends itself
			return
		default:
		}
		r, won, err := p.q.resolveRequest(ctx, id, d.status, d.answer, d.outcome)
		if err == nil && !won && r.Outcome == "" {
			err = p.q.storeOutcome(ctx, id, "the answer came too late: "+cmp.Or(d.outcome, "it was answered elsewhere"))
		}
		if err == nil || errors.Is(err, ErrUnknown) {
			p.mu.Lock()
			delete(p.unsaved, id)
			p.mu.Unlock()
		}
		if errors.Is(err, ErrLocked) {
			return
		}
	}
}
