package oauth

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/clawai/clawai/internal/text/term"
)

// issuerCheck compares the authorization server with the one at which the owner's own client is
// registered, as stored at sign-in. The server's metadata may later name another authorization
// server, and the client's secret would go there (RFC 9700, section 4.4: mix-up).
type issuerCheck struct {
	next  http.RoundTripper
	entry StoredSignIn // the earlier sign-in; if its client is not the owner's own, nothing is checked
}

// issuerChangedError means that the server names another authorization server than before.
type issuerChangedError struct{ server, what, was, is string }

func (e *issuerChangedError) Error() string {
	return fmt.Sprintf("the server names another %s for its sign-in (%s) than your client is registered at (%s); nothing was sent there. If that is right, sign in anew: clawai auth login --client-id ID %s",
		e.what, term.VisibleText(truncateText(e.is)), term.VisibleText(truncateText(e.was)), term.VisibleText(e.server))
}

func truncateText(s string) string {
	const most = 300
	if len(s) > most {
		return s[:most] + "…"
	}
	return s
}

// RoundTrip allows requests with the client's secret only to the stored token endpoint. Every POST
// is such a request, because an owner's client is not registered again.
func (p *issuerCheck) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.User != nil {
		return nil, errors.New("the server names an address with a name or a password in it")
	}
	if r.Method == http.MethodPost {
		if err := p.checkUnchanged("token endpoint", p.entry.TokenURL, r.URL.String()); err != nil {
			return nil, err
		}
	}
	return cmp.Or(p.next, http.DefaultTransport).RoundTrip(r)
}

// checkUnchanged compares a value with the one stored at sign-in. An entry of an earlier version
// may not have it.
func (p *issuerCheck) checkUnchanged(what, was, is string) error {
	if !p.entry.ByHand || was == "" || was == is {
		return nil
	}
	return &issuerChangedError{p.entry.Server, what, was, is}
}

// trimQuery returns a page's address without query and fragment.
func trimQuery(page string) string {
	u, err := url.Parse(page)
	if err != nil {
		return ""
	}
	u.RawQuery, u.Fragment = "", ""
	return u.String()
}
