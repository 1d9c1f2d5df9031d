package oauth

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"
)

// tokenTransport completes requests to the token endpoint and to the device authorization endpoint.
// Each request names the resource (RFC 8707). If the client has a key, each request has a signed
// assertion.
type tokenTransport struct {
	next      http.RoundTripper
	endpoints []string
	resource  string // "" if requests name no resource
	who       *identity
	token     string // URL of the token endpoint
}

func (n tokenTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method != http.MethodPost || r.Body == nil || !slices.Contains(n.endpoints, r.URL.String()) {
		return n.next.RoundTrip(r)
	}
	form, err := io.ReadAll(io.LimitReader(r.Body, 1<<20))
	_ = r.Body.Close()
	if err != nil {
		return nil, err
	}
	values, err := url.ParseQuery(string(form))
	if err != nil {
		return nil, err
	}
	if n.resource != "" && !values.Has("resource") {
		values.Set("resource", n.resource)
	}
	if n.who.key == nil {
		return n.next.RoundTrip(replaceForm(r, values))
	}
	resp, err := n.sendSigned(r, values, n.who.audience)
	if err != nil || n.who.audience == n.token || !refusesClient(resp) {
		return resp, err
	}
	// Some providers want the endpoint as the audience. Another server cannot use such an
	// assertion, because the assertion names only this endpoint.
	if resp, err = n.sendSigned(r, values, n.token); err == nil && resp.StatusCode == http.StatusOK {
		n.who.audience = n.token
	}
	return resp, err
}

// sendSigned sends a request with a signed assertion.
func (n tokenTransport) sendSigned(r *http.Request, values url.Values, audience string) (*http.Response, error) {
	text, err := n.who.key.signAssertion(n.who.id, audience, time.Now())
	if err != nil {
		return nil, err
	}
	values.Set("client_assertion_type", assertionType)
	values.Set("client_assertion", text)
	return n.next.RoundTrip(replaceForm(r, values))
}

// refusesClient reports whether an answer says that the server does not know the client. Afterwards
// the caller can still read the whole body of the answer.
func refusesClient(resp *http.Response) bool {
	body, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	_ = resp.Body.Close()
	resp.Body = io.NopCloser(bytes.NewReader(body))
	var doc struct {
		Error string `json:"error"`
	}
	return err == nil && json.Unmarshal(body, &doc) == nil && errorCode(doc.Error) == "invalid_client"
}

func replaceForm(r *http.Request, values url.Values) *http.Request {
	body := values.Encode()
	named := r.Clone(r.Context())
	named.Body = io.NopCloser(strings.NewReader(body))
	named.ContentLength = int64(len(body))
	return named
}

// tokenRequest is a request to a token endpoint without a browser: for the client itself, or with a
// device code.
type tokenRequest struct {
	http     *http.Client
	who      *identity
	endpoint string
	scopes   []string
	params   url.Values
}

func (q tokenRequest) send(ctx context.Context) (*oauth2.Token, error) {
	config := clientcredentials.Config{
		ClientID: q.who.id, ClientSecret: q.who.secret, AuthStyle: q.who.style, TokenURL: q.endpoint, Scopes: q.scopes, EndpointParams: q.params,
	}
	return config.Token(context.WithValue(ctx, oauth2.HTTPClient, q.http))
}
