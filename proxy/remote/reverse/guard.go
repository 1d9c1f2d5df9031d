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

// guard keeps out what a browser can be made to send: a page of another origin
// (cross-site POST), or one whose name was bent to this machine (DNS rebinding;
// CVE-2025-66414, CVE-2025-66416). It stands before every route.
type guard struct {
	hosts   []string // names and addresses, without ports, that are this server's own
	origins []string // of pages that may come; none by default
	port    string
}

// checkRequest says why a request is not served, with its status; "" when it is.
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

// isOwnHost reports a Host that means this server.
func (g *guard) isOwnHost(host string) bool {
	name, port, err := net.SplitHostPort(host)
	if err != nil {
		name, port = host, "80"
	}
	name = strings.ToLower(strings.Trim(name, "[]"))
	return (port == g.port || err != nil) && slices.Contains(g.hosts, name)
}

// trustsOrigin reports an origin that is this server's own, or one its owner named.
func (g *guard) trustsOrigin(origin string) bool {
	if slices.Contains(g.origins, origin) {
		return true
	}
	u, err := url.Parse(origin)
	return err == nil && u.Host != "" && u.Path == "" && (u.Scheme == "http" || u.Scheme == "https") && g.isOwnHost(u.Host) &&
		(u.Port() != "" || !isLoopback(u.Hostname()) || g.port == map[string]string{"http": "80", "https": "443"}[u.Scheme])
}

// isLoopback reports a name of this machine, at whose other ports others serve. What stands
// before us under another name, at a port that browsers leave out, leads to us alone.
func isLoopback(name string) bool {
	ip, err := netip.ParseAddr(name)
	return strings.EqualFold(name, "localhost") || err == nil && ip.IsLoopback()
}

// secretEqual compares without telling by its time how much was right.
func secretEqual(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }
