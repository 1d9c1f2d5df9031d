package courier

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/clawai/clawai/internal/state/config"
	"github.com/clawai/clawai/internal/state/enrolment"
)

const (
	// PollEvery is how often the centre is asked for a bundle.
	PollEvery = 25 * time.Second
	// ShipEvery is how often new parts of the record are copied.
	ShipEvery = 3 * time.Second

	lookEvery = 500 * time.Millisecond // how often the process looks whether it is still wanted
	// mostFailures is the number of consecutive failed polls after which the process ends. It may have
	// been started in a client's sandbox without a network; then the next session starts another one.
	mostFailures = 4
)

// Pace holds the intervals of Stay. Zero means the usual interval.
type Pace struct{ Poll, Ship time.Duration }

// Stay polls and ships until no session has run on this laptop for a while, the enrolment has ended,
// or the centre cannot be reached from here. It returns at once if another process stays.
func Stay(ctx context.Context, folders config.Folders, pace Pace) error {
	if !enrolment.IsEnrolled(folders.State) {
		return enrolment.ErrNone
	}
	try, cancel := context.WithTimeout(ctx, lookEvery)
	unlock, err := enrolment.LockStay(try, folders.State)
	cancel()
	if err != nil {
		return nil //nolint:nilerr // another one stays
	}
	defer unlock()
	c, err := NewCourier(folders)
	if err != nil {
		return err
	}
	defer c.Close()
	ctx, end := context.WithCancel(ctx)
	defer end()
	go watchWanted(ctx, end, folders.State)
	if pace.Poll == 0 {
		// A random interval, so that laptops that were started together do not all poll at the same time.
		pace.Poll = PollEvery - rand.N(PollEvery/6) //nolint:gosec // no secret
	}
	if pace.Ship == 0 {
		pace.Ship = ShipEvery
	}
	return c.work(ctx, pace)
}

// watchWanted waits until the laptop is no longer enrolled, or no session has run for a while, and then
// calls end.
func watchWanted(ctx context.Context, end func(), state string) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(lookEvery):
			if !enrolment.IsEnrolled(state) || !enrolment.IsWanted(state, time.Now()) {
				end()
				return
			}
		}
	}
}

func (c *Courier) work(ctx context.Context, pace Pace) error {
	var polled time.Time // zero: poll now
	for failures := 0; ; {
		if time.Since(polled) >= pace.Poll {
			polled = time.Now()
			if _, err := c.Poll(ctx); err == nil {
				failures = 0
			} else if failures++; failures >= mostFailures || errors.Is(err, enrolment.ErrNone) {
				return err
			}
		}
		pause := pace.Ship
		if more, err := c.Ship(ctx); more && err == nil {
			pause = 0
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause):
		}
	}
}
