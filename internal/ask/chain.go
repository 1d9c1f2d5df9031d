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

// ChainOptions configure a Chain. A Chain that has no channel and no queue denies every call.
type ChainOptions struct {
	Channels   []Channel                        // in the order of asking
	Team       Channel                          // asks the approvers that a rule names; only this channel can allow the calls of such a rule
	Queue      *QueueClient                     // the queue, which also gets every question; nil: there is none
	RuleWriter RuleWriter                       // writes the rules of "always" answers; nil: not offered
	Wait       bool                             // wait for an answer from the queue when no channel is available
	Risk       func(q gate.Question) (bad bool) // reports whether a person must take care with q; nil: always
	Project    string                           // the proxy's working folder, for people
	Notify     func(q gate.Question)            // sends a person a notice about a question that waits only in the queue; nil: no notice
	OnError    func(err error)                  // gets errors that do not stop the asking; nil: ignored
	// Preview returns what the command of a question would do, as JSON. It takes seconds. The chain
	// calls it only for a rule that has a preview; nil: no preview.
	Preview func(ctx context.Context, q gate.Question) []byte
}

// RuleWriter returns the possible scopes of an answer, and writes the rules of "always" answers.
// *remember.Writer implements it.
type RuleWriter interface {
	Offers(q gate.Question) (offers []view.Offer, whyNot string)
	Write(ctx context.Context, q gate.Question, scope string, r gate.Reply) (note string, err error)
	// Bound returns the bound of a session answer with this scope: it decides which further calls
	// the answer allows.
	Bound(ctx context.Context, q gate.Question, scope string) (b gate.Bound, note string, err error)
}

// Chain asks a person through several channels. Each question waits in the queue and at the first
// available channel. The first answer wins, and the other place learns that the question has ended.
// If a channel fails without an answer, the next channel asks. A Chain is safe for concurrent use.
// Close waits until all messages are sent.
type Chain struct {
	o    ChainOptions
	busy sync.WaitGroup

	mu      sync.Mutex
	entries map[uint64]*entry // answered questions whose outcome is not yet known
}

var (
	_ gate.Approver  = (*Chain)(nil)
	_ gate.Concluder = (*Chain)(nil)
)

// NewChain returns a chain. The chain opens no channel and no queue before the first question.
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

// Close waits until all goroutines of the chain have ended. The caller must not call Close while
// a question is open, and must not ask afterwards.
func (l *Chain) Close() { l.busy.Wait() }

// Errors that end a question without an answer.
var (
	errElsewhere  = errors.New("answered elsewhere")
	errUnanswered = errors.New("nobody answered in time")
)

// hintNext is a text for the agent and the record if no person could be asked. It tells how the
// owner can answer the next such call.
const hintNext = "to answer such calls, the owner runs: clawai approve"

// Ask returns the first answer. If there is no answer, it returns an error.
func (l *Chain) Ask(ctx context.Context, q gate.Question) (gate.Answer, error) {
	if len(q.Calls) == 0 {
		return gate.Answer{Digest: q.Digest}, errors.New("a question without a call")
	}
	ctx, stop := withDeadline(ctx, q.Deadline)
	defer stop()
	if ctx.Err() != nil {
		return gate.Answer{Digest: q.Digest}, context.Cause(ctx)
	}
	if q.Rule.Preview && !q.Reply && l.o.Preview != nil {
		q.Preview = l.o.Preview(ctx, q)
		if ctx.Err() != nil { // the call was withdrawn during the preview
			return gate.Answer{Digest: q.Digest}, context.Cause(ctx)
		}
	}
	racing, over := context.WithCancelCause(ctx)
	defer over(errElsewhere)
	p := l.enqueueQuestion(racing, q)
	q.Ticket = p.ticketID()
	return l.awaitAnswer(ctx, q, p, l.askChannels(racing, q))
}

// withDeadline returns a context that ends with ctx, or at deadline with the cause errUnanswered.
// If the deadline of ctx is earlier, that cause is not set, so that the caller sees its own
// deadline as the reason.
func withDeadline(ctx context.Context, deadline time.Time) (context.Context, context.CancelFunc) {
	if own, ok := ctx.Deadline(); deadline.IsZero() || ok && !own.After(deadline) {
		return context.WithCancel(ctx)
	}
	return context.WithDeadlineCause(ctx, deadline, errUnanswered)
}

// awaitAnswer waits for the channels and the queue. When no channel can ask a person, it waits for
// the queue alone.
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
			if q.Rule.Approval != nil { // only the approvers at the centre may allow the call
				return l.unapproved(ctx, q, p, r)
			}
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

// answered is the answer of a channel, or its error.
type answered struct {
	gate.Answer
	err error
}

// askChannels asks through one channel after another until a channel returns an answer.
func (l *Chain) askChannels(ctx context.Context, q gate.Question) <-chan answered {
	out := make(chan answered, 1)
	l.busy.Go(func() {
		var none reasons
		channels := l.o.Channels
		if q.Rule.Approval != nil {
			channels = nil
			if l.o.Team != nil {
				out <- askTeam(ctx, l.o.Team, q)
				return
			}
		}
		for _, r := range channels {
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
			if _, ok := errors.AsType[*term.NotOwned](err); !ok { // the text of a NotOwned error already names the terminal
				err = fmt.Errorf("%s: %w", r.Name(), err)
			}
			none = append(none, err)
		}
		out <- answered{err: none}
	})
	return out
}

// reasons holds one error for each channel that returned no answer.
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

// askTeam sends the question to the team's centre and returns the answer.
func askTeam(ctx context.Context, team Channel, q gate.Question) answered {
	a, err := catchPanic(func() (gate.Answer, error) { return team.Ask(ctx, q) })
	return answered{a, err}
}
