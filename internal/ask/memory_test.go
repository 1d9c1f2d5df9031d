package ask

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/ask/queue"
	"github.com/clawai/clawai/internal/ask/view"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/policy"
)

// memQueue is a queue in memory, which can fail.
type memQueue struct {
	mu      sync.Mutex
	tickets []*memTicket
	came    chan *memTicket
	refuse  error // Put fails with it
	broken  error // Resolve fails with it
}

func newMemQueue() *memQueue { return &memQueue{came: make(chan *memTicket, 100)} }

func (s *memQueue) line() *QueueClient {
	return NewQueueClient(func() (Enqueuer, error) { return s, nil })
}

func (s *memQueue) Put(ctx context.Context, r queue.Request) (Ticket, error) {
	if s.refuse != nil {
		return nil, s.refuse
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	t := &memTicket{memQueue: s, id: "slip-" + time.Duration(len(s.tickets)).String(), request: r, over: make(chan struct{})}
	s.tickets = append(s.tickets, t)
	s.came <- t
	return t, nil
}

// memTicket is one request on it.
type memTicket struct {
	memQueue *memQueue
	id       string
	request  queue.Request
	over     chan struct{} // closed when status leaves pending

	// Guarded by memQueue.mu:
	status   queue.Status
	answer   queue.Answer
	outcomes []string
}

func (s *memTicket) ID() string { return s.id }

func (s *memTicket) Wait(ctx context.Context) (queue.Answer, error) {
	select {
	case <-s.over:
	case <-ctx.Done():
		return queue.Answer{}, ctx.Err()
	}
	s.memQueue.mu.Lock()
	defer s.memQueue.mu.Unlock()
	if s.status == queue.Expired {
		return queue.Answer{}, &queue.ResolvedError{}
	}
	return s.answer, nil
}

func (s *memTicket) end(st queue.Status, a queue.Answer) bool {
	s.memQueue.mu.Lock()
	defer s.memQueue.mu.Unlock()
	if s.status != "" {
		return false
	}
	s.status, s.answer = st, a
	close(s.over)
	return true
}

// say answers like somebody in another process; false when it is too late.
func (s *memTicket) say(r gate.Reply) bool {
	st := queue.Denied
	if r.Allows() {
		st = queue.Approved
	}
	return s.end(st, queue.Answer{Reply: r, Channel: "console", By: "me", Scope: "exact"})
}

func (s *memTicket) Resolve(_ context.Context, st queue.Status, a queue.Answer, outcome string) (queue.Answer, bool, error) {
	if s.memQueue.broken != nil {
		return queue.Answer{}, false, s.memQueue.broken
	}
	if !s.end(st, a) {
		s.memQueue.mu.Lock()
		defer s.memQueue.mu.Unlock()
		return s.answer, false, nil
	}
	if outcome != "" {
		_ = s.Outcome(context.Background(), outcome)
	}
	return a, true, nil
}

func (s *memTicket) Outcome(_ context.Context, text string) error {
	s.memQueue.mu.Lock()
	defer s.memQueue.mu.Unlock()
	s.outcomes = append(s.outcomes, text)
	return nil
}

// fate is status and outcome.
func (s *memTicket) fate() (queue.Status, string) {
	s.memQueue.mu.Lock()
	defer s.memQueue.mu.Unlock()
	if len(s.outcomes) == 0 {
		return s.status, ""
	}
	return s.status, s.outcomes[len(s.outcomes)-1]
}

// fakeChannel is a channel whose person is the test.
type fakeChannel struct {
	name   string
	absent error           // why it is not available
	says   chan gate.Reply // closed: hangs up
	asked  chan gate.Question
	ended  chan error // the cause of each Ask that was told to stop
}

func newFakeChannel(name string) *fakeChannel {
	return &fakeChannel{name: name, says: make(chan gate.Reply, 100), asked: make(chan gate.Question, 100), ended: make(chan error, 1000)}
}

func (s *fakeChannel) Name() string                                   { return s.name }
func (s *fakeChannel) Available(context.Context, gate.Question) error { return s.absent }
func (s *fakeChannel) Say(r gate.Reply)                               { s.says <- r }
func (s *fakeChannel) Leave()                                         { close(s.says) }

var errLeft = errors.New("the person left")

func (s *fakeChannel) Ask(ctx context.Context, q gate.Question) (gate.Answer, error) {
	s.asked <- q
	select {
	case r, ok := <-s.says:
		if !ok {
			return gate.Answer{}, errLeft
		}
		if ctx.Err() != nil { // it was said to the next question
			s.says <- r
			s.ended <- context.Cause(ctx)
			return gate.Answer{}, context.Cause(ctx)
		}
		return gate.Answer{Reply: r, Digest: q.Digest, Channel: s.name, By: "somebody"}, nil
	case <-ctx.Done():
		s.ended <- context.Cause(ctx)
		return gate.Answer{}, context.Cause(ctx)
	}
}

// fakeKeeper is a keeper that writes what it is told to, or fails.
type fakeKeeper struct {
	mu    sync.Mutex
	wrote []string
	fails error
}

func (p *fakeKeeper) Offers(gate.Question) ([]view.Offer, string) {
	return []view.Offer{{Scope: "exact", Title: "this exact call", Allow: "allow", Deny: "deny"}}, ""
}

// bound is how far an answer reaches that a fakeKeeper made.
type bound struct{ scope string }

func (b bound) Covers([]policy.Call) bool { return false }
func (b bound) Title() string             { return "edit files below " + b.scope }

func (p *fakeKeeper) Bound(_ context.Context, _ gate.Question, scope string) (gate.Bound, string, error) {
	if p.fails != nil {
		return nil, "", p.fails
	}
	return bound{scope}, "for this session: " + scope, nil
}

func (p *fakeKeeper) Write(_ context.Context, _ gate.Question, scope string, r gate.Reply) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.fails != nil {
		return "", p.fails
	}
	p.wrote = append(p.wrote, scope+" "+r.String())
	return "wrote a rule", nil
}

func within(t testing.TB, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(5 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if ok() {
			return
		}
	}
	t.Fatal("the outcome did not come in time")
}
