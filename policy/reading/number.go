package reading

import "strings"

// maxDigits is the largest number of digits in the plain form of a number.
const maxDigits = 400

// PlainNumber returns a JSON number without an exponent and without redundant zeros. It returns a
// number unchanged if the plain form would be longer than maxDigits.
func PlainNumber(s string) string {
	digits, sign := s, ""
	if strings.HasPrefix(s, "-") {
		digits, sign = s[1:], "-"
	}
	mantissa, exponent := digits, 0
	if i := strings.IndexAny(digits, "eE"); i >= 0 {
		mantissa = digits[:i]
		for _, c := range strings.TrimLeft(digits[i+1:], "+-") {
			exponent = min(exponent*10+int(c-'0'), 2*maxDigits)
		}
		if digits[i+1] == '-' {
			exponent = -exponent
		}
	}
	whole, part, _ := strings.Cut(mantissa, ".")
	if exponent > maxDigits || exponent < -maxDigits || len(mantissa) > maxDigits {
		return s
	}
	switch {
	case exponent > 0:
		part += strings.Repeat("0", max(0, exponent-len(part)))
		whole, part = whole+part[:exponent], part[exponent:]
	case exponent < 0:
		whole = strings.Repeat("0", max(0, -exponent-len(whole))) + whole
		whole, part = whole[:len(whole)+exponent], whole[len(whole)+exponent:]+part
	}
	whole, part = strings.TrimLeft(whole, "0"), strings.TrimRight(part, "0")
	switch {
	case whole == "" && part == "":
		return "0"
	case part == "":
		return sign + whole
	case whole == "":
		whole = "0"
	}
	return sign + whole + "." + part
}
