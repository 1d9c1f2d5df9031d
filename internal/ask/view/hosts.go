package view

import (
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Reasons why an address needs care.
const (
	whyLoopback = "reaches a service of this machine"
	whyMetadata = "reaches the cloud's metadata service, which holds credentials"
	whyPrivate  = "reaches a private network"
	whyUserinfo = "names an address that hides its host behind @"
)

// hostNames are names of hosts that need care, whatever their address is. A dot at the start stands
// for all subdomains.
var hostNames = []struct{ name, why string }{
	{"localhost", whyLoopback}, {".localhost", whyLoopback}, {"ip6-localhost", whyLoopback}, {".localtest.me", whyLoopback}, {"lvh.me", whyLoopback},
	{"host.docker.internal", whyLoopback}, {"gateway.docker.internal", whyLoopback},
	{"metadata", whyMetadata}, {"metadata.google.internal", whyMetadata}, {"instance-data", whyMetadata}, {"metadata.azure.com", whyMetadata},
	{".internal", whyPrivate}, {".local", whyPrivate}, {".lan", whyPrivate}, {".intranet", whyPrivate}, {".corp", whyPrivate}, {".home.arpa", whyPrivate},
	{".svc", whyPrivate}, {".nip.io", whyPrivate}, {".sslip.io", whyPrivate},
}

var metadataAddresses = []string{"169.254.169.254", "169.254.170.2", "100.100.100.200", "192.0.0.192", "fd00:ec2::254"}

// hostOf returns the host in an argument. The argument is an address or only a host. userinfo is
// true if the argument is an address with text before an @.
func hostOf(key, s string) (host string, userinfo bool) {
	if len(s) > maxName {
		return "", false
	}
	s = strings.TrimSpace(s)
	scheme, rest, found := strings.Cut(s, "://")
	if !found || strings.ContainsAny(scheme, " /?#") {
		if key == "" || strings.ContainsAny(s, " \n") {
			return "", false
		}
		rest = s
	}
	rest = strings.ReplaceAll(rest, `\`, "/")
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		rest = rest[:i]
	}
	if i := strings.LastIndexByte(rest, '@'); i >= 0 {
		rest, userinfo = rest[i+1:], found
	}
	if decoded, err := url.PathUnescape(rest); err == nil {
		rest = decoded
	}
	return strings.ToLower(rest), userinfo
}

// dangerousHost returns the reason why a host needs care; "" for other hosts. The host may have a
// port.
func dangerousHost(host string) string {
	if a, ok := parseAddress(host); ok {
		switch a = a.Unmap(); {
		case isMetadata(a):
			return whyMetadata
		case a.IsLoopback(), a.IsUnspecified():
			return whyLoopback
		case a.IsPrivate(), a.IsLinkLocalUnicast():
			return whyPrivate
		}
		return ""
	}
	if name, port, found := strings.Cut(host, ":"); found && strings.Trim(port, "0123456789") == "" {
		host = name
	}
	host = strings.TrimSuffix(host, ".")
	for _, h := range hostNames {
		if host == h.name || h.name[0] == '.' && strings.HasSuffix(host, h.name) {
			return h.why
		}
	}
	return ""
}

func isMetadata(a netip.Addr) bool {
	return slices.ContainsFunc(metadataAddresses, func(s string) bool { return a == netip.MustParseAddr(s) })
}

// parseAddress parses an IP address in every form that the system's resolver accepts (inet_aton):
// 127.1, 0x7f000001, 017700000001.
func parseAddress(host string) (netip.Addr, bool) {
	if ap, err := netip.ParseAddrPort(host); err == nil {
		return ap.Addr(), true
	}
	if a, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil {
		return a.WithZone(""), true
	}
	if name, port, found := strings.Cut(host, ":"); found && port != "" && strings.Trim(port, "0123456789") == "" {
		host = name
	}
	parts := strings.Split(strings.TrimSuffix(host, "."), ".")
	if len(parts) > 4 {
		return netip.Addr{}, false
	}
	var v uint64
	for i, part := range parts {
		n, err := strconv.ParseUint(part, 0, 32)
		last := i == len(parts)-1
		if err != nil || part[0] == '_' || strings.ContainsAny(part, "bBoO_") && !strings.HasPrefix(strings.ToLower(part), "0x") || !last && n > 255 {
			return netip.Addr{}, false
		}
		if last {
			v |= n
		} else {
			v |= n << (24 - 8*i)
		}
	}
	return netip.AddrFrom4([4]byte{byte(v >> 24), byte(v >> 16), byte(v >> 8), byte(v)}), true
}
