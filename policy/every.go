package policy

import (
	"slices"

	"github.com/clawai/clawai/policy/where"
)

// everyName stands for the arguments at any depth where a rule names one: for every
// text, number and boolean in them.
const everyName = "*"

// EveryArgument reports whether a path of a condition on arguments leads to all of them.
func EveryArgument(path []string) bool { return len(path) == 1 && path[0] == everyName }

// strayStar reports whether a path has the name of all arguments beside others.
func strayStar(path []string) bool { return slices.Contains(path, everyName) && !EveryArgument(path) }

// strayHint says what to write in its place.
const strayHint = `"*" stands for any argument at any depth and is no part of a path: write args."*"`

// readAllValues reads all values of the arguments, for conditions on any of them.
func (sc *scanner) readAllValues(slot int32) bool {
	start := sc.At
	ok := sc.VisitMembers(func(string) bool { return sc.readLeaf(slot, kindOf(sc.Peek()), true) })
	sc.At = start
	return ok
}

// judgeEvery judges a condition on any argument: to an allow it is about each of the
// values, to a deny about one that there is. So it is to a prompt, which is a maybe
// where others do not meet it: they may meet a deny below.
func (v *view) judgeEvery(c *condition, s *span, a Action) where.Match {
	least, most := where.Yes, where.No
	for _, u := range v.units[s.units[0]:s.units[1]] {
		m := v.judgeUnit(c, u, a)
		least, most = min(least, m), max(most, m)
	}
	switch {
	case a == Allow:
		return least
	case a == Deny || least == most:
		return most
	}
	return where.Maybe
}
