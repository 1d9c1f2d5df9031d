package queue

import (
	"context"
	"database/sql"
	"errors"
	"maps"
	"time"
)

// lookOut has the session's answers noticed from now on, for as long as there is
// something to wait for. The caller has p.mu.
func (p *Proxy) lookOut() {
	if p.looking {
		return
	}
	p.looking = true
	p.lookouts.Go(p.lookout)
}

// again is after how long a look that failed is tried again.
const again = 500 * time.Millisecond

// lookout is one goroutine for all that the session waits for: however many
// requests there are, a ring costs one query for those that changed.
func (p *Proxy) lookout() {
	heard, stop := p.q.ears.listen(p.q.path(proxies, p.s.ID))
	defer stop()
	check := time.NewTicker(p.q.o.Check)
	defer check.Stop()
	for {
		err := p.look()
		if p.idle() {
			return
		}
		var retry <-chan time.Time
		if err != nil {
			retry = time.After(min(again, p.q.o.Check))
		}
		select {
		case <-p.stop:
			return
		case <-heard:
		case <-retry:
		case <-check.C:
			p.compare()
		}
	}
}

// idle ends the lookout when nothing is waited for.
func (p *Proxy) idle() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.looking = len(p.waiting) > 0 || len(p.owed) > 0 || p.granted
	return !p.looking
}

// change is an end of a request that the database knows.
type change struct {
	number int64
	id     string
	status Status
	answer Answer
}

// look hands out the answers since the last look.
func (p *Proxy) look() error {
	ctx := context.Background()
	var changes []change
	err := p.q.store.use(ctx, func(ctx context.Context, conn *sql.Conn) error {
		if opened := p.q.store.opened; opened != p.opened { // another database counts anew
			p.opened, p.seen = opened, 0
		}
		return each(ctx, conn, `SELECT changed, id, status, reply, scope, rung, decided_by, note
			FROM requests WHERE session = ? AND changed > ? ORDER BY changed`, []any{p.s.ID, p.seen}, func(rows *sql.Rows) error {
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
		p.seen = c.number
		p.hear(c)
	}
	return p.lookAtGrants(ctx)
}

// hear ends the waiting for a request that has ended.
func (p *Proxy) hear(c change) {
	if c.status == Pending {
		return
	}
	p.mu.Lock()
	t := p.waiting[c.id]
	delete(p.waiting, c.id)
	p.mu.Unlock()
	if t != nil {
		p.q.untidy()
		t.decided(c.status, c.answer)
	}
}

// compare looks at everything that waits, as a check on what was heard: rows
// may have been changed by hand, or a whole database put in the place of ours.
func (p *Proxy) compare() {
	ctx := context.Background()
	before := p.tickets()
	ids, err := p.q.words(ctx, "SELECT id FROM requests WHERE session = ? AND status = 'pending'", p.s.ID)
	if err != nil {
		return
	}
	for _, id := range ids {
		if before[id] != nil {
			delete(before, id)
		} else {
			p.disown(id)
		}
	}
	for id, t := range before {
		switch r, err := p.q.exact(ctx, id); {
		case err == nil:
			p.hear(change{id: id, status: r.Status, answer: r.Answer})
		case errors.Is(err, ErrUnknown) && t.stored.Load():
			p.forget(t)
			t.end(Answer{}, ErrUnknown)
		}
	}
	p.pay(ctx)
}

// tickets copies what waits.
func (p *Proxy) tickets() map[string]*Ticket {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.Clone(p.waiting)
}

// debt is how a request ended that could not be stored.
type debt struct {
	status  Status
	answer  Answer
	outcome string
}

// owe has the end of a request stored later.
func (p *Proxy) owe(id string, d debt) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.waiting, id)
	if !p.closed { // Close ends it
		p.owed[id] = d
		p.lookOut()
	}
}

// disown ends a request of ours that nobody waits for.
func (p *Proxy) disown(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, ended := p.owed[id]; !ended && p.waiting[id] == nil {
		p.owed[id] = debt{Expired, Answer{}, "nobody waited for the answer"}
	}
}

// pay stores what is owed. Somebody may have answered meanwhile, in vain. A lock
// that another program holds is waited for once, not for each request.
func (p *Proxy) pay(ctx context.Context) {
	p.mu.Lock()
	owed := maps.Clone(p.owed)
	p.mu.Unlock()
	for id, d := range owed {
		select {
		case <-p.stop: // Close ends them all at once
			return
		default:
		}
		r, won, err := p.q.resolve(ctx, id, d.status, d.answer, d.outcome)
		if err == nil && !won && r.Outcome == "" {
			err = p.q.outcome(ctx, id, "the answer came too late: "+or(d.outcome, "it was answered elsewhere"))
		}
		if err == nil || errors.Is(err, ErrUnknown) {
			p.mu.Lock()
			delete(p.owed, id)
			p.mu.Unlock()
		}
		if errors.Is(err, ErrLocked) {
			return
		}
	}
}
