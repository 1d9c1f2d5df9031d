package schema

import (
	"math/big"
	"strconv"
	"strings"

	"github.com/clawai/clawai/internal/wire/jsonscan"
)

// decimal is a number with any count of digits: 0.digits times ten to power, where digits neither
// begin nor end with 0, and are empty for zero.
type decimal struct {
	negative bool
	digits   string
	power    int
}

// readNumber parses a number; false if its exponent has more than 31 bits.
func readNumber(v jsonscan.Value) (d decimal, ok bool) {
	if v.Kind() != jsonscan.Number {
		return d, false
	}
	text, exponent := string(v), ""
	if at := strings.IndexAny(text, "eE"); at >= 0 {
		text, exponent = text[:at], text[at+1:]
	}
	if exponent != "" {
		power, err := strconv.ParseInt(exponent, 10, 31)
		if err != nil {
			return d, false
		}
		d.power = int(power)
	}
	text, d.negative = strings.CutPrefix(text, "-")
	whole, fraction, _ := strings.Cut(text, ".")
	d.digits = whole
	if fraction != "" {
		d.digits = whole + fraction
	}
	d.power += len(whole)
	short := strings.TrimLeft(d.digits, "0")
	d.power -= len(d.digits) - len(short)
	if d.digits = strings.TrimRight(short, "0"); d.digits == "" {
		return decimal{}, true
	}
	return d, true
}

// isWhole reports whether d is an integer.
func (d *decimal) isWhole() bool { return len(d.digits) <= d.power || d.digits == "" }

// compareTo returns a number below, at or above 0 if d is smaller than, equal to or greater than
// e.
func (d *decimal) compareTo(e *decimal) int {
	if c := d.signOf() - e.signOf(); c != 0 || d.signOf() == 0 {
		return c
	}
	c := d.power - e.power
	if c == 0 {
		c = strings.Compare(d.digits, e.digits)
	}
	return c * d.signOf()
}

func (d *decimal) signOf() int {
	switch {
	case d.digits == "":
		return 0
	case d.negative:
		return -1
	}
	return 1
}

// maxDigits is the maximum length of numbers that are divided.
const maxDigits = 300

// multipleOf checks whether d is a multiple of e.
func (d *decimal) multipleOf(e *decimal) Verdict {
	if d.digits == "" {
		return Fits
	}
	low := min(d.power-len(d.digits), e.power-len(e.digits)) // power of the last digit of both
	if d.power-low > maxDigits || e.power-low > maxDigits {
		return Unchecked
	}
	a, b := d.scaledInt(low), e.scaledInt(low)
	if a.Rem(a, b); a.Sign() == 0 {
		return Fits
	}
	return Unfit
}

// scaledInt returns the absolute value of d, divided by ten to the power of low.
func (d *decimal) scaledInt(low int) *big.Int {
	n, _ := new(big.Int).SetString(d.digits+strings.Repeat("0", d.power-len(d.digits)-low), 10)
	return n
}
