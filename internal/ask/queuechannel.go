package ask

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/clawai/clawai/internal/gate"
)

// QueueChannel is the channel of a person who watches the queue in the terminal interface or on
// the web page. It only waits for the answer.
type QueueChannel struct {
	Every time.Duration // interval for checking that the person still watches; default 5 s

	kind string
	look func() ([]string, error)
}

// NewQueueChannel returns the channel for one kind of answerer; look lists the kinds that are
// present now, like queue.Answerers.
func NewQueueChannel(kind string, look func() ([]string, error)) *QueueChannel {
	return &QueueChannel{kind: kind, look: look, Every: 5 * time.Second}
}

// Name returns the kind.
func (a *QueueChannel) Name() string { return a.kind }

var (
	errNoAnswerer = errors.New("none is open")
	errNotQueued  = errors.New("the question is not in the queue")
)

// Available returns nil while an answerer is present.
func (a *QueueChannel) Available(_ context.Context, q gate.Question) error {
	if q.Ticket == "" {
		return errNotQueued
	}
	return a.Open()
}

// Open returns nil while an answerer is present, for any question.
func (a *QueueChannel) Open() error {
	kinds, err := a.look()
	if err == nil && !slices.Contains(kinds, a.kind) {
		err = errNoAnswerer
	}
	return err
}

// Ask never returns an answer, because answers come through the queue; it ends when no answerer
// is present any more.
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
