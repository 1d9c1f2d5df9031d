// Package authority reads the host of a URL (RFC 3986, section 3.2), for globs and for constraints.
// Programs do not agree on the host of a URL: a browser (the WHATWG URL standard), a library and
// curl can connect to different hosts for the same text, and attackers use this to bypass filters
// (Orange Tsai, "A New Era of SSRF", Black Hat USA 2017). So this package accepts fewer texts than
// any of these programs. All programs find the same host in a text that it accepts. For any other
// text it returns the reason of the doubt. The package is pure.
package authority

import (
	"net/netip"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/clawai/clawai/internal/text/textclass"
)

// MaxName is the length of the longest name (RFC 1035, section 2.3.4).
const MaxName = 253

// Host is a name, in lower case and without a final dot, or an address in its
// canonical form (RFC 5952), without brackets.
type Host struct {
	Name string
	Addr netip.Addr // the zero Addr, which is not valid, if the host is a name
}

// Doubt is the reason why parsers may find different hosts; "" if all parsers find the same host.
type Doubt string

// The possible doubts.
const (
	Sure     Doubt = ""
	UserInfo Doubt = "user information in a URL"
	Number   Doubt = "host that is a number in disguise"
	Port     Doubt = "port that parsers read differently"
	Odd      Doubt = "host that parsers read differently"
)

// CutAuthority splits the text after the two slashes of a URL into the authority and
// the rest (RFC 3986, section 3.2).
func CutAuthority(after string) (authority, tail string) {
	if i := strings.IndexAny(after, "/?#"); i >= 0 {
		return after[:i], after[i:]
	}
	return after, ""
}

// Parse reads an authority: a host, and an optional port.
func Parse(s string) (Host, Doubt) {
	if strings.IndexByte(s, '@') >= 0 {
		return Host{}, UserInfo
	}
	if inside, found := strings.CutPrefix(s, "["); found {
		text, port, closed := strings.Cut(inside, "]")
		addr, err := netip.ParseAddr(text)
		if !closed || err != nil || !addr.Is6() || addr.Zone() != "" {
			return Host{}, Odd
		}
		return Host{addr.String(), addr}, checkPort(port)
	}
	name, port := s, ""
	if i := strings.IndexByte(s, ':'); i >= 0 {
		name, port = s[:i], s[i:]
	}
	h, doubt := parseName(name)
	if doubt == Sure {
		doubt = checkPort(port)
	}
	return h, doubt
}

// checkPort accepts a colon with a port in plain form, or an empty text.
func checkPort(s string) Doubt {
	if s == "" {
		return Sure
	}
	n, err := strconv.ParseUint(s[1:], 10, 16)
	if err != nil || s[0] != ':' || s[1] == '0' || n == 0 {
		return Port
	}
	return Sure
}

// parseName reads a dotted quad or a name.
func parseName(s string) (Host, Doubt) {
	name := strings.TrimSuffix(s, ".")
	if name == "" || len(name) > MaxName {
		return Host{}, Odd
	}
	if !textclass.IsASCII(name) {
		name = unicodeName(name)
	}
	name = strings.ToLower(name)
	last := name
	for rest, more := name, true; more; {
		last, rest, more = strings.Cut(rest, ".")
		if !isLabel(last) {
			return Host{}, Odd
		}
	}
	if !isNumber(last) {
		return Host{Name: name}, Sure
	}
	// WHATWG parsers ("ends in a number checker") and inet_aton read a name that ends in a number
	// as an address. Only the dotted quad is the same address for all parsers.
	addr, err := netip.ParseAddr(name)
	if err != nil || name != s {
		return Host{}, Number
	}
	return Host{addr.String(), addr}, Sure
}

func isLabel(s string) bool {
	if s == "" || len(s) > 63 {
		return false
	}
	for i := 0; i < len(s); i++ {
		c := s[i]
		if !('a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '-' || c == '_' || c >= utf8.RuneSelf) {
			return false
		}
	}
	// Punycode of plain ASCII is not a valid name, but decoders still decode it.
	return !(strings.HasPrefix(s, "xn--") && strings.HasSuffix(s, "-"))
}

func isNumber(label string) bool {
	if hex, found := strings.CutPrefix(label, "0x"); found {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return strings.Trim(label, "0123456789") == ""
}

// unicodeName returns s in small letters if all versions of IDNA map s in the same way, otherwise
// "". Outside ASCII, s may have only letters and marks that compatibility normalisation (NFKC) does
// not change. Full-width and enclosed forms, other digits, invisible characters, and ß, ẞ, ς and İ
// are excluded (UTS 46, sections 2 and 7).
func unicodeName(s string) string {
	if !norm.NFKC.IsNormalString(s) {
		return ""
	}
	for _, r := range s {
		switch {
		case r < utf8.RuneSelf:
		case strings.ContainsRune("ßẞςİ", r), textclass.Ignorable.HasRune(r), !unicode.In(r, unicode.L, unicode.Mn, unicode.Mc):
			return ""
		}
	}
	if lower := strings.ToLower(s); norm.NFKC.IsNormalString(lower) {
		return lower
	}
	return ""
}
