package pin

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/clawai/clawai/internal/wire/jsonscan"
)

// maxZeros is the maximum number of zeros in a written number. A number that needs more zeros keeps
// an exponent, such as 1e21.
const maxZeros = 20

// normalizeNumber returns a number in one form for each value: 1.0 and 1e0 become 1, and -0 becomes
// 0. No digit is lost. A number with an exponent of more than 32 bits stays unchanged.
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

// formatDecimal returns digits times ten to the given power. digits must not begin or end with 0.
func formatDecimal(digits string, power int64) string {
	point := int64(len(digits)) + power // position of the decimal point, counted from the first digit
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

// isBelow reports whether a and b are numbers and a is smaller.
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
