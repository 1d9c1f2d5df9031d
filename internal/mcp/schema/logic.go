package schema

import "github.com/clawai/clawai/internal/wire/jsonscan"

// logic asks what is said by other schemas of the same value.
func (c *check) logic(n *node, v jsonscan.Value) (is Verdict) {
	is = Fits
	for _, of := range n.all {
		if is = both(is, c.node(of, v)); is == Unfit {
			return Unfit
		}
	}
	if len(n.any) > 0 {
		switch fits, open := c.among(n.any, v, 1); {
		case fits > 0:
		case open == 0:
			return c.fails("anyOf")
		default:
			is = Unchecked
		}
	}
	if len(n.one) > 0 {
		switch fits, open := c.among(n.one, v, 2); {
		case fits > 1, fits+open == 0:
			return c.fails("oneOf")
		case open > 0:
			is = Unchecked
		}
	}
	if n.not != nil {
		switch c.node(n.not, v) {
		case Fits:
			return c.fails("not")
		case Unchecked:
			is = Unchecked
		case Unfit:
		}
	}
	if n.when != nil {
		is = both(is, c.branch(n, v))
	}
	return is
}

// among counts the schemas that a value fits, up to enough, and those of which that is
// not known.
func (c *check) among(all []*node, v jsonscan.Value, enough int) (fits, open int) {
	for _, of := range all {
		switch c.node(of, v) {
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

// branch is then or else, or what both say.
func (c *check) branch(n *node, v jsonscan.Value) Verdict {
	side := func(of *node) Verdict {
		if of == nil {
			return Fits
		}
		return c.node(of, v)
	}
	switch c.node(n.when, v) {
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
