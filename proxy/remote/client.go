package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/clawai/clawai/internal/state/egress"
)

// NewClient returns the HTTP client for the server's origin. It follows no redirect to another
// origin and decodes no body. It limits the time to connect, but not the duration of a stream.
func NewClient(o Options) *http.Client {
	carry := o.Transport
	if carry == nil {
		carry = o.Network.NewTransport(egress.Options{Tune: func(t *http.Transport) {
			t.MaxResponseHeaderBytes = maxHeaderBytes
			t.DisableCompression = true // the bytes are judged as they were sent, and a small body cannot grow into a large one
			t.MaxIdleConnsPerHost = 16
		}})
	}
	return &http.Client{Transport: carry, CheckRedirect: checkRedirect}
}

// checkRedirect allows only a redirect with the same origin and method. Another origin would get
// the frame and the credentials. Another method would turn a call into a GET.
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

// UseOnce keeps other requests away from the connection of a stream. Some servers close the
// connection together with the stream, without notice, and another request on it would be lost.
// UseOnce changes nothing over TLS, where many requests share one connection.
func UseOnce(r *http.Request) { r.Close = r.URL.Scheme == "http" }

// errOtherRequest means that the connection ended with another request. net/http offers a connection
// for the next request a moment before the request on it has its answer. If the context of that request
// ends in this moment, net/http closes the connection under the next one, and gives it the error of the
// context (persistConn.roundTrip and readLoop in net/http).
var errOtherRequest = fmt.Errorf("the connection ended: %w", io.ErrUnexpectedEOF)

// DoRequest sends a request and returns the answer. Its error does not contain the address, because
// a query may hold a key. A status outside 200–599 is an error.
func DoRequest(c *http.Client, r *http.Request) (*http.Response, error) {
	resp, err := c.Do(r)
	if failed, ok := errors.AsType[*url.Error](err); ok {
		err = failed.Err
	}
	if (err == context.Canceled || err == context.DeadlineExceeded) && r.Context().Err() == nil { //nolint:errorlint // the bare errors: a wrapped one is a limit of the client
		err = errOtherRequest
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

// StatusText returns the status code with the standard text of HTTP. It does not use the server's
// own text.
func StatusText(resp *http.Response) string {
	return strings.TrimSpace(fmt.Sprintf("HTTP %d %s", resp.StatusCode, http.StatusText(resp.StatusCode)))
}

// SessionID returns the session id in the header of an answer. It returns "" when there is none or
// the id has characters that a session id may not have.
func SessionID(h http.Header) string {
	if id := h.Get(headerSession); len(id) <= maxSessionID && visibleASCII(id) {
		return id
	}
	return ""
}

// SameOrigin reports whether two addresses have the same origin, so that they may share
// credentials.
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
