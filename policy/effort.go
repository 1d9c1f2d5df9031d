package policy

import (
	"github.com/clawai/clawai/policy/glob"
)

// effort is what is left of the work that one frame may cost, in units of
// about a nanosecond. A call that needs more is refused: whoever writes a call
// must not be able to stop everything behind it for long, and what several
// lists can be read as grows with the product of their lengths.
type effort int

const (
	maxEffort effort = 1 << 30

	// shortText is the length up to which a match is part of looking at the
	// pattern.
	shortText = 64

	tooMuch = "call that takes too long to judge"
)

func (e *effort) spend(n int) { *e -= effort(n) }

// match is Match, and is paid for.
func (e *effort) match(g *glob.Pattern, s string) bool {
	if len(s) > shortText {
		e.spend(g.Cost(s))
	}
	return g.Match(s)
}
