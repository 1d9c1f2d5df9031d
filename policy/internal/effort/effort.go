// Package effort limits the work for one frame, so that the author of a call cannot stop all later
// calls for long. A limit is necessary because several lists have many combined readings: their
// number grows with the product of the lengths of the lists.
package effort

import "github.com/clawai/clawai/policy/glob"

// Left is the work that may still be spent on a call, in units of about a nanosecond. A call that
// needs more is refused with the reason TooMuch.
type Left int

// Max is the work that may be spent on one call.
const Max Left = 1 << 30

// TooMuch is the reason for the refusal of a call that costs too much work.
const TooMuch = "call that takes too long to judge"

// shortText is a length in bytes. For a text up to this length MatchGlob spends nothing, because
// its caller has already spent a fixed cost for the pattern.
const shortText = 64

// Spend subtracts n units.
func (l *Left) Spend(n int) { *l -= Left(n) }

// MatchGlob reports whether a glob matches s. It subtracts the cost from l.
func (l *Left) MatchGlob(g *glob.Pattern, s string) bool {
	if len(s) > shortText {
		l.Spend(g.MatchCost(s))
	}
	return g.Match(s)
}
