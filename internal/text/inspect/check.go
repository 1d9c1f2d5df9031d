package inspect

import "strings"

// checks are the tests that a pattern of a pack can name. A check gets the text that the pattern
// found, and tests its length, letters and digits. It must test the length too, because the pattern
// of an owner may find any text.
var checks = map[string]func(found string) bool{
	"luhn": func(s string) bool {
		s = signsOf(s)
		return s != "" && hasShape(s, strings.Repeat("#", len(s))) && checkLuhn([]byte(s))
	},
	// provider number of the USA (45 CFR 162.406): Luhn check digit over the number with a prefix
	"npi": func(s string) bool { s = signsOf(s); return hasShape(s, "##########") && checkLuhn([]byte("80840"+s)) },
	// DEA number: add digits 1, 3 and 5, and twice the sum of digits 2, 4 and 6; the last digit of
	// the result is digit 7
	"dea": func(s string) bool {
		return hasShape(s, "??#######") && weightedSum(s[2:8], 1, 2, 1, 2, 1, 2)%10 == int(s[8]-'0')
	},
	// NHS number: the digits times 10, 9, 8, ... have a sum that 11 divides
	"nhs": func(s string) bool {
		s = signsOf(s)
		return hasShape(s, "##########") && weightedSum(s, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1)%11 == 0
	},
	// bank routing number of the USA
	"aba": func(s string) bool {
		return hasShape(s, "#########") && weightedSum(s, 3, 7, 1, 3, 7, 1, 3, 7, 1)%10 == 0 && strings.Trim(s, "0") != ""
	},
	// Spain: the number modulo 23 gives the letter
	"dni": func(s string) bool {
		s = signsOf(s)
		if !hasShape(s, "?#######?") || !strings.Contains("XYZ0123456789", s[:1]) {
			return false
		}
		n := strings.IndexByte("XYZ", s[0])
		if n < 0 {
			n = int(s[0] - '0')
		}
		for _, c := range s[1:8] {
			n = n*10 + int(c-'0')
		}
		return "TRWAGMYFPDXBNJZSQVHLCKE"[n%23] == s[8]
	},
	// tax number of Germany (ISO 7064 MOD 11,10)
	"mod11_10": func(s string) bool {
		s = signsOf(s)
		if !hasShape(s, "###########") {
			return false
		}
		product := 10
		for _, c := range s[:len(s)-1] {
			sum := (int(c-'0') + product) % 10
			if sum == 0 {
				sum = 10
			}
			product = sum * 2 % 11
		}
		return (11-product)%10 == int(s[len(s)-1]-'0')
	},
	// France: the last two digits are 97 minus the other digits modulo 97; the letters 2A and 2B
	// for Corsica count as 19 and 18
	"nir": func(s string) bool {
		s = strings.NewReplacer("2A", "19", "2B", "18").Replace(signsOf(s))
		if !hasShape(s, "###############") {
			return false
		}
		n := 0
		for _, c := range s[:13] {
			n = (n*10 + int(c-'0')) % 97
		}
		return 97-n == int(s[13]-'0')*10+int(s[14]-'0')
	},
}

// signsOf returns s without blanks and dashes.
func signsOf(s string) string { return strings.NewReplacer(" ", "", "-", "").Replace(s) }

// hasShape reports whether s has the length of form and a digit at each #.
func hasShape(s, form string) bool {
	if len(s) != len(form) {
		return false
	}
	for i := range len(s) {
		if form[i] == '#' && (s[i] < '0' || s[i] > '9') {
			return false
		}
	}
	return true
}

func weightedSum(digits string, weights ...int) (sum int) {
	for i, w := range weights {
		sum += int(digits[i]-'0') * w
	}
	return sum
}
