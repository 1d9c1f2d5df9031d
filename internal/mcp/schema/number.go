package schema

import (
	"cmp"
	"math/big"
	"strings"

	"github.com/clawai/clawai/internal/wire/jsonscan"
)

type decimal jsonscan.Decimal

// readNumber parses a number.
func readNumber(v jsonscan.Value) (decimal, bool) {
	d, ok := v.Decimal()
	return decimal(d), ok
}

// last returns the power of ten of the last digit.
func (d *decimal) last() int64 { return d.Power - int64(len(d.Digits)) }

// isWhole reports whether d is an integer.
func (d *decimal) isWhole() bool { return d.last() >= 0 || d.Digits == "" }

// compareTo returns a negative number if d is smaller than e, 0 if they are equal, and a positive
// number if d is greater.
func (d *decimal) compareTo(e *decimal) int {
	if c := d.signOf() - e.signOf(); c != 0 || d.signOf() == 0 {
		return c
	}
	return cmp.Or(cmp.Compare(d.Power, e.Power), strings.Compare(d.Digits, e.Digits)) * d.signOf()
}

func (d *decimal) signOf() int {
	switch {
	case d.Digits == "":
		return 0
	case d.Negative:
		return -1
	}
	return 1
}

// maxDigits is the maximum number of digits of numbers that are divided.
const maxDigits = 300

// multipleOf returns Fits if d is a multiple of e.
func (d *decimal) multipleOf(e *decimal) Verdict {
	if d.Digits == "" {
		return Fits
	}
	low := min(d.last(), e.last()) // power of ten of the last digit in d or e
	if d.Power-low > maxDigits || e.Power-low > maxDigits {
		return Unchecked
	}
	a, b := d.scaledInt(low), e.scaledInt(low)
	if a.Rem(a, b); a.Sign() == 0 {
		return Fits
	}
	return Unfit
}

// scaledInt returns the absolute value of d divided by ten to the power low.
func (d *decimal) scaledInt(low int64) *big.Int {
	n, _ := new(big.Int).SetString(d.Digits+strings.Repeat("0", int(d.last()-low)), 10)
	return n
}
