package schema

import (
	"slices"
	"strconv"

	"github.com/clawai/clawai/internal/wire/escape"
	"github.com/clawai/clawai/internal/wire/jsonscan"
)

// appendCanonical appends a value in a form that is the same for all equal values, with sorted
// members and one form for each number. It returns false if the value is nested too deep or has a
// number that is too large.
func appendCanonical(b []byte, v jsonscan.Value, level int) ([]byte, bool) {
	if level > maxLevels {
		return b, false
	}
	switch v.Kind() {
	case jsonscan.String:
		return append(escape.AppendEscaped(append(b, '"'), v.Text()), '"'), true
	case jsonscan.Number:
		d, ok := readNumber(v)
		if d.Negative {
			b = append(b, '-')
		}
		return strconv.AppendInt(append(append(b, d.Digits...), 'e'), d.Power, 10), ok
	case jsonscan.Array:
		b = append(b, '[')
		for e := range v.Elements() {
			var ok bool
			if b, ok = appendCanonical(b, e, level+1); !ok {
				return b, false
			}
			b = append(b, ',')
		}
		return append(b, ']'), true
	case jsonscan.Object:
		var members []string
		for name, value := range v.Members() {
			one, _ := appendCanonical(nil, name, level+1) // no failure is possible, because a string always has a canonical form
			one, ok := appendCanonical(append(one, ':'), value, level+1)
			if !ok {
				return b, false
			}
			members = append(members, string(one))
		}
		slices.Sort(members)
		b = append(b, '{')
		for _, m := range members {
			b = append(append(b, m...), ',')
		}
		return append(b, '}'), true
	}
	return append(b, v...), true
}
