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

// SignIn sends the owner to the server's sign-in page and stores the token. resp is the challenge.
// The parameter used is the token that the server has refused; "" if the request had no token.
func (c *Client) SignIn(ctx context.Context, resp *http.Response, used string) error {
	return c.withLock(ctx, func() error {
		had, err := c.reloadEntry()
		if c.o.Anew {
			had = StoredSignIn{}
		}
		if err == nil && had.AccessToken != used && had.AccessToken != "" {
			return nil // another call or process has signed in while we waited for the lock
		}
		t := had.terms()
		if c.o.Anew {
			t.Choices = c.o.Choices
		}
		if c.o.ClientID != "" {
			t.id, t.secret = c.o.ClientID, c.o.ClientSecret
		}
		if t.Grant == GrantDevice && c.o.Person == nil {
			if isWider(resp) {
				t.Scopes = plainScopes(mergeScopes(t.Scopes, wantedScopes(t, true, challengesOf(resp), nil, had, nil)))
			}
			return fmt.Errorf("the sign-in with a device code has ended or is too narrow; sign in again with: %s", t.loginCommand(c.key))
		}
		got, err := c.signIn(ctx, resp, had, t)
		if err != nil {
			return err
		}
		got.ByHand = t.id != ""
		return c.saveEntry(got)
	})
}

// signIn performs MCP's authorization flow: discovery, registration, and one of the ways to get a
// token. The parameter had is the earlier sign-in, or the zero value. The errors of signIn are safe
// to show and tell the owner what to do next.
func (c *Client) signIn(ctx context.Context, resp *http.Response, had StoredSignIn, t terms) (got StoredSignIn, err error) {
	pinned := &issuerCheck{next: c.o.HTTP.Transport, entry: had}
	if c.o.ClientID != "" { // the owner names the client now, so the client is registered at the present authorization server
		pinned.entry = StoredSignIn{}
	}
	client := *c.o.HTTP
	client.Transport = pinned
	d := &discovery{http: &client, server: c.o.Server}
	defer func() {
		if err != nil {
			err = d.explainError(t.adviseNext(sanitizeError(err), c.key))
		}
	}()
	challenges := challengesOf(resp)
	found, _, err := d.findResource(ctx, challenges)
	if err != nil {
		return got, err
	}
	a := attempt{c: c, t: t, http: &client, pinned: pinned, opened: pages{c.lockName() + ".page", c.o.Pages}}
	if isWider(resp) {
		a.wider, a.opened.file = true, c.lockName()+".wider"
	}
	if t.Grant == GrantCode {
		if a.back, err = openLanding(ctx, t.Callback); err != nil {
			next := t
			next.Callback = "127.0.0.1:PORT"
			return got, &shownError{fmt.Sprintf("%v; end that program, or register another port at the provider, then: %s", err, next.loginCommand(c.key)), err}
		}
		defer a.back.close(ctx)
	}
	if err := a.chooseIssuer(ctx, d, found.servers); err != nil {
		return got, err
	}
	if !t.NoResource {
		a.resource = found.id
	}
	a.scopes = wantedScopes(t, isWider(resp), challenges, found.scopes, had, a.meta.ScopesSupported)
	client.Transport = tokenTransport{
		next: pinned, endpoints: []string{a.meta.TokenEndpoint, a.meta.DeviceEndpoint}, resource: a.resource, who: &a.who, token: a.meta.TokenEndpoint,
	}
	const offline = "offline_access"
	token, err := a.requestToken(ctx)
	refused := err != nil && isRefusal(sanitizeError(err), "invalid_scope") && slices.Contains(a.scopes, offline) && !slices.Contains(t.Scopes, offline)
	if refused { // the provider lists the scope offline_access, but does not grant it to this client
		a.scopes = slices.DeleteFunc(a.scopes, func(scope string) bool { return scope == offline })
		a.opened.every = -1 // the second page belongs to the same sign-in
		token, err = a.requestToken(ctx)
	}
	if err != nil {
		return got, err
	}
	if token.AccessToken == "" {
		return got, errors.New("the server gave no token")
	}
	got = StoredSignIn{
		Choices: t.Choices, Server: c.key, Resource: a.resource, ClientID: a.who.id, ClientSecret: a.who.secret, AuthStyle: a.who.style, Audience: a.who.audience,
		Issuer: a.meta.Issuer, AuthURL: a.meta.AuthorizationEndpoint, TokenURL: a.meta.TokenEndpoint,
		Scopes: slices.Clone(a.scopes), NoOffline: refused || had.NoOffline, Since: time.Now(),
	}
	if t.Grant == GrantClient {
		got.Requested = slices.Clone(a.scopes)
	}
	got.setToken(token)
	return got, nil
}

// attempt is one sign-in at an authorization server.
type attempt struct {
	c        *Client
	t        terms
	http     *http.Client
	pinned   *issuerCheck
	opened   pages
	wider    bool     // a call wants a wider scope
	back     *landing // the page to which the browser comes back; nil if no browser comes back
	meta     *issuer
	who      identity
	resource string // "" if requests name no resource
	scopes   []string
}

// chooseIssuer takes the first authorization server that has metadata, offers the owner's way to
// get a token, and knows the client or registers one. A server without metadata is taken only if
// there is no other server.
func (a *attempt) chooseIssuer(ctx context.Context, d *discovery, servers []string) error {
	if was := a.pinned.entry.Issuer; a.pinned.entry.ByHand && slices.Contains(servers, was) {
		servers = []string{was} // the owner's client is registered at that server
	}
	var failed []error
	for _, server := range servers {
		meta, err := d.findIssuer(ctx, server, a.t)
		if errors.Is(err, errAbsent) {
			if meta, err = defaultIssuer(server), nil; len(servers) > 1 {
				err = fmt.Errorf("%.200q has no metadata", server)
			}
		}
		if err == nil {
			err = a.useIssuer(ctx, d, meta)
		}
		if err == nil {
			for _, err := range failed {
				d.drop(sanitizeError(err))
			}
			return nil
		}
		failed = append(failed, err)
	}
	for _, err := range failed[1:] {
		d.drop(sanitizeError(err))
	}
	return failed[0]
}

func (a *attempt) useIssuer(ctx context.Context, d *discovery, meta *issuer) (err error) {
	if err := a.pinned.checkUnchanged("issuer", a.pinned.entry.Issuer, meta.Issuer); err != nil {
		return err
	}
	if a.t.Grant == GrantDevice && meta.DeviceEndpoint == "" {
		return a.noDevice()
	}
	redirect := "http://127.0.0.1" + callbackPath
	if a.back != nil {
		redirect = a.back.redirect.String()
	}
	a.meta = meta
	a.who, err = a.c.identifyClient(ctx, d, meta, redirect, a.t)
	return err
}

// noDevice is the error for a provider that has no device codes.
func (a *attempt) noDevice() error {
	next := a.t
	next.Grant = GrantCode
	return &shownError{"the provider offers no device codes; paste the address of a browser elsewhere: " + next.loginCommand(a.c.key, "--no-browser"), errAbsent}
}

// requestToken gets a token in the way that the owner has chosen.
func (a *attempt) requestToken(ctx context.Context) (*oauth2.Token, error) {
	if err := checkEndpoint(a.meta.TokenEndpoint); err != nil {
		return nil, err
	}
	ask := tokenRequest{http: a.http, who: &a.who, endpoint: a.meta.TokenEndpoint, scopes: a.scopes}
	switch a.t.Grant {
	case GrantClient:
		return ask.send(ctx)
	case GrantDevice:
		return a.c.askDevice(ctx, a.meta.DeviceEndpoint, ask)
	case GrantCode:
	}
	return a.exchangeCode(ctx)
}

// exchangeCode opens the sign-in page. The browser brings back a code, and exchangeCode exchanges
// the code for a token.
func (a *attempt) exchangeCode(ctx context.Context) (*oauth2.Token, error) {
	config := &oauth2.Config{
		ClientID: a.who.id, ClientSecret: a.who.secret, RedirectURL: a.back.redirect.String(), Scopes: a.scopes,
		Endpoint: oauth2.Endpoint{AuthURL: a.meta.AuthorizationEndpoint, TokenURL: a.meta.TokenEndpoint, AuthStyle: a.who.style},
	}
	verifier, state := oauth2.GenerateVerifier(), rand.Text()
	options := []oauth2.AuthCodeOption{oauth2.S256ChallengeOption(verifier)}
	if a.resource != "" {
		options = append(options, oauth2.SetAuthURLParam("resource", a.resource))
	}
	page := config.AuthCodeURL(state, options...)
	for _, check := range []func() error{
		func() error { return a.pinned.checkUnchanged("page", a.pinned.entry.AuthURL, trimQuery(page)) },
		func() error { return CheckPage(page) },
		func() error { return a.opened.admitPage(a.c.key) },
	} {
		if err := check(); err != nil {
			return nil, err
		}
	}
	check := func(got callback) error { return checkIssuer(got.issuer, &a.meta.AuthServerMeta) }
	again := a.t
	if a.wider {
		again.Scopes = plainScopes(a.scopes)
	}
	result, err := a.c.authorize(ctx, page, a.back, a.meta.DeviceEndpoint != "", again, check)
	if err != nil {
		return nil, err
	}
	token, err := config.Exchange(context.WithValue(ctx, oauth2.HTTPClient, a.http), result.code, oauth2.VerifierOption(verifier))
	if err != nil {
		return nil, fmt.Errorf("token exchange failed: %w", err)
	}
	return token, nil
}

// checkIssuer compares the issuer that the browser brought back with the issuer in the metadata
// (RFC 9207). A server may name its issuer even if its metadata does not announce this.
func checkIssuer(issuer string, meta *oauthex.AuthServerMeta) error {
	switch {
	case issuer == "" && meta.AuthorizationResponseIssParameterSupported:
		return errors.New("the authorization server says who it is in its answers, and this answer does not")
	case issuer != "" && issuer != meta.Issuer: // compared byte by byte (RFC 9207 section 2.4)
		return fmt.Errorf("the answer is from another issuer (%.200q) than was asked (%.200q)", issuer, meta.Issuer)
	}
	return nil
}

// wantedScopes returns the scopes to request. It merges three lists:
//   - The scopes that the server wants now: the scopes of the challenge; if the challenge has none,
//     the scopes of the metadata (listed). If the owner has chosen scopes, they replace this list. In
//     a step-up (wider), they are added to it.
//   - The scopes that were granted before (had). For the client credentials grant, the scopes that were
//     requested before.
//   - offline_access, if it is one of the scopes of the authorization server (known), because some
//     servers issue no refresh token without it. The client credentials grant never requests
//     offline_access.
func wantedScopes(t terms, wider bool, challenges []oauthex.Challenge, listed []string, had StoredSignIn, known []string) []string {
	wanted := listed
	for _, ch := range challenges {
		if strings.EqualFold(ch.Scheme, "bearer") && ch.Params["scope"] != "" {
			wanted = strings.Fields(ch.Params["scope"])
			break
		}
	}
	switch {
	case len(t.Scopes) > 0 && wider:
		wanted = mergeScopes(t.Scopes, wanted)
	case len(t.Scopes) > 0:
		wanted = t.Scopes
	}
	if t.Grant == GrantClient {
		return mergeScopes(had.Requested, wanted)
	}
	wanted = mergeScopes(had.Scopes, wanted)
	if slices.Contains(known, "offline_access") && !had.NoOffline {
		wanted = mergeScopes(wanted, []string{"offline_access"})
	}
	return wanted
}

// challengesOf parses the server's challenges. It returns no challenges if they cannot be parsed,
// because the metadata can also be found without challenges.
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

// isWider reports whether an answer to a request with a token asks for a wider scope.
func isWider(resp *http.Response) bool {
	return resp.StatusCode == http.StatusForbidden && stepUp(resp)
}

// plainScopes returns the scopes that are safe to show to a person. A server can name any text of
// any length as a scope.
func plainScopes(scopes []string) []string {
	const most, longest = 50, 200
	plain := slices.DeleteFunc(slices.Clone(scopes), func(scope string) bool { return !IsScope(scope) || len(scope) > longest })
	return plain[:min(len(plain), most)]
}

// IsScope reports whether a word can be a scope (RFC 6749 section 3.3).
func IsScope(word string) bool {
	return word != "" && !strings.ContainsFunc(word, func(r rune) bool { return r <= ' ' || r >= 0x7f || r == '"' || r == '\\' })
}

// wantsSignIn reports whether a 403 to a request without a token means that the server wants a
// sign-in, like a 401. This is so if the server has metadata that names a place to sign in. A
// firewall that sends a 403 has no metadata. Because a firewall may delay the request for the
// metadata, the request has a short timeout and is not repeated for each call.
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

// barrier is the result of wantsSignIn for a 403 that does not ask for a sign-in.
type barrier struct {
	named string    // the metadata address in the challenge; "" if there is none
	until time.Time // time until which the result is used again
}

// CheckPage returns an error for a page that must not be opened. The address comes from the server,
// and the program that opens the page can do more than open web pages (CVE-2025-6514).
func CheckPage(page string) error {
	u, err := url.Parse(page)
	switch {
	case err != nil || u.Host == "":
		return errors.New("the sign-in page's address cannot be read")
	case u.User != nil: // for example https://bank.example@evil.example/
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
