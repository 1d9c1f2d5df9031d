package web

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/clawai/clawai/policy/where"
)

// judgeReserved looks up a name among the domains that are not public. publicName calls it also for
// the parents of a name. judgeReserved returns No for a name that has a meaning only on a private
// network: a reserved name, or a name without an existing top-level domain. It returns Maybe for a
// name if public name servers return a private address for it, or return the address that the name
// itself spells.
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
	// Names of private networks that will never be top-level domains (RFC 6762, appendix G; ICANN
	// on name collisions).
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
	// Names of the metadata services of clouds.
	case
		"metadata.goog",
		"metadata.packet.net",
		"metadata.platformequinix.com",
		"metadata.tencentyun.com",
		"metadata.cloud.ibm.com":
		return where.Maybe, true
	// Public names that lead to routers and private networks.
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
	// Domains whose name servers return the address that is written in the name, or 127.0.0.1.
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

// publicName reports whether a name belongs to the public internet. For a single label the answer
// depends on the machine's search list. The same is true for a name whose top-level domain does not
// exist.
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

// spellsClosed reports whether a name spells a private IPv4 address with dots or
// hyphens. Some name servers return the address that the name spells.
func spellsClosed(name string) bool {
	fields := strings.FieldsFunc(name, func(r rune) bool { return r == '.' || r == '-' })
	for i := range max(0, len(fields)-3) {
		if a, err := netip.ParseAddr(strings.Join(fields[i:i+4], ".")); err == nil && publicAddr(a) != where.Yes {
			return true
		}
	}
	return false
}
