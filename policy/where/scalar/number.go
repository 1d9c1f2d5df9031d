package scalar

import (
	"cmp"
	"math"
	"strconv"
	"strings"

	"github.com/clawai/clawai/policy/where"
)

// number is an exact JSON number: 0.digits × 10^exponent. digits neither begins nor
// ends with zero; it is empty for zero.
type number struct {
	negative bool
	digits   string
	exponent int
	double   float64 // the number in double precision
	integral bool
}

// farthest is the largest exponent that is computed exactly. A larger exponent counts as infinite,
// because only a number with about as many digits could make up for such an exponent.
const farthest = 1 << 40

// parseNumber reads a JSON number (RFC 8259, section 6).
func parseNumber(s string) (n number, ok bool) {
	rest, negative := strings.CutPrefix(s, "-")
	whole, rest := leadingDigits(rest)
	if whole == "" || len(whole) > 1 && whole[0] == '0' {
		return n, false
	}
	part := ""
	if after, found := strings.CutPrefix(rest, "."); found {
		if part, rest = leadingDigits(after); part == "" {
			return n, false
		}
	}
	exponent := 0
	if rest != "" {
		if exponent, ok = parseExponent(rest); !ok {
			return n, false
		}
	}
	n.double, _ = strconv.ParseFloat(s, 64) // a number outside the range becomes an infinity
	all := whole + part
	digits := strings.TrimLeft(all, "0")
	n.exponent = len(whole) - (len(all) - len(digits)) + exponent
	n.digits = strings.TrimRight(digits, "0")
	if n.digits == "" {
		return number{integral: true}, true
	}
	n.negative = negative
	n.integral = len(n.digits) <= n.exponent
	return n, true
}

func leadingDigits(s string) (digits, rest string) {
	i := 0
	for i < len(s) && '0' <= s[i] && s[i] <= '9' {
		i++
	}
	return s[:i], s[i:]
}

func parseExponent(s string) (int, bool) {
	if s[0] != 'e' && s[0] != 'E' {
		return 0, false
	}
	s = s[1:]
	negative := strings.HasPrefix(s, "-")
	if negative || strings.HasPrefix(s, "+") {
		s = s[1:]
	}
	digits, rest := leadingDigits(s)
	if digits == "" || rest != "" {
		return 0, false
	}
	exponent := 0
	for i := 0; i < len(digits); i++ {
		exponent = min(exponent*10+int(digits[i]-'0'), farthest)
	}
	if negative {
		exponent = -exponent
	}
	return exponent, true
}

// compareTo compares two numbers exactly.
func (n number) compareTo(m number) int {
	switch {
	case n.sign() != m.sign():
		return cmp.Compare(n.sign(), m.sign())
	case n.sign() == 0:
		return 0
	}
	size := cmp.Or(cmp.Compare(n.exponent, m.exponent), strings.Compare(n.digits, m.digits))
	return size * n.sign()
}

func (n number) sign() int {
	switch {
	case n.digits == "":
		return 0
	case n.negative:
		return -1
	}
	return 1
}

// judgeAgainst judges the result of a comparison of n with m. It returns Maybe if double precision
// would give another answer.
func (n number) judgeAgainst(m number, holds func(order int) bool) where.Match {
	exact := holds(n.compareTo(m))
	if exact != holds(cmp.Compare(n.double, m.double)) {
		return where.Maybe
	}
	return where.MatchOf(exact)
}

// fromFloat returns the shortest decimal for f, because the author of a file most likely wrote this
// decimal.
func fromFloat(f float64) (number, bool) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return number{}, false
	}
	return parseNumber(strconv.FormatFloat(f, 'g', -1, 64))
}
