package policy

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// Bounds of amounts. Amounts are counted in millionths, so that sums are exact.
const (
	maxWhole    = 12 // digits before the point
	maxFraction = 6  // digits after the point
	oneAmount   = 1_000_000
)

// NoAmount is the amount of a value that is no plain decimal number.
const NoAmount int64 = -1

// plainAmount matches a decimal number that every reader reads alike: no sign, no exponent, no
// leading zeros.
var plainAmount = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(0|[1-9][0-9]{0,11})(?:\.([0-9]{1,6}))?$`)
})

// readAmount parses a plain decimal number into millionths. It returns NoAmount for any other
// text.
func readAmount(s string) int64 {
	m := plainAmount().FindStringSubmatch(s)
	if m == nil {
		return NoAmount
	}
	n, _ := strconv.ParseInt(m[1]+m[2]+strings.Repeat("0", maxFraction-len(m[2])), 10, 64) // no error: 18 digits fit into an int64
	return n
}

// writeAmount formats an amount as people write it.
func writeAmount(n int64) string {
	whole, rest := strconv.FormatInt(n/oneAmount, 10), strconv.FormatInt(n%oneAmount+oneAmount, 10)[1:]
	if rest = strings.TrimRight(rest, "0"); rest == "" {
		return whole
	}
	return whole + "." + rest
}

// callAmount returns the amount of a call that counts against the rate: 1 if the rate counts
// calls, otherwise the value of the argument, in millionths. The value must be a number, or a
// text that is a number; for any other value callAmount returns NoAmount.
func (r *Rate) callAmount(c *Call) int64 {
	if r.Sum == "" {
		return 1
	}
	value := json.RawMessage(c.Args)
	for _, name := range strings.Split(r.Sum, ".")[1:] {
		var members map[string]json.RawMessage
		if json.Unmarshal(value, &members) != nil {
			return NoAmount
		}
		value = members[name]
	}
	var text string
	if json.Unmarshal(value, &text) != nil {
		text = string(value) // a number, or a value that readAmount rejects
	}
	return readAmount(text)
}
