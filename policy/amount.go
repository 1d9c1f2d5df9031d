package policy

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// Bounds of amounts. They are counted in millionths, so that sums are exact.
const (
	maxWhole    = 12 // digits before the point
	maxFraction = 6  // and behind it
	oneAmount   = 1_000_000
)

// NoAmount stands for what cannot be counted.
const NoAmount int64 = -1

// plainAmount is a decimal number that every reader takes for the same: no sign, no
// exponent, no zeros in front.
var plainAmount = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(0|[1-9][0-9]{0,11})(?:\.([0-9]{1,6}))?$`)
})

// readAmount reads a plain decimal number, in millionths; NoAmount when it is none.
func readAmount(s string) int64 {
	m := plainAmount().FindStringSubmatch(s)
	if m == nil {
		return NoAmount
	}
	n, _ := strconv.ParseInt(m[1]+m[2]+strings.Repeat("0", maxFraction-len(m[2])), 10, 64) // 18 digits fit
	return n
}

// writeAmount gives an amount as people write it.
func writeAmount(n int64) string {
	whole, rest := strconv.FormatInt(n/oneAmount, 10), strconv.FormatInt(n%oneAmount+oneAmount, 10)[1:]
	if rest = strings.TrimRight(rest, "0"); rest == "" {
		return whole
	}
	return whole + "." + rest
}

// callAmount gives what a call counts for: 1 where calls are counted; of a sum the argument, a
// number or a text that is one, in millionths; NoAmount where that is nothing plain.
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
		text = string(value) // a number, or nothing plain
	}
	return readAmount(text)
}
