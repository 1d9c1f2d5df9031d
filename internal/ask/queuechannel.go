package ask

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/clawai/clawai/internal/gate"
)

// QueueChannel is the channel of somebody who looks at the queue: the terminal
// interface or the web page. There is nothing to do but wait for the answer.
type QueueChannel struct {
	Every time.Duration // how often it is looked whether they still do; default 5 s

	kind string
	look func() ([]string, error)
}

// NewQueueChannel gives the channel of one kind of answerer; look lists the kinds
// there are now, as queue.Answerers does.
func NewQueueChannel(kind string, look func() ([]string, error)) *QueueChannel {
	return &QueueChannel{kind: kind, look: look, Every: 5 * time.Second}
}

// Name is the kind.
func (a *QueueChannel) Name() string { return a.kind }

var (
	errNoAnswerer = errors.New("none is open")
	errNotQueued  = errors.New("the question is not in the queue")
)

// Available is nil while somebody attends.
func (a *QueueChannel) Available(_ context.Context, q gate.Question) error {
	if q.Ticket == "" {
		return errNotQueued
	}
	return a.Open()
}

// Open is nil while somebody attends, whatever is asked.
func (a *QueueChannel) Open() error {
	kinds, err := a.look()
	if err == nil && !slices.Contains(kinds, a.kind) {
		err = errNoAnswerer
	}
	return err
}

// Ask never has the answer, which comes through the queue; it ends when nobody
// attends any more.
func (a *QueueChannel) Ask(ctx context.Context, q gate.Question) (gate.Answer, error) {
	tick := time.NewTicker(a.Every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return gate.Answer{Digest: q.Digest}, context.Cause(ctx)
		case <-tick.C:
			if err := a.Open(); err != nil {
				return gate.Answer{Digest: q.Digest}, err
			}
		}
	}
}
