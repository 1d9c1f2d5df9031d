package web

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/clawai/clawai/internal/ask/queue"
	"github.com/clawai/clawai/internal/ask/view"
	"github.com/clawai/clawai/policy"
)

// fakeQueue holds what the page sees, as the real one would.
type fakeQueue struct {
	mu       sync.Mutex
	requests []*queue.Request
	grants   []queue.Grant
	answers  []queue.Answer
	watchers map[chan struct{}]bool
	broken   error // of every read
	attended int   // seats now
	seats    int   // seats ever
}

func newFakeQueue() *fakeQueue { return &fakeQueue{watchers: map[chan struct{}]bool{}} }

func (f *fakeQueue) put(n int, change func(*queue.Request)) *queue.Request {
	r := &queue.Request{
		ID: fmt.Sprintf("0f8fad5b-d9cb-469f-a165-%012d", n), Session: "s", Created: time.Now(), Deadline: time.Now().Add(time.Minute),
		Server: "files", Client: "test 1.0", Project: "/home/ana/projects/x", Digest: sha256.Sum256([]byte{byte(n)}),
		Calls: []policy.Call{{Server: "files", Method: "tools/call", Subject: policy.ToolSubject, Names: []string{"read_file"}, Args: []byte(`{"path":"notes.md"}`)}},
		Risk:  "routine", Lasting: true, Status: queue.Pending,
		Offers: []view.Offer{{Scope: "exact", Title: "this exact call", Allow: "[[rule]]\naction = \"allow\"\n", Deny: "[[rule]]\naction = \"deny\"\n"}},
	}
	if change != nil {
		change(r)
	}
	f.mu.Lock()
	f.requests = append(f.requests, r)
	f.mu.Unlock()
	f.tick()
	return r
}

func (f *fakeQueue) tick() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for w := range f.watchers {
		select {
		case w <- struct{}{}:
		default:
		}
	}
}

func (f *fakeQueue) settle(id string, status queue.Status, a queue.Answer, outcome string) (queue.Request, error) {
	defer f.tick()
	f.mu.Lock()
	defer f.mu.Unlock()
	r := f.find(id)
	if r == nil {
		return queue.Request{}, queue.ErrUnknown
	}
	if r.Status != queue.Pending {
		return *r, &queue.ResolvedError{Request: *r}
	}
	r.Status, r.Answer, r.Decided, r.Outcome = status, a, time.Now(), outcome
	f.answers = append(f.answers, a)
	return *r, nil
}

func (f *fakeQueue) find(id string) *queue.Request {
	for _, r := range f.requests {
		if r.ID == id {
			return r
		}
	}
	return nil
}

func (f *fakeQueue) list(keep func(*queue.Request) bool) ([]queue.Request, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []queue.Request
	for _, r := range f.requests {
		if keep(r) {
			out = append(out, *r)
		}
	}
	return out, f.broken
}

func (f *fakeQueue) Watch(ctx context.Context) <-chan struct{} {
	w := make(chan struct{}, 1)
	w <- struct{}{}
	f.mu.Lock()
	f.watchers[w] = true
	f.mu.Unlock()
	context.AfterFunc(ctx, func() {
		f.mu.Lock()
		delete(f.watchers, w)
		f.mu.Unlock()
	})
	return w
}

func (f *fakeQueue) Pending(context.Context) ([]queue.Request, error) {
	return f.list(func(r *queue.Request) bool { return r.Status == queue.Pending })
}

func (f *fakeQueue) History(context.Context, int) ([]queue.Request, error) {
	list, err := f.list(func(r *queue.Request) bool { return r.Status != queue.Pending })
	slices.Reverse(list)
	return list, err
}

func (f *fakeQueue) Get(_ context.Context, id string) (queue.Request, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if r := f.find(id); r != nil {
		return *r, f.broken
	}
	return queue.Request{}, queue.ErrUnknown
}

func (f *fakeQueue) Decide(_ context.Context, id string, a queue.Answer) (queue.Request, error) {
	status := queue.Denied
	if a.Reply.Allows() {
		status = queue.Approved
	}
	return f.settle(id, status, a, "")
}

func (f *fakeQueue) Await(_ context.Context, id string) (queue.Request, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	r := f.find(id)
	if r.Answer.Reply.Allows() {
		r.Outcome = "went on"
	}
	return *r, nil
}

func (f *fakeQueue) Grants(context.Context) ([]queue.Grant, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.grants), f.broken
}

func (f *fakeQueue) Revoke(_ context.Context, id string) error {
	defer f.tick()
	f.mu.Lock()
	defer f.mu.Unlock()
	n := len(f.grants)
	f.grants = slices.DeleteFunc(f.grants, func(g queue.Grant) bool { return g.ID == id })
	if len(f.grants) == n {
		return queue.ErrUnknown
	}
	return nil
}

// attend counts who looks.
func (f *fakeQueue) attend() (io.Closer, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.attended++
	f.seats++
	return seat{f}, nil
}

type seat struct{ f *fakeQueue }

func (s seat) Close() error {
	s.f.mu.Lock()
	defer s.f.mu.Unlock()
	s.f.attended--
	return nil
}

func (f *fakeQueue) looking() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.attended
}

func (f *fakeQueue) given() []queue.Answer {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.answers)
}

var errBroken = errors.New("database is locked")
