package queue

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
)

// Ticket is a request in the queue, for the proxy that has added the request.
type Ticket struct {
	p      *Proxy
	id     string
	stored atomic.Bool // the request is in the database

	once   sync.Once
	done   chan struct{} // closed when answer and err are set
	answer Answer
	err    error
}

// ID returns the request's id.
func (t *Ticket) ID() string { return t.id }

// finishWait gives Wait its result. Only the first call has an effect.
func (t *Ticket) finishWait(a Answer, err error) {
	t.once.Do(func() {
		t.answer, t.err = a, err
		close(t.done)
	})
}

// finishDecided calls finishWait with the result for a request that has this status in the
// database.
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

// Wait waits for the answer and returns it. If ctx ends first, Wait returns the cause of ctx; the
// request stays in the queue. *ResolvedError means that the request ended without an answer,
// ErrClosed that the Proxy was closed, and ErrUnknown that somebody removed the request.
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

// Resolve ends the request. s is Approved or Denied if a person has answered elsewhere, otherwise
// Expired. If the queue already had another answer, Resolve returns that answer and false.
// *ResolvedError means that the request had already ended without an answer. The end of ctx does
// not stop Resolve, which takes a limited time. After any other error the proxy tries again later,
// so that no person answers a question that has ended.
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

// Outcome stores what became of the call, for the person who answered and for the history.
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
