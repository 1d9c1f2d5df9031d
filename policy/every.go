package policy

import (
	"slices"

	"github.com/clawai/clawai/policy/where"
)

// everyName is the argument name "*" in a rule. It stands for every text, number and boolean of all
// arguments, at any depth.
const everyName = "*"

// EveryArgument reports whether the path of a condition means all arguments.
func EveryArgument(path []string) bool { return len(path) == 1 && path[0] == everyName }

// strayStar reports whether a path has everyName and also other names.
func strayStar(path []string) bool { return slices.Contains(path, everyName) && !EveryArgument(path) }

// strayHint tells what to write instead of a stray star.
const strayHint = `"*" stands for any argument at any depth and is no part of a path: write args."*"`

// readAllValues reads the values of all arguments, for conditions on "*".
func (sc *scanner) readAllValues(slot int32) bool {
	start := sc.At
	ok := sc.VisitMembers(func(string) bool { return sc.readLeaf(slot, kindOf(sc.Peek()), true) })
	sc.At = start
	return ok
}

// judgeEvery judges a condition on "*", all arguments. In an allow rule every value must meet the
// condition; in a deny rule one value is enough. In a prompt rule one value is enough too, but if
// other values do not meet the condition, the result is Maybe, because a deny rule below may match
// these values.
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
