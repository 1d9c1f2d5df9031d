package flow

import (
	"slices"
	"strings"
	"sync"
)

// The owner of a domain controls every host in it. If a stranger owns evil.example, the stranger
// also gets the data that is sent to "your-data.evil.example". So for each address that a stranger
// wrote, the domain is marked too. The hosts and mail addresses of a call are also compared by
// their domains. This can only add questions.
//
// golang.org/x/net/publicsuffix knows for each ending where domains begin, but it would link
// net/http into the hook. Here a domain is the last two names of a host; the last three if the host
// ends like co.uk.

// domainOf returns the domain of a host or a mail address; "" for any other word. mail reports
// whether the word is a mail address.
func domainOf(word string) (domain string, mail bool) {
	if len(word) > maxHost || strings.ContainsAny(word, `/?#\:`) {
		return "", false
	}
	host := word
	if at := strings.LastIndexByte(word, '@'); at >= 0 {
		host, mail = word[at+1:], true
	}
	host = strings.TrimRight(host, ".")
	if !isDotted(host) || isNumbered(host) {
		return "", false
	}
	last := strings.LastIndexByte(host, '.')
	start := strings.LastIndexByte(host[:last], '.') + 1
	if start > 0 && len(host)-last == len(".uk") && slices.Contains(belowCountries[:], host[start:last]) {
		start = strings.LastIndexByte(host[:start-1], '.') + 1
	}
	return host[start:], mail
}

// belowCountries are names that may stand between a domain and the ending of a country, such as the
// co of co.uk, the com of com.au, and the or of or.jp.
var belowCountries = [...]string{"co", "com", "org", "net", "edu", "gov", "ac", "or", "ne", "go", "gob", "gouv"}

// domainMark returns the text that is hashed to remember the domain of an address, such as
// *.example.org. It returns "" if there is no domain, or for a mail address in a domain that
// everybody shares (gmail.com).
func domainMark(word string) string {
	domain, mail := domainOf(word)
	if domain == "" || mail && shared()[domain] {
		return ""
	}
	return "*." + domain
}

// shared are domains in which everybody may have a mailbox. The owners of two addresses in such a
// domain have nothing in common.
var shared = sync.OnceValue(func() map[string]bool {
	return setOf(`gmail.com googlemail.com outlook.com hotmail.com live.com msn.com yahoo.com ymail.com icloud.com me.com mac.com aol.com gmx.de gmx.net gmx.com
	web.de t-online.de proton.me protonmail.com mail.com mail.ru yandex.ru qq.com 163.com 126.com zoho.com fastmail.com orange.fr free.fr laposte.net libero.it naver.com`)
})

// foreignDomain returns the domainMark of an address if others have written an address in that
// domain and the user has not. Otherwise it returns "".
func (k *known) foreignDomain(word string) string {
	if domain := domainMark(word); domain != "" && hasMark(k.results, oddWord, []byte(domain)) && !k.isMentioned(domain) {
		return domain
	}
	return ""
}
