package site

import (
	"context"
	"net/http"
	"time"

	"github.com/clawai/clawai/internal/ask/view"
)

// Check is one line of the page Health.
type Check struct {
	OK   bool
	Text string
}

// healthTime is the time limit of all checks. Some checks send requests to other services,
// such as the identity provider.
const healthTime = 30 * time.Second

// checkRow is a check with the mark that a page shows.
type checkRow struct{ Look, Sign, Word, Text string }

func (v *visit) showHealth(string) error {
	if v.s.Health == nil {
		return notFound
	}
	// Make the checks only once at a time, because they send requests to other services.
	if !v.s.beginWork(healthPage, 1) {
		return refuse(http.StatusTooManyRequests, "Another look is being taken. Try again in half a minute.")
	}
	defer v.s.endWork(healthPage)
	_ = http.NewResponseController(v.w).SetWriteDeadline(time.Now().Add(healthTime + writeTime))
	ctx, cancel := context.WithTimeout(v.r.Context(), healthTime)
	defer cancel()
	var d struct {
		Time  string
		Wrong int
		Rows  []checkRow
	}
	d.Time = v.s.centre.Now().UTC().Format(time.DateTime) + " UTC"
	for _, c := range v.s.Health(ctx) {
		row := checkRow{view.Allowed.Word(), view.Allowed.Mark(), "in order", c.Text}
		if !c.OK {
			d.Wrong++
			row = checkRow{view.Refused.Word(), view.Refused.Mark(), "wrong", c.Text}
		}
		d.Rows = append(d.Rows, row)
	}
	return v.show("health", "Health", healthPage, d)
}
