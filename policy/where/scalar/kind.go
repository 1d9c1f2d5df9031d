package scalar

import (
	"fmt"
	"math"

	"github.com/clawai/clawai/policy/where"
)

var kinds = map[string]where.Kind{
	"string":  where.String,
	"number":  where.Number,
	"integer": where.Number,
	"boolean": where.Boolean,
	"null":    where.Null,
	"object":  where.Object,
	"array":   where.List,
}

// NewType returns a constraint that holds for values of a JSON type: "string", "number", "integer",
// "boolean", "null", "object" or "array"; another name is an error. An integer is a number without
// a fractional part, so 1.0 and 1e2 are integers (JSON Schema 2020-12, validation, section 6.1.1).
// The constraint judges the value itself: for a list the type is "array", not the type of its
// elements.
func NewType(name string) (where.Constraint, error) {
	kind, known := kinds[name]
	if !known {
		return nil, fmt.Errorf("unknown type %q (there are string, number, integer, boolean, null, object and array)", name)
	}
	return ofType{kind, name == "integer"}, nil
}

type ofType struct {
	kind    where.Kind
	integer bool
}

func (c ofType) JudgeValue(v where.Value, _ bool) where.Match {
	if v.Kind != c.kind || v.Kind == where.Absent {
		return where.No
	}
	if !c.integer {
		return where.Yes
	}
	n, ok := parseNumber(v.Text)
	switch {
	case !ok:
		return where.Maybe
	case n.integral:
		return where.Yes
	// The number is an integer only if it is read in double precision, for example because double
	// precision rounds it to zero.
	case math.Trunc(n.double) == n.double:
		return where.Maybe
	}
	return where.No
}

func (ofType) JudgeCost(n int) int { return 20 + 20*n }

// NewPresent returns a constraint on whether the call has the argument: it holds if the call has it
// (want is true) or does not have it (want is false). For null the answer is Maybe, because some
// servers read null as a missing argument.
func NewPresent(want bool) where.Constraint { return present(want) }

type present bool

func (c present) JudgeValue(v where.Value, _ bool) where.Match {
	if v.Kind == where.Null {
		return where.Maybe
	}
	return where.MatchOf((v.Kind != where.Absent) == bool(c))
}

func (present) JudgeCost(int) int { return 1 }
