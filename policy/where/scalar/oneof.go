package scalar

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/clawai/clawai/policy/where"
)

// OneOf returns a constraint that holds for values equal to one of the choices, by JSON type and
// value: 1, 1.0 and 1e0 are the same number, "1" is a string and not equal to them. Choices are
// strings, booleans and numbers of the types in NewMin. A choice of any other type is an error, and
// so is an empty list.
func OneOf(choices []any) (where.Constraint, error) {
	if len(choices) == 0 {
		return nil, errors.New("an empty list; name at least one value")
	}
	c := oneOf{texts: map[string]bool{}, booleans: map[string]bool{}}
	for i, choice := range choices {
		switch choice := choice.(type) {
		case string:
			c.texts[choice] = true
		case bool:
			c.booleans[fmt.Sprint(choice)] = true
		case int64, float64, json.Number:
			n, err := limitOf(choice)
			if err != nil {
				return nil, fmt.Errorf("choice %d: %w", i+1, err)
			}
			c.numbers = append(c.numbers, n)
		default:
			return nil, fmt.Errorf("choice %d: %T is not a string, number or boolean", i+1, choice)
		}
	}
	return c, nil
}

type oneOf struct {
	texts    map[string]bool
	booleans map[string]bool
	numbers  []number
}

func (c oneOf) JudgeValue(v where.Value, opens bool) where.Match {
	best := where.No
	switch v.Kind {
	case where.String:
		best = where.MatchOf(c.texts[v.Text])
	case where.Boolean:
		best = where.MatchOf(c.booleans[v.Text])
	case where.Number:
		n, ok := parseNumber(v.Text)
		if !ok {
			return where.Maybe
		}
		best = c.matchNumber(n)
	}
	if best == where.No && !opens && c.matchesCoerced(v) {
		return where.Maybe
	}
	return best
}

func (c oneOf) matchNumber(n number) where.Match {
	best := where.No
	for _, m := range c.numbers {
		best = max(best, n.judgeAgainst(m, func(order int) bool { return order == 0 }))
	}
	return best
}

// truths maps each spelling that lenient parsers read as a boolean to this boolean.
var truths = map[string]string{
	"true": "true", "1": "true", "1.0": "true", "yes": "true", "y": "true", "on": "true", "t": "true",
	"false": "false", "0": "false", "0.0": "false", "no": "false", "n": "false", "off": "false", "f": "false",
}

// matchesCoerced reports whether one of the choices equals the value for a server that converts
// between JSON types.
func (c oneOf) matchesCoerced(v where.Value) bool {
	if !hasText(v) {
		return false
	}
	text := strings.TrimSpace(v.Text)
	truth := truths[strings.ToLower(text)]
	switch {
	case v.Kind != where.String && c.texts[text], c.booleans[truth]:
		return true
	case v.Kind == where.Number:
		return c.writtenAs(text)
	case v.Kind == where.Boolean:
		text = map[string]string{"true": "1", "false": "0"}[truth]
	}
	n, ok := parseNumber(strings.TrimPrefix(text, "+"))
	return ok && c.matchNumber(n) != where.No
}

// writtenAs reports whether one of the choices is the number that the text spells.
func (c oneOf) writtenAs(text string) bool {
	n, ok := parseNumber(text)
	for choice := range c.texts {
		if m, is := parseNumber(choice); ok && is && n.compareTo(m) == 0 {
			return true
		}
	}
	return false
}

func (c oneOf) JudgeCost(n int) int {
	return 200 + 30*n + 50*len(c.numbers) + 100*len(c.texts)
}
