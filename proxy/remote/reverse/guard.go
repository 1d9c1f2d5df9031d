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

// guard refuses requests that an attacker can make a browser send. Such a request comes from a page
// of another origin (cross-site POST), or from a page whose host name was changed to resolve to
// this machine (DNS rebinding; CVE-2025-66414, CVE-2025-66416). The guard checks every request
// before anything else.
type guard struct {
	hosts   []string // this server's own names and addresses, without ports
	origins []string // origins of web pages that may use this server; none by default
	port    string
}

// checkRequest returns a status and a reason if the request must be refused. Otherwise why is "".
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

// isOwnHost reports whether a Host header names this server.
func (g *guard) isOwnHost(host string) bool {
	name, port, err := net.SplitHostPort(host)
	if err != nil {
		name, port = host, "80"
	}
	name = strings.ToLower(strings.Trim(name, "[]"))
	return (port == g.port || err != nil) && slices.Contains(g.hosts, name)
}

// trustsOrigin reports whether an origin is this server's own or one that the owner configured.
func (g *guard) trustsOrigin(origin string) bool {
	if slices.Contains(g.origins, origin) {
		return true
	}
	u, err := url.Parse(origin)
	return err == nil && u.Host != "" && u.Path == "" && (u.Scheme == "http" || u.Scheme == "https") && g.isOwnHost(u.Host) &&
		(u.Port() != "" || !isLoopback(u.Hostname()) || g.port == map[string]string{"http": "80", "https": "443"}[u.Scheme])
}

// isLoopback reports whether a name means this machine. Other programs of this machine may serve
// pages at other ports of such a name, so the port of an origin matters. Any other name of this
// server belongs to a reverse proxy, whose default port leads only to this server.
func isLoopback(name string) bool {
	ip, err := netip.ParseAddr(name)
	return strings.EqualFold(name, "localhost") || err == nil && ip.IsLoopback()
}

// secretEqual compares two texts in constant time, so that the duration reveals nothing about the
// secret.
func secretEqual(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }
