package policy

import (
	"bytes"
	"net/netip"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// schemeLen is the length of the scheme a value begins with (RFC 3986, section
// 3.1), colon excluded; 0 when there is none. One letter is a drive, and words
// such as "Note: see below" are prose.
func schemeLen(s string) int {
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case isLetter(c):
		case c == ':' && i > 1:
			rest := s[i+1:]
			if rest == "" || rest[0] != '/' && rest[0] != '\\' && strings.IndexFunc(rest, unicode.IsSpace) >= 0 {
				return 0
			}
			return i
		case i > 0 && ('0' <= c && c <= '9' || c == '+' || c == '-' || c == '.'):
		default:
			return 0
		}
	}
	return 0
}

// split cuts a value into what stands before its path (drive, or scheme and
// authority), the path, and what follows it in a URI (query and fragment).
func split(s string) (head, path, tail string) {
	if hasDrive(s) {
		return s[:2], s[2:], ""
	}
	n := schemeLen(s)
	if n == 0 {
		return "", s, ""
	}
	at := n + 1
	if strings.HasPrefix(s[at:], "//") {
		at += 2
		if i := strings.IndexAny(s[at:], `/\?#`); i >= 0 {
			at += i
		} else {
			at = len(s)
		}
	}
	head, path = s[:at], s[at:]
	if i := strings.IndexAny(path, "?#"); i >= 0 {
		path, tail = path[:i], path[i:]
	}
	return head, path, tail
}

// locate gives the place a value names in its one plain spelling: a file: URI
// as its path, ~ as the home, another URL with scheme and host normalised.
func locate(s, home string) string {
	s = unwrap(s)
	if isFile(s) {
		head, path, _ := split(s)
		return filePath(drivePath(head) + path)
	}
	if n := schemeLen(s); n > 0 {
		return normaliseHost(s, n, `/\?#`)
	}
	return expandHome(s, home)
}

// locatePattern is locate for a glob, where ? is a wildcard and no query.
func locatePattern(p, home string) string {
	p = unwrap(p)
	if isFile(p) {
		rest := p[5:]
		if strings.HasPrefix(rest, "//") {
			rest = rest[2:]
			if i := strings.IndexAny(rest, "/*?"); i >= 0 {
				rest = rest[i:]
			} else {
				rest = ""
			}
		}
		return filePath(rest)
	}
	if n := schemeLen(p); n > 0 {
		return normaliseHost(p, n, "/")
	}
	return expandHome(p, home)
}

// unwrap gives the URL inside another one, which is what programs open:
// view-source:https://x, jar:file:///x, git+https://x; and inside the brackets of
// RFC 3986, appendix C: <URL:https://x>.
func unwrap(s string) string {
	t := s
	if len(t) > 2 && t[0] == '<' && t[len(t)-1] == '>' {
		t = t[1 : len(t)-1]
	}
	for n := schemeLen(t); n > 0; n = schemeLen(t) {
		switch {
		case isWeb(t), isFile(t):
			return t
		case strings.HasPrefix(t[n+1:], "//"):
			n = strings.LastIndexByte(t[:n], '+')
			if n < 0 {
				return s
			}
		}
		t = t[n+1:]
	}
	return s
}

// rooted gives a URL whose host ends it, or ends at ? or #, the slash that its
// path has then (RFC 3986, section 6.2.3). What a parser could take for a host
// behind ? or # is not touched.
func rooted(s string) string {
	head, path, tail := split(s)
	if path != "" || strings.ContainsAny(tail, `@\`) {
		return s
	}
	return head + "/" + tail
}

// withoutFragment is a URL as it is asked for: no request holds a fragment. "" when
// there is none.
func withoutFragment(s string) string {
	if i := strings.IndexByte(s, '#'); i >= 0 {
		return strings.TrimSuffix(s[:i], "?")
	}
	if t, found := strings.CutSuffix(s, "?"); found {
		return t
	}
	return ""
}

// defaultPorts lists the schemes whose URLs WHATWG calls special, and the port
// that may be left out.
var defaultPorts = map[string]string{"http": ":80", "https": ":443", "ws": ":80", "wss": ":443", "ftp": ":21"}

// isWeb says whether a value is a URL whose scheme and host every parser reads
// in the same way, whatever their case.
func isWeb(s string) bool {
	_, special := defaultPorts[strings.ToLower(s[:schemeLen(s)])]
	return special
}

// normaliseHost lower-cases scheme and host, and drops a default port and the
// dot that ends a fully qualified name. n is the length of the scheme; ends
// holds the bytes that end an authority.
func normaliseHost(s string, n int, ends string) string {
	scheme, rest := strings.ToLower(s[:n]), s[n+1:]
	if !strings.HasPrefix(rest, "//") {
		return scheme + ":" + rest
	}
	host, path := rest[2:], ""
	if i := strings.IndexAny(host, ends); i >= 0 {
		host, path = host[:i], host[i:]
	}
	host = plainAddress(strings.ToLower(host))
	if port, ok := defaultPorts[scheme]; ok {
		host = strings.TrimSuffix(host, port)
	}
	name, port := host, ""
	if i := strings.LastIndexByte(host, ':'); i >= 0 {
		name, port = host[:i], host[i:]
	}
	return scheme + "://" + strings.TrimSuffix(name, ".") + port + path
}

// plainAddress writes an IPv6 address in one way (RFC 5952), and the IPv4 address
// that it stands for as such.
func plainAddress(host string) string {
	inside, port, found := strings.Cut(host, "]")
	if !found || host[0] != '[' {
		return host
	}
	addr, err := netip.ParseAddr(inside[1:])
	switch {
	case err != nil:
		return host
	case addr.Is4In6():
		return addr.Unmap().String() + port
	}
	return "[" + addr.String() + "]" + port
}

// urlRefusal says why a URL cannot be read in one way by RFC 3986 and by WHATWG
// parsers, or "".
func urlRefusal(s string) string {
	n := schemeLen(s)
	if n == 0 || isFile(s) {
		return ""
	}
	special, rest := isWeb(s), s[n+1:]
	if !strings.HasPrefix(rest, "//") || special && (len(rest) == 2 || rest[2] == '/') {
		if special {
			return "URL without a plain // before its host"
		}
		return ""
	}
	host := rest[2:]
	if i := strings.IndexAny(host, "/?#"); i >= 0 {
		host = host[:i]
	}
	switch {
	case strings.IndexByte(host, '@') >= 0:
		return "user information in a URL"
	case strings.ContainsAny(host, "\\% \t"), oddBrackets(host), splits(host):
		return "host that parsers read differently"
	case special && numberedHost(host):
		return "host that is a number in disguise"
	}
	return ""
}

// oddBrackets says whether brackets stand in a host that is no address alone:
// Python's urlsplit takes what they hold for the host, whatever stands around them.
func oddBrackets(host string) bool {
	if strings.IndexByte(host, '[') < 0 || strings.IndexByte(host, ']') < 0 {
		return false // one alone is an error to all, and a regular expression
	}
	inside, port, _ := strings.Cut(host, "]")
	if inside == "" || inside[0] != '[' || port != "" && port[0] != ':' {
		return true
	}
	_, err := netip.ParseAddr(inside[1:])
	return err != nil || strings.ContainsAny(port, "[]")
}

// maxHost is more than the length of any name (RFC 1035, section 2.3.4), escaped.
const maxHost = 1024

// splits says whether a host holds characters that compatibility normalisation,
// which IDNA begins with, makes a delimiter or a dot of (CVE-2019-9636).
func splits(host string) bool {
	if len(host) > maxHost {
		return !ascii(host)
	}
	for i, r := range host {
		if r == '\u3002' || r >= utf8.RuneSelf && bytes.ContainsAny(norm.NFKC.PropertiesString(host[i:]).Decomposition(), ".:/?#@[]%\\\u3002") {
			return true
		}
	}
	return false
}

// numberedHost says whether a host ends in a number, so that WHATWG parsers
// read an IPv4 address, but is not written as one.
func numberedHost(host string) bool {
	if strings.HasPrefix(host, "[") {
		return false
	}
	name, port, hasPort := strings.Cut(host, ":")
	if hasPort && (strings.Trim(port, "0123456789") != "" || strings.HasPrefix(port, "0")) {
		return true
	}
	name = strings.TrimSuffix(name, ".")
	last := strings.ToLower(name[strings.LastIndexByte(name, '.')+1:])
	if last == "" || strings.Trim(last, "0123456789") != "" && !(strings.HasPrefix(last, "0x") && strings.Trim(last[2:], "0123456789abcdef") == "") {
		return false
	}
	_, err := netip.ParseAddr(name)
	return err != nil
}
