package policy

import (
	"cmp"
	"net/netip"
	"strings"
	"unicode"
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

func isFile(s string) bool { return len(s) > 5 && s[4] == ':' && strings.EqualFold(s[:4], "file") }

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
	if isFile(s) {
		_, path, _ := split(s)
		return filePath(path)
	}
	if n := schemeLen(s); n > 0 {
		return normaliseHost(s, n, `/\?#`)
	}
	return expandHome(s, home)
}

// locatePattern is locate for a glob, where ? is a wildcard and no query.
func locatePattern(p, home string) string {
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

// filePath is the path a file: URI stands for: /C:/x is C:/x, and a host alone
// is its root.
func filePath(p string) string {
	if len(p) > 2 && p[0] == '/' && hasDrive(p[1:]) {
		return p[1:]
	}
	return cmp.Or(p, "/")
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
	host = strings.ToLower(host)
	if port, ok := defaultPorts[scheme]; ok {
		host = strings.TrimSuffix(host, port)
	}
	name, port := host, ""
	if i := strings.LastIndexByte(host, ':'); i >= 0 {
		name, port = host[:i], host[i:]
	}
	return scheme + "://" + strings.TrimSuffix(name, ".") + port + path
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
	case strings.ContainsAny(host, "\\% \t") || strings.ContainsAny(host, "\u3002\uff0e\uff61"):
		return "host that parsers read differently"
	case special && numberedHost(host):
		return "host that is a number in disguise"
	}
	return ""
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
