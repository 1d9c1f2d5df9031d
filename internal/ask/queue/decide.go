package queue

import (
	"context"
	"fmt"

	"github.com/clawai/clawai/internal/gate"
)

// Decide answers a request. id is an id or a prefix, as for Get. The first answer wins: a later
// caller gets a *ResolvedError, which tells how the request ended.
func (q *Queue) Decide(ctx context.Context, id string, a Answer) (Request, error) {
	if a.Reply > gate.DenyAlways {
		return Request{}, fmt.Errorf("the queue: there is no reply %d", a.Reply)
	}
	r, err := q.Get(ctx, id)
	if err != nil {
		return Request{}, err
	}
	if r.Status != Pending {
		return r, &ResolvedError{r}
	}
	if why := r.DenyOnly(); why != nil && a.Reply != gate.DenyOnce {
		return Request{}, why
	}
	r, won, err := q.resolveRequest(ctx, r.ID, statusOf(a.Reply), a, "")
	if err != nil {
		return Request{}, err
	}
	if !won {
		return r, &ResolvedError{r}
	}
	q.notifyProxy(r.Session)
	return r, nil
}

// Await waits until the outcome of a request is known or ctx ends, and returns the request.
func (q *Queue) Await(ctx context.Context, id string) (Request, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for range q.Watch(ctx) {
		r, err := q.Get(ctx, id)
		if err != nil || r.Status != Pending && r.Outcome != "" {
			return r, err
		}
	}
	if err := context.Cause(ctx); err != nil {
		return Request{}, err
	}
	return Request{}, ErrClosed
}
