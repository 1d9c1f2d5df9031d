package console

import (
	"context"
	"errors"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/clawai/clawai/internal/ask/dialog"
	"github.com/clawai/clawai/internal/ask/queue"
	"github.com/clawai/clawai/internal/ask/view"
)

// Queue lists the methods of *queue.Queue that the console needs.
type Queue interface {
	Watch(ctx context.Context) <-chan struct{}
	Pending(ctx context.Context) ([]queue.Request, error)
	History(ctx context.Context, n int) ([]queue.Request, error)
	Get(ctx context.Context, prefix string) (queue.Request, error)
	Decide(ctx context.Context, id string, a queue.Answer) (queue.Request, error)
	Await(ctx context.Context, id string) (queue.Request, error)
	Grants(ctx context.Context) ([]queue.Grant, error)
	Revoke(ctx context.Context, grantID string) error
}

// Options configure a console.
type Options struct {
	Queue Queue
	By    string // the account recorded with answers
	Only  string // id of the only request to show; "" shows all
	Once  bool   // leave after the first answer
	// OnceOnly leaves out the page of session answers and the keys for lasting answers: an answer holds for one call.
	OnceOnly bool
	Calls    FollowCalls // nil: there is no page of calls, and no further page
	// Search searches the whole record for the filter of the page of calls; nil: the filter sees only
	// the latest calls.
	Search SearchCalls
	// CallsPage describes the page of calls; Pages describes the further pages; the page of
	// sessions is the first of them.
	CallsPage Page
	Pages     []Page
	// Fault returns why the policy does not load, as a harmless sentence; "" if it loads. It is asked
	// again while the page of calls is shown. It may be nil.
	Fault func() string
	// CallsFirst makes the screen an overview: it begins with the page of calls if nothing waits, else
	// with the questions, and says above both what was refused last and what is now forbidden.
	CallsFirst bool
	Notice     string       // harmless text that the screen begins with, such as a fault; "" for none
	View       view.Options // only Home, Own and ReadFile are used
	Color      bool
	Every      time.Duration    // interval for checking the queue even without a change; default 5 s
	Grace      time.Duration    // how long a request must be visible before a key answers it; default 300 ms
	Now        func() time.Time // default time.Now
}

// Result is the end of a console that shows one request or leaves after one answer. The zero
// value means that the person left.
type Result struct {
	Request  queue.Request
	Answered bool // answered here; otherwise resolved elsewhere
}

// ErrInterrupted means that the person pressed Ctrl-C.
var ErrInterrupted = errors.New("interrupted")

// briefView returns the options for a row, which shows no changes.
func (o *Options) briefView() view.Options {
	short := o.View
	short.ReadFile = nil
	return short
}

func (o *Options) setDefaults() {
	if o.Every <= 0 {
		o.Every = 5 * time.Second
	}
	if o.Grace <= 0 {
		o.Grace = 300 * time.Millisecond
	}
	if o.Now == nil {
		o.Now = time.Now
	}
}

// Run shows the console on the whole screen of tty until the person leaves, ctx ends (Run returns
// its cause) or, with Only or Once, there is a result.
func Run(ctx context.Context, tty dialog.Terminal, o Options) (Result, error) {
	o.setDefaults()
	var loop dialog.Loop
	m := newModel(o, loop.Go)
	failed := loop.Run(ctx, tty, m, o.Color)
	return m.result, errors.Join(m.err, failed)
}

// watchQueue sends a message for every change of the queue, and one at each interval Options.Every.
func (m *model) watchQueue(ctx context.Context, send func(tea.Msg)) {
	changes := m.o.Queue.Watch(ctx)
	again := time.NewTicker(m.o.Every)
	defer again.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case _, open := <-changes:
			if !open {
				changes = nil
				continue
			}
		case <-again.C:
		}
		send(changedMsg{})
	}
}
