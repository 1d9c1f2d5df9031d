package flow

import (
	"cmp"
	"math"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"
)

// lead is the kind of prefix in front of an address.
type lead byte

const (
	noLead    lead = iota
	schemeOf       // a scheme such as "tel:"; an address of any form follows
	slashesOf      // slashes, with or without a scheme before them; a host of any form follows
)

// maxScheme is longer than any scheme name, in bytes.
const maxScheme = 32

// trimSchemes returns a word without the schemes and slashes in front of an address, and the kind
// of that prefix. A file path, a time and a host with its port have no such prefix.
func trimSchemes(word string) (rest string, by lead) {
	for rest = word; ; {
		if countSlashes(rest) >= 2 {
			rest, by = strings.TrimPrefix(strings.TrimLeft(rest, `/\`), `?\unc\`), slashesOf
			continue
		}
		n := schemeLength(rest)
		if n == 0 {
			break
		}
		if one := countSlashes(rest[n+1:]); rest[:n] == "file" && one != 2 {
			return rest[n+1+max(one-1, 0):], noLead
		} else if one == 1 && browsed[rest[:n]] { // for a browser, "https:/host" is the same as "https://host"
			rest, by = rest[n+2:], slashesOf
			continue
		}
		rest, by = rest[n+1:], max(by, schemeOf)
	}
	if rest == "" {
		return "", noLead
	}
	return rest, by
}

// browsed holds the schemes for which a browser accepts any number of slashes.
var browsed = map[string]bool{"http": true, "https": true, "ws": true, "wss": true, "ftp": true}

// countSlashes counts the slashes and backslashes at the beginning of a word.
func countSlashes(word string) int { return len(word) - len(strings.TrimLeft(word, `/\`)) }

// schemeLength returns the length of the scheme name at the beginning of a word. It returns 0 if
// the word begins with something else: a drive, an IPv6 address, or a host and its port or folder.
func schemeLength(word string) int {
	n := 0
	for n < len(word) && n < maxScheme && (isAlphanumeric(word[n]) || strings.IndexByte("+-.", word[n]) >= 0) {
		n++
	}
	if n < 2 || n+1 >= len(word) || word[n] != ':' || word[0] < 'a' || word[n+1] == ':' {
		return 0
	}
	name, rest := word[:n], word[n+1:]
	if !calls[name] && isPort(rest) || isDotted(name) || isIPv6(word) {
		return 0
	}
	return n
}

// calls holds the schemes of telephone numbers. A number after such a scheme is not a port.
var calls = map[string]bool{"tel": true, "sms": true, "callto": true, "fax": true}

// isPort reports whether a text is a port, or a port and a path.
func isPort(rest string) bool {
	n := 0
	for n < len(rest) && rest[n] >= '0' && rest[n] <= '9' {
		n++
	}
	return n > 0 && n <= 5 && (n == len(rest) || strings.IndexByte(`/?#\`, rest[n]) >= 0)
}

// isService reports whether a number is a usual port of a service. Any other number may be a line
// number or a count.
func isService(port string) bool {
	return len(port) > 3 || port == "80" || port == "443" || port == "22" || port == "21" || port == "25"
}

// parseAddress reports whether a word is an address to which data can be sent: mail, web, account
// or telephone. The parameter by is the kind of prefix that the word had. If more text follows the
// host, the result before is the word up to the end of the host, and the result host is only the
// host. Each of the two results is "" if it would be the same as the word.
func parseAddress(word string, by lead) (before, host string, is bool) {
	end := strings.IndexAny(word, `/?#\`)
	if end < 0 {
		end = len(word)
	}
	before, more := word[:end], end < len(word)
	if name, _, jar := strings.Cut(before, "!"); jar && by == slashesOf { // for example jar:https://host!/file
		before, more = name, true
	}
	if wallet, _, chain := strings.Cut(strings.TrimPrefix(before, "pay-"), "@"); chain && isWallet(wallet) { // a payment address (EIP-681)
		return wallet, "", true
	}
	host = before
	if name, port, ssl := strings.Cut(host, "@ssl"); ssl && by == slashesOf && strings.Trim(port, "@0123456789") == "" { // for example \\host@SSL@443
		host, more = name, true
	}
	user := strings.LastIndexByte(host, '@')
	if host = host[user+1:]; !isIPv6(host) {
		var port bool
		host, _, port = strings.Cut(host, ":")
		more = more || port
	}
	host = strings.TrimRight(host, ".")
	switch {
	case user >= 0 && by != slashesOf && !more: // a mail address
		if isNumbered(host) || isIPv6(host) {
			return "", host, true
		}
		return "", "", host != "" && !isVersion(host)
	case user >= 0 || by == slashesOf || isDotted(host) || isIPv6(host):
		is = true
	case by == schemeOf:
		if before == word {
			before = ""
		}
		return before, "", true
	case strings.Contains(word, "@") && !isVersion(word[strings.LastIndexByte(word, '@')+1:]) || isAccount(word) || isWallet(word):
		return "", "", true
	case host != "" && host[0] >= 'a' && isPort(strings.TrimPrefix(before, host+":")): // for example localhost:8080/x
		if end == len(word) {
			if !isService(word[len(host)+1:]) || files()[host[strings.LastIndexByte(host, '.')+1:]] {
				return "", "", false // for example main.go:12 or error:404
			}
			return "", host, true
		}
		is = true
	}
	if !is {
		return "", "", false
	}
	if before == word {
		before = ""
	}
	if host == word || host == before {
		host = ""
	}
	return before, host, true
}

// findAddressHint returns the index of the first hint of an address in a text, or -1. Hints are an
// @, a digit, two slashes, and a dot or a colon with something after it. A fullwidth letter or mark
// is a hint too. So is the Chinese full stop between plain letters, because browsers read it as a
// dot.
func findAddressHint(text string) int {
	for i := range len(text) {
		switch c := text[i]; {
		case isAlphanumeric(c):
			if c <= '9' {
				return i
			}
		case c == '@', c == 0xef && i+1 < len(text) && (text[i+1] == 0xbc || text[i+1] == 0xbd): // the first two bytes of a fullwidth letter or mark
			return i
		case c == 0xe3 && i > 0 && isAlphanumeric(text[i-1]) && strings.HasPrefix(text[i:], "\u3002"):
			if end := i + len("\u3002"); end < len(text) && isAlphanumeric(text[end]) {
				return i
			}
		case c == '.' || c == ':':
			if i+1 < len(text) && (isAlphanumeric(text[i+1]) || text[i+1] >= utf8.RuneSelf || c == ':' && !isSeparator(rune(text[i+1]))) {
				return i
			}
		case c == '/' || c == '\\':
			if i+1 < len(text) && (text[i+1] == '/' || text[i+1] == '\\') {
				return i
			}
		}
	}
	return -1
}

// visitAddresses visits the addresses in a text. It visits each address three times: word is first
// the whole address, then its beginning up to the end of the host, then only the host. whole stays
// the whole address.
func visitAddresses(text string, visit func(word, whole string)) {
	addressesIn(text, visit, true, false)
}

// visitCarried is like visitAddresses for a text that a call carries. In such a text, it skips a
// word without a scheme that looks like a file's name, a version or a date, although this word may
// be an address.
func visitCarried(text string, visit func(word, whole string)) {
	addressesIn(text, visit, true, true)
}

// addressesIn visits the addresses in a text. If further is true, it also visits the addresses in
// the plain forms of each word. carried means that the text is one that a call carries, as for
// visitCarried.
func addressesIn(text string, see func(word, whole string), further, carried bool) {
	visit := func(word, whole string) {
		if carried && isCompactDate(strings.TrimPrefix(word, "-")) {
			return
		}
		see(word, whole)
		if isIPv6(word) {
			if plain := netip.MustParseAddr(word).Unmap().WithZone("").String(); plain != word { // one address has several spellings
				see(plain, whole)
			}
		}
		if plain := plainHost(word); plain != word {
			see(plain, whole)
		}
	}
	all := splitWords(text)
	whole := all.rest
	login, searched := false, false
	rowEnd := math.MaxInt // length of the text after the last row of digits
	for i := findAddressHint(all.rest); i >= 0; i = findAddressHint(all.rest) {
		if before := strings.LastIndexFunc(all.rest[:i], isSeparator); before >= 0 {
			_, size := startsSeparator(all.rest[before:])
			all.rest = all.rest[before+size:]
		}
		from := all.rest
		word := all.nextWord()
		before, host, is := parseAddress(word, all.lead)
		if is && (!carried || all.lead != noLead || !isFileName(word)) {
			visit(word, word)
			if before != "" {
				visit(before, word)
			}
			if plain := plainIPv4(cmp.Or(host, before, word)); plain != "" && all.lead == slashesOf {
				visit(plain, word)
			}
			if host != "" {
				visit(host, word)
			} else if user, at, mail := strings.Cut(word, "@"); mail && user != "" {
				if !searched && len(word) < len(whole) { // the search is slow, and most texts have no address or are one address
					login, searched = loginPrograms().MatchString(whole), true
				}
				if login { // for example ssh ana@host
					visit(at, word)
				}
			}
		}
		addressesBeside(word, carried, func(address string, mail bool) {
			switch {
			case address == word:
			case mail:
				visit(address, address)
			default:
				visit(address, word)
			}
		})
		if further {
			visitPlainForms(word, func(plain string) {
				addressesIn(plain, func(address, _ string) { see(address, word) }, false, carried)
			})
		}
		read := from[:len(from)-len(all.rest)]
		rowEnd = numbersIn(whole, from, len(read), rowEnd, func(number string) { visit(number, number) })
		start := strings.LastIndexByte(read, ':') + 1
		if start += strings.IndexFunc(read[start:]+"a", func(r rune) bool { return r < utf8.RuneSelf && isAlphanumeric(byte(r)) }); isAccountStart(read[start:]) {
			spacedAccount(from[start:], func(number string) { visit(number, number) })
		}
	}
}

// loginPrograms matches programs for which "ana@host" is not a mail address, but a user and the
// host to log in to.
var loginPrograms = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\b(?:ssh|scp|sftp|autossh|sshfs|ssh-copy-id|mosh|rsync|rsh|rlogin|dbclient)\b`)
})

// isFileName reports whether a word has the form of a file's name. A host's name can have the same
// form. A line number or a heading may follow the name.
func isFileName(word string) bool {
	word, _, _ = strings.Cut(word, "#")
	if name, line, is := strings.Cut(word, ":"); is && isPort(line) && !isService(line) {
		word = name
	}
	dot := strings.LastIndexByte(word, '.')
	return dot > 0 && !strings.ContainsAny(word, `/?@:\`) && fileEndings()[word[dot+1:]] && !strings.HasPrefix(word, "www.")
}

// fileEndings are file name endings that are also top-level domains.
var fileEndings = sync.OnceValue(func() map[string]bool {
	return setOf("md py sh rs pl pm cc mm so tf zip mov ps mk java app")
})

// isVersion reports whether the text after the @ of a word is the version of a package or of an
// action. Examples are react@18, checkout@v4 and checkout@8f4b7f8.
func isVersion(text string) bool {
	if isNumbered(text) {
		return false
	}
	text = strings.TrimLeft(text, "^~v")
	number := text
	if end := strings.IndexFunc(text, func(r rune) bool { return r != '.' && (r < '0' || r > '9') }); end >= 0 {
		number = text[:end]
		if tail := strings.TrimLeft(text[end:], "-+"); tail == text[end:] && !slices.ContainsFunc(preReleases[:], func(p string) bool { return strings.HasPrefix(tail, p) }) {
			number = ""
		}
	}
	return strings.Trim(number, ".") != "" && !isDotted(text) || slices.Contains(versionTags[:], text) || len(text) >= 7 && strings.Trim(text, "0123456789abcdef") == ""
}

var (
	preReleases = [...]string{"rc", "alpha", "beta", "a", "b", "x"}
	versionTags = [...]string{"latest", "next", "beta", "canary", "main", "master"}
)

// isCompactDate reports whether digits are a date without separators, with or without a time:
// 20261130, 20261130091422.
func isCompactDate(digits string) bool {
	if n := len(digits); n != 8 && n != 12 && n != 14 || strings.Trim(digits, "0123456789") != "" {
		return false
	}
	_, err := time.Parse("20060102150405"[:len(digits)], digits)
	return err == nil && (digits[:2] == "19" || digits[:2] == "20")
}

// files holds file name endings that are not top-level domains.
var files = sync.OnceValue(func() map[string]bool {
	return setOf(`txt pdf doc docx xls xlsx ppt pptx odt ods csv tsv json jsonl ndjson xml html htm xhtml yaml yml toml ini cfg conf env log lock
	png jpg jpeg gif svg webp ico bmp mp3 mp4 wav ogg ttf otf woff woff2 css scss sass less
	go js mjs cjs jsx ts mts cts tsx vue svelte php rb kt kts swift scala clj cljs hs exs erl lua dart cpp hpp cxx hxx cs fs vb sql graphql proto
	bat cmd ps1 bash zsh vim el gradle cmake bazel nix sum mod tmpl tpl hbs ejs rst tex bib ipynb diff patch orig bak tmp old
	tar gz tgz bz2 xz zst jar war whl deb rpm exe dll dylib wasm db sqlite parquet pem crt csr`)
})

// isDotted reports whether a word has the form of a host name with a domain, or of a numeric
// address.
func isDotted(word string) bool {
	i := strings.LastIndexByte(word, '.')
	if i <= 0 {
		return false
	}
	last := word[i+1:]
	if strings.HasPrefix(last, "xn--") {
		return true
	}
	if utf8.RuneCountInString(last) < 2 || files()[last] {
		return isNumbered(word)
	}
	for _, r := range last {
		if !unicode.IsLetter(r) && !unicode.IsMark(r) {
			return isNumbered(word)
		}
	}
	return true
}

// plainIPv4 returns the usual spelling of an IPv4 address if host is one of its other spellings
// that programs read: 3221225991, 0xc0000207, 0300.0.2.7, 192.0.519. It returns "" for any other
// host.
func plainIPv4(host string) string {
	parts := strings.Split(host, ".")
	if host == "" || host[0] > '9' || len(parts) > 4 {
		return ""
	}
	var address uint64
	for i, part := range parts {
		n, err := strconv.ParseUint(part, 0, 32)
		last := i == len(parts)-1
		if err != nil || !last && n > 0xff || last && n>>(8*(5-len(parts))) > 0 {
			return ""
		}
		if last {
			address |= n
		} else {
			address |= n << (8 * (3 - i))
		}
	}
	plain := netip.AddrFrom4([4]byte{byte(address >> 24), byte(address >> 16), byte(address >> 8), byte(address)}).String()
	if plain == host {
		return ""
	}
	return plain
}

func isNumbered(word string) bool {
	n, digits := countLetters(word)
	return digits && strings.Count(word, ".") == 3 && n >= 4
}

func isIPv6(word string) bool {
	const longest = 64 // length of the longest address, with a zone
	if len(word) > longest || strings.Count(word, ":") < 2 {
		return false
	}
	_, err := netip.ParseAddr(word)
	return err == nil
}
