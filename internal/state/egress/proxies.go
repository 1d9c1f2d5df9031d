package egress

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"unicode"
)

// proxies are the proxies that the environment names.
type proxies struct {
	plain, secure *proxyAddress // the proxy for http and the proxy for https; nil: no proxy
	exempt        []exemption
}

// proxyAddress is a proxy that a variable of the environment names.
type proxyAddress struct {
	url      *url.URL
	variable string // the variable that names the proxy
	err      error  // why the proxy cannot be used; nil if it can
}

var proxySchemes = []string{"http", "https", "socks5", "socks5h"}

// readProxies reads the same variables as curl and Go, in the same order. ALL_PROXY comes last.
func readProxies(getenv func(string) string) *proxies {
	find := func(names ...string) *proxyAddress {
		for _, name := range names {
			if value := strings.TrimSpace(getenv(name)); value != "" {
				return parseProxy(name, value)
			}
		}
		return nil
	}
	p := &proxies{
		plain:  find("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"),
		secure: find("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"),
	}
	for _, name := range []string{"NO_PROXY", "no_proxy"} {
		if value := getenv(name); value != "" {
			p.exempt = parseExemptions(value)
			break
		}
	}
	return p
}

// parseProxy parses the value of a variable. The value may hold a password, so no error contains
// the value.
func parseProxy(name, value string) *proxyAddress {
	p := &proxyAddress{variable: name}
	if !strings.Contains(value, "://") {
		value = "http://" + value
	}
	u, err := url.Parse(value)
	switch {
	// A / # or ? that is not escaped in a password ends the host of the URL. Then the user name is
	// read as the host, and the beginning of the password as its port.
	case err != nil || u.Hostname() == "" || strings.HasSuffix(u.Host, ":") || strings.Contains(u.Path+u.RawQuery+u.Fragment, "@"):
		p.err = newError(true, nil, "%s holds no address of a proxy; write it like http://HOST:PORT or http://NAME:PASSWORD@HOST:PORT, with %%2F for / and %%23 for # in the password, or unset it", name)
	case !slices.Contains(proxySchemes, u.Scheme):
		p.err = newError(true, nil, "%s names a proxy of the kind %.20q; use one of %s, or unset it", name, u.Scheme, strings.Join(proxySchemes, ", "))
	}
	p.url = u
	return p
}

// String returns the variable and the proxy's address, without the name and password in the
// address.
func (p *proxyAddress) String() string {
	return "the proxy " + p.url.Host + " (" + p.variable + ")"
}

// findProxy returns the proxy for an address; nil for none. A connection to this machine uses no
// proxy.
func (p *proxies) findProxy(u *url.URL) (*proxyAddress, error) {
	by := p.plain
	if u.Scheme == "https" {
		by = p.secure
	}
	if by == nil || p.isExempt(u) {
		return nil, nil //nolint:nilnil // there is no proxy
	}
	return by, by.err
}

func (p *proxies) isExempt(u *url.URL) bool {
	host, port := strings.TrimSuffix(strings.ToLower(u.Hostname()), "."), portOf(u)
	ip, _ := netip.ParseAddr(host)
	ip = ip.Unmap()
	if host == "localhost" || ip.IsLoopback() {
		return true
	}
	return slices.ContainsFunc(p.exempt, func(e exemption) bool { return e.matches(host, port, ip) })
}

func portOf(u *url.URL) string {
	switch port := u.Port(); {
	case port != "":
		return port
	case u.Scheme == "https":
		return "443"
	}
	return "80"
}

// exemption is one entry of NO_PROXY. It has the same meaning as in Go. As in curl, blanks also
// separate entries, and a dot at the end of a name makes no difference.
type exemption struct {
	all    bool
	within netip.Prefix // an address or a range
	domain string       // begins with a dot; covers all names below the domain
	itself bool         // also covers the domain's own name
	port   string       // "" covers every port
}

func parseExemptions(value string) (all []exemption) {
	for entry := range strings.FieldsFuncSeq(strings.ToLower(value), func(r rune) bool { return r == ',' || unicode.IsSpace(r) }) {
		if entry == "*" {
			return []exemption{{all: true}}
		}
		if within, err := netip.ParsePrefix(entry); err == nil {
			all = append(all, exemption{within: within.Masked()})
			continue
		}
		host, port, err := net.SplitHostPort(entry)
		if err != nil {
			host, port = strings.Trim(entry, "[]"), ""
		}
		if ip, err := netip.ParseAddr(host); err == nil {
			ip = ip.Unmap()
			all = append(all, exemption{within: netip.PrefixFrom(ip, ip.BitLen()), port: port})
			continue
		}
		host = strings.TrimSuffix(strings.TrimPrefix(host, "*"), ".")
		if strings.Trim(host, ".") == "" {
			continue
		}
		e := exemption{domain: host, port: port}
		if host[0] != '.' {
			e.domain, e.itself = "."+host, true
		}
		all = append(all, e)
	}
	return all
}

func (e exemption) matches(host, port string, ip netip.Addr) bool {
	switch {
	case e.all:
		return true
	case e.port != "" && e.port != port:
		return false
	case e.within.IsValid():
		return ip.IsValid() && e.within.Contains(ip)
	}
	return strings.HasSuffix(host, e.domain) || e.itself && host == e.domain[1:]
}

// explainDial returns the error for a failed connection to the proxy.
func (p *proxyAddress) explainDial(err error) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	return newError(false, err, "%s cannot be reached: %v; correct %s, or name hosts that need no proxy in NO_PROXY", p, dialCause(err), p.variable)
}

// dialCause returns the error without the address, because our text already has the address.
func dialCause(err error) error {
	if failed, ok := errors.AsType[*net.OpError](err); ok && failed.Op == "dial" {
		return failed.Err
	}
	return err
}

// explainSilence returns the error for a request that got no answer through the proxy. The proxy
// has ended the connection, has not answered, or has sent something other than HTTP.
func (p *proxyAddress) explainSilence(err error, host string) error {
	return newError(false, err, "no answer of %s came through %s: %.200s; look at that proxy, or, if that host needs none, name it in NO_PROXY", host, p, err.Error())
}

// checkConnect returns an error if the proxy does not open a tunnel.
func (p *proxyAddress) checkConnect(_ context.Context, _ *url.URL, asked *http.Request, resp *http.Response) error {
	switch resp.StatusCode {
	case http.StatusOK:
		return nil
	case http.StatusProxyAuthRequired:
		return p.credentialsError()
	}
	return newError(false, nil, "%s opens no connection to %s (HTTP %d %s); if that host needs no proxy, name it in NO_PROXY",
		p, asked.Host, resp.StatusCode, http.StatusText(resp.StatusCode))
}

// credentialsError is the error for a proxy that asks for a name and a password.
func (p *proxyAddress) credentialsError() error {
	if p.url.User == nil {
		return newError(true, nil, "%s asks for a name and a password; write them into %s like %s://NAME:PASSWORD@%s", p, p.variable, p.url.Scheme, p.url.Host)
	}
	return newError(true, nil, "%s refuses the name and the password in %s; correct them", p, p.variable)
}

// explainSOCKS returns the error of a SOCKS proxy; nil if err does not come from a SOCKS proxy.
func (p *proxyAddress) explainSOCKS(err error, host string) error {
	failed, ok := errors.AsType[*net.OpError](err)
	if !ok || failed.Op != "socks connect" {
		return nil
	}
	if text := failed.Err.Error(); strings.Contains(text, "authentication") {
		return p.credentialsError()
	}
	return newError(false, err, "%s opens no connection to %s: %v; if that host needs no proxy, name it in NO_PROXY", p, host, failed.Err)
}
