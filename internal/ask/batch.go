package ask

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/clawai/clawai/internal/gate"
)

const (
	// batchDelay is how long the first question waits for company. Calls that an
	// agent makes at once are read by the proxy within a few milliseconds of each
	// other, and nobody notices a question that comes this much later.
	batchDelay = 75 * time.Millisecond
	// joinWindow is how long after it came into sight a page is taken back for
	// questions that have come since: later, somebody is reading it, and they
	// wait for the next.
	joinWindow = time.Second
)

// BatchChannel is a Channel that can ask about several questions on one page.
type BatchChannel interface {
	Channel
	// AskAll shows every question in full. What it answers, DenyOnce or
	// AllowOnce, holds for each of them; or they are to be asked one by one.
	AskAll(ctx context.Context, qs []gate.Question) (a gate.Answer, oneByOne bool, err error)
}

// Batcher lets a channel that shows one thing at a time be asked by many: what
// comes together, or while something is shown, is one page if the channel is a
// BatchChannel, and else one after the other. Alone says which questions are never
// shown with others.
type Batcher struct {
	channel Channel
	alone   func(gate.Question) bool

	mu    sync.Mutex
	line  []*waiter               // oldest first; the first of them leads while open
	open  bool                    // a leader shows a page or is about to
	since time.Time               // the page, or the one it took the place of, came into sight
	more  context.CancelCauseFunc // takes the page back; nil while it shows one alone
}

// NewBatcher wraps r.
func NewBatcher(r Channel, alone func(gate.Question) bool) *Batcher {
	return &Batcher{channel: r, alone: alone}
}

// waiter is one question in the line.
type waiter struct {
	ctx   context.Context // of its Ask, which waits for it
	q     gate.Question
	alone bool
	lead  chan time.Duration // one token: it shows the next page after waiting this long for company
	done  chan answered      // its answer, when another's page has one
}

// Name is the channel's.
func (g *Batcher) Name() string { return g.channel.Name() }

// Available is the channel's; while it asks for us, it is.
func (g *Batcher) Available(ctx context.Context, q gate.Question) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.open {
		return nil
	}
	return g.channel.Available(ctx, q)
}

// Ask waits in the line, and for the page with q on it.
func (g *Batcher) Ask(ctx context.Context, q gate.Question) (gate.Answer, error) {
	w := &waiter{ctx: ctx, q: q, alone: g.alone(q), lead: make(chan time.Duration, 1), done: make(chan answered, 1)}
	g.joinLine(w)
	select {
	case r := <-w.done:
		return r.Answer, r.err
	case company := <-w.lead:
		return g.leadUntilAnswered(w, company)
	case <-ctx.Done():
		if !g.leaveLine(w) {
			r := <-w.done // it is on a page, which closes for it
			return r.Answer, r.err
		}
		return gate.Answer{Digest: q.Digest}, context.Cause(ctx)
	}
}

var (
	errMore  = errors.New("more questions have come")
	errFewer = errors.New("a question on the page is over")
)

// joinLine adds w at the end of the line; on an idle channel it leads.
func (g *Batcher) joinLine(w *waiter) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.line = append(g.line, w)
	switch _, lists := g.channel.(BatchChannel); {
	case !g.open:
		g.open = true
		w.lead <- batchDelay
	case lists && !w.alone && g.more != nil && time.Since(g.since) < joinWindow:
		g.more(errMore)
	}
}

// leaveLine takes w out of the line; false when it is on a page.
func (g *Batcher) leaveLine(w *waiter) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	i := slices.Index(g.line, w)
	if i < 0 {
		return false
	}
	g.line = slices.Delete(g.line, i, i+1)
	select {
	case <-w.lead:
		g.handOver()
	default:
	}
	return true
}

// handOver makes the first in the line the leader. Needs the lock.
func (g *Batcher) handOver() {
	g.since = time.Time{}
	if g.open = len(g.line) > 0; g.open {
		g.line[0].lead <- 0
	}
}

// leadUntilAnswered shows page after page until w, which is first in the line,
// has its answer.
func (g *Batcher) leadUntilAnswered(w *waiter, company time.Duration) (gate.Answer, error) {
	select {
	case <-time.After(company):
	case <-w.ctx.Done():
	}
	for {
		page := g.takePage()
		results := g.askPage(page)
		g.mu.Lock()
		var back []*waiter
		var own *answered
		for i, x := range page {
			r := results[i]
			switch {
			case r == nil:
				back = append(back, x)
			case x == w:
				own = r
			default:
				x.done <- *r
			}
		}
		g.line = append(back, g.line...)
		if own != nil {
			g.handOver()
			g.mu.Unlock()
			return own.Answer, own.err
		}
		g.mu.Unlock()
	}
}

// takePage gives the next page: the first in the line, and with it all that can be
// shown together.
func (g *Batcher) takePage() (page []*waiter) {
	g.mu.Lock()
	defer g.mu.Unlock()
	first := g.line[0]
	if _, lists := g.channel.(BatchChannel); !lists || first.alone {
		g.line = g.line[1:]
		return []*waiter{first}
	}
	var rest []*waiter
	for _, w := range g.line {
		if w.alone {
			rest = append(rest, w)
		} else {
			page = append(page, w)
		}
	}
	g.line = rest
	return page
}

// askPage asks about the page. A nil result is a question that goes back into the
// line.
func (g *Batcher) askPage(page []*waiter) []*answered {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	for _, w := range page {
		defer context.AfterFunc(w.ctx, func() { cancel(errFewer) })()
	}
	g.mu.Lock()
	if !page[0].alone {
		g.more = cancel
	}
	if g.since.IsZero() {
		g.since = time.Now()
	}
	g.mu.Unlock()
	defer func() {
		g.mu.Lock()
		g.more = nil
		g.mu.Unlock()
	}()
	if len(page) == 1 {
		return []*answered{g.askSingle(ctx, page[0])}
	}
	return g.askSeveral(ctx, page)
}

// askSingle asks about one question.
func (g *Batcher) askSingle(ctx context.Context, w *waiter) *answered {
	a, err := catchPanic(func() (gate.Answer, error) { return g.channel.Ask(ctx, w.q) })
	switch {
	case w.ctx.Err() != nil:
		return &answered{gate.Answer{Digest: w.q.Digest}, context.Cause(w.ctx)}
	case err != nil && ctx.Err() != nil: // for company
		return nil
	}
	return &answered{a, err}
}

// askSeveral asks about several.
func (g *Batcher) askSeveral(ctx context.Context, page []*waiter) []*answered {
	qs := make([]gate.Question, len(page))
	for i, w := range page {
		qs[i] = w.q
	}
	oneByOne := false
	said, err := catchPanic(func() (a gate.Answer, err error) {
		a, oneByOne, err = g.channel.(BatchChannel).AskAll(ctx, qs)
		return a, err
	})
	again := ctx.Err() != nil // for more, or fewer
	results := make([]*answered, len(page))
	for i, w := range page {
		switch {
		case w.ctx.Err() != nil:
			results[i] = &answered{gate.Answer{Digest: w.q.Digest}, context.Cause(w.ctx)}
		case err == nil && oneByOne, errors.Is(err, errTooSmall), errors.Is(err, errTooMany):
			w.alone = true
		case err == nil:
			results[i] = &answered{narrowToQuestion(said, w.q), nil}
		case !again:
			results[i] = &answered{gate.Answer{Digest: w.q.Digest}, err}
		}
	}
	return results
}

// narrowToQuestion gives an answer to several for one of them. It widens nothing: whatever is
// not "once" denies.
func narrowToQuestion(said gate.Answer, q gate.Question) gate.Answer {
	said.Digest = q.Digest
	if said.Reply != gate.AllowOnce {
		said.Reply = gate.DenyOnce
	}
	return said
}
