package oauth

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"
)

// SignIn sends the owner to the server's sign-in page and stores the token. resp is the challenge;
// used is the token that the server refused, "" if there was none.
func (c *Client) SignIn(ctx context.Context, resp *http.Response, used string) error {
	return c.withLock(ctx, func() error {
		had, err := c.reloadEntry()
		if c.o.Anew {
			had = StoredSignIn{}
		}
		if err == nil && had.AccessToken != used && had.AccessToken != "" {
			return nil // another call or process has signed in while we waited for the lock
		}
		id, secret := c.o.ClientID, c.o.ClientSecret
		if id == "" && had.ByHand {
			id, secret = had.ClientID, had.ClientSecret
		}
		got, err := c.signIn(ctx, resp, had, id, secret)
		if err != nil {
			return sanitizeError(err)
		}
		got.ByHand = id != ""
		return c.saveEntry(got)
	})
}

// signIn performs MCP's authorization flow: discovery, registration, the sign-in page, and the
// exchange of the code for a token. had is the earlier sign-in, or the zero value. id and secret
// belong to a client that the owner has registered; id is "" if there is none.
func (c *Client) signIn(ctx context.Context, resp *http.Response, had StoredSignIn, id, secret string) (StoredSignIn, error) {
	pinned := &issuerCheck{next: c.o.HTTP.Transport, entry: had}
	if c.o.ClientID != "" { // the owner names the client now, so it is registered at the present authorization server
		pinned.entry = StoredSignIn{}
	}
	client := *c.o.HTTP
	client.Transport = pinned
	d := &discovery{http: &client, server: c.o.Server}
	challenges := challengesOf(resp)
	found, _, err := d.findResource(ctx, challenges)
	if err != nil {
		return StoredSignIn{}, err
	}
	meta, err := d.findIssuer(ctx, found.server)
	if err != nil {
		return StoredSignIn{}, d.explainError(sanitizeError(err))
	}
	back, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return StoredSignIn{}, err
	}
	defer func() { _ = back.Close() }()
	redirect := "http://" + back.Addr().String() + callbackPath
	who, err := c.identifyClient(ctx, d, meta, redirect, id, secret)
	if err != nil {
		return StoredSignIn{}, d.explainRegistration(err)
	}
	config := &oauth2.Config{
		ClientID: who.id, ClientSecret: who.secret, RedirectURL: redirect,
		Endpoint: oauth2.Endpoint{AuthURL: meta.AuthorizationEndpoint, TokenURL: meta.TokenEndpoint, AuthStyle: who.style},
		Scopes:   wantedScopes(challenges, found.scopes, had.Scopes, meta.ScopesSupported),
	}
	if err := pinned.checkUnchanged("issuer", pinned.entry.Issuer, meta.Issuer); err != nil {
		return StoredSignIn{}, err
	}
	opened := pages{c.lockName() + ".page", c.o.Pages}
	if stepUp(resp) && resp.StatusCode == http.StatusForbidden {
		opened.file = c.lockName() + ".wider"
	}
	token, err := c.exchangeCode(ctx, config, meta, found.id, &client, opened, back, pinned)
	if err != nil {
		return StoredSignIn{}, d.explainError(sanitizeError(err))
	}
	if token.AccessToken == "" {
		return StoredSignIn{}, errors.New("the server gave no token")
	}
	got := StoredSignIn{
		Server: c.key, Resource: found.id, ClientID: who.id, ClientSecret: who.secret, AuthStyle: config.Endpoint.AuthStyle,
		Issuer: meta.Issuer, AuthURL: meta.AuthorizationEndpoint, TokenURL: meta.TokenEndpoint, Scopes: slices.Clone(config.Scopes), Since: time.Now(),
	}
	got.setToken(token)
	return got, nil
}

// exchangeCode opens the sign-in page and exchanges the code that the browser brings back for a
// token.
func (c *Client) exchangeCode(
	ctx context.Context, config *oauth2.Config, meta *oauthex.AuthServerMeta, resource string, client *http.Client, opened pages, back net.Listener, pinned *issuerCheck,
) (*oauth2.Token, error) {
	verifier, state, named := oauth2.GenerateVerifier(), rand.Text(), oauth2.SetAuthURLParam("resource", resource)
	page := config.AuthCodeURL(state, oauth2.S256ChallengeOption(verifier), named)
	for _, check := range []func() error{
		func() error { return pinned.checkUnchanged("page", pinned.entry.AuthURL, trimQuery(page)) },
		func() error { return CheckPage(page) },
		func() error { return checkEndpoint(config.Endpoint.TokenURL) },
		func() error { return opened.admitPage(c.key) },
	} {
		if err := check(); err != nil {
			return nil, err
		}
	}
	result, err := c.authorize(ctx, page, back)
	if err != nil {
		return nil, err
	}
	if err := checkIssuer(result.issuer, meta); err != nil {
		return nil, err
	}
	token, err := config.Exchange(context.WithValue(ctx, oauth2.HTTPClient, client), result.code, oauth2.VerifierOption(verifier), named)
	if err != nil {
		return nil, fmt.Errorf("token exchange failed: %w", err)
	}
	return token, nil
}

// checkIssuer compares the issuer that the browser brought back with the issuer in the metadata (RFC
// 9207). A server may name its issuer without announcing that it does.
func checkIssuer(issuer string, meta *oauthex.AuthServerMeta) error {
	switch {
	case issuer == "" && meta.AuthorizationResponseIssParameterSupported:
		return errors.New("the authorization server says who it is in its answers, and this answer does not")
	case issuer != "" && issuer != meta.Issuer: // byte for byte (RFC 9207 section 2.4)
		return fmt.Errorf("the answer is from another issuer (%.200q) than was asked (%.200q)", issuer, meta.Issuer)
	}
	return nil
}

// wantedScopes returns the scopes to request: the scopes of the challenge or else of the metadata
// (listed), the scopes granted before (had), and offline_access if the authorization server supports
// it (known), because some servers issue no refresh token without it.
func wantedScopes(challenges []oauthex.Challenge, listed, had, known []string) []string {
	wanted := listed
	for _, ch := range challenges {
		if strings.EqualFold(ch.Scheme, "bearer") && ch.Params["scope"] != "" {
			wanted = strings.Fields(ch.Params["scope"])
			break
		}
	}
	wanted = mergeScopes(had, wanted)
	if slices.Contains(known, "offline_access") {
		wanted = mergeScopes(wanted, []string{"offline_access"})
	}
	return wanted
}

// challengesOf parses the server's challenges. It returns none if they cannot be parsed, because the
// metadata can be found without challenges.
func challengesOf(resp *http.Response) []oauthex.Challenge {
	challenges, err := oauthex.ParseWWWAuthenticate(resp.Header.Values("WWW-Authenticate"))
	if err != nil {
		return nil
	}
	return challenges
}

// stepUp reports whether an answer asks for a wider scope.
func stepUp(resp *http.Response) bool {
	return slices.ContainsFunc(challengesOf(resp), func(ch oauthex.Challenge) bool {
		return strings.EqualFold(ch.Scheme, "bearer") && ch.Params["error"] == "insufficient_scope"
	})
}

// wantsSignIn reports whether a 403 to a request without a token means that the server wants a
// sign-in, as a 401 does: the server has metadata that says where to sign in. There is no metadata
// if the 403 comes from a firewall, or if no token would change it. Because a firewall may delay the
// request for the metadata, the request has a short timeout and is not repeated for each call.
func (c *Client) wantsSignIn(ctx context.Context, resp *http.Response) bool {
	const timeout, validity = 5 * time.Second, time.Minute
	challenges := challengesOf(resp)
	named := metadataAddress(challenges)
	c.mu.Lock()
	known := c.barred.named == named && time.Now().Before(c.barred.until)
	c.mu.Unlock()
	if known {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	d := &discovery{http: c.o.HTTP, server: c.o.Server}
	if _, ok, err := d.findResource(ctx, challenges); ok && err == nil {
		return true
	}
	c.mu.Lock()
	c.barred = barrier{named, time.Now().Add(validity)}
	c.mu.Unlock()
	return false
}

// barrier is the result of wantsSignIn for a 403 that asks for no sign-in.
type barrier struct {
	named string    // the metadata address in the challenge; "" if there is none
	until time.Time // until when the result counts
}

// CheckPage returns an error for a page that must not be opened. The address comes from the server,
// and the program that opens it can do more than open web pages (CVE-2025-6514).
func CheckPage(page string) error {
	u, err := url.Parse(page)
	switch {
	case err != nil || u.Host == "":
		return errors.New("the sign-in page's address cannot be read")
	case u.User != nil: // https://bank.example@evil.example/
		return errors.New("the sign-in page's address holds a name or a password")
	case u.Scheme == "https":
	case u.Scheme == "http" && isLoopback(u.Hostname()):
	default:
		return fmt.Errorf("the sign-in page's address is not https (%.20q)", u.Scheme)
	}
	for i := range len(page) {
		if page[i] <= ' ' || page[i] >= 0x7f || strings.IndexByte("\"'`<>\\^{}|", page[i]) >= 0 {
			return errors.New("the sign-in page's address holds characters that no address has")
		}
	}
	return nil
}

func isLoopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}
