package pin

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/clawai/clawai/internal/wire/jsonscan"
)

// maxZeros is how many zeros are written out: 1e21 and 1e-7 keep an exponent.
const maxZeros = 20

// normalizeNumber writes a number by its value: 1.0 and 1e0 become 1, -0 becomes 0. It loses no
// digit. A number whose exponent has more than 32 bits stays as written.
func normalizeNumber(n json.Number) json.Number {
	d, ok := jsonscan.Value(n).Decimal()
	switch {
	case !ok:
		return n
	case d.Digits == "":
		return "0"
	}
	sign := ""
	if d.Negative {
		sign = "-"
	}
	return json.Number(sign + formatDecimal(d.Digits, d.Power-int64(len(d.Digits))))
}

// formatDecimal returns digits, which neither begin nor end with 0, times ten to a power.
func formatDecimal(digits string, power int64) string {
	point := int64(len(digits)) + power // position of the point, from the first digit
	switch {
	case power > maxZeros || point < -5:
		return digits + "e" + strconv.FormatInt(power, 10)
	case power >= 0:
		return digits + strings.Repeat("0", int(power))
	case point > 0:
		return digits[:point] + "." + digits[point:]
	}
	return "0." + strings.Repeat("0", int(-point)) + digits
}

// isBelow reports whether a is a smaller number than b; false if that is unknown.
func isBelow(a, b any) bool {
	x, isX := a.(json.Number)
	y, isY := b.(json.Number)
	if !isX || !isY {
		return false
	}
	f, err := x.Float64()
	g, again := y.Float64()
	return err == nil && again == nil && f < g
}
