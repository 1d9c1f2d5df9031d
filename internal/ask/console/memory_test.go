package console

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/clawai/clawai/internal/ask/queue"
)

// memory is a queue without a disk, in which the first answer wins too.
type memory struct {
	mu      sync.Mutex
	all     map[string]*queue.Request
	grants  []queue.Grant
	revoked []string
	ticks   chan struct{}
	fail    error
	decides int
}

func newMemory() *memory {
	return &memory{all: map[string]*queue.Request{}, ticks: make(chan struct{}, 1)}
}

func (q *memory) changed() {
	select {
	case q.ticks <- struct{}{}:
	default:
	}
}

func (q *memory) put(r queue.Request) {
	q.mu.Lock()
	defer q.mu.Unlock()
	r.Status = cmp.Or(r.Status, queue.Pending)
	q.all[r.ID] = &r
	q.changed()
}

// resolve ends a request from elsewhere.
func (q *memory) settle(id string, s queue.Status, a queue.Answer, outcome string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	r := q.all[id]
	r.Status, r.Answer, r.Outcome, r.Decided = s, a, outcome, time.Now()
	q.changed()
}

// settleUnseen does so before anybody is told of it.
func (q *memory) settleUnseen(id string, s queue.Status) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.all[id].Status, q.all[id].Decided = s, time.Now()
}

func (q *memory) outcome(id, text string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.all[id].Outcome = text
	q.changed()
}

func (q *memory) get(id string) queue.Request {
	q.mu.Lock()
	defer q.mu.Unlock()
	return *q.all[id]
}

func (q *memory) Watch(context.Context) <-chan struct{} { q.changed(); return q.ticks }

func (q *memory) list(pending bool) ([]queue.Request, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	var rs []queue.Request
	for _, r := range q.all {
		if (r.Status == queue.Pending) == pending {
			rs = append(rs, *r)
		}
	}
	slices.SortFunc(rs, func(a, b queue.Request) int { return a.Created.Compare(b.Created) })
	return rs, q.fail
}

func (q *memory) Pending(context.Context) ([]queue.Request, error)      { return q.list(true) }
func (q *memory) History(context.Context, int) ([]queue.Request, error) { return q.list(false) }

func (q *memory) Get(_ context.Context, prefix string) (queue.Request, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for id := range maps.Keys(q.all) {
		if strings.HasPrefix(id, prefix) {
			return *q.all[id], nil
		}
	}
	return queue.Request{}, queue.ErrUnknown
}

func (q *memory) Decide(_ context.Context, id string, a queue.Answer) (queue.Request, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.decides++
	if q.fail != nil {
		return queue.Request{}, q.fail
	}
	r := q.all[id]
	if r.Status != queue.Pending {
		return *r, &queue.ResolvedError{Request: *r}
	}
	r.Answer, r.Decided, r.Status = a, time.Now(), queue.Denied
	if a.Reply.Allows() {
		r.Status = queue.Approved
	}
	q.changed()
	return *r, nil
}

func (q *memory) Await(ctx context.Context, id string) (queue.Request, error) {
	for {
		if r := q.get(id); r.Outcome != "" {
			return r, nil
		}
		select {
		case <-ctx.Done():
			return queue.Request{}, ctx.Err()
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func (q *memory) Grants(context.Context) ([]queue.Grant, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return slices.Clone(q.grants), nil
}

func (q *memory) Revoke(_ context.Context, id string) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.revoked = append(q.revoked, id)
	q.grants = slices.DeleteFunc(q.grants, func(g queue.Grant) bool { return g.ID == id })
	q.changed()
	return nil
}
