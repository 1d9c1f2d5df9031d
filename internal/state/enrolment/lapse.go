package enrolment

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/clawai/clawai/internal/state/config"
)

// FindLapse returns the layer that denies every call while an offline rule with Deny applies: the
// centre was not reached for longer than the rule allows. On a laptop that is not enrolled,
// FindLapse only checks whether a file exists.
func FindLapse(state string, now time.Time) (l config.Lapse, err error) {
	if !IsEnrolled(state) {
		return l, nil
	}
	e, err := ReadEnrolment(state)
	if errors.Is(err, ErrNone) { // another process has just removed the enrolment
		return l, nil
	}
	if err != nil || e.Offline.Then != Deny {
		return l, err
	}
	l.Watch = progressFile(state)
	p, err := ReadProgress(state)
	if err != nil || now.Before(e.Offline.Ends(p.Reached)) {
		return l, err
	}
	l.Path, l.Text = filepath.Join(Folder(state), "offline"), denyAll(p.Reached)
	return l, nil
}

// denyAll returns the text of a policy that denies every call. For the same time it always returns
// the same text, so the layer does not seem changed.
func denyAll(since time.Time) (text []byte) {
	why := fmt.Sprintf("This laptop has not reached its team's centre since %s, and the centre's rule is to deny then; see: clawai status", since.UTC().Format(time.DateOnly))
	for _, subject := range []string{"tool", "resource", "prompt", "sampling", "elicitation"} {
		text = fmt.Appendf(text, "[[rule]]\naction = \"deny\"\n%s = \"**\"\ndescription = %q\n\n", subject, why)
	}
	return append(text, "# end\n"...)
}
