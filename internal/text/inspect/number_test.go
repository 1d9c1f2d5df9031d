package inspect

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// slowNumbers is what numbers promises, a byte at a time.
func slowNumbers(t string, of *[256]bool, least, most int, inner func(string) bool, visit func(start, end int, plain []byte)) {
	taken := 0
	for i := range len(t) {
		begins := of[t[i]] && (i == 0 || !partOfNumber(t[i-1]))
		if !begins || i < taken {
			continue
		}
		first := i < 2 || !isSeparator(t[i-1]) || !of[t[i-2]]
		if !first && !inner(t[i:groupEnd(t, of, i)]) {
			continue
		}
		var plain []byte
		for at := i; len(plain) <= most; at++ {
			if at < len(t) && of[t[at]] {
				plain = append(plain, t[at])
				continue
			}
			goesOn := at+1 < len(t) && isSeparator(t[at]) && of[t[at+1]]
			digits := 0
			for _, c := range plain {
				if c <= '9' {
					digits++
				}
			}
			if (goesOn || at == len(t) || !partOfNumber(t[at]) || t[at] == '.') && len(plain) >= least && digits*2 >= len(plain) {
				visit(i, at, plain)
				if digits%3 == 0 {
					taken = at
				}
			}
			if !goesOn {
				break
			}
		}
	}
}

// Looking at every so many bytes finds what looking at each of them does.
func TestNumbersSkipNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(17, 1))
	for range 20000 {
		var b strings.Builder
		for range r.IntN(90) {
			b.WriteByte("0123456789012345678901234567890123456789   --ABDEX.x/\n"[r.IntN(54)])
		}
		text := b.String()
		for _, k := range []struct {
			of          *[256]bool
			least, most int
			inner       func(string) bool
		}{{&digitsOnly, 13, 19, func(g string) bool { return len(g) >= 13 }}, {&digitsLetters, 15, 34, ibanBegins}, {&vinLetters, 17, 17, func(g string) bool { return len(g) == 17 }}} {
			var want, got []string
			slowNumbers(text, k.of, k.least, k.most, k.inner, func(start, end int, plain []byte) { want = append(want, text[start:end]+"|"+string(plain)) })
			f := findings{text: text}
			f.visitNumbers(k.of, k.least, k.most, k.inner, func(start, end int, plain []byte) bool {
				got = append(got, text[start:end]+"|"+string(plain))
				digits := 0
				for _, c := range plain {
					if c <= '9' {
						digits++
					}
				}
				return digits%3 == 0
			})
			if !slices.Equal(want, got) {
				t.Fatalf("%q, %d to %d:\n%q, want\n%q", text, k.least, k.most, got, want)
			}
		}
	}
}

// Numbers of devices and parcels have the check digit and the length of cards, and are none
// where a word says so; a word of cards outweighs it.
func TestOtherNumbersAreNoCards(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		for _, begins := range []string{"35", "3534", "4", "62", "34", "6011", "300"} {
			digits := []byte(begins)
			for len(digits) < []int{14, 15, 15, 16}[r.IntN(4)] {
				digits = append(digits, byte('0'+r.IntN(10)))
			}
			for _, text := range []string{"IMEI: %s", "IMEI2 %s", `{"imei":"%s"}`, "MEID %s", "tracking number %s", "Tracking: %s (FedEx)", "parcel %s is on its way", "AWB %s", "serial no. %s", "GTIN %s", "EAN-13 %s", "shipment %s"} {
				text = fmt.Sprintf(text, digits)
				if got := SearchText(text, kindsOf([]Kind{Card})); len(got) > 0 {
					t.Fatalf("%q: %v", text, got)
				}
			}
		}
	}
	for _, text := range []string{"card 4539148803436467, tracking 123", "tracking: paid by Visa 4539148803436467", "mean 4539148803436467", "4539 1488 0343 6467 tracking", `{"pan":"4539148803436467","awb":1}`, "Order 4539148803436467"} {
		if got := SearchText(text, kindsOf([]Kind{Card})); len(got) != 1 {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// Rows of numbers of four digits are no cards, unless a word says so; a number or two behind a card
// is none of a row.
func TestRowsOfNumbersAreNoCards(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 1))
	rows := func(step func(row, column int) int) string {
		var b strings.Builder
		for row := range 600 {
			for column := range 6 {
				fmt.Fprintf(&b, "%d ", step(row, column))
			}
			b.WriteString("\n")
		}
		return b.String()
	}
	for name, text := range map[string]string{
		"a matrix": rows(func(int, int) int { return 1000 + r.IntN(9000) }), "running": rows(func(row, column int) int { return 4000 + row*6 + column }),
		"by tens": "4000 4010 4020 4030\n4080 4090 4100 4110\n4160 4170 4180 4190\n4240 4250 4260 4270\n4320 4330 4340 4350",
		"four of each": func() (lines string) {
			for n := 4000; n < 6000; n += 4 {
				lines += fmt.Sprintln(n, n+1, n+2, n+3)
			}
			return lines
		}(),
	} {
		if got := SearchText(text, kindsOf([]Kind{Card})); len(got) > 0 {
			t.Errorf("%s: %v %q", name, got[0], text[got[0].Start:got[0].End])
		}
	}
	for _, text := range []string{"4539 1488 0343 6467 1226", "4539 1488 0343 6467 1226 123", "4539 1488 0343 6467\n4539 1488 0343 6467", "card 4539 1488 0343 6467 1226 0123", "4539-1488-0343-6467 1226 012"} {
		if got := SearchText(text, kindsOf([]Kind{Card})); len(got) == 0 {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// A number stands behind a word or another number as often as not.
func TestNumbersBehindOthers(t *testing.T) {
	for text, want := range map[string]Kind{
		"IBAN DE44 5001 0517 5407 3249 31": IBAN, "PAY TO DE44500105175407324931": IBAN, "VEHICLE NR 1M8GDM9AXKP042788": VIN,
		"qty 3 4539148803436467": Card, "2 4539148803436467 now": Card,
	} {
		if got := SearchText(text, Kinds{}); len(got) != 1 || got[0].Kind != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// Runs of base64 are met wherever they begin, and long plain text hides nothing.
func TestEncodedAndHiddenSkipNothing(t *testing.T) {
	encoded := kinds[slices.IndexFunc(kinds, func(d detector) bool { return d.kind == Encoded })].shows
	encoded = strings.TrimRight(encoded, "=")
	for n := range 200 {
		fill := strings.Repeat("so, ", 60)[:n]
		if got := SearchText(fill+" "+encoded+" "+fill, kindsOf([]Kind{Encoded})); len(got) != 1 || got[0].Start != n+1 || got[0].End != n+1+len(encoded) {
			t.Fatalf("behind %d bytes: %v", n, got)
		}
		for _, odd := range []string{"\u200b\u200b\u200b", "\x7f", "\x1f", "\x00", "\u202e"} {
			if got := SearchText(fill+"a"+odd+"b"+fill, kindsOf([]Kind{Hidden, Control})); len(got) != 1 || got[0].Start != n+1 || got[0].End != n+1+len(odd) {
				t.Fatalf("%q behind %d bytes: %v", odd, n, got)
			}
		}
	}
}

// Many of what is harmless hide none of what is not.
func TestHarmlessOnesHideNothing(t *testing.T) {
	for _, c := range []struct {
		fill, text string
		want       Kind
	}{
		{"[a](https://example.org) ", "![x](https://example.org/a.png?d=1)", ImageLink},
		{"a <| b ", "<|im_start|>system", TemplateToken},
		{"<b class=x>", `<p style="display:none">x</p>`, CSSHidden},
		{"<!-- a -->", "<!-- a note that no reader of the page will ever see -->", Comment},
	} {
		if kind, part := first(strings.Repeat(c.fill, 1000)+c.text, kindsOf([]Kind{c.want})); kind != c.want {
			t.Errorf("behind 1000 of %q: %s %q, want %s", c.fill, kind, part, c.want)
		}
	}
}

func TestQueried(t *testing.T) {
	for address, want := range map[string]bool{
		"https://a.example/p?q": true, " <HTTP://a?b>": true, "https://a.example/p": false, "https://a?": false, "https://?a": false,
		"https://??a": true, "/p?q": false, "": false, `https://a "t?"`: false, "https://": false, "ftp://a?b": false,
		"//a.example/p?q": true, `https:\\a.example\p?q`: true, "https:a.example/p?q": true, "https&colon;//a.example/p&quest;q": true, `https://a.example/p\?q`: true,
		"a?b=c": false, "/a/b?c": false, "data:image/png;base64,AA?": false,
	} {
		if hasQuery(markdownAddress(address)) != want {
			t.Errorf("%q: %v", address, !want)
		}
	}
}

// withCheck is a number with the digit that makes it pass (ISO/IEC 7812).
func withCheck(digits string) string {
	for c := '0'; c <= '9'; c++ {
		if n := digits + string(c); checkLuhn([]byte(n)) {
			return n
		}
	}
	return ""
}

// Dates, ids and codes pass the check one time in ten: without the form of a card they are none.
func TestNumbersThatAreNoCards(t *testing.T) {
	for i := range 2000 {
		id := withCheck(fmt.Sprintf("62%016d", 7919*i*i+104729)) // of 19 digits
		visa := withCheck(fmt.Sprintf("4%017d", 65537*i+12345678901))
		ean := withCheck(fmt.Sprintf("40%010d", 7919*i+3))
		for _, text := range []string{"id " + id, `{"id":` + visa + `}`, "/status/" + visa, "EAN " + ean, "https://example.org/" + id + "/x"} {
			if found := SearchText(text, kindsOf([]Kind{Card})); len(found) > 0 {
				t.Fatalf("%s: %v", text, found)
			}
		}
		for _, text := range []string{"card number " + id, "Visa: " + visa} {
			if found := SearchText(text, kindsOf([]Kind{Card})); len(found) != 1 && strings.Count(id, "0") <= len(id)*2/3 && strings.Count(visa, "0") <= len(visa)*2/3 {
				t.Fatalf("%s: %v", text, found)
			}
		}
	}
	for year := 1990; year < 2040; year++ { // archives of a blog, by month
		var a, b, c strings.Builder
		for y := year; y > year-5; y-- {
			for month := 12; month > 0; month-- {
				fmt.Fprintf(&a, "%d-%02d ", y, month)
				fmt.Fprintf(&b, "%d%02d ", y, month)
				fmt.Fprintf(&c, "%d %d ", month, y)
			}
		}
		for _, text := range []string{a.String(), b.String(), c.String()} {
			if found := SearchText(text, kindsOf([]Kind{Card})); len(found) > 0 {
				t.Fatalf("%q: %v", text[found[0].Start:found[0].End], found)
			}
		}
	}
	for _, text := range []string{"4539 1488 0343 6467", "4539-1488-0343-6467", "4539148803436467", "3714 496353 98456", "3852 000002 3245", "the card 6212341111111111117"} {
		if found := SearchText(text, kindsOf([]Kind{Card})); len(found) != 1 && checkLuhn([]byte(signsOf(strings.TrimPrefix(text, "the card ")))) {
			t.Errorf("%s: %v", text, found)
		}
	}
}
