// Package effort limits the work that one frame may cost: the author of a call must not be able
// to stop all later calls for long, and the number of combined readings of several lists grows
// with the product of their lengths.
package effort

import "github.com/clawai/clawai/policy/glob"

// Left is the work that is left, in units of about a nanosecond. A call that needs more is
// refused, with the reason TooMuch.
type Left int

// Max is the work that is left at the beginning.
const Max Left = 1 << 30

// TooMuch is the reason for refusing a call because of its cost.
const TooMuch = "call that takes too long to judge"

// shortText is the length of a text up to which MatchGlob spends nothing: the caller pays for
// the pattern.
const shortText = 64

// Spend subtracts n units.
func (l *Left) Spend(n int) { *l -= Left(n) }

// MatchGlob reports whether a glob matches s, and spends the cost.
func (l *Left) MatchGlob(g *glob.Pattern, s string) bool {
	if len(s) > shortText {
		l.Spend(g.MatchCost(s))
	}
	return g.Match(s)
}
