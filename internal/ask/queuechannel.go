package ask

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/clawai/clawai/internal/gate"
)

// QueueChannel is the channel of a person who watches the queue, in the terminal interface or on
// the web page. It only waits; the answer comes through the queue.
type QueueChannel struct {
	Every time.Duration // time between two checks whether the person still watches; default 5 s

	kind string
	look func() ([]string, error)
}

// NewQueueChannel returns the channel for one kind of answerer. The parameter look is a function
// that lists the kinds that are present, like queue.Answerers.
func NewQueueChannel(kind string, look func() ([]string, error)) *QueueChannel {
	return &QueueChannel{kind: kind, look: look, Every: 5 * time.Second}
}

// Name returns the kind of answerer.
func (a *QueueChannel) Name() string { return a.kind }

var (
	errNoAnswerer = errors.New("none is open")
	errNotQueued  = errors.New("the question is not in the queue")
)

// Available returns nil while an answerer of this kind is present.
func (a *QueueChannel) Available(_ context.Context, q gate.Question) error {
	if q.Ticket == "" {
		return errNotQueued
	}
	return a.Open()
}

// Open returns nil while an answerer of this kind is present. It does not depend on a question.
func (a *QueueChannel) Open() error {
	kinds, err := a.look()
	if err == nil && !slices.Contains(kinds, a.kind) {
		err = errNoAnswerer
	}
	return err
}

// Ask waits while an answerer is present, and then returns an error. It never returns an answer,
// because answers come through the queue.
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
