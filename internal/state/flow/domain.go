package flow

import (
	"slices"
	"strings"
)

// Whoever has a domain has every host in it: a stranger's evil.example is also behind
// "your-data.evil.example", and www.evil.example is the same host to people. So beside each address
// of a stranger its domain is marked, and the hosts and mail addresses of a call are compared by
// their domains, too. This only finds more: what the user names counts as it is written.
//
// golang.org/x/net/publicsuffix knows for each ending where domains begin, but it links net/http
// into the hook. Here a domain is the last two names of a host, and the last three below the
// endings of countries that are made so (co.uk).

// domainOf returns the domain of a host or a mail address; "" for any other word. mail reports
// whether it is that of a mail address.
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
	names := strings.Split(host, ".")
	n := 2
	if len(names) > 2 && len(names[len(names)-1]) == 2 && slices.Contains(belowCountries[:], names[len(names)-2]) {
		n = 3
	}
	return strings.Join(names[max(0, len(names)-n):], "."), mail
}

// belowCountries are the names below the endings of countries under which domains are registered:
// co.uk, com.au, or.jp.
var belowCountries = [...]string{"co", "com", "org", "net", "edu", "gov", "ac", "or", "ne", "go", "gob", "gouv"}

// The marks of domains: of a host, and of a mail address alone.
const (
	domainOfHost = "*."
	domainOfMail = "@."
)

// domainMark returns the text that is marked for the domain of a stranger's address; "" for none.
func domainMark(word string) string {
	switch domain, mail := domainOf(word); {
	case domain == "":
		return ""
	case mail:
		return domainOfMail + domain
	default:
		return domainOfHost + domain
	}
}

// foreignDomain returns the mark by which the domain of an address is one that others wrote; "" if
// it is not, or if the user named the domain. Everybody may have a mailbox at the host of somebody
// else's mailbox, so that mail addresses are not compared with each other's.
func (k *known) foreignDomain(word string) string {
	domain, mail := domainOf(word)
	if domain == "" || k.isMentioned(domain) || k.isMentioned("www."+domain) {
		return ""
	}
	for _, of := range [...]string{domainOfHost, domainOfMail} {
		if of == domainOfMail && mail {
			continue
		}
		if hasMark(k.results, oddWord, []byte(of+domain)) {
			return of + domain
		}
	}
	return ""
}
