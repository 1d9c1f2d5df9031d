package oauth

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/clawai/clawai/internal/state/egress"
)

// newHTTP returns an HTTP client for addresses in a server's challenge and metadata. The server can
// choose these addresses freely. The client follows no redirection to another origin, because the
// request may contain a code or a refresh token. If the server is on the Internet, the client does
// not connect to the owner's own network (MCP security best practices, server-side request
// forgery).
//
// If the environment names a proxy, the proxy makes or refuses the connections by itself.
func newHTTP(server *url.URL, through egress.Network) *http.Client {
	g := &dialGuard{server: server}
	return &http.Client{
		Timeout:   30 * time.Second,
		Transport: through.NewTransport(egress.Options{Check: g.checkAddress}),
		CheckRedirect: func(to *http.Request, via []*http.Request) error {
			if len(via) > 3 {
				return errors.New("too many redirections")
			}
			if from := via[0].URL; to.URL.Scheme != from.Scheme || to.URL.Host != from.Host {
				return errors.New("a redirection to another origin")
			}
			return nil
		},
	}
}

// dialGuard decides to which addresses clawai may connect.
type dialGuard struct {
	server *url.URL

	mu      sync.Mutex // guards the fields below
	known   bool       // the server's addresses were found
	private bool       // the server itself is on this machine or in a private network
}

// checkAddress returns an error for a forbidden address. The dialer calls it after name resolution,
// so a name cannot hide a forbidden address.
func (g *dialGuard) checkAddress(ctx context.Context, _, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return err
	}
	switch ip := unmapIP(at.Addr()); {
	case isReserved(ip):
		return fmt.Errorf("%s is not an address that a sign-in can be at", ip)
	case isPrivate(ip) && !g.serverIsPrivate(ctx):
		return fmt.Errorf("the server names %s for its sign-in, which is in your own network", ip)
	}
	return nil
}

func (g *dialGuard) serverIsPrivate(ctx context.Context) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.known {
		ips, err := net.DefaultResolver.LookupNetIP(ctx, "ip", g.server.Hostname())
		g.known, g.private = err == nil, err == nil && allPrivate(ips) // after a failed look-up, known stays false, and the next call looks up again
	}
	return g.private
}

// allPrivate reports whether all addresses of a server are private. One private address proves
// nothing, because a server on the Internet can list a private address next to its own.
func allPrivate(ips []netip.Addr) bool {
	return len(ips) > 0 && !slices.ContainsFunc(ips, func(ip netip.Addr) bool { return !isPrivate(unmapIP(ip)) })
}

// Ranges that the methods of netip.Addr do not cover.
var (
	sharedSpace = netip.MustParsePrefix("100.64.0.0/10")
	nat64       = netip.MustParsePrefix("64:ff9b::/96")
	reserved    = []netip.Prefix{
		netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("192.0.0.0/24"), netip.MustParsePrefix("240.0.0.0/4"),
		// Ranges that contain an IPv4 address in another form: IPv4-compatible, local NAT64, 6to4,
		// Teredo. Also site-local addresses, which are no longer in use.
		netip.MustParsePrefix("::/96"), netip.MustParsePrefix("64:ff9b:1::/48"), netip.MustParsePrefix("2002::/16"),
		netip.MustParsePrefix("2001::/32"), netip.MustParsePrefix("fec0::/10"),
	}
)

// unmapIP returns the IPv4 address inside an IPv6 address. It returns any other address unchanged.
func unmapIP(ip netip.Addr) netip.Addr {
	if ip = ip.Unmap().WithZone(""); nat64.Contains(ip) {
		b := ip.As16()
		return netip.AddrFrom4([4]byte(b[12:]))
	}
	return ip
}

// isPrivate reports whether an address belongs to this machine or a private network.
func isPrivate(ip netip.Addr) bool {
	return ip.IsLoopback() || ip.IsPrivate() || sharedSpace.Contains(ip)
}

// isReserved reports whether an address is of a kind that no sign-in server has. For example, the
// metadata services of clouds have link-local addresses.
func isReserved(ip netip.Addr) bool {
	return ip.IsLinkLocalUnicast() || ip.IsMulticast() || ip.IsUnspecified() || !ip.IsLoopback() &&
		slices.ContainsFunc(reserved, func(p netip.Prefix) bool { return p.Contains(ip) })
}
