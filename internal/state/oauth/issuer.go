package oauth

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/clawai/clawai/internal/text/term"
)

// issuerCheck protects the secret of a client that the owner has registered. It compares the
// present authorization server with the one of the earlier sign-in. Without the check, the server's
// metadata could later name another authorization server, and clawai would send the secret there
// (RFC 9700, section 4.4: mix-up).
type issuerCheck struct {
	next  http.RoundTripper
	entry StoredSignIn // the earlier sign-in; if ByHand is false, nothing is checked
}

// issuerChangedError means that the server names another authorization server than before. The
// field what names the value that differs, such as "token endpoint".
type issuerChangedError struct{ what, was, is, login string }

func (e *issuerChangedError) Error() string {
	return fmt.Sprintf("the server names another %s for its sign-in (%s) than your client is registered at (%s); nothing was sent there. If that is right, sign in again: %s",
		e.what, term.VisibleText(truncateText(e.is)), term.VisibleText(truncateText(e.was)), term.VisibleText(e.login))
}

func truncateText(s string) string {
	const most = 300
	if len(s) > most {
		return s[:most] + "…"
	}
	return s
}

// RoundTrip sends requests with the client's secret only to the stored token endpoint. It treats
// every POST as such a request, because a client that the owner has registered sends no POST for a
// registration.
func (p *issuerCheck) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.User != nil {
		return nil, errors.New("the server names an address with a name or a password in it")
	}
	if r.Method == http.MethodPost {
		if err := p.checkUnchanged("token endpoint", p.entry.TokenURL, r.URL.String()); err != nil {
			return nil, err
		}
	}
	return p.next.RoundTrip(r)
}

// checkUnchanged returns an error if the current value differs from the value that was stored at
// the earlier sign-in. stored is "" if an earlier version of clawai did not store the value.
func (p *issuerCheck) checkUnchanged(what, stored, current string) error {
	if !p.entry.ByHand || stored == "" || stored == current {
		return nil
	}
	return &issuerChangedError{what, stored, current, p.entry.terms().loginCommand(p.entry.Server)}
}

// trimQuery returns a page's address without its query and fragment.
func trimQuery(page string) string {
	u, err := url.Parse(page)
	if err != nil {
		return ""
	}
	u.RawQuery, u.Fragment = "", ""
	return u.String()
}
