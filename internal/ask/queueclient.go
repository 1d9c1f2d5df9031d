package ask

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/clawai/clawai/internal/ask/queue"
	"github.com/clawai/clawai/internal/gate"
)

const (
	// enqueueTimeout is how long the channels wait until the queue has stored a question. They need
	// the question's id, but a locked database must not delay the terminal.
	enqueueTimeout = 500 * time.Millisecond
	// resolveTimeout is the longest wait for the queue after a question has ended.
	resolveTimeout = 500 * time.Millisecond
	// reopenDelay is the time after which a queue that could not be opened is tried again.
	reopenDelay = 10 * time.Second
)

// QueueClient opens the queue at the first question. If this fails, it tries again after
// reopenDelay.
type QueueClient struct {
	open func() (Enqueuer, error)

	mu       sync.Mutex
	enqueuer Enqueuer
	failed   error
	again    time.Time
}

// Enqueuer adds questions to the queue; see NewEnqueuer.
type Enqueuer interface {
	Put(ctx context.Context, r queue.Request) (Ticket, error)
}

// Ticket is one question in the queue; *queue.Ticket implements it.
type Ticket interface {
	ID() string
	Wait(ctx context.Context) (queue.Answer, error)
	Resolve(ctx context.Context, s queue.Status, a queue.Answer, outcome string) (queue.Answer, bool, error)
	Outcome(ctx context.Context, text string) error
}

// NewEnqueuer returns an Enqueuer that adds questions to the queue of a session.
func NewEnqueuer(p *queue.Proxy) Enqueuer { return enqueuer{p} }

type enqueuer struct{ *queue.Proxy }

func (d enqueuer) Put(ctx context.Context, r queue.Request) (Ticket, error) {
	t, err := d.Proxy.Put(ctx, r)
	if err != nil {
		return nil, err
	}
	return t, nil
}

// NewQueueClient returns a QueueClient. At the first question it opens the queue with the function
// in the parameter open.
func NewQueueClient(open func() (Enqueuer, error)) *QueueClient { return &QueueClient{open: open} }

func (l *QueueClient) putRequest(ctx context.Context, r queue.Request) (Ticket, error) {
	d, err := l.openEnqueuer()
	if err != nil {
		return nil, err
	}
	return d.Put(ctx, r)
}

func (l *QueueClient) openEnqueuer() (Enqueuer, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.enqueuer != nil || time.Now().Before(l.again) {
		return l.enqueuer, l.failed
	}
	l.enqueuer, l.failed = l.open()
	if l.failed != nil {
		l.enqueuer, l.again = nil, time.Now().Add(reopenDelay)
	}
	return l.enqueuer, l.failed
}

// entry is a question on its way into the queue, or in the queue.
type entry struct {
	enqueued chan struct{}    // closed when ticket is set or stays nil
	ticket   Ticket           // nil if the queue did not store the question
	answers  chan queueResult // gets the answer from the queue, or an error if there will be no answer
	note     string           // what an "always" answer wrote
}

type queueResult struct {
	queue.Answer
	err error
}

// enqueueQuestion adds q to the queue. It waits at most enqueueTimeout until q is stored.
func (l *Chain) enqueueQuestion(ctx context.Context, q gate.Question) *entry {
	p := &entry{enqueued: make(chan struct{}), answers: make(chan queueResult, 1)}
	if l.o.Queue == nil {
		close(p.enqueued)
		p.answers <- queueResult{err: errors.New("there is no queue")}
		return p
	}
	l.busy.Go(func() {
		var got queueResult
		got.err = l.tryQueue(ctx, func() (err error) {
			p.ticket, err = l.o.Queue.putRequest(ctx, l.makeRequest(q))
			return err
		})
		close(p.enqueued) // close only now: the question may end after this, and an error would not be reported any more
		if got.err == nil {
			got.err = l.tryQueue(ctx, func() (err error) {
				got.Answer, err = p.ticket.Wait(ctx)
				return err
			})
		}
		p.answers <- got
	})
	select {
	case <-p.enqueued:
	case <-time.After(enqueueTimeout):
	case <-ctx.Done():
	}
	return p
}

// tryQueue calls the function in the parameter ask and turns a panic into an error. It passes an
// error to OnError if the question is still open.
func (l *Chain) tryQueue(ctx context.Context, ask func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the queue failed: %v", r)
		}
		if err != nil && ctx.Err() == nil {
			l.o.OnError(fmt.Errorf("the queue does not take questions: %w", err))
		}
	}()
	return ask()
}

// makeRequest returns the request for q, with all facts that an answerer shows.
func (l *Chain) makeRequest(q gate.Question) queue.Request {
	r := queue.Request{
		Deadline: q.Deadline, Server: q.Server, Client: q.ClientName, Project: l.o.Project, Calls: q.Calls, Digest: q.Digest,
		Rule: q.Rule, Reason: q.Why, Revision: q.Revision, Lasting: q.Session, Risk: "routine", Preview: q.Preview,
	}
	if r.Reserved = q.Rule.Approval.String(); r.Reserved != "" {
		r.Reason = joinNotes(r.Reason, "only "+r.Reserved+" can allow it, at the team's centre; here it can only be denied")
	}
	if q.Reply {
		r.Findings, _ = json.Marshal(append([]string{}, q.Finds...)) // texts can always be marshalled
	}
	if l.o.Risk(q) {
		r.Risk = "dangerous"
	}
	if l.o.RuleWriter != nil && q.Rule.Approval == nil {
		r.Offers, r.NoOffer = l.o.RuleWriter.Offers(q)
	}
	return r
}

// ticketID returns the id of the question in the queue; "" while the queue has not stored it.
func (p *entry) ticketID() string {
	if t := p.ticketIfEnqueued(); t != nil {
		return t.ID()
	}
	return ""
}

func (p *entry) ticketIfEnqueued() Ticket {
	select {
	case <-p.enqueued:
		return p.ticket
	default:
		return nil
	}
}

// resolveEntry ends the question in the queue. If the queue already has another answer, it returns
// this answer and false, because the first answer wins. If the queue does not reply within
// resolveTimeout, the answer a is valid, and the queue gets it later.
func (l *Chain) resolveEntry(p *entry, s queue.Status, a queue.Answer, outcome string) (first queue.Answer, ours bool) {
	type resolution struct {
		queue.Answer
		ours bool
		err  error
	}
	done := make(chan resolution, 1)
	l.busy.Go(func() {
		<-p.enqueued
		if p.ticket == nil {
			done <- resolution{ours: true}
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), reopenDelay)
		defer cancel()
		first, ours, err := p.ticket.Resolve(ctx, s, a, outcome)
		if err != nil {
			l.o.OnError(fmt.Errorf("the queue could not be told that a question has ended: %w", err))
		}
		done <- resolution{first, ours, err}
	})
	select {
	case r := <-done:
		return r.Answer, r.ours || r.err != nil
	case <-time.After(resolveTimeout):
		return queue.Answer{}, true
	}
}

// reportOutcome stores in the queue what became of the call.
func (l *Chain) reportOutcome(p *entry, text string) {
	t := p.ticketIfEnqueued()
	if t == nil {
		return
	}
	l.busy.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), reopenDelay)
		defer cancel()
		if err := t.Outcome(ctx, text); err != nil {
			l.o.OnError(fmt.Errorf("the queue could not be told what became of a call: %w", err))
		}
	})
}
