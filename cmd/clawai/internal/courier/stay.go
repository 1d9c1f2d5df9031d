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
	// PollEvery is the usual interval between two polls for the bundle.
	PollEvery = 25 * time.Second
	// ShipEvery is the usual interval between two copies of new parts of the record.
	ShipEvery = 3 * time.Second

	lookEvery = 500 * time.Millisecond // how often the process checks whether it is still needed
	// mostFailures is the number of failed polls in sequence after which the process ends. The
	// reason is that a client may have started this process in a sandbox without a network. The
	// next session starts a new process, which may have a network.
	mostFailures = 4
)

// Pace holds the intervals of Stay. Zero means the usual interval: PollEvery or ShipEvery.
type Pace struct{ Poll, Ship time.Duration }

// Stay polls and ships at intervals. It ends when no session has run on this laptop for a while,
// when the enrolment has ended, or when the centre cannot be reached. It returns at once if another
// process already does this work.
func Stay(ctx context.Context, folders config.Folders, pace Pace) error {
	if !enrolment.IsEnrolled(folders.State) {
		return enrolment.ErrNone
	}
	try, cancel := context.WithTimeout(ctx, lookEvery)
	unlock, err := enrolment.LockStay(try, folders.State)
	cancel()
	if err != nil {
		return nil //nolint:nilerr // another process already does this work
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
		// The interval is random, because laptops that start together must not all poll together.
		pace.Poll = PollEvery - rand.N(PollEvery/6) //nolint:gosec // the number does not have to be secret
	}
	if pace.Ship == 0 {
		pace.Ship = ShipEvery
	}
	return c.work(ctx, pace)
}

// watchWanted waits until the laptop is no longer enrolled, or until no session has run for a
// while. Then it calls the function in the parameter end.
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
	var polled time.Time // zero means that the first poll is now
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
