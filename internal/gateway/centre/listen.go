package centre

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strings"

	"github.com/clawai/clawai/internal/text/redact"
)

// Listen is the table [listen] of gateway.toml: the addresses at which the centre listens without --dev.
type Listen struct {
	Address     string `toml:"address"`      // ADDRESS:PORT; "" is port 443 of all addresses, or behind a proxy 127.0.0.1:8470
	Certificate string `toml:"certificate"`  // file with the chain, as PEM
	Key         string `toml:"key"`          // file with its key; no other user may be able to read it
	BehindProxy bool   `toml:"behind_proxy"` // a proxy on this machine ends TLS
	Operator    string `toml:"operator"`     // ADDRESS:PORT of /healthz and /readyz; "" means 127.0.0.1:8471, "off" turns both off
}

// Default addresses.
const (
	publicAddress   = ":443"
	proxiedAddress  = "127.0.0.1:8470"
	operatorAddress = "127.0.0.1:8471"
)

// PublicAddress returns the address at which the centre listens for laptops and people.
func (l *Listen) PublicAddress() string {
	switch {
	case l.Address != "":
		return l.Address
	case l.BehindProxy:
		return proxiedAddress
	}
	return publicAddress
}

// OperatorAddress returns the address at which the centre listens for the operator's requests (/healthz,
// /readyz and /metrics); "" if it does not listen for them.
func (l *Listen) OperatorAddress() string {
	switch l.Operator {
	case "":
		return operatorAddress
	case "off":
		return ""
	}
	return l.Operator
}

// checkListen returns an error for settings of URL and Listen that cannot be used.
func (s *Settings) checkListen() error {
	if s.URL != "" {
		u, err := url.Parse(s.URL)
		if err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil || u.Path != "" || u.RawQuery != "" || u.Fragment != "" || u.Port() == "443" || u.Host != strings.ToLower(u.Host) {
			return fmt.Errorf("url: %q is not an address such as https://centre.example, in small letters and without a path", redact.MaskAddress(s.URL))
		}
	}
	for name, address := range map[string]string{"listen.address": s.Listen.Address, "listen.operator": s.Listen.Operator} {
		_, port, err := net.SplitHostPort(address)
		if err == nil {
			_, err = net.LookupPort("tcp", port)
		}
		if err != nil && address != "" && (name == "listen.address" || address != "off") {
			return fmt.Errorf("%s: %q is not ADDRESS:PORT", name, redact.MaskAddress(address))
		}
	}
	if s.Listen.BehindProxy && !isLoopback(s.Listen.PublicAddress()) {
		return fmt.Errorf("listen.address: %q is not on a loopback address; with behind_proxy nobody else may reach it, for it has no TLS", s.Listen.Address)
	}
	if s.Listen.BehindProxy && s.Listen.Certificate+s.Listen.Key != "" {
		return errors.New("listen: with behind_proxy the proxy has the certificate; remove certificate and key here")
	}
	return nil
}

func isLoopback(address string) bool {
	host, _, _ := net.SplitHostPort(address)
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}

// CheckPublic returns an error for settings that only a centre with --dev can use.
func (s *Settings) CheckPublic() error {
	switch {
	case s.URL == "":
		return errors.New("url is missing: it is the one public address of this centre, such as https://centre.example; without one, only serve --dev works")
	case s.OIDC.Issuer == "":
		return errors.New("[oidc] is missing: without an identity provider nobody can sign in; write issuer and client_id there")
	case !s.Listen.BehindProxy && (s.Listen.Certificate == "" || s.Listen.Key == ""):
		return errors.New("[listen] needs certificate and key, files as PEM; or behind_proxy = true, if a proxy on this machine ends TLS")
	case len(s.Roles) == 0:
		return errors.New("no [[role]] is there, so nobody could see a page; begin with: [[role]] name = \"admin\", groups = [\"...\"]")
	}
	return nil
}
