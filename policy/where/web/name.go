package web

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/clawai/clawai/policy/where"
)

// judgeReserved gives the domains, with all below them, that are not public: No where the
// name can only mean something on a network of one's own (reserved, or no
// top-level domain at all), Maybe where public name servers answer with an
// address that is not, or with whatever the name says.
func judgeReserved(name string) (v where.Match, listed bool) {
	switch name {
	// Special-use domain names (IANA registry; RFC 6761, 6762, 7686, 8375, 9476).
	case
		"localhost",
		"local",
		"internal", // reserved by ICANN in 2024; metadata.google.internal
		"home.arpa",
		"test",
		"invalid",
		"example",
		"onion",
		"alt":
		return where.No, true
	case
		"arpa": // ipv4only.arpa and the like
		return where.Maybe, true
	// Used on networks of one's own and never delegated (RFC 6762, appendix G;
	// ICANN on name collisions).
	case
		"corp",
		"home",
		"intranet",
		"lan",
		"localdomain",
		"mail",
		"private",
		"router",
		"svc", // Kubernetes
		"consul":
		return where.No, true
	// Metadata of clouds, and what they answer to.
	case
		"metadata.goog",
		"metadata.packet.net",
		"metadata.platformequinix.com",
		"metadata.tencentyun.com",
		"metadata.cloud.ibm.com":
		return where.Maybe, true
	// Routers and private networks that public names lead to.
	case
		"fritz.box",
		"mshome.net",
		"plex.direct",
		"router.asus.com",
		"routerlogin.com",
		"routerlogin.net",
		"tplinkwifi.net",
		"ts.net",
		"tplinklogin.net",
		"burpcollaborator.net":
		return where.Maybe, true
	// Name servers that answer with the address in the name, or with 127.0.0.1.
	case
		"1u.ms",
		"127-0-0-1.org.uk",
		"backname.io",
		"ddev.site",
		"fuf.me",
		"ip6.name",
		"ipq.co",
		"lacolhost.com",
		"lndo.site",
		"local.gd",
		"localdev.me",
		"localho.st",
		"localhost.direct",
		"localtest.me",
		"lvh.me",
		"nip.io",
		"rbndr.us",
		"rebind.it",
		"rebind.network",
		"sslip.io",
		"traefik.me",
		"vcap.me",
		"xip.io",
		"xip.name":
		return where.Maybe, true
	}
	return where.Yes, false
}

// publicName reports whether a name belongs to the public internet. A single label
// means what the machine's search list makes of it, and so does a domain that the
// internet does not have.
func publicName(name string) where.Match {
	for rest, more := name, true; more; _, rest, more = strings.Cut(rest, ".") {
		if v, listed := judgeReserved(rest); listed {
			return v
		}
	}
	dot := strings.LastIndexByte(name, '.')
	if dot < 0 || spellsClosed(name) {
		return where.Maybe
	}
	if _, known := slices.BinarySearch(tlds[:], name[dot+1:]); !known {
		return where.Maybe
	}
	return where.Yes
}

// spellsClosed reports whether a name spells out an IPv4 address that is not public,
// with dots or hyphens, as it does at a name server that answers with what it is
// asked for.
func spellsClosed(name string) bool {
	fields := strings.FieldsFunc(name, func(r rune) bool { return r == '.' || r == '-' })
	for i := range max(0, len(fields)-3) {
		if a, err := netip.ParseAddr(strings.Join(fields[i:i+4], ".")); err == nil && publicAddr(a) != where.Yes {
			return true
		}
	}
	return false
}
