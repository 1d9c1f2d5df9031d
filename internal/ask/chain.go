package ask

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/clawai/clawai/internal/ask/view"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/text/term"
)

// ChainOptions say whom a Chain asks. Without channels and queue it denies.
type ChainOptions struct {
	Channels   []Channel                        // in the order in which they are tried
	Queue      *QueueClient                     // where every question waits beside; nil: nowhere
	RuleWriter RuleWriter                       // writes the rules of "always" answers; nil: not offered
	Wait       bool                             // when no channel is available, wait for an answer from the queue
	Risk       func(q gate.Question) (bad bool) // whether q needs care; nil: it always does
	Project    string                           // the folder the proxy runs in, for people
	Notify     func(q gate.Question)            // points a person to a question that only waits; nil: nobody does
	OnError    func(err error)                  // hears what did not work beside the asking; nil: nobody does
}

// RuleWriter knows how far answers can reach, and writes what is to be remembered for
// good; *remember.Writer is the one
// there is.
type RuleWriter interface {
	Offers(q gate.Question) (offers []view.Offer, whyNot string)
	Write(ctx context.Context, q gate.Question, scope string, r gate.Reply) (note string, err error)
	// Bound is how far an answer for the session reaches that names a scope.
	Bound(ctx context.Context, q gate.Question, scope string) (b gate.Bound, note string, err error)
}

// Chain asks where a person is known to be looking: each question waits in the
// queue, and at the first channel that is available; the first answer wins and the
// other is told. A channel that fails without an answer hands the question to the
// next. It is safe for concurrent use. Close waits for what is left to be told.
type Chain struct {
	o    ChainOptions
	busy sync.WaitGroup

	mu      sync.Mutex
	entries map[uint64]*entry // answered, until the gate says what became of it
}

var (
	_ gate.Approver  = (*Chain)(nil)
	_ gate.Concluder = (*Chain)(nil)
)

// NewChain gives a chain that opens nothing before the first question.
func NewChain(o ChainOptions) *Chain {
	if o.Risk == nil {
		o.Risk = func(gate.Question) bool { return true }
	}
	if o.Notify == nil {
		o.Notify = func(gate.Question) {}
	}
	if o.OnError == nil {
		o.OnError = func(error) {}
	}
	return &Chain{o: o, entries: map[uint64]*entry{}}
}

// Close returns when nothing of the chain runs any more. No question may be
// open or asked after it.
func (l *Chain) Close() { l.busy.Wait() }

// Why a question ends at a channel without an answer of its own.
var (
	errElsewhere  = errors.New("answered elsewhere")
	errUnanswered = errors.New("nobody answered in time")
)

// hintNext is what the agent and the record read when nobody could be asked.
const hintNext = "to answer such calls, the owner runs: clawai approve"

// Ask returns the first answer. An error means that nobody decided.
func (l *Chain) Ask(ctx context.Context, q gate.Question) (gate.Answer, error) {
	if len(q.Calls) == 0 {
		return gate.Answer{Digest: q.Digest}, errors.New("a question without a call")
	}
	ctx, stop := withDeadline(ctx, q.Deadline)
	defer stop()
	if ctx.Err() != nil {
		return gate.Answer{Digest: q.Digest}, context.Cause(ctx)
	}
	racing, over := context.WithCancelCause(ctx)
	defer over(errElsewhere)
	p := l.enqueueQuestion(racing, q)
	q.Ticket = p.ticketID()
	return l.awaitAnswer(ctx, q, p, l.askChannels(racing, q))
}

// withDeadline ends ctx at the deadline, unless it does that itself: who asks is to see
// the time run out as its own, not as our having nobody to ask.
func withDeadline(ctx context.Context, deadline time.Time) (context.Context, context.CancelFunc) {
	if own, ok := ctx.Deadline(); deadline.IsZero() || ok && !own.After(deadline) {
		return context.WithCancel(ctx)
	}
	return context.WithDeadlineCause(ctx, deadline, errUnanswered)
}

// awaitAnswer waits for the channels and the queue. When the channels have nobody to ask, the
// queue alone is left.
func (l *Chain) awaitAnswer(ctx context.Context, q gate.Question, p *entry, tried <-chan answered) (gate.Answer, error) {
	queued := p.answers
	var none, lost error
	for {
		select {
		case r := <-tried:
			if r.err == nil {
				return l.answeredByChannel(ctx, q, p, r.Answer)
			}
			none, tried = r.err, nil
			if ctx.Err() == nil && l.o.Wait && lost == nil {
				l.o.Notify(q)
			}
		case r := <-queued:
			if r.err == nil {
				return l.answeredByQueue(ctx, q, p, r.Answer)
			}
			lost, queued = r.err, nil
		case <-ctx.Done():
			return l.endQuestion(ctx, q, p)
		}
		switch {
		case ctx.Err() != nil:
			return l.endQuestion(ctx, q, p)
		case tried == nil && (queued == nil || !l.o.Wait):
			return l.resolveUnasked(ctx, q, p, none, lost)
		}
	}
}

// answered is what came back from a channel.
type answered struct {
	gate.Answer
	err error
}

// askChannels asks at one channel after the other until one has an answer.
func (l *Chain) askChannels(ctx context.Context, q gate.Question) <-chan answered {
	out := make(chan answered, 1)
	l.busy.Go(func() {
		var none reasons
		for _, r := range l.o.Channels {
			a, err := catchPanic(func() (gate.Answer, error) {
				if err := r.Available(ctx, q); err != nil {
					return gate.Answer{}, err
				}
				return r.Ask(ctx, q)
			})
			if err == nil || ctx.Err() != nil {
				out <- answered{a, err}
				return
			}
			if _, ok := errors.AsType[*term.NotOwned](err); !ok { // which names the terminal itself
				err = fmt.Errorf("%s: %w", r.Name(), err)
			}
			none = append(none, err)
		}
		out <- answered{err: none}
	})
	return out
}

// reasons are why no channel had an answer, one error for each.
type reasons []error

func (n reasons) Error() string {
	whys := make([]string, len(n))
	for i, err := range n {
		whys[i] = strings.ReplaceAll(err.Error(), "\n", "; ")
	}
	if len(n) == 0 {
		return "nobody could be asked"
	}
	return "nobody could be asked: " + strings.Join(whys, "; ")
}

func (n reasons) Unwrap() []error { return n }
