package reading

import (
	"net/netip"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/clawai/clawai/internal/text/textclass"
	"github.com/clawai/clawai/policy/where/authority"
)

// SchemeLen returns the length of the scheme at the beginning of a value (RFC 3986, section 3.1),
// without the colon. It returns 0 if the value has no scheme. A single letter is a drive and not a
// scheme, and words such as "Note: see below" are prose.
func SchemeLen(s string) int {
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case isLetter(c):
		case c == ':' && i > 1:
			rest := s[i+1:]
			if rest == "" || rest[0] != '/' && rest[0] != '\\' && strings.IndexFunc(rest, unicode.IsSpace) >= 0 && !namesHost(s[:i], rest) && !wrapsURL(rest) {
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

// namesHost reports whether programs find a host after a scheme without slashes, as in
// https:host/a. Blanks may follow: http:a b@host.
func namesHost(scheme, rest string) bool {
	_, special := authority.DefaultPort(strings.ToLower(scheme))
	first, _ := utf8.DecodeRuneInString(strings.TrimLeft(rest, "\t\r\n"))
	return special && (strings.IndexByte(rest, '@') >= 0 || !unicode.IsSpace(first))
}

// wrapsURL reports whether rest, the text after a scheme, is another URL, as in
// view-source:https://x; see unwrapURL.
func wrapsURL(rest string) bool {
	for range 4 {
		i := strings.IndexByte(rest, ':')
		if i < 2 || strings.Trim(strings.ToLower(rest[:min(i, 64)]), "abcdefghijklmnopqrstuvwxyz0123456789+-.") != "" {
			return false
		}
		scheme := rest[:i]
		if rest = rest[i+1:]; strings.HasPrefix(rest, "//") || namesHost(scheme, rest) {
			return true
		}
	}
	return false
}

// splitValue splits a value into three parts: the part before the path (a drive, or scheme and
// authority), the path, and in a URI the part after the path (query and fragment).
func splitValue(s string) (head, path, tail string) {
	if HasDrive(s) {
		return s[:2], s[2:], ""
	}
	n := SchemeLen(s)
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

// locatePlace returns the place that a value names, in one plain spelling. It changes a file: URI
// to a path and ~ to the home, and normalises scheme and host of another URL.
func locatePlace(s, home string) string {
	s = unwrapURL(s)
	if IsFile(s) {
		head, path, _ := splitValue(s)
		return filePath(drivePath(head) + path)
	}
	if n := SchemeLen(s); n > 0 {
		return normaliseHost(s, n, `/\?#`)
	}
	return expandHome(s, home)
}

// locatePattern does what locatePlace does, for a glob. In a glob ? is a wildcard and does not
// begin a query.
func locatePattern(p, home string) string {
	p = unwrapURL(p)
	if IsFile(p) {
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
	if n := SchemeLen(p); n > 0 {
		return normaliseHost(p, n, "/")
	}
	return expandHome(p, home)
}

// unwrapURL returns the URL inside another URL, because programs open the inner URL:
// view-source:https://x, jar:file:///x, git+https://x. It also returns the URL inside the brackets
// of RFC 3986, appendix C: <URL:https://x>.
func unwrapURL(s string) string {
	t := s
	if len(t) > 2 && t[0] == '<' && t[len(t)-1] == '>' {
		t = t[1 : len(t)-1]
	}
	for n := SchemeLen(t); n > 0; n = SchemeLen(t) {
		switch {
		case isWeb(t), IsFile(t):
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

// addRootSlash adds the slash of the path to a URL without a path: the host is followed by ?,
// by # or by nothing (RFC 3986, section 6.2.3). It does not change a URL in which a parser
// could find a host after ? or #.
func addRootSlash(s string) string {
	head, path, tail := splitValue(s)
	if path != "" || strings.ContainsAny(tail, `@\`) {
		return s
	}
	return head + "/" + tail
}

// withoutFragment returns a URL without its fragment and without an empty query. Requests do not
// hold a fragment. withoutFragment returns "" if the URL has neither.
func withoutFragment(s string) string {
	if i := strings.IndexByte(s, '#'); i >= 0 {
		return strings.TrimSuffix(s[:i], "?")
	}
	if t, found := strings.CutSuffix(s, "?"); found {
		return t
	}
	return ""
}

// isWeb reports whether a value is a URL with a special scheme (WHATWG URL). Every parser reads the
// scheme and host of such a URL in the same way, in any letter case.
func isWeb(s string) bool {
	_, special := authority.DefaultPort(strings.ToLower(s[:SchemeLen(s)]))
	return special
}

// normaliseHost changes scheme and host to small letters, and removes a default port and the dot at
// the end of the host. The parameter n is the length of the scheme. The parameter ends contains the
// bytes that can end an authority.
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
	if port, special := authority.DefaultPort(scheme); special {
		host = strings.TrimSuffix(host, ":"+port)
	}
	name, port := host, ""
	if i := strings.LastIndexByte(host, ':'); i >= 0 {
		name, port = host[:i], host[i:]
	}
	return scheme + "://" + strings.TrimSuffix(name, ".") + port + path
}

// plainAddress returns an IPv6 address in its canonical form (RFC 5952), or the IPv4 address that
// is mapped in it.
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

// urlRefusal returns the reason why programs may find different hosts in a URL; "" if there is
// none. If the parameter text is true, the value may be text, and then only patterns about URLs
// refuse the value, because templates such as https://{host}/x have odd hosts. With some schemes,
// programs do not connect to the text in the place of the host; this text may be any name.
func urlRefusal(s string) (why string, text bool) {
	n := SchemeLen(s)
	if n == 0 || IsFile(s) {
		return "", false
	}
	special, rest := isWeb(s), s[n+1:]
	if !strings.HasPrefix(rest, "//") || special && (len(rest) == 2 || strings.IndexByte("/?#", rest[2]) >= 0) {
		if special || authority.ConnectsToHost(strings.ToLower(s[:n])) {
			return "URL without a plain // before its host", !special || strings.IndexByte(`/\`, rest[0]) < 0 && strings.ContainsFunc(rest, unicode.IsSpace)
		}
		return "", false
	}
	host, _ := authority.CutAuthority(rest[2:])
	_, doubt := authority.Parse(strings.TrimSuffix(host, ":")) // all parsers read an empty port as the default port
	hard := strings.ContainsAny(host, "\\% \t") || strings.IndexByte(host, '[') >= 0 && strings.IndexByte(host, ']') >= 0
	switch {
	case doubt == authority.Sure:
		return "", false
	case doubt == authority.UserInfo:
		return string(doubt), false
	case hard:
		return string(authority.Odd), false
	case authority.ConnectsToHost(strings.ToLower(s[:n])):
		return string(doubt), doubt == authority.Odd
	case !textclass.IsASCII(host) && !norm.NFKC.IsNormalString(host):
		return string(authority.Odd), true
	}
	return "", false
}

// climbsByEscapes reports whether programs can resolve a path to different places, because some
// decode the path before they follow ".." and others after. Such a path has an escaped separator
// and a "..". A web URL may also have an escaped ".." (WHATWG URL, double-dot path segment) and
// another escape.
func climbsByEscapes(s string) bool {
	if strings.IndexByte(s, '%') < 0 {
		return false
	}
	_, path, _ := splitValue(s)
	path = strings.ToLower(path)
	plain := strings.ReplaceAll(path, "%2e", ".")
	if !hasClimb(plain) {
		return false
	}
	return strings.Contains(path, "%2f") || strings.Contains(path, "%5c") || isWeb(s) && plain != path && strings.IndexByte(plain, '%') >= 0
}

// hasClimb reports whether a path has a segment "..".
func hasClimb(path string) bool {
	for segment := range strings.FieldsFuncSeq(path, func(r rune) bool { return r == '/' || r == '\\' }) {
		if segment == ".." {
			return true
		}
	}
	return false
}
