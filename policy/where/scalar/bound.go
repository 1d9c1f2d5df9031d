package scalar

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/clawai/clawai/policy/where"
)

// NewMin returns a constraint that holds for numbers that are not below the limit. The
// limit is an int64, a float64 (read as its shortest decimal) or a json.Number. Any
// other type, and a number that is not finite, is an error.
func NewMin(limit any) (where.Constraint, error) {
	n, err := limitOf(limit)
	return bound{n, func(order int) bool { return order >= 0 }}, err
}

// NewMax returns a constraint that holds for numbers that are not above the limit. The
// limit is as for NewMin.
func NewMax(limit any) (where.Constraint, error) {
	n, err := limitOf(limit)
	return bound{n, func(order int) bool { return order <= 0 }}, err
}

var errNotFinite = errors.New("not a finite number")

func limitOf(limit any) (n number, err error) {
	ok := false
	switch l := limit.(type) {
	case int64:
		n, ok = parseNumber(strconv.FormatInt(l, 10))
	case float64:
		n, ok = fromFloat(l)
	case json.Number:
		n, ok = parseNumber(l.String())
	default:
		return n, fmt.Errorf("%T is not a number", limit)
	}
	if !ok {
		return n, errNotFinite
	}
	return n, nil
}

type bound struct {
	limit number
	holds func(order int) bool
}

func (b bound) JudgeValue(v where.Value, opens bool) where.Match {
	switch {
	case b.holds == nil:
		return where.No
	case v.Kind == where.Number:
		if n, ok := parseNumber(v.Text); ok {
			return n.judgeAgainst(b.limit, b.holds)
		}
		return where.Maybe
	case !opens && isCoercible(v):
		return where.Maybe
	}
	return where.No
}

func (bound) JudgeCost(n int) int { return 100 + 20*n }

// isCoercible reports whether a lenient server could read a value as a number although its JSON
// type is another one. Such a value is a boolean, or a text that begins like a number in some
// language.
func isCoercible(v where.Value) bool {
	if v.Kind != where.String {
		return v.Kind == where.Boolean
	}
	text := strings.ToLower(strings.TrimLeft(strings.TrimFunc(v.Text, unicode.IsSpace), "+-"))
	for _, r := range text {
		return unicode.IsNumber(r) || r == '.' || strings.HasPrefix(text, "inf") || strings.HasPrefix(text, "nan")
	}
	return false
}
