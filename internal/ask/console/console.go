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
	By    string // account name that the record keeps with each answer
	Only  string // id of the only request to show; "" shows all
	Once  bool   // leave after the first answer
	// OnceOnly removes the page of session answers and the keys for lasting answers. Each answer is
	// then for one call.
	OnceOnly bool
	Calls    FollowCalls // follows the record; nil: no pages of the overview
	// Search searches the whole record for the filter of the page of calls. If it is nil, the
	// filter searches only the latest calls.
	Search SearchCalls
	// CallsPage describes the page of calls. Pages describes the pages after it; the first of them
	// is the page of sessions.
	CallsPage Page
	Pages     []Page
	// Fault returns why the policy does not load, as a harmless sentence; "" if the policy loads.
	// The console calls Fault repeatedly while the page of calls is visible. Fault may be nil.
	Fault func() string
	// CallsFirst makes the screen an overview. If no question waits, the page of calls is shown
	// first, otherwise the questions. A summary above the list shows the last refused call and
	// what a session may no longer do.
	CallsFirst bool
	Notice     string       // harmless text for the first line of news, such as a fault; "" for none
	View       view.Options // only Home, Own and ReadFile are used
	Color      bool
	Every      time.Duration    // how often the console reads the queue if it hears of no change; default 5 s
	Grace      time.Duration    // how long a request must be visible before a key answers it; default 300 ms
	Now        func() time.Time // default time.Now
}

// Result tells how the console ended, if Options.Only or Options.Once is set. The zero value means
// that the person left without an answer.
type Result struct {
	Request  queue.Request
	Answered bool // the person answered in this console; false: the request was resolved elsewhere
}

// ErrInterrupted means that the person pressed Ctrl-C.
var ErrInterrupted = errors.New("interrupted")

// briefView returns the view options for a row of a list. They have no ReadFile, because a row
// shows no changes of files.
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

// Run shows the console on the whole screen of tty. It returns when the person leaves, when Only or
// Once has a result, or when ctx ends; then the error is the cause of ctx.
func Run(ctx context.Context, tty dialog.Terminal, o Options) (Result, error) {
	o.setDefaults()
	var loop dialog.Loop
	m := newModel(o, loop.Go)
	failed := loop.Run(ctx, tty, m, o.Color)
	return m.result, errors.Join(m.err, failed)
}

// watchQueue sends a message to Update after every change of the queue, and also at each interval
// of Options.Every.
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
