package remote

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/clawai/clawai/internal/state/egress"
)

// NewClient returns the HTTP client for the origin that the owner named. It follows no redirect to
// another origin, decodes no body, and limits the time to connect but not the duration of a stream.
func NewClient(o Options) *http.Client {
	carry := o.Transport
	if carry == nil {
		carry = o.Network.NewTransport(egress.Options{Tune: func(t *http.Transport) {
			t.MaxResponseHeaderBytes = maxHeaderBytes
			t.DisableCompression = true // bytes are judged as they were sent, and a small body cannot become a large one
			t.MaxIdleConnsPerHost = 16
		}})
	}
	return &http.Client{Transport: carry, CheckRedirect: checkRedirect}
}

// checkRedirect allows a redirect that keeps origin and method. Any other redirect would send the
// frame and the credentials to another party, or turn a call into a GET.
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

// UseOnce makes the connection of a stream unavailable for other requests: some servers close the
// connection together with the stream, without notice, and another request on it would be lost.
// Over TLS, where many requests share one connection, it changes nothing.
func UseOnce(r *http.Request) { r.Close = r.URL.Scheme == "http" }

// DoRequest sends a request and returns the answer. Its error omits the address, because a query
// may hold a key. A status outside 200–599 is an error.
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

// StatusText returns the status with HTTP's standard text; the server's own text is not used.
func StatusText(resp *http.Response) string {
	return strings.TrimSpace(fmt.Sprintf("HTTP %d %s", resp.StatusCode, http.StatusText(resp.StatusCode)))
}

// SessionID returns the session id in an answer's header, or "" when there is none or the id is not
// valid in a header.
func SessionID(h http.Header) string {
	if id := h.Get(headerSession); len(id) <= maxSessionID && visibleASCII(id) {
		return id
	}
	return ""
}

// SameOrigin reports whether two addresses may share credentials.
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
