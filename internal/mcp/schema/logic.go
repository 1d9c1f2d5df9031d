package schema

import "github.com/clawai/clawai/internal/wire/jsonscan"

// checkLogic checks a value against the schemas that are combined with this one (allOf, anyOf, not,
// if, ...).
func (c *check) checkLogic(n *node, v jsonscan.Value) (verdict Verdict) {
	verdict = Fits
	for _, sub := range n.all {
		if verdict = bothVerdicts(verdict, c.checkNode(sub, v)); verdict == Unfit {
			return Unfit
		}
	}
	if len(n.any) > 0 {
		switch fits, open := c.countFits(n.any, v, 1); {
		case fits > 0:
		case open == 0:
			return c.failKeyword("anyOf")
		default:
			verdict = Unchecked
		}
	}
	if len(n.one) > 0 {
		switch fits, open := c.countFits(n.one, v, 2); {
		case fits > 1, fits+open == 0:
			return c.failKeyword("oneOf")
		case open > 0:
			verdict = Unchecked
		}
	}
	if n.not != nil {
		switch c.checkNode(n.not, v) {
		case Fits:
			return c.failKeyword("not")
		case Unchecked:
			verdict = Unchecked
		case Unfit:
		}
	}
	if n.condition != nil {
		verdict = bothVerdicts(verdict, c.checkBranch(n, v))
	}
	return verdict
}

// countFits returns how many of the schemas a value fits. It stops when it has counted the number
// in the parameter enough. The result open is the number of schemas for which the result is
// unknown.
func (c *check) countFits(all []*node, v jsonscan.Value, enough int) (fits, open int) {
	for _, sub := range all {
		switch c.checkNode(sub, v) {
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

// checkBranch returns the verdict of then or of else. If the verdict of the condition is unknown,
// it returns the verdict that both have in common.
func (c *check) checkBranch(n *node, v jsonscan.Value) Verdict {
	side := func(sub *node) Verdict {
		if sub == nil {
			return Fits
		}
		return c.checkNode(sub, v)
	}
	switch c.checkNode(n.condition, v) {
	case Fits:
		return side(n.thenSchema)
	case Unfit:
		return side(n.elseSchema)
	case Unchecked:
	}
	if a, b := side(n.thenSchema), side(n.elseSchema); a == b {
		return a
	}
	return Unchecked
}
