package flow

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// One host has two spellings: with letters of any language, and as "xn--" with plain letters (RFC
// 3492). Hosts are compared in the spelling with "xn--". golang.org/x/net/idna knows more rules,
// but links large tables into the hook.

// plainHost returns an address with its host in plain letters. It returns every other word
// unchanged.
func plainHost(word string) string {
	if isPlainASCII(word) {
		return word
	}
	rest, _ := trimSchemes(word)
	from := len(word) - len(rest)
	end := strings.IndexAny(rest, `/?#\`)
	if end < 0 {
		end = len(rest)
	}
	from, end = from+strings.LastIndexByte(rest[:end], '@')+1, from+end
	host := word[from:end]
	if len(host) > maxHost || isPlainASCII(host) || strings.ContainsFunc(host, isNoLetter) {
		return word
	}
	labels := strings.Split(strings.ToLower(norm.NFKC.String(host)), ".")
	for i, label := range labels {
		if !isPlainASCII(label) {
			labels[i] = "xn--" + encodeLabel(label)
		}
	}
	return word[:from] + strings.Join(labels, ".") + word[end:]
}

// isNoLetter reports whether a character cannot be a part of a host.
func isNoLetter(r rune) bool {
	if r < utf8.RuneSelf {
		return !isAlphanumeric(byte(r)|0x20) && strings.IndexByte("-.", byte(r)) < 0
	}
	return !unicode.In(r, unicode.L, unicode.M, unicode.N) || unicode.ToLower(r) < utf8.RuneSelf // the lower case of İ, for example, would be another letter
}

// Parameters of RFC 3492, section 5.
const (
	labelBase  = 36
	labelMin   = 1
	labelMax   = 26
	labelSkew  = 38
	labelDamp  = 700
	labelBias  = 72
	labelFirst = 128
)

// encodeLabel returns the text after "xn--" for a label.
func encodeLabel(label string) string {
	var out []byte
	for i := range len(label) {
		if label[i] < utf8.RuneSelf {
			out = append(out, label[i])
		}
	}
	basic := len(out)
	if basic > 0 {
		out = append(out, '-')
	}
	n, delta, bias := rune(labelFirst), 0, labelBias
	for done, all := basic, utf8.RuneCountInString(label); done < all; {
		next := rune(utf8.MaxRune)
		for _, r := range label {
			if r >= n && r < next {
				next = r
			}
		}
		delta += int(next-n) * (done + 1)
		n = next
		for _, r := range label {
			if r < n {
				delta++
			}
			if r != n {
				continue
			}
			q := delta
			for k := labelBase; ; k += labelBase {
				t := min(max(k-bias, labelMin), labelMax)
				if q < t {
					break
				}
				out = append(out, labelDigit(t+(q-t)%(labelBase-t)))
				q = (q - t) / (labelBase - t)
			}
			out = append(out, labelDigit(q))
			bias = nextBias(delta, done+1, done == basic)
			delta = 0
			done++
		}
		delta++
		n++
	}
	return string(out)
}

func nextBias(delta, done int, first bool) int {
	if first {
		delta /= labelDamp
	} else {
		delta /= 2
	}
	delta += delta / done
	k := 0
	for ; delta > (labelBase-labelMin)*labelMax/2; k += labelBase {
		delta /= labelBase - labelMin
	}
	return k + (labelBase-labelMin+1)*delta/(delta+labelSkew)
}

func labelDigit(n int) byte {
	if n < 26 {
		return byte('a' + n) //nolint:gosec // n is less than 36
	}
	return byte('0' + n - 26) //nolint:gosec // as above
}
