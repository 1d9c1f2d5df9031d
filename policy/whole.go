package policy

import (
	"github.com/clawai/clawai/policy/reading"
	"github.com/clawai/clawai/policy/where"
)

// judgeWhole judges a condition on an argument other than the main one. It uses the reading that
// the current walk judges (span.at), or all readings.
func (v *view) judgeWhole(c *condition, a Action) where.Match {
	s := v.findSpan(c.slot)
	switch {
	case s == nil:
		return v.judgeReading(c, &missing, a)
	case s.slot == v.everySlot:
		return v.judgeEvery(c, s, a)
	case s.at >= 0:
		return v.judgeReading(c, &v.readings[s.at], a)
	}
	return v.judgeUnit(c, unit{s.lo, s.hi}, a)
}

// judgeUnit judges a condition by all readings of a unit. It returns Yes if every reading matches,
// No if no reading matches, and otherwise Maybe.
func (v *view) judgeUnit(c *condition, u unit, a Action) where.Match {
	least, most := where.Yes, where.No
	for i := u.lo; i < u.hi; i++ {
		m := v.judgeReading(c, &v.readings[i], a)
		if least, most = min(least, m), max(most, m); least < most {
			return where.Maybe
		}
	}
	return least
}

// missing is the reading of an argument that the call does not have.
var missing = reading.Reading{Kind: reading.Absent}

func (v *view) findSpan(slot int32) *span {
	for i := range v.spans {
		if v.spans[i].slot == slot {
			return &v.spans[i]
		}
	}
	return nil
}
