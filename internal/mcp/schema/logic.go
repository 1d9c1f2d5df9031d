package schema

import "github.com/clawai/clawai/internal/wire/jsonscan"

// checkLogic checks a value against the other schemas that apply to it.
func (c *check) checkLogic(n *node, v jsonscan.Value) (is Verdict) {
	is = Fits
	for _, of := range n.all {
		if is = bothVerdicts(is, c.checkNode(of, v)); is == Unfit {
			return Unfit
		}
	}
	if len(n.any) > 0 {
		switch fits, open := c.countFits(n.any, v, 1); {
		case fits > 0:
		case open == 0:
			return c.failKeyword("anyOf")
		default:
			is = Unchecked
		}
	}
	if len(n.one) > 0 {
		switch fits, open := c.countFits(n.one, v, 2); {
		case fits > 1, fits+open == 0:
			return c.failKeyword("oneOf")
		case open > 0:
			is = Unchecked
		}
	}
	if n.not != nil {
		switch c.checkNode(n.not, v) {
		case Fits:
			return c.failKeyword("not")
		case Unchecked:
			is = Unchecked
		case Unfit:
		}
	}
	if n.when != nil {
		is = bothVerdicts(is, c.checkBranch(n, v))
	}
	return is
}

// countFits returns the number of schemas that a value fits, up to enough, and the number of
// schemas for which that is unknown.
func (c *check) countFits(all []*node, v jsonscan.Value, enough int) (fits, open int) {
	for _, of := range all {
		switch c.checkNode(of, v) {
		case Fits:
			if fits++; fits == enough {
				return fits, 0
			}
		case Unchecked:
			open++
		case Unfit:
		}
	}
	return fits, open
}

// checkBranch returns the verdict of then or else, or the common verdict of both if the condition
// is unknown.
func (c *check) checkBranch(n *node, v jsonscan.Value) Verdict {
	side := func(of *node) Verdict {
		if of == nil {
			return Fits
		}
		return c.checkNode(of, v)
	}
	switch c.checkNode(n.when, v) {
	case Fits:
		return side(n.yes)
	case Unfit:
		return side(n.otherwise)
	case Unchecked:
	}
	if a, b := side(n.yes), side(n.otherwise); a == b {
		return a
	}
	return Unchecked
}
