package centre

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/clawai/clawai/internal/gateway/message"
	"github.com/clawai/clawai/internal/gateway/store"
	"github.com/clawai/clawai/internal/state/enrolment"
)

// Limits of messages to other services.
const (
	firstPause   = 2 * time.Second // pause after the first failure; it doubles with each further one
	longestPause = 5 * time.Minute
	mostTries    = 20
	claimTime    = 15 * time.Second // a way takes less to send; after that another centre tries
)

// Deliver sends messages about open questions on one way, until ctx ends. The database alone decides what is
// sent: no message waits in memory, no request waits for a way, and no way waits for another one. A delivery
// is stored as sent after the service has accepted it, so a centre that is killed before that sends the
// message again. After a *message.LaterError, Deliver sends nothing until the time that the service names,
// because the service would also refuse the other messages. If several centres share one database, one of
// them sends each message. report gets all errors.
func (c *Centre) Deliver(ctx context.Context, way message.Way, address string, report func(error)) {
	woken, end := c.Store.Watch("")
	defer end()
	for ctx.Err() == nil {
		wait, later := woken, (<-chan time.Time)(nil)
		err := c.deliverOnce(ctx, way, address, report)
		if asked, ok := errors.AsType[*message.LaterError](err); ok {
			wait, later = nil, time.After(asked.After)
		} else if err != nil && ctx.Err() == nil {
			report(fmt.Errorf("%s: %w", way.Name(), err))
		}
		select {
		case <-ctx.Done():
		case <-wait:
		case <-later:
		}
	}
}

// deliverOnce sends the messages that are due on a way, the oldest question first. It stops at a
// *message.LaterError.
func (c *Centre) deliverOnce(ctx context.Context, way message.Way, address string, report func(error)) error {
	open, err := c.Store.ListOpen(ctx, way.Name())
	if err != nil {
		return err
	}
	for i := range open {
		q, err := c.Store.FindQuestion(ctx, open[i].Question)
		if err == nil {
			err = c.deliver(ctx, way, open[i], &q, address, report)
		}
		if err != nil && !errors.Is(err, store.ErrNone) {
			return err
		}
	}
	for q, err := range c.EachPending(ctx) {
		if err != nil {
			return err
		}
		if !way.Concerns(q.Asked.Approvers) {
			continue
		}
		_, err = c.Store.FindDelivery(ctx, q.ID, way.Name())
		if errors.Is(err, store.ErrNone) {
			err = c.deliver(ctx, way, store.Delivery{Question: q.ID, Way: way.Name(), Open: true}, &q, address, report)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// toldOf returns the state of a question and its number of votes, for store.Delivery.Told.
func (c *Centre) toldOf(q *store.Question) string {
	return fmt.Sprintf("%s %d", q.StateAt(c.now()), len(q.Votes))
}

// deliver sends how a question stands, if that is due and not what was sent last, and keeps that it did. A
// service that wants to be asked later has not failed: while the question is open, that is no try.
func (c *Centre) deliver(ctx context.Context, way message.Way, d store.Delivery, q *store.Question, address string, report func(error)) error {
	now := c.now()
	state, told := q.StateAt(now), c.toldOf(q)
	isOver := state != enrolment.QuestionPending && state != enrolment.QuestionApproved
	switch {
	case d.Told == told, now.Before(d.Next):
		return nil
	case d.Told == "" && state != enrolment.QuestionPending: // it was never sent, and nobody need know now
		d.Open = false
		return c.Store.PutDelivery(ctx, d)
	}
	notice, err := c.newNotice(ctx, q, state, address)
	if err != nil {
		return err
	}
	claimed := d
	claimed.Next = now.Add(claimTime)
	if err := c.Store.ClaimDelivery(ctx, d, claimed); errors.Is(err, store.ErrTwice) {
		return nil // another centre on the same database sends it
	} else if err != nil {
		return err
	}
	if d.Told == "" {
		d.Reference, err = way.Send(ctx, notice)
	} else {
		err = way.Update(ctx, d.Reference, notice)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err == nil {
		d.Told, d.Open, d.Tries, d.Next = told, !isOver, 0, time.Time{}
		return c.Store.PutDelivery(ctx, d)
	}
	report(err)
	later, isLater := errors.AsType[*message.LaterError](err)
	if !isLater || isOver {
		d.Tries++
	}
	pause := min(firstPause<<min(max(d.Tries-1, 0), 10), longestPause)
	if isLater {
		pause = later.After
	}
	d.Next, d.Open = now.Add(pause), d.Tries < mostTries
	if err := c.Store.PutDelivery(ctx, d); err != nil || !isLater {
		return err
	}
	return later
}

func (c *Centre) newNotice(ctx context.Context, q *store.Question, state, address string) (*message.Notice, error) {
	l, _, err := c.Store.FindLaptop(ctx, q.Laptop)
	if err != nil {
		return nil, err
	}
	owner := ""
	if o := c.ownerOf(&l); o != nil {
		owner = o.String()
	}
	return message.NewNotice(q, state, l.Name, owner, address)
}
