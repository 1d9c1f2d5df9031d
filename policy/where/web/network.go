package web

import (
	"fmt"
	"net/netip"
	"strings"

	"github.com/clawai/clawai/policy/where"
)

// network is a block of addresses in the notation of RFC 4632, such as 10.0.0.0/8.
type network struct {
	netip.Prefix
	private bool // the internet does not route some addresses of the block, so private names may lead to them
}

// parseNetwork parses a block. The result found is false if the text does not have the form of a
// block.
func parseNetwork(text string) (n network, found bool, err error) {
	addr, bits, slash := strings.Cut(text, "/")
	if _, err := netip.ParseAddr(addr); !slash || err != nil {
		return n, false, nil
	}
	n.Prefix, err = netip.ParsePrefix(text)
	switch {
	case err != nil:
		return n, true, fmt.Errorf("%q is not a network: %q is not a number of bits for this address", text, bits)
	case n.Addr().Is4In6():
		return n, true, fmt.Errorf("%q is IPv4 inside IPv6: write the IPv4 network", text)
	case n.Masked() != n.Prefix:
		return n, true, fmt.Errorf("%q has bits behind its network: write %q, or the address alone", text, n.Masked())
	}
	n.private = overlapsAny(closed4(), n.Prefix) || n.Addr().Is6() && (overlapsAny(closed6(), n.Prefix) || overlapsAny(translated6(), n.Prefix) || n.Bits() < global6.Bits() || !global6.Contains(n.Addr()))
	return n, true, nil
}

func overlapsAny(blocks []netip.Prefix, p netip.Prefix) bool {
	for _, block := range blocks {
		if block.Overlaps(p) {
			return true
		}
	}
	return false
}

var loopback = parsePrefixes("127.0.0.0/8", "::1/128")

// match reports whether a host lies in the block. For a name the answer is never Yes, because match
// asks no name server. It is Maybe if the name has a meaning only on a private network, or if the
// name spells an address.
func (n network) match(h host) where.Match {
	switch {
	case h.Addr.IsValid() && n.Contains(h.Addr):
		return where.Yes
	case h.embedded.IsValid() && n.Contains(h.embedded):
		return where.Maybe
	case h.Addr.IsValid() || !n.private || publicName(h.Name) == where.Yes:
		return where.No
	case h.Name == "localhost" || strings.HasSuffix(h.Name, ".localhost"): // RFC 6761, section 6.3
		return min(where.Maybe, where.MatchOf(overlapsAny(loopback(), n.Prefix)))
	}
	return where.Maybe
}
