package inspect

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/clawai/clawai/internal/text/textclass"
)

// A valid check digit alone is no finding, because one number in ten has one by chance. The length,
// beginning or grouping must also be right, or a word beside the number must fit.

// brand describes the numbers of one brand of cards (ISO/IEC 7812): the first digits, and the
// length.
type brand struct {
	name        string
	from, to    int // range of the first digits, and how many they are
	digits      int
	least, most int // minimum and maximum number of digits
}

var brands = []brand{
	{"Visa", 4, 4, 1, 13, 19},
	{"Mastercard", 51, 55, 2, 16, 16},
	{"Mastercard", 2221, 2720, 4, 16, 16},
	{"American Express", 34, 34, 2, 15, 15},
	{"American Express", 37, 37, 2, 15, 15},
	{"Discover", 6011, 6011, 4, 16, 19},
	{"Discover", 644, 659, 3, 16, 19},
	{"Diners Club", 300, 305, 3, 14, 14},
	{"Diners Club", 36, 36, 2, 14, 14},
	{"Diners Club", 38, 39, 2, 14, 14},
	{"JCB", 3528, 3589, 4, 16, 19},
	{"UnionPay", 62, 62, 2, 16, 19},
}

// testCards are card numbers that payment services publish for tests.
var testCards = []string{
	"4111111111111111", "4242424242424242", "4012888888881881", "4000056655665556", "4222222222222", "4000000000000002", "4000000000000077",
	"5555555555554444", "5105105105105100", "2223003122003222", "2223000048400011", "5200828282828210",
	"378282246310005", "371449635398431", "378734493671000", "6011111111111117", "6011000990139424", "6011981111111113",
	"30569309025904", "38520000023237", "3056930009020004", "36227206271667", "3530111333300000", "3566002020360505", "6200000000000005", "6205500000000000004",
}

// Lengths of numbers, without separators except in lengthSSN.
const (
	leastCard = 13
	leastIBAN = 15
	lengthVIN = 17
	lengthSSN = len("AAA-GG-SSSS")
)

func findCards(f *findings) {
	f.findPlainCards()
	f.findSpacedCards()
}

// findSpacedCards finds card numbers with wide gaps between the groups of digits. Tabs and several
// blanks also separate the columns of a table, so with such gaps a word about cards must be near
// the number.
func (f *findings) findSpacedCards() {
	t := f.text
	for at := 0; at < len(t); {
		if !digitsOnly[t[at]] {
			at++
			continue
		}
		end := groupEnd(t, &digitsOnly, at)
		if end-at != 4 || at > 0 && partOfNumber(t[at-1]) {
			at = end
			continue
		}
		var roomDigits [19]byte
		var roomSizes [5]int
		digits, sizes := roomDigits[:0], roomSizes[:0]
		odd, wide, last := false, false, end
		for from := at; len(sizes) < 5; {
			end := groupEnd(t, &digitsOnly, from)
			if end == from || len(digits)+end-from > 19 {
				wide = wide || end > from // more digits follow than a card number has, so this is a row of numbers
				break
			}
			digits, sizes, last = append(digits, t[from:end]...), append(sizes, end-from), end
			gap := gapLength(t[end:])
			if gap == 0 {
				break
			}
			if gap > 1 || t[end] == '\t' {
				odd = true
				wide = wide || strings.ContainsAny(t[end:end+gap], "\t") || strings.Contains(t[end:end+gap], "  ")
			}
			from = end + gap
		}
		name := ""
		if odd && areCardGroups(sizes) && (last == len(t) || !partOfNumber(t[last]) || t[last] == '.') {
			name = cardName(digits)
		}
		if name == "" || wide && !f.hasWordNear(at, last, cardWords) {
			at = end
			continue
		}
		f.addFinding(Card, "a card's number ("+name+")", at, last)
		at = last
	}
}

// areCardGroups reports whether groups of digits have the sizes of the groups of a card number. The
// caller has checked that the first group has 4 digits.
func areCardGroups(sizes []int) bool {
	n := len(sizes)
	if n == 3 {
		return sizes[1] == 6 && (sizes[2] == 4 || sizes[2] == 5)
	}
	return n > 3 && sizes[1] == 4 && sizes[2] == 4 && (n == 4 || sizes[3] == 4)
}

// gapLength returns the length of the blanks and dashes at the beginning of a text; it counts at
// most four.
func gapLength(text string) (n int) {
	for range 4 {
		r, size := utf8.DecodeRuneInString(text[n:])
		if r != '\t' && !textclass.PartsGroups(r) {
			return n
		}
		n += size
	}
	return n
}

func (f *findings) findPlainCards() {
	f.visitNumbers(&digitsOnly, leastCard, 19, func(group string) bool { return len(group) >= leastCard }, func(start, end int, digits []byte) bool {
		name := cardName(digits)
		if name == "" || !f.asCard(start, end, len(digits)) {
			return false
		}
		f.addFinding(Card, "a card's number ("+name+")", start, end)
		return true
	})
}

// cardName returns the brand of a card number. It returns "" if digits are no card number, or a
// number that is published for tests.
func cardName(digits []byte) (name string) {
	for _, b := range brands {
		if n := len(digits); n >= b.least && n <= b.most && isBetween(digits[:b.digits], b.from, b.to) {
			name = b.name
		}
	}
	if name == "" || !checkLuhn(digits) || containsBytes(testCards, digits) || bytes.Count(digits, []byte("0")) > len(digits)*2/3 {
		return ""
	}
	return name
}

// asCard reports whether digits have the grouping of a card number: in fours, as 4-6-5, 4-6-4 or
// 6-13, or no groups. In three cases a word about cards must be beside the number: the groups look
// like a row of a table; a number without groups has an unusual length (not 14 to 16); a word about
// other numbers is near.
func (f *findings) asCard(start, end, n int) bool {
	var sizes [20]int
	groups := 0
	for i := start; i < end; i++ {
		if isSeparator(f.text[i]) {
			groups++
			continue
		}
		sizes[groups]++
	}
	if groups == 0 {
		return f.hasWordNear(start, end, cardWords) || n >= 14 && n <= 16 && !f.hasWordNear(start, end, otherNumbers)
	}
	last := sizes[groups]
	fours := last <= 4
	for _, size := range sizes[:groups] {
		fours = fours && size == 4
	}
	if fours && (f.isRow(end) || countsUp(f.text[start:end])) {
		return f.hasWordNear(start, end, cardWords)
	}
	return fours || groups == 2 && sizes[0] == 4 && sizes[1] == 6 && last >= 4 && last <= 5 || groups == 1 && sizes[0] == 6 && last == 13
}

// isRow reports whether two more numbers of four digits follow. The number is then part of a table.
func (f *findings) isRow(end int) bool {
	rest := f.text[end:]
	for range 2 {
		if len(rest) < 5 || rest[0] != ' ' || groupEnd(rest, &digitsOnly, 1) != 5 {
			return false
		}
		rest = rest[5:]
	}
	return true
}

// countsUp reports whether the groups of four digits increase by equal steps.
func countsUp(groups string) bool {
	step, before := 0, 0
	for i := 0; i+4 <= len(groups); i += 5 {
		n, _ := strconv.Atoi(groups[i : i+4])
		if i > 5 && n-before != step {
			return false
		}
		step, before = n-before, n
	}
	return true
}

// cardWords stand near card numbers. otherNumbers stand near numbers of devices, parcels and
// papers. One in ten of those numbers has a valid check digit of a card.
var (
	cardWords    = []string{"card", "visa", "credit", "debit", "cvv", "cvc", "unionpay", "discover", "jcb", "amex", "maestro", "pan"}
	otherNumbers = []string{"imei", "meid", "iccid", "serial", "tracking", "parcel", "shipment", "consignment", "waybill", "awb", "barcode", "gtin", "ean", "upc", "timestamp", "epoch"}
)

// hasWordNear reports whether a word from a list is close to the number.
func (f *findings) hasWordNear(start, end int, words []string) bool {
	const near = 40 // bytes
	around := f.text[max(0, start-near):min(len(f.text), end+near)]
	return slices.ContainsFunc(words, func(word string) bool {
		for at := 0; ; at += len(word) {
			n := indexFold(around[at:], word)
			if n < 0 {
				return false
			}
			if at += n; at == 0 || !isLetter(around[at-1]) { // only at the start of a word: "ean" must not match inside "mean"
				return true
			}
		}
	})
}

func isBetween(digits []byte, from, to int) bool {
	n := 0
	for _, c := range digits {
		n = n*10 + int(c-'0')
	}
	return n >= from && n <= to
}

// checkLuhn reports whether the last digit is the correct check digit (ISO/IEC 7812-1, annex B).
func checkLuhn(digits []byte) bool {
	sum := 0
	for i := range len(digits) {
		d := int(digits[len(digits)-1-i] - '0')
		if i%2 == 1 {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum += d
	}
	return sum%10 == 0
}

// ibanLengths has the length of IBANs for each country (ISO 13616, SWIFT's registry).
var ibanLengths = sync.OnceValue(func() map[string]int {
	return map[string]int{
		"AD": 24, "AE": 23, "AL": 28, "AT": 20, "AZ": 28, "BA": 20, "BE": 16, "BG": 22, "BH": 22, "BI": 27, "BR": 29, "BY": 28, "CH": 21, "CR": 22, "CY": 28,
		"CZ": 24, "DE": 22, "DJ": 27, "DK": 18, "DO": 28, "EE": 20, "EG": 29, "ES": 24, "FI": 18, "FK": 18, "FO": 18, "FR": 27, "GB": 22, "GE": 22, "GI": 23,
		"GL": 18, "GR": 27, "GT": 28, "HR": 21, "HU": 28, "IE": 22, "IL": 23, "IQ": 23, "IS": 26, "IT": 27, "JO": 30, "KW": 30, "KZ": 20, "LB": 28, "LC": 32,
		"LI": 21, "LT": 20, "LU": 20, "LV": 21, "LY": 25, "MC": 27, "MD": 24, "ME": 22, "MK": 19, "MN": 20, "MR": 27, "MT": 31, "MU": 30, "NI": 28, "NL": 18,
		"NO": 15, "OM": 23, "PK": 24, "PL": 28, "PS": 29, "PT": 25, "QA": 29, "RO": 24, "RS": 22, "RU": 33, "SA": 24, "SC": 31, "SD": 18, "SE": 24, "SI": 19,
		"SK": 24, "SM": 27, "SO": 23, "ST": 25, "SV": 28, "TL": 23, "TN": 24, "TR": 26, "UA": 29, "VA": 22, "VG": 24, "XK": 20, "YE": 30,
	}
})

// exampleIBANs are IBANs from standards and manuals.
var exampleIBANs = []string{"DE89370400440532013000", "GB82WEST12345698765432", "GB29NWBK60161331926819", "GB33BUKB20201555555555", "FR1420041010050500013M02606", "FR7630006000011234567890189", "NL91ABNA0417164300", "BE68539007547034", "ES9121000418450200051332", "CH9300762011623852957", "AT611904300234573201", "IT60X0542811101000000123456"}

func findIBANs(f *findings) {
	f.visitNumbers(&digitsLetters, leastIBAN, 34, ibanBegins, func(start, end int, p []byte) bool {
		if ibanLengths()[string(p[:2])] != len(p) || containsBytes(exampleIBANs, p) || addMod97(addMod97(0, p[4:]), p[:4]) != 1 {
			return false
		}
		f.addFinding(IBAN, "an account number ("+string(p[:2])+")", start, end)
		return true
	})
}

// ibanBegins reports whether a group begins with two letters of a country and two check digits.
func ibanBegins(group string) bool {
	return len(group) >= 4 && group[0] >= 'A' && group[1] >= 'A' && group[2] <= '9' && group[3] <= '9'
}

// addMod97 computes the remainder modulo 97 (ISO 7064 MOD 97-10) of a number, from the remainder n
// of its beginning and its further characters s. Letters count as 10 to 35.
func addMod97(n int, s []byte) int {
	for _, c := range s {
		if c >= 'A' {
			n = (n*100 + int(c-'A') + 10) % 97
		} else {
			n = (n*10 + int(c-'0')) % 97
		}
	}
	return n
}

// findSSNs finds numbers AAA-GG-SSSS in the ranges that the SSA has assigned since 2011.
func findSSNs(f *findings) {
	t := f.text
	for i := 0; i+11 <= len(t); i++ {
		n := strings.IndexByte(t[i:], '-')
		if n < 0 {
			return
		}
		start := i + n - 3
		i += n
		if start < 0 || start+11 > len(t) || !isSSN(t[start:start+11]) || start > 0 && partOfNumber(t[start-1]) || start+11 < len(t) && partOfNumber(t[start+11]) {
			continue
		}
		f.addFinding(SSN, "a social security number of the USA", start, start+11)
		i = start + 10
	}
}

func isSSN(s string) bool {
	for i := range len(s) {
		if dash := i == 3 || i == 6; dash != (s[i] == '-') || !dash && (s[i] < '0' || s[i] > '9') {
			return false
		}
	}
	area := s[:3]
	if area == "000" || area == "666" || area[0] == '9' || s[4:6] == "00" || s[7:] == "0000" {
		return false
	}
	plain := area + s[4:6] + s[7:]
	return strings.Trim(plain, plain[:1]) != "" && !slices.Contains([]string{"123456789", "078051120", "219099999", "457555462", "987654321", "111223333", "123121234"}, plain)
}

// partOfNumber reports whether the byte c could belong to the same number as its neighbour.
func partOfNumber(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '-' || c == '_' || c == '.' || c == '/'
}

// findVINs finds vehicle identification numbers (ISO 3779) with the check digit that
// North America and China prescribe (49 CFR 565.15).
func findVINs(f *findings) {
	f.visitNumbers(&vinLetters, lengthVIN, lengthVIN, func(group string) bool { return len(group) == lengthVIN }, func(start, end int, p []byte) bool {
		if end-start != lengthVIN || !isVIN(p) {
			return false
		}
		f.addFinding(VIN, "a vehicle identification number", start, end)
		return true
	})
}

func isVIN(p []byte) bool {
	const values = "0123456789.ABCDEFGH..JKLMN.P.R..STUVWXYZ" // the value of a character is its index in this string, modulo 10
	weights := [...]int{8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2}
	sum := 0
	for i, c := range p {
		sum += strings.IndexByte(values, c) % 10 * weights[i]
	}
	serial := len(bytes.Trim(p[13:], "0123456789")) == 0
	return serial && len(bytes.Trim(p[:8], "0123456789")) > 0 && p[8] == "0123456789X"[sum%11]
}

// Sets of the characters that can be in a number.
var (
	digitsOnly    = signSet("")
	digitsLetters = signSet("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
	vinLetters    = signSet("ABCDEFGHJKLMNPRSTUVWXYZ")
)

func signSet(letters string) (of [256]bool) {
	for _, c := range []byte("0123456789" + letters) {
		of[c] = true
	}
	return of
}

// visitNumbers visits possible numbers. The parameters least and most are the minimum and maximum
// number of characters, and the parameter `of` is the set of allowed characters. The characters are
// in groups with one blank or dash between them. A number may end with any group, because another
// number may follow; visit is called for each possible end. A number must not be next to a byte
// that continues it. The first group of a row can always begin a number; a later group can if inner
// returns true. visit gets the place and the characters without separators, and reports whether
// they are a number.
//
// In a row of groups, at least one of two adjacent bytes is in the set. So it is enough to check
// one pair of bytes in every least-1 bytes.
func (f *findings) visitNumbers(of *[256]bool, least, most int, inner func(group string) bool, visit func(start, end int, plain []byte) bool) {
	t := f.text
	for at, done := least-2, 0; at < len(t); at += least - 1 {
		if !of[t[at]] && (at+1 == len(t) || !of[t[at+1]]) {
			continue
		}
		start := at
		if !of[t[at]] {
			start++
		}
		for start > done && (of[t[start-1]] || isSeparator(t[start-1]) && start-1 > done && of[t[start-2]]) {
			start--
		}
		for first, taken := true, start; start < len(t); first = false {
			end := groupEnd(t, of, start)
			if start >= taken && (start == 0 || !partOfNumber(t[start-1])) && (first || inner(t[start:end])) {
				taken = max(taken, f.visitGroups(of, start, least, most, visit))
			}
			done = end
			if end+1 >= len(t) || !isSeparator(t[end]) || !of[t[end+1]] {
				break
			}
			start = end + 1
		}
		at = max(at, done)
	}
}

// groupEnd returns the end of the run at i of characters from a set.
func groupEnd(t string, of *[256]bool, i int) int {
	for i < len(t) && of[t[i]] {
		i++
	}
	return i
}

// visitGroups visits the possible numbers that begin at i. It returns the end of the last one for
// which visit returned true; 0 for none.
func (f *findings) visitGroups(of *[256]bool, i, least, most int, visit func(start, end int, plain []byte) bool) (taken int) {
	t, plain, digits := f.text, f.plain[:0], 0
	for at := i; ; at++ {
		if at < len(t) && of[t[at]] {
			if len(plain) == most {
				return taken
			}
			plain = append(plain, t[at])
			if t[at] <= '9' {
				digits++
			}
			continue
		}
		goesOn := at+1 < len(t) && isSeparator(t[at]) && of[t[at+1]]
		ends := goesOn || at == len(t) || !partOfNumber(t[at]) || t[at] == '.'
		if ends && len(plain) >= least && digits*2 >= len(plain) && visit(i, at, plain) {
			taken = at
		}
		if !goesOn {
			return taken
		}
	}
}

func isSeparator(c byte) bool { return c == ' ' || c == '-' }

// containsBytes reports whether a text is in a list.
func containsBytes(texts []string, that []byte) bool {
	return slices.ContainsFunc(texts, func(s string) bool { return s == string(that) })
}
