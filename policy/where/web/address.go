package web

import (
	"net/netip"
	"sync"

	"github.com/clawai/clawai/policy/where"
)

// closed4 holds the blocks that the internet does not route, or does not route to a single host:
// the IANA special-purpose registries (RFC 6890, as of 2025), with multicast (RFC 5771) and the
// future class E (RFC 1112).
var closed4 = parsePrefixes(
	"0.0.0.0/8",        // this network
	"10.0.0.0/8",       // private (RFC 1918)
	"100.64.0.0/10",    // shared by carriers (RFC 6598); a cloud's metadata at 100.100.100.200
	"127.0.0.0/8",      // loopback
	"169.254.0.0/16",   // link-local; metadata of most clouds at 169.254.169.254
	"172.16.0.0/12",    // private
	"192.0.0.0/24",     // protocol assignments; a cloud's metadata at 192.0.0.192
	"192.0.2.0/24",     // documentation
	"192.88.99.0/24",   // relays of 6to4, withdrawn (RFC 7526)
	"192.168.0.0/16",   // private
	"198.18.0.0/15",    // benchmarks
	"198.51.100.0/24",  // documentation
	"203.0.113.0/24",   // documentation
	"224.0.0.0/4",      // multicast
	"240.0.0.0/4",      // reserved, and broadcast
	"168.63.129.16/32", // the host of a virtual machine at Azure
)

// global6 is the range that is assigned to hosts of the internet (RFC 4291, section
// 2.4, and the IANA IPv6 address space).
var global6 = netip.MustParsePrefix("2000::/3")

var closed6 = parsePrefixes(
	"2001:db8::/32", // documentation
	"3fff::/20",     // documentation (RFC 9637)
)

// translated6 holds the blocks in which an address stands for another address, or has a special
// purpose in a protocol. Only the network knows where such an address leads.
var translated6 = parsePrefixes(
	"64:ff9b::/96",   // NAT64 (RFC 6052)
	"64:ff9b:1::/48", // NAT64, local (RFC 8215)
	"2001::/23",      // Teredo (RFC 4380), ORCHID and other assignments
	"2002::/16",      // 6to4 (RFC 3056)
)

// parsePrefixes parses the blocks on first use, because most calls hold no URL.
func parsePrefixes(texts ...string) func() []netip.Prefix {
	return sync.OnceValue(func() []netip.Prefix {
		all := make([]netip.Prefix, len(texts))
		for i, text := range texts {
			all[i] = netip.MustParsePrefix(text)
		}
		return all
	})
}

func containsAddr(blocks []netip.Prefix, a netip.Addr) bool {
	for _, block := range blocks {
		if block.Contains(a) {
			return true
		}
	}
	return false
}

// IsPublicAddr reports whether an address certainly belongs to the public internet.
func IsPublicAddr(a netip.Addr) bool { return publicAddr(a) == where.Yes }

// publicAddr reports whether an address belongs to the public internet.
func publicAddr(a netip.Addr) where.Match {
	a = a.Unmap()
	switch {
	case a.Is4():
		return where.MatchOf(!containsAddr(closed4(), a))
	case containsAddr(translated6(), a):
		if inner := embeddedIPv4(a); inner.IsValid() {
			return min(publicAddr(inner), where.Maybe)
		}
		return where.Maybe
	case !global6.Contains(a), containsAddr(closed6(), a):
		return where.No
	case embeddedIPv4(a).IsValid(): // ISATAP
		return where.Maybe
	}
	return where.Yes
}

// embeddedIPv4 returns the IPv4 address inside an IPv6 address, or the zero Addr if there is none.
// Some networks extract the IPv4 address and send to it.
func embeddedIPv4(a netip.Addr) (inner netip.Addr) {
	if !a.Is6() {
		return inner
	}
	b := a.As16()
	at := -1
	switch {
	case a.Is4In6(), translated6()[0].Contains(a): // ::ffff:0:0/96, 64:ff9b::/96
		at = 12
	case allZeros(b[:12]) && !allZeros(b[12:15]): // IPv4-compatible (RFC 4291, section 2.5.5.1)
		at = 12
	case b[0] == 0x20 && b[1] == 0x02: // 6to4
		at = 2
	case b[8]&^2 == 0 && b[9] == 0 && b[10] == 0x5E && b[11] == 0xFE: // ISATAP (RFC 5214, section 6.1)
		at = 12
	case b[0] == 0x20 && b[1] == 0x01 && allZeros(b[2:4]): // Teredo: the address of the client with all bits inverted
		return netip.AddrFrom4([4]byte{^b[12], ^b[13], ^b[14], ^b[15]})
	}
	if at < 0 {
		return inner
	}
	return netip.AddrFrom4([4]byte(b[at : at+4]))
}

func allZeros(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}
