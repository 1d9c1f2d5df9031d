package jsonscan

import (
	"encoding/json"
	"strconv"
	"strings"
)

// IsNumber reports whether s is a number by the grammar of RFC 8259 section 6.
func IsNumber(s []byte) bool {
	return isWhole(s) || len(s) > 0 && (s[0] == '-' || isDigit(s[0])) && isDigit(s[len(s)-1]) && json.Valid(s)
}

// isWhole reports whether s is the most usual number: only digits, without a leading zero.
func isWhole(s []byte) bool {
	for _, b := range s {
		if !isDigit(b) {
			return false
		}
	}
	return len(s) > 0 && (s[0] != '0' || len(s) == 1)
}

func isDigit(b byte) bool { return '0' <= b && b <= '9' }

// Decimal is a number with any number of digits. Its value is 0.Digits times ten to the power
// Power. Digits does not begin or end with 0, and it is "" for zero.
type Decimal struct {
	Negative bool
	Digits   string
	Power    int64
}

// Decimal returns the value of a number. ok is false for any other value, and for an
// exponent of more than 32 bits.
func (v Value) Decimal() (d Decimal, ok bool) {
	if v.Kind() != Number {
		return d, false
	}
	text, exponent := string(v), ""
	if at := strings.IndexAny(text, "eE"); at >= 0 {
		text, exponent = text[:at], text[at+1:]
	}
	if exponent != "" {
		var err error
		if d.Power, err = strconv.ParseInt(exponent, 10, 32); err != nil {
			return Decimal{}, false
		}
	}
	text, d.Negative = strings.CutPrefix(text, "-")
	whole, fraction, _ := strings.Cut(text, ".")
	digits := whole + fraction
	short := strings.TrimLeft(digits, "0")
	d.Power += int64(len(whole) - (len(digits) - len(short)))
	if d.Digits = strings.TrimRight(short, "0"); d.Digits == "" {
		return Decimal{}, true
	}
	return d, true
}
