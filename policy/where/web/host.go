package web

import (
	"fmt"
	"net/netip"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/clawai/clawai/internal/text/textclass"
	"github.com/clawai/clawai/policy/where"
	"github.com/clawai/clawai/policy/where/authority"
)

// host is a host with the facts that the constraints need.
type host struct {
	authority.Host
	embedded netip.Addr // the IPv4 address inside Addr, if there is one
}

func newHost(h authority.Host) host { return host{h, embeddedIPv4(h.Addr)} }

func (h host) judgePublic() where.Match {
	if h.Addr.IsValid() {
		return publicAddr(h.Addr)
	}
	return publicName(h.Name)
}

// hostPattern returns a glob on hosts in the same form as the hosts that it is compared with.
func hostPattern(text string) (string, error) {
	name := strings.ToLower(strings.TrimSuffix(text, "."))
	if inside, found := strings.CutPrefix(name, "["); found {
		name = strings.TrimSuffix(inside, "]")
	}
	if addr, err := netip.ParseAddr(name); err == nil && addr.Zone() == "" {
		return addr.String(), nil
	}
	if strings.ContainsAny(name, "/\\@#:[]%") || strings.ContainsFunc(name, textclass.OddInSyntax) {
		return "", fmt.Errorf("%q is not a host: write the host alone, without scheme, user, port or path", text)
	}
	if !textclass.IsASCII(name) {
		name = norm.NFKC.String(name)
	}
	return name, nil
}
