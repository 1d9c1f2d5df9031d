package reverse

import (
	"crypto/subtle"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// guard refuses requests that a browser can be made to send: from a page of another origin
// (cross-site POST), or from a page whose host name was changed to resolve to this machine (DNS
// rebinding; CVE-2025-66414, CVE-2025-66416). It checks every request first.
type guard struct {
	hosts   []string // this server's own names and addresses, without ports
	origins []string // origins of pages that may use this server; none by default
	port    string
}

// checkRequest returns the status and the reason if a request is refused; why is "" if it is
// served.
func (g *guard) checkRequest(r *http.Request) (status int, why string) {
	if !g.isOwnHost(r.Host) {
		return http.StatusForbidden, "this host name is not clawai's"
	}
	for _, origin := range r.Header.Values("Origin") {
		if !g.trustsOrigin(origin) {
			return http.StatusForbidden, "this origin may not use clawai"
		}
	}
	if site := r.Header.Get("Sec-Fetch-Site"); site == "cross-site" && len(r.Header.Values("Origin")) == 0 {
		return http.StatusForbidden, "another site may not use clawai"
	}
	return 0, ""
}

// isOwnHost reports whether a Host header means this server.
func (g *guard) isOwnHost(host string) bool {
	name, port, err := net.SplitHostPort(host)
	if err != nil {
		name, port = host, "80"
	}
	name = strings.ToLower(strings.Trim(name, "[]"))
	return (port == g.port || err != nil) && slices.Contains(g.hosts, name)
}

// trustsOrigin reports whether an origin is this server's own or was configured by its owner.
func (g *guard) trustsOrigin(origin string) bool {
	if slices.Contains(g.origins, origin) {
		return true
	}
	u, err := url.Parse(origin)
	return err == nil && u.Host != "" && u.Path == "" && (u.Scheme == "http" || u.Scheme == "https") && g.isOwnHost(u.Host) &&
		(u.Port() != "" || !isLoopback(u.Hostname()) || g.port == map[string]string{"http": "80", "https": "443"}[u.Scheme])
}

// isLoopback reports whether name means this machine, where other programs use other ports. For
// any other name of this server, the default port leads only to this server, through a reverse
// proxy.
func isLoopback(name string) bool {
	ip, err := netip.ParseAddr(name)
	return strings.EqualFold(name, "localhost") || err == nil && ip.IsLoopback()
}

// secretEqual compares in constant time, so that the time shows nothing about the secret.
func secretEqual(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }
