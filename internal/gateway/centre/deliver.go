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
	firstPause   = 2 * time.Second // pause after the first failure; it doubles with each further failure
	longestPause = 5 * time.Minute
	mostTries    = 20
	sendWithin   = 15 * time.Second // maximum time for the claim and the sending of one message
	claimTime    = 45 * time.Second // after this time another centre may send the message; longer than sendWithin, because clocks may be half a minute apart
	keepWithin   = 2 * time.Second  // maximum time for storing the result, even if the centre ends
)

// Deliver sends messages about open questions on one way, until ctx ends. The database alone decides what is
// sent: no message waits in memory, no request waits for a way, and no way waits for another one. A delivery
// is stored as sent only after the service has accepted it. If the centre is killed between these two steps,
// it sends the message again. After a *message.LaterError, Deliver sends nothing until the time that the
// service names, because the service would also refuse the other messages. If several centres share one
// database, one of them sends each message. report gets all errors.
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
	if err := c.Store.CheckReady(ctx, c.now); err != nil {
		return err // with a wrong clock, the centre would send messages too early, and messages that another centre is sending
	}
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

// deliver sends a message with the state of a question. It sends nothing if the next try is not due yet, or if
// the last message already had this state.
func (c *Centre) deliver(ctx context.Context, way message.Way, d store.Delivery, q *store.Question, address string, report func(error)) error {
	now := c.now()
	state, told := q.StateAt(now), c.toldOf(q)
	next := d
	switch {
	case d.Told == told, now.Before(d.Next):
		return nil
	case d.Told == "" && state != enrolment.QuestionPending: // no message was sent, and the question needs no message any more
		next.Open = false
		return c.replaceDelivery(ctx, d, next)
	}
	notice, err := c.newNotice(ctx, q, state, address)
	if err != nil {
		return err
	}
	// If this process stops after its claim and goes on later, another centre may have sent the message. So the
	// time limit begins before the claim.
	sending, stop := context.WithTimeout(ctx, sendWithin)
	defer stop()
	claimed := d
	claimed.Next = now.Add(claimTime)
	if err := c.Store.ReplaceDelivery(ctx, d, claimed); errors.Is(err, store.ErrTwice) {
		return nil // another centre on the same database sends the message
	} else if err != nil {
		return err
	}
	if d.Told == "" {
		next.Reference, err = way.Send(sending, notice)
	} else {
		err = way.Update(sending, d.Reference, notice)
	}
	isOver := state != enrolment.QuestionPending && state != enrolment.QuestionApproved
	switch {
	case err == nil:
		next.Told, next.Open, next.Tries, next.Next = told, !isOver, 0, time.Time{}
	case ctx.Err() == nil:
		report(err)
		failDelivery(&next, err, isOver, now)
	default: // the centre ends, and gives the claim back
	}
	keeping, stop := context.WithTimeout(context.WithoutCancel(ctx), keepWithin)
	defer stop()
	if err := c.replaceDelivery(keeping, claimed, next); err != nil {
		return err
	}
	if later, ok := errors.AsType[*message.LaterError](err); ok {
		return later
	}
	return ctx.Err()
}

// replaceDelivery stores the result of a delivery. It stores nothing if another centre has changed the delivery
// meanwhile, because that centre knows the newer result.
func (c *Centre) replaceDelivery(ctx context.Context, found, d store.Delivery) error {
	if err := c.Store.ReplaceDelivery(ctx, found, d); !errors.Is(err, store.ErrTwice) {
		return err
	}
	return nil
}

// failDelivery sets the time of the next try after an error. A *message.LaterError is not counted as a failed
// try while the question is open.
func failDelivery(d *store.Delivery, err error, isOver bool, now time.Time) {
	later, isLater := errors.AsType[*message.LaterError](err)
	if !isLater || isOver {
		d.Tries++
	}
	pause := min(firstPause<<min(max(d.Tries-1, 0), 10), longestPause)
	if isLater {
		pause = later.After
	}
	d.Next, d.Open = now.Add(pause), d.Tries < mostTries
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
