package policy

import (
	"strings"

	"github.com/clawai/clawai/policy/glob"
)

// effort is what is left of the work that one frame may cost, in units of
// about a nanosecond. A call that needs more is refused: whoever writes a call
// must not be able to stop everything behind it for long, and what several
// lists can be read as grows with the product of their lengths.
type effort int

const (
	maxEffort     effort = 1 << 30
	ruleEffort           = 32 // to look at a rule
	patternEffort        = 8  // to look at one pattern of a condition
	namesEffort          = 48 // to take a byte of a path apart
	furtherEffort        = 32 // to look at an argument that a rule may not name
	askEffort            = 64 // to find what a constraint said before
	wideEffort           = 80 // to normalise or fold a byte of a value that is not ASCII

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

// transform pays for putting s through a stage.
func (e *effort) transform(s string, stage transforms) {
	weight := 3
	switch {
	case stage == named && strings.ContainsAny(s, ". :"):
		weight = namesEffort
	case stage&(composed|compat|folded) != 0 && !ascii(s):
		weight = wideEffort
	}
	e.spend(weight * len(s))
}
