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

// Queue is what the console needs of *queue.Queue.
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

// Options say what a console shows and how.
type Options struct {
	Queue Queue
	By    string       // the account answers are recorded under
	Only  string       // the id of the one request to show; "" shows all
	Once  bool         // leave after the first answer
	View  view.Options // its Home, Own and ReadFile
	Color bool
	Every time.Duration    // look at the queue again even when it did not change; default 5 s
	Grace time.Duration    // how long a request is in sight before a key answers it; default 300 ms
	Now   func() time.Time // default time.Now
}

// Result is how a console that shows one request, or leaves after one answer,
// ended. The zero value means that the person left.
type Result struct {
	Request  queue.Request
	Answered bool // here; otherwise the request was resolved elsewhere
}

// ErrInterrupted says that the person pressed Ctrl-C.
var ErrInterrupted = errors.New("interrupted")

// briefView gives what a line needs: it shows no changes.
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

// Run is the console on the whole screen of tty, until the person leaves, ctx
// ends (its cause is returned) or, with Only or Once, there is a result.
func Run(ctx context.Context, tty dialog.Terminal, o Options) (Result, error) {
	o.setDefaults()
	var loop dialog.Loop
	m := newModel(o, loop.Go)
	failed := loop.Run(ctx, tty, m, o.Color)
	return m.result, errors.Join(m.err, failed)
}

// watchQueue tells of every change of the queue, and now and then of none.
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
