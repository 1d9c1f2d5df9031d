package centre

import (
	"context"
	"fmt"
	"time"

	"github.com/clawai/clawai/internal/ask/view"
	"github.com/clawai/clawai/internal/gateway/figures"
	"github.com/clawai/clawai/internal/gateway/store"
)

// LaptopState is the state of a laptop. Look is view.Refused, which pages show in red, if somebody must look
// at the laptop.
type LaptopState struct {
	Look view.Look
	Name string // stable word for /metrics
	Word string // text for people
}

// IsRed reports whether somebody must look at the laptop.
func (s LaptopState) IsRed() bool { return s.Look == view.Refused }

// StateOf returns the state of a laptop. newest is the counter of the newest bundle; 0 if there is none.
func (c *Centre) StateOf(l *store.Laptop, newest uint64) LaptopState {
	now, silent := c.now(), time.Duration(c.Settings.SilentMinutes)*time.Minute
	since := l.Enrolled
	if l.Shipped.After(since) {
		since = l.Shipped
	}
	switch {
	case !l.Revoked.IsZero():
		return LaptopState{view.Plain, "revoked", "revoked"}
	case l.Findings > 0:
		return LaptopState{view.Refused, "changed", "its record was changed"}
	case l.Seen.IsZero() && now.Sub(l.Enrolled) <= silent:
		return LaptopState{view.Asked, "new", "not heard yet"}
	case l.Seen.IsZero():
		return LaptopState{view.Refused, "silent", "never heard"}
	case now.Sub(l.Seen) > silent && (l.Report.Sessions > 0 || l.Report.Backlog > 0):
		// In its last report the laptop had more to ship. A laptop without sessions sends nothing.
		return LaptopState{view.Refused, "silent", "stopped shipping " + SpanText(now.Sub(l.Seen)) + " ago"}
	case l.Report.Error != "":
		return LaptopState{view.Refused, "error", "reports an error"}
	case l.Report.Backlog > 0 && now.Sub(since) > silent:
		return LaptopState{view.Refused, "silent", "stopped shipping " + SpanText(now.Sub(since)) + " ago"}
	case l.Report.Counter < newest:
		return LaptopState{view.Asked, "behind", fmt.Sprintf("has bundle %d, the newest is %d", l.Report.Counter, newest)}
	case now.Sub(l.Seen) > silent:
		return LaptopState{view.Plain, "idle", "idle for " + SpanText(now.Sub(l.Seen))}
	}
	return LaptopState{view.Allowed, "in_order", "in order"}
}

// ReadFigures returns the present counts of laptops, bundles and pending questions.
func (c *Centre) ReadFigures(ctx context.Context) (is figures.Snapshot, err error) {
	is.Laptops, is.Bundles = map[string]int{"silent": 0, "changed": 0}, map[string]int{}
	if is.Waiting, err = c.Store.CountPending(ctx, c.now()); err != nil {
		return is, err
	}
	newest, err := c.NewestCounter(ctx)
	if err != nil {
		return is, err
	}
	all, err := c.Store.ListLaptops(ctx)
	for i := range all {
		l := &all[i]
		is.Laptops[c.StateOf(l, newest).Name]++
		if !l.Revoked.IsZero() {
			continue
		}
		switch {
		case l.Report.Counter == 0:
			is.Bundles["none"]++
		case l.Report.Counter < newest:
			is.Bundles["older"]++
		default:
			is.Bundles["newest"]++
		}
	}
	return is, err
}

// SpanText returns a duration in its largest unit, from seconds to days.
func SpanText(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", max(int(d.Seconds()), 0))
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	}
	return fmt.Sprintf("%d days", int(d.Hours()/24))
}
