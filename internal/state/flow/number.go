package flow

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxDigits is the maximum number of digits in a number. Telephone and account numbers have fewer.
const maxDigits = 20

// numbersIn visits the telephone and account numbers that begin in the first bytes of text; the
// parameter first is the number of these bytes. It visits only the digits of each number. The
// parameter text is the last part of the parameter whole. The parameter rowEnd is the length of the
// text after the last row of digits so far, and numbersIn returns the new rowEnd. numbersIn visits
// a number inside that row only if its form shows that it is a number.
func numbersIn(whole, text string, first, rowEnd int, visit func(number string)) (end int) {
	for i := 0; i < first; i++ {
		if c := text[i]; c < '0' || c > '9' {
			continue
		}
		if from := numberStart(text, i); from >= 0 {
			called := isCalled(whole[:len(whole)-len(text)+from])
			if called || len(text)-i <= rowEnd || strings.IndexByte("+(0", text[from]) >= 0 || isLongNumber(text[i:]) {
				if n := visitNumbers(text[from:], called, visit); n > 0 {
					rowEnd = len(text) - from - n
				}
			}
		}
		for i+1 < len(text) && text[i+1] >= '0' && text[i+1] <= '9' {
			i++
		}
	}
	return rowEnd
}

// isCalled reports whether the text in front of a number ends with a scheme of telephone numbers,
// such as "tel:". The parameter before is this text.
func isCalled(before string) bool {
	name, is := strings.CutSuffix(strings.TrimRight(before[max(0, len(before)-maxScheme):], "(+ "), ":")
	if !is {
		return false
	}
	from := len(name)
	for from > 0 && isAlphanumeric(name[from-1]) {
		from--
	}
	return calls[name[from:]]
}

// isLongNumber reports whether a text begins with eight digits, which are enough for a number.
func isLongNumber(text string) bool {
	return len(text) >= 8 && strings.Trim(text[:8], "0123456789") == ""
}

// numberStart returns the start of the number with the first digit at i. It returns -1 if that
// digit is inside a word.
func numberStart(text string, i int) int {
	from := i
	for from > 0 && (text[from-1] == '+' || text[from-1] == '(') {
		from--
	}
	if from == 0 {
		return from
	}
	switch before := text[from-1]; {
	case isAlphanumeric(before) || strings.IndexByte("-%@+", before) >= 0:
		return -1
	case before == '.': // a number in "tel.030", but not in "1.030"
		if i+1 >= len(text) || text[i] != '0' && from == i || from < 2 || text[from-2] <= '9' {
			return -1
		}
	case before == '_': // a number in "_030_"
		if from > 1 && isAlphanumeric(text[from-2]) {
			return -1
		}
	}
	return from
}

// leastCalled is the minimum number of digits of a telephone number that follows a scheme.
const leastCalled = 3

// visitNumbers visits the number at the beginning of a text. The number may end after several of
// its groups of digits, and visitNumbers visits it with each of these ends. It returns the length
// of the number. If the parameter called is true, the number follows a scheme, and visitNumbers
// visits a number of any form.
func visitNumbers(text string, called bool, visit func(number string)) (end int) {
	var digits [maxDigits]byte
	var sizes [maxDigits]int    // number of digits of each group
	var between [maxDigits]byte // the character before each group
	n, groups, i := 0, 0, len(text)-len(strings.TrimLeft(text, "+("))
	told := text[0] == '+' || text[0] == '(' || text[0] == '0' // such a text begins like a telephone number
	for {
		i += gapLength(text[i:])
		from := i
		for i < len(text) && text[i] >= '0' && text[i] <= '9' {
			if n == maxDigits {
				return end
			}
			digits[n] = text[i]
			n++
			i++
		}
		if i == from {
			return end
		}
		sizes[groups], between[groups] = i-from, text[max(from-1, 0)]
		groups++
		if i < len(text) && endsWithin(text[i:], groups) {
			return end
		}
		end = i
		if !called && isDate(digits[:n], sizes[:groups], between[:groups]) && (i+1 >= len(text) || text[i] != between[groups-1] || text[i+1] < '0' || text[i+1] > '9') {
			return end
		}
		switch {
		case called && n >= leastCalled:
		case groups == 1 && n < 8 && (n < 7 || text[0] != '+'),
			groups > 1 && n < 9 && (n < 7 || !told) && !(n == 8 && isEven(sizes[:groups])),
			groups == 2 && between[1] == '.': // a decimal number
			continue
		}
		number := digits[:n]
		if text[0] != '+' && n > 9 && digits[0] == '0' && digits[1] == '0' {
			number = number[2:]
		}
		visit(string(number))
		visitTails(number, text[0] == '+' || len(number) < n, visit)
	}
}

// maxCountry is the number of digits of the longest country code.
const maxCountry = 3

// visitTails visits the possible national parts of a telephone number: the digits after each
// possible country code, or after the leading zero. If the parameter whole is true, the number
// begins with a country code. Each part gets the prefix "-". The prefix shows that the part is
// ambiguous, because numbers of two countries can have the same part.
func visitTails(number []byte, whole bool, visit func(number string)) {
	const least, most = 7, 15 // smallest and largest number of digits of a telephone number
	if len(number) > most {
		return
	}
	if !whole {
		if len(number) == 11 && number[0] == '8' { // numbers of Russia and its neighbours begin with 8
			visit("-" + string(number[1:]))
		}
		if tail := bytes.TrimPrefix(number, []byte("0")); len(tail) >= least && (len(tail) < len(number) || len(tail) > least+1) {
			visit("-" + string(tail))
		}
		return
	}
	for code := 1; code <= maxCountry && len(number)-code > least; code++ {
		visit("-" + string(number[code:]))
	}
}

// endsWithin reports whether the text after a group of digits shows that the digits are part of a
// word or a time of day, and so are no telephone number. If a letter follows several groups, or an
// x follows, the letter begins an extension, as in "555 123 4567x89". Then the result is false.
func endsWithin(behind string, groups int) bool {
	switch c := behind[0]; {
	case c >= 'a' && c <= 'z':
		return groups == 1 && c != 'x' && !strings.HasPrefix(behind, "ext")
	case c == ':':
		return len(behind) > 1 && behind[1] >= '0' && behind[1] <= '9'
	case c == '_':
		return len(behind) > 1 && isAlphanumeric(behind[1])
	}
	return behind[0] == '@' || behind[0] == '%'
}

// isEven reports whether all groups have the same size, as in "6123 4520" but not in "12 345 678".
func isEven(sizes []int) bool { return slices.Min(sizes) == slices.Max(sizes) }

// maxGap is the maximum number of characters between two groups, as in "(030) - 12".
const maxGap = 4

// gapLength returns the length of the gap between two groups at the beginning of a text.
func gapLength(text string) (n int) {
	for range maxGap {
		if n == len(text) {
			break
		}
		size := separatorLength(text[n:])
		if size == 0 {
			break
		}
		n += size
	}
	return n
}

// separatorLength returns the length of the separator of digit groups at the beginning of a text; 0
// if the text begins with no separator.
func separatorLength(text string) int {
	if strings.IndexByte(" \t-./()[]", text[0]) >= 0 {
		return 1
	}
	for _, one := range [...]string{"\u00a0", "\u00b7", "\u2007", "\u2009", "\u202f", "\u2010", "\u2011", "\u2012", "\u2013", "\u2014", "\u2212", "\u2022", "\u3000"} {
		if strings.HasPrefix(text, one) {
			return len(one)
		}
	}
	return 0
}

// isDate reports whether groups of digits are a date, two years, or a range of lines.
func isDate(digits []byte, sizes []int, between []byte) bool {
	switch len(sizes) {
	case 2:
		return sizes[0] == 4 && sizes[1] == 4 &&
			(isYear(digits[:4]) && isYear(digits[4:]) || (between[1] == '-' || between[1] >= utf8.RuneSelf) && string(digits[:4]) < string(digits[4:]))
	case 3:
		if between[1] != between[2] || strings.IndexByte("-./", between[1]) < 0 {
			return false
		}
		return sizes[0] == 4 && sizes[1] <= 2 && sizes[2] <= 2 ||
			sizes[0] <= 2 && sizes[1] <= 2 && (sizes[2] == 2 || sizes[2] == 4)
	}
	return false
}

func isYear(digits []byte) bool { return string(digits[:2]) == "19" || string(digits[:2]) == "20" }

// isAccount reports whether a word has the form of an international bank account number (IBAN).
func isAccount(word string) bool {
	if len(word) < 14 || len(word) > maxAccount || !isAccountStart(word) {
		return false
	}
	_, digits := countLetters(word)
	n := 0
	for i := range len(word) {
		if isAlphanumeric(word[i]) {
			n++
		}
	}
	return !digits && n == len(word)
}

// isWallet reports whether a word, in lower case, has the form of a wallet's address. It knows the
// forms of Ethereum, Bitcoin and other chains with fixed forms.
func isWallet(word string) bool {
	if hex, is := strings.CutPrefix(word, "0x"); is {
		return len(hex) == 40 && strings.Trim(hex, "0123456789abcdef") == ""
	}
	if len(word) < 25 {
		return false
	}
	plain, digits, letters := true, false, false
	for i := range len(word) {
		plain = plain && isAlphanumeric(word[i])
		digits = digits || i > 0 && word[i] <= '9'
		letters = letters || word[i] > 'f' // a hexadecimal digest has no letter after f
	}
	if !plain || !digits || !letters {
		return false
	}
	for _, prefix := range walletPrefixes {
		if strings.HasPrefix(word, prefix) {
			return len(word) >= 42
		}
	}
	n := len(word)
	return strings.IndexByte("13r", word[0]) >= 0 && n <= 35 || // addresses of Bitcoin and XRP
		n == 34 && strings.IndexByte("adlmt", word[0]) >= 0 || // addresses of Tron, Litecoin and Dogecoin
		n == 43 || n == 44 || n == 95 && (word[0] == '4' || word[0] == '8') // addresses of Solana and Monero
}

// walletPrefixes are the beginnings of bech32 addresses, of Lightning invoices and of Nostr names.
var walletPrefixes = [...]string{"bc1", "tb1", "ltc1", "addr1", "stake1", "cosmos1", "osmo1", "lnbc", "lntb", "lnurl1", "npub1", "nprofile1"}

// maxAccount is the maximum length of an international account number.
const maxAccount = 34

// isAccountStart reports whether a text begins like an international account number: with a country
// code and two digits.
func isAccountStart(text string) bool {
	return len(text) >= 4 && text[0] >= 'a' && text[0] <= 'z' && text[1] >= 'a' && text[1] <= 'z' &&
		text[2] >= '0' && text[2] <= '9' && text[3] >= '0' && text[3] <= '9'
}

// spacedAccount visits the account number at the beginning of a text, if it is written in groups.
func spacedAccount(text string, visit func(number string)) {
	number := make([]byte, 0, maxAccount)
	for i := 0; i < len(text); {
		from, digits := i, false
		for i < len(text) && isAlphanumeric(text[i]) {
			digits = digits || text[i] <= '9'
			i++
		}
		if i == from || !digits && i-from != 4 || len(number)+i-from > maxAccount {
			return
		}
		whole := from == 0
		if number = append(number, text[from:i]...); len(number) >= 14 && !whole {
			visit(string(number))
		}
		i += gapLength(text[i:])
	}
}
