package remote

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
)

// newClient is the one way out: to the origin that the owner named.
func newClient(o Options) *http.Client {
	carry := o.Transport
	if carry == nil {
		t := http.DefaultTransport.(*http.Transport).Clone()
		t.DialContext = (&net.Dialer{Timeout: dialTimeout}).DialContext
		t.TLSHandshakeTimeout = dialTimeout
		t.MaxResponseHeaderBytes = maxHeaderBytes
		t.DisableCompression = true // what is judged is what was sent, and no small body becomes a large one
		t.MaxIdleConnsPerHost = 16
		carry = t
	}
	return &http.Client{Transport: carry, CheckRedirect: redirect}
}

// redirect follows a redirection that changes neither origin nor method: any
// other would hand the frame, and the credentials with it, to somebody else, or
// turn a call into a GET.
func redirect(to *http.Request, via []*http.Request) error {
	from := via[0]
	switch {
	case len(via) > maxRedirects:
		return errors.New("too many redirections")
	case !sameOrigin(to.URL, from.URL):
		return fmt.Errorf("the server redirects to another origin (%s); if you trust it, use that address instead", origin(to.URL))
	case to.Method != from.Method:
		return fmt.Errorf("the server redirects with a status that turns %s into %s", from.Method, to.Method)
	}
	return nil
}

func sameOrigin(a, b *url.URL) bool {
	return a.Scheme == b.Scheme && a.Hostname() == b.Hostname() && port(a) == port(b)
}

func origin(u *url.URL) string { return u.Scheme + "://" + u.Host }

func port(u *url.URL) string {
	switch p := u.Port(); {
	case p != "":
		return p
	case u.Scheme == "https":
		return "443"
	}
	return "80"
}
