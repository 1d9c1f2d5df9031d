package remote

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
)

// NewClient gives the one way out, to the origin that the owner named: it follows no
// redirection to another, decodes nothing, and bounds what it waits for but not how
// long a stream lasts.
func NewClient(o Options) *http.Client {
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
	return &http.Client{Transport: carry, CheckRedirect: checkRedirect}
}

// checkRedirect follows a redirection that changes neither origin nor method: any
// other would hand the frame, and the credentials with it, to somebody else, or
// turn a call into a GET.
func checkRedirect(to *http.Request, via []*http.Request) error {
	from := via[0]
	switch {
	case len(via) > maxRedirects:
		return errors.New("too many redirections")
	case !SameOrigin(to.URL, from.URL):
		return fmt.Errorf("the server redirects to another origin (%.100q); if you trust it, use that address instead", urlOrigin(to.URL))
	case to.Method != from.Method:
		return fmt.Errorf("the server redirects with a status that turns %s into %s", from.Method, to.Method)
	}
	return nil
}

// UseOnce keeps the connection of a stream from other requests: some servers close it with the
// stream and do not say so, and a call on it would be lost. Over TLS, where many requests share
// one connection, it stays.
func UseOnce(r *http.Request) { r.Close = r.URL.Scheme == "http" }

// DoRequest makes a request and gives its answer. An error is without the address: a
// query may hold a key. A status that HTTP does not have is no answer.
func DoRequest(c *http.Client, r *http.Request) (*http.Response, error) {
	resp, err := c.Do(r)
	if failed, ok := errors.AsType[*url.Error](err); ok {
		return nil, failed.Err
	}
	if err != nil {
		return nil, err
	}
	if resp.StatusCode < 200 || resp.StatusCode > 599 {
		_ = resp.Body.Close()
		return nil, fmt.Errorf("the server answered with the status %d", resp.StatusCode)
	}
	return resp, nil
}

// StatusText gives the status of an answer in HTTP's words; the server's own are left out.
func StatusText(resp *http.Response) string {
	return strings.TrimSpace(fmt.Sprintf("HTTP %d %s", resp.StatusCode, http.StatusText(resp.StatusCode)))
}

// SessionID gives the id that an answer gives its session; "" when it gives none, or
// one that no header can carry.
func SessionID(h http.Header) string {
	if id := h.Get(headerSession); len(id) <= maxSessionID && visibleASCII(id) {
		return id
	}
	return ""
}

// SameOrigin reports two addresses that credentials may be shared between.
func SameOrigin(a, b *url.URL) bool {
	return a.Scheme == b.Scheme && a.Hostname() == b.Hostname() && urlPort(a) == urlPort(b)
}

func urlOrigin(u *url.URL) string { return u.Scheme + "://" + u.Host }

func urlPort(u *url.URL) string {
	switch p := u.Port(); {
	case p != "":
		return p
	case u.Scheme == "https":
		return "443"
	}
	return "80"
}
