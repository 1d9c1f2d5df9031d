package approve

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/clawai/clawai/internal/gate"
)

// Attended is the channel of somebody who looks at the queue: the terminal
// interface or the web page. There is nothing to do but wait for the answer.
type Attended struct {
	Every time.Duration // how often it is looked whether they still do; default 5 s

	kind string
	look func() ([]string, error)
}

// NewAttended gives the channel of one kind of attendance; look lists the kinds
// there are now, as queue.Attended does.
func NewAttended(kind string, look func() ([]string, error)) *Attended {
	return &Attended{kind: kind, look: look, Every: 5 * time.Second}
}

// Name is the kind.
func (a *Attended) Name() string { return a.kind }

var (
	errNotAttended = errors.New("none is open")
	errNotQueued   = errors.New("the question is not in the queue")
)

// Available is nil while somebody attends.
func (a *Attended) Available(_ context.Context, q gate.Question) error {
	if q.Ticket == "" {
		return errNotQueued
	}
	return a.Open()
}

// Open is nil while somebody attends, whatever is asked.
func (a *Attended) Open() error {
	kinds, err := a.look()
	if err == nil && !slices.Contains(kinds, a.kind) {
		err = errNotAttended
	}
	return err
}

// Ask never has the answer, which comes through the queue; it ends when nobody
// attends any more.
func (a *Attended) Ask(ctx context.Context, q gate.Question) (gate.Answer, error) {
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
