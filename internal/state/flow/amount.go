package flow

import (
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/clawai/clawai/internal/text/textclass"
	"github.com/clawai/clawai/internal/wire/jsonscan"
	"github.com/clawai/clawai/policy"
)

// For each tool, the owner can list arguments in the key weighs. If such an argument has an amount
// that the user has not typed, a person is asked, even if the user has named the recipient. Amounts
// are compared as numbers: 1,300.50 is 1.300,50 and 1300.5.

// visitAmounts visits the numbers in a text. A number can have several values for a reader, and
// visitAmounts visits each: 1.300 has the values 1300 and 1.3.
func visitAmounts(text string, visit func(amount string)) {
	for i := 0; i < len(text); {
		if !isDigit(text[i]) {
			i++
			continue
		}
		from := i
		for i < len(text) && (isDigit(text[i]) || amountGap(text[i:]) > 0) {
			i += max(1, amountGap(text[i:]))
		}
		sign := ""
		if from > 0 && text[from-1] == '-' && (from == 1 || text[from-2] <= ' ') {
			sign = "-"
		}
		readAmount(text[from:i], func(amount string) { visit(sign + amount) })
	}
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// amountGap returns the length of the separator at the beginning of a text, if a digit follows the
// separator. Otherwise it returns 0.
func amountGap(text string) int {
	r, size := utf8.DecodeRuneInString(text)
	if size == len(text) || !isDigit(text[size]) || !strings.ContainsRune(".,'’ _", r) && !textclass.Blank.HasRune(r) {
		return 0
	}
	return size
}

// readAmount visits the values of digits with marks between them. If three digits follow each mark,
// the marks may separate thousands. The last mark may also begin the fraction, if it is a dot or a
// comma. A blank may also separate two amounts.
func readAmount(digits string, visit func(amount string)) {
	groups := strings.FieldsFunc(digits, func(r rune) bool { return r < '0' || r > '9' })
	thousands := len(groups[0]) <= 3
	for _, group := range groups[1:] {
		thousands = thousands && len(group) == 3
	}
	if len(groups) == 1 || thousands {
		visit(plainAmount(strings.Join(groups, ""), ""))
	}
	if len(groups) == 1 {
		return
	}
	last := groups[len(groups)-1]
	if whole := digits[:len(digits)-len(last)]; strings.HasSuffix(whole, ".") || strings.HasSuffix(whole, ",") {
		visit(plainAmount(strings.Join(groups[:len(groups)-1], ""), last))
	}
	for part := range strings.FieldsFuncSeq(digits, func(r rune) bool { return textclass.Blank.HasRune(r) }) {
		if len(part) < len(digits) {
			readAmount(part, visit)
		}
	}
}

// plainAmount returns an amount without zeros at its start and at the end of its fraction.
func plainAmount(whole, fraction string) string {
	whole, fraction = strings.TrimLeft(whole, "0"), strings.TrimRight(fraction, "0")
	if whole == "" {
		whole = "0"
	}
	if fraction != "" {
		whole += "." + fraction
	}
	return whole
}

// amountMark returns the text whose mark shows that the user has typed an amount.
func amountMark(amount string) []byte { return []byte("=" + amount) }

// visitWeights visits the values of the arguments whose names are in weighs.
func visitWeights(weighs []string, c *policy.Call, visit func(value string)) {
	visitArguments(weighs, c, func(_ string, value jsonscan.Value) {
		leaf := func(leaf jsonscan.Value) {
			switch leaf.Kind() {
			case jsonscan.Number, jsonscan.String:
				visit(textOf(leaf))
			case jsonscan.Boolean: // {"amount": true} may mean the whole amount
				if leaf == "true" {
					visit(string(leaf))
				}
			case jsonscan.Null, jsonscan.Absent, jsonscan.Object, jsonscan.Array:
			}
		}
		if leaf(value); value.Kind() == jsonscan.Object || value.Kind() == jsonscan.Array {
			value.VisitLeaves(func(_ string, inner jsonscan.Value) { leaf(inner) })
		}
	})
}

// isTypedAmount reports whether the user has typed every amount in a value, in each reading of the
// amount. Some values are not plain amounts: a value without an amount, and a value with other words
// beside the amount ("13 million", "13%"). For these, it reports whether the user has named the value.
func (k *known) isTypedAmount(value string) bool {
	if strings.ContainsAny(value, "eE") { // for example 1e3
		if number, err := strconv.ParseFloat(value, 64); err == nil {
			value = strconv.FormatFloat(number, 'f', -1, 64)
		}
	}
	if !isPlainAmount(value) {
		return k.isEndorsed(value) || strings.ContainsAny(value, "0123456789") && !strings.ContainsAny(value, `/\`) && hasMark(k.user, typed, []byte(foldPhrase(value)))
	}
	all := true
	visitAmounts(value, func(amount string) { all = all && hasMark(k.user, said, amountMark(amount)) })
	return all
}

// isPlainAmount reports whether a value has amounts and, beside them, only currencies.
func isPlainAmount(value string) bool {
	amount := false
	for word := range strings.FieldsFuncSeq(strings.ToLower(value), func(r rune) bool {
		amount = amount || r >= '0' && r <= '9'
		return r >= '0' && r <= '9' || strings.ContainsRune(".,'’_", r) || textclass.Blank.HasRune(r) || unicode.Is(unicode.Sc, r)
	}) {
		if !currencies()[word] && word != "-" {
			return false
		}
	}
	return amount
}

// currencies are the words that may stand beside an amount. The currency itself is not compared.
var currencies = sync.OnceValue(func() map[string]bool {
	return setOf(`eur euro euros usd dollar dollars gbp pound pounds chf franken francs jpy yen cny rmb yuan inr rupees aud cad nzd sek nok dkk kronor kroner krone
	pln zloty czk huf ron bgn try lira rub brl reais mxn pesos ars clp cop zar krw won sgd hkd twd thb idr myr php vnd ils aed sar egp ngn kes uah btc eth usdt usdc ct cent cents`)
})
