package web

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/clawai/clawai/policy/where"
)

// maxHost is the length of the longest name (RFC 1035, section 2.3.4).
const maxHost = 253

// host is a name, in lower case and without the dot at its end, or an address.
type host struct {
	name     string
	addr     netip.Addr // invalid for a name
	embedded netip.Addr // the IPv4 address inside addr, if there is one
}

func (h host) public() where.Verdict {
	if h.addr.IsValid() {
		return publicAddr(h.addr)
	}
	return publicName(h.name)
}

// parseAuthority reads host and port: false for user information and for
// whatever else two parsers could take apart differently.
func parseAuthority(s string) (host, bool) {
	if inside, found := strings.CutPrefix(s, "["); found {
		text, port, closed := strings.Cut(inside, "]")
		addr, err := netip.ParseAddr(text)
		if !closed || err != nil || !addr.Is6() || addr.Zone() != "" || !isPort(port) {
			return host{}, false
		}
		return addrHost(addr), true
	}
	name, port := s, ""
	if i := strings.IndexByte(s, ':'); i >= 0 {
		name, port = s[:i], s[i:]
	}
	if !isPort(port) {
		return host{}, false
	}
	return parseName(name)
}

// isPort says whether s is a colon and a port in its plain form, or nothing.
func isPort(s string) bool {
	if s == "" {
		return true
	}
	n, err := strconv.ParseUint(s[1:], 10, 16)
	return err == nil && s[0] == ':' && s[1] != '0' && n > 0
}

func addrHost(addr netip.Addr) host {
	return host{name: addr.String(), addr: addr, embedded: embedded(addr)}
}

// parseName reads a dotted quad or a name.
func parseName(s string) (host, bool) {
	name := strings.TrimSuffix(s, ".")
	if name == "" || len(name) > maxHost {
		return host{}, false
	}
	if !isASCII(name) {
		name = unicodeName(name)
	}
	name = strings.ToLower(name)
	last := name
	for rest, more := name, true; more; {
		last, rest, more = strings.Cut(rest, ".")
		if !isLabel(last) {
			return host{}, false
		}
	}
	if !isNumber(last) {
		return host{name: name}, true
	}
	// A name that ends in a number is an address to WHATWG parsers ("ends in a
	// number checker") and to inet_aton, and only one way to write it is the same
	// address to all.
	addr, err := netip.ParseAddr(name)
	if err != nil || name != s {
		return host{}, false
	}
	return addrHost(addr), true
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
	// Punycode of plain ASCII is no name, and plain to what decodes it all the same.
	return !(strings.HasPrefix(s, "xn--") && strings.HasSuffix(s, "-"))
}

func isNumber(label string) bool {
	if hex, found := strings.CutPrefix(label, "0x"); found {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return strings.Trim(label, "0123456789") == ""
}

// unicodeName gives a name that all versions of IDNA map in one way, or "":
// letters and marks that compatibility normalisation leaves alone. Full-width
// and enclosed forms, other digits and the four letters on which IDNA 2003 and
// 2008 differ are none of them (UTS 46, sections 2 and 7).
func unicodeName(s string) string {
	if !norm.NFKC.IsNormalString(s) {
		return ""
	}
	for _, r := range s {
		switch {
		case r < utf8.RuneSelf:
		case strings.ContainsRune("ßẞςİ", r), unicode.Is(unicode.Variation_Selector, r), r == 0x034F,
			unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r),
			!unicode.In(r, unicode.L, unicode.Mn, unicode.Mc):
			return ""
		}
	}
	if lower := strings.ToLower(s); norm.NFKC.IsNormalString(lower) {
		return lower
	}
	return ""
}

func isASCII(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// hostPattern is a glob on hosts in the form hosts are compared in.
func hostPattern(text string) (string, error) {
	name := strings.ToLower(strings.TrimSuffix(text, "."))
	if inside, found := strings.CutPrefix(name, "["); found {
		name = strings.TrimSuffix(inside, "]")
	}
	if addr, err := netip.ParseAddr(name); err == nil && addr.Zone() == "" {
		return addr.String(), nil
	}
	if strings.ContainsAny(name, "/\\@#:[]%") || strings.ContainsFunc(name, oddRune) {
		return "", fmt.Errorf("%q is no host: write the host alone, without scheme, user, port or path", text)
	}
	if !isASCII(name) {
		name = norm.NFKC.String(name)
	}
	return name, nil
}
