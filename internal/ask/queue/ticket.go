package queue

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
)

// Ticket is a request that was put into the queue, for the proxy that put it.
type Ticket struct {
	p      *Proxy
	id     string
	stored atomic.Bool // its row is there

	once   sync.Once
	done   chan struct{} // closed when answer and err are there
	answer Answer
	err    error
}

// ID names the request.
func (t *Ticket) ID() string { return t.id }

// finishWait lets Wait return. Only the first one counts.
func (t *Ticket) finishWait(a Answer, err error) {
	t.once.Do(func() {
		t.answer, t.err = a, err
		close(t.done)
	})
}

// finishDecided is end for a request that stands like this in the database.
func (t *Ticket) finishDecided(s Status, a Answer) {
	if s == Approved || s == Denied {
		t.finishWait(a, nil)
		return
	}
	r, err := t.p.q.selectRequest(context.Background(), t.id)
	if err == nil {
		err = &ResolvedError{r}
	}
	t.finishWait(Answer{}, err)
}

// Wait returns the answer, whoever gave it. The end of ctx is an error and
// changes nothing in the queue. *ResolvedError says that the request ended without an
// answer, ErrClosed that the Proxy was closed, ErrUnknown that somebody removed
// it.
func (t *Ticket) Wait(ctx context.Context) (Answer, error) {
	select {
	case <-t.done:
		return t.answer, t.err
	default:
	}
	select {
	case <-t.done:
		return t.answer, t.err
	case <-ctx.Done():
		return Answer{}, context.Cause(ctx)
	}
}

// Resolve ends the request: answered elsewhere (Approved, Denied), or Expired.
// When somebody was first, that answer comes back, and false. *ResolvedError says that
// it ended without an answer before. It takes its (bounded) time even when ctx
// has ended, and on any other error it is tried again for as long as the proxy
// lives, so that nobody is asked in vain.
func (t *Ticket) Resolve(ctx context.Context, s Status, a Answer, outcome string) (Answer, bool, error) {
	if s == Pending || s != Expired && s != statusOf(a.Reply) {
		return Answer{}, false, fmt.Errorf("the queue: a request that is %s cannot be answered %s", s, a.Reply)
	}
	if s == Expired {
		a, outcome = Answer{}, cmp.Or(outcome, "nobody answered in time")
	}
	r, won, err := t.p.q.resolveRequest(context.WithoutCancel(ctx), t.id, s, a, outcome)
	if err != nil {
		t.p.saveLater(t.id, resolution{s, a, outcome})
		t.finishWait(Answer{}, err)
		return Answer{}, false, err
	}
	t.p.forgetTicket(t)
	if !won && r.Status == Expired {
		err = &ResolvedError{r}
		t.finishWait(Answer{}, err)
		return Answer{}, false, err
	}
	if s == Expired && won {
		t.finishWait(Answer{}, &ResolvedError{r})
	} else {
		t.finishWait(r.Answer, nil)
	}
	return r.Answer, won, nil
}

// Outcome says what became of the call after an answer, for the one who
// answered and for the history.
func (t *Ticket) Outcome(ctx context.Context, text string) error {
	return t.p.q.storeOutcome(context.WithoutCancel(ctx), t.id, text)
}

func (q *Queue) storeOutcome(ctx context.Context, id, text string) error {
	return q.writeChange(ctx, func(ctx context.Context, t tx) error {
		n, err := t.exec(ctx, "UPDATE requests SET outcome = ?, changed = "+thisChange+
			" WHERE id = ? AND status <> 'pending'", text, id)
		if err == nil && n == 0 {
			err = errors.New("a request that nobody answered has no outcome")
		}
		return err
	})
}
