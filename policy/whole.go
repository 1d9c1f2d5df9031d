package policy

import "github.com/clawai/clawai/policy/reading"

// whole judges a condition on an argument other than the main one, by the
// reading this walk is about, or by all.
func (v *view) whole(c *condition, a Action) verdict {
	s := v.span(c.slot)
	switch {
	case s == nil:
		return v.holds(c, &missing, a)
	case s.slot == v.everySlot:
		return v.every(c, s, a)
	case s.at >= 0:
		return v.holds(c, &v.readings[s.at], a)
	}
	return v.unit(c, unit{s.lo, s.hi}, a)
}

// unit judges a condition by several readings at once: it is yes when every one
// matches and no when none does.
func (v *view) unit(c *condition, u unit, a Action) verdict {
	least, most := yes, no
	for i := u.lo; i < u.hi; i++ {
		m := v.holds(c, &v.readings[i], a)
		if least, most = min(least, m), max(most, m); least < most {
			return maybe
		}
	}
	return least
}

// missing is the reading of an argument that the call does not have.
var missing = reading.Reading{Kind: reading.Absent}

func (v *view) span(slot int32) *span {
	for i := range v.spans {
		if v.spans[i].slot == slot {
			return &v.spans[i]
		}
	}
	return nil
}
