package flow

import (
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// maxHost is longer than any host name, in bytes.
const maxHost = 256

// addressesBeside visits the addresses inside a word that has other text around them. Examples are
// a text after "to=" or "?u=https://", or letters of a language that writes no blanks. mail is true
// for a mail address, which is always visited as a whole. carried means that the word is from a
// text that a call carries.
func addressesBeside(word string, carried bool, visit func(address string, mail bool)) {
	for i := 0; i < len(word); i++ {
		switch word[i] {
		case '@':
			mailAt(word, i, func(address string) { visit(address, true) })
		case '/', '\\':
			n := countSlashes(word[i:])
			if n >= 2 && i > 0 {
				hostBehind(word[i+n:], word[i-1] == ':', func(host string) { visit(host, false) })
			}
			i += n - 1
		}
	}
	numbersBeside(word, func(number string) { visit(number, false) })
	for from := 0; from < len(word); {
		end, size := from, 0
		for end < len(word) {
			var stands bool
			if stands, size = standsBeside(word[end:]); stands {
				break
			}
			end += size
		}
		part, by := plainWord(strings.Trim(word[from:end], "-_$+&%~^"))
		if part != word && part != "" {
			before, host, is := parseAddress(part, by)
			is = is && (!carried || by != noLead || !isFileName(part))
			for _, one := range [...]string{part, before, host} {
				if is && one != "" {
					visit(one, false)
				}
			}
		}
		from = end + size
		if end == len(word) {
			break
		}
	}
}

// numbersBeside visits the account numbers and wallet addresses in a word that has more text before
// or after them, such as "iban-", "to_" or a path.
func numbersBeside(word string, visit func(address string)) {
	if _, account, named := strings.Cut(word, "iban"); named {
		account = strings.TrimLeft(account, "-_./:#")
		if end := strings.IndexFunc(account, isOther); end >= 0 {
			account = account[:end]
		}
		if isAccount(account) {
			visit(account)
		}
	}
	for part := range strings.FieldsFuncSeq(word, isOther) {
		if isWallet(part) {
			visit(part)
		}
	}
}

// isOther reports whether a character is not a plain letter or digit.
func isOther(r rune) bool { return r >= utf8.RuneSelf || !isAlphanumeric(byte(r)) }

// mailAt visits the mail address around an @ in a word.
func mailAt(word string, at int, visit func(address string)) {
	from := at
	for from > 0 && at-from < maxHost && (isAlphanumeric(word[from-1]) || strings.IndexByte(".-_+", word[from-1]) >= 0) {
		from--
	}
	end := at + 1 + hostLength(word[at+1:])
	host := strings.TrimRight(word[at+1:end], ".-")
	if from == at || !isDotted(host) {
		return
	}
	visit(word[from : at+1+len(host)])
	if name := strings.TrimLeft(word[from:at], ".-_+"); name != "" && len(name) < at-from {
		visit(name + "@" + host)
	}
}

// hostLength returns how many bytes at the beginning of a text can belong to a host: plain letters,
// digits and the marks of host names.
func hostLength(text string) int {
	n := 0
	for n < len(text) && n < maxHost && (isAlphanumeric(text[n]) || text[n] == '.' || text[n] == '-') {
		n++
	}
	return n
}

// hostBehind visits the host at the beginning of a text that follows slashes. The parameter led
// means that the slashes follow a scheme. Without a scheme, hostBehind visits a host only if it has
// a domain.
func hostBehind(text string, led bool, visit func(host string)) {
	end := min(len(text), maxHost)
	if i := strings.IndexAny(text[:end], `/?#\`); i >= 0 {
		end = i
	}
	host := text[strings.LastIndexByte(text[:end], '@')+1 : end]
	if !isIPv6(host) {
		host, _, _ = strings.Cut(host, ":")
	}
	if host = plainEnd(host); host != "" && (led || isDotted(host)) {
		visit(host)
		if plain := plainIPv4(host); plain != "" {
			visit(plain)
		}
	}
	if plain := plainEnd(host[:hostLength(host)]); plain != host && isDotted(plain) {
		visit(plain)
	}
}

// plainEnd returns a host without the punctuation that follows it in a sentence.
func plainEnd(host string) string {
	return strings.TrimRightFunc(host, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r)
	})
}

// standsBeside reports whether a text begins with a character that can stand next to an address,
// but never in one. It also returns the length of the first character.
func standsBeside(text string) (is bool, size int) {
	if c := text[0]; c < utf8.RuneSelf {
		return strings.IndexByte("=&+~^", c) >= 0, 1
	}
	r, size := utf8.DecodeRuneInString(text)
	return !unicode.In(r, unicode.L, unicode.M, unicode.N) ||
		unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai), size
}

// visitPlainForms visits the plain forms of a word. Each form has one more level of escapes
// decoded. A "+" also counts as a blank, as in the query of a web address.
func visitPlainForms(word string, visit func(plain string)) {
	forms := func(word string) {
		for range maxReadings {
			plain := plainForm(word)
			if plain == "" {
				return
			}
			visit(plain)
			word = plain
		}
	}
	forms(word)
	if query := strings.IndexAny(word, "?=&"); query >= 0 && strings.IndexByte(word[query:], '+') >= 0 {
		spaced := word[:query] + strings.ReplaceAll(word[query:], "+", " ")
		visit(spaced)
		forms(spaced)
	}
}

// dotted replaces the Chinese full stop by a dot, as browsers do.
var dotted = strings.NewReplacer("\u3002", ".")

// plainForm returns a word as a reader sees it: with percent escapes decoded, wide letters made
// plain, and invisible characters removed. It returns "" if the word stays the same.
func plainForm(word string) (plain string) {
	if len(word) > maxWord {
		return ""
	}
	plain = word
	if strings.IndexByte(word, '%') >= 0 {
		if text, err := url.PathUnescape(word); err == nil {
			plain = strings.ToValidUTF8(text, "\ufffd")
		}
	}
	if !isPlainASCII(plain) {
		plain = dotted.Replace(norm.NFKC.String(foldForms(plain)))
	}
	if plain = strings.ToLower(plain); plain == word {
		return ""
	}
	return plain
}
