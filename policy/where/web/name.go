package web

import (
	"net/netip"
	"strings"

	"github.com/clawai/clawai/policy/where"
)

// reservedNames are the domains, with all below them, that are not public: No where the
// name can only mean something on a network of one's own (reserved, or no
// top-level domain at all), Maybe where public name servers answer with an
// address that is not, or with whatever the name says.
var reservedNames = map[string]where.Verdict{
	// Special-use domain names (IANA registry; RFC 6761, 6762, 7686, 8375, 9476).
	"localhost": where.No,
	"local":     where.No,
	"internal":  where.No, // reserved by ICANN in 2024; metadata.google.internal
	"home.arpa": where.No,
	"test":      where.No,
	"invalid":   where.No,
	"example":   where.No,
	"onion":     where.No,
	"alt":       where.No,
	"arpa":      where.Maybe, // ipv4only.arpa and the like

	// Used on networks of one's own and never delegated (RFC 6762, appendix G;
	// ICANN on name collisions).
	"corp":        where.No,
	"home":        where.No,
	"intranet":    where.No,
	"lan":         where.No,
	"localdomain": where.No,
	"mail":        where.No,
	"private":     where.No,
	"router":      where.No,
	"svc":         where.No, // Kubernetes
	"consul":      where.No,

	// Metadata of clouds, and what they answer to.
	"metadata.goog":                where.Maybe,
	"metadata.packet.net":          where.Maybe,
	"metadata.platformequinix.com": where.Maybe,
	"metadata.tencentyun.com":      where.Maybe,
	"metadata.cloud.ibm.com":       where.Maybe,

	// Routers and private networks that public names lead to.
	"fritz.box":            where.Maybe,
	"mshome.net":           where.Maybe,
	"plex.direct":          where.Maybe,
	"router.asus.com":      where.Maybe,
	"routerlogin.com":      where.Maybe,
	"routerlogin.net":      where.Maybe,
	"tplinkwifi.net":       where.Maybe,
	"ts.net":               where.Maybe,
	"tplinklogin.net":      where.Maybe,
	"burpcollaborator.net": where.Maybe,

	// Name servers that answer with the address in the name, or with 127.0.0.1.
	"1u.ms":            where.Maybe,
	"127-0-0-1.org.uk": where.Maybe,
	"backname.io":      where.Maybe,
	"ddev.site":        where.Maybe,
	"fuf.me":           where.Maybe,
	"ip6.name":         where.Maybe,
	"ipq.co":           where.Maybe,
	"lacolhost.com":    where.Maybe,
	"lndo.site":        where.Maybe,
	"local.gd":         where.Maybe,
	"localdev.me":      where.Maybe,
	"localho.st":       where.Maybe,
	"localhost.direct": where.Maybe,
	"localtest.me":     where.Maybe,
	"lvh.me":           where.Maybe,
	"nip.io":           where.Maybe,
	"rbndr.us":         where.Maybe,
	"rebind.it":        where.Maybe,
	"rebind.network":   where.Maybe,
	"sslip.io":         where.Maybe,
	"traefik.me":       where.Maybe,
	"vcap.me":          where.Maybe,
	"xip.io":           where.Maybe,
	"xip.name":         where.Maybe,
}

// publicName says whether a name belongs to the public internet. A single label
// means what the machine's search list makes of it.
func publicName(name string) where.Verdict {
	for rest, more := name, true; more; _, rest, more = strings.Cut(rest, ".") {
		if v, listed := reservedNames[rest]; listed {
			return v
		}
	}
	if strings.IndexByte(name, '.') < 0 || spellsClosed(name) {
		return where.Maybe
	}
	return where.Yes
}

// spellsClosed says whether a name spells out an IPv4 address that is not public,
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
