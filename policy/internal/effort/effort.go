// Package effort bounds the work that one frame may cost: whoever writes a call must
// not be able to stop everything behind it for long, and what several lists can be
// read as grows with the product of their lengths.
package effort

import "github.com/clawai/clawai/policy/glob"

// Left is what is left of that work, in units of about a nanosecond. A call that
// needs more is refused, by TooMuch.
type Left int

// Max is what there is at the beginning.
const Max Left = 1 << 30

// TooMuch is the reason of a call that is refused for its cost.
const TooMuch = "call that takes too long to judge"

// shortText is the length up to which a match is part of looking at the pattern.
const shortText = 64

// Spend takes n units off.
func (l *Left) Spend(n int) { *l -= Left(n) }

// MatchGlob asks a glob about s, and pays for it.
func (l *Left) MatchGlob(g *glob.Pattern, s string) bool {
	if len(s) > shortText {
		l.Spend(g.MatchCost(s))
	}
	return g.Match(s)
}
