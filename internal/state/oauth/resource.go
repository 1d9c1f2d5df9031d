package oauth

import (
	"cmp"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// resourceTransport adds the "resource" (RFC 8707) to requests to the token endpoint: a refresh must
// name the resource too, and the library does not add it.
type resourceTransport struct {
	next     http.RoundTripper
	endpoint string // URL of the token endpoint
	resource string
}

func (n resourceTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	next := cmp.Or(n.next, http.DefaultTransport)
	if r.Method != http.MethodPost || r.URL.String() != n.endpoint || r.Body == nil {
		return next.RoundTrip(r)
	}
	form, err := io.ReadAll(io.LimitReader(r.Body, 1<<20))
	_ = r.Body.Close()
	if err != nil {
		return nil, err
	}
	body := string(form)
	if values, err := url.ParseQuery(body); err == nil && !values.Has("resource") {
		values.Set("resource", n.resource)
		body = values.Encode()
	}
	named := r.Clone(r.Context())
	named.Body = io.NopCloser(strings.NewReader(body))
	named.ContentLength = int64(len(body))
	return next.RoundTrip(named)
}
