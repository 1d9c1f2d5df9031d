package oauth

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"
)

// SignIn sends the owner to the server's sign-in page and keeps the token. resp
// is the challenge; used is the token it refused, "" without one.
func (c *Client) SignIn(ctx context.Context, resp *http.Response, used string) error {
	return c.withLock(ctx, func() error {
		had, err := c.reload()
		if c.o.Anew {
			had = Entry{}
		}
		if err == nil && had.AccessToken != used && had.AccessToken != "" {
			return nil // somebody signed in while we waited
		}
		back, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		defer func() { _ = back.Close() }()
		redirect := "http://" + back.Addr().String() + callbackPath
		var got Entry
		id, secret := c.o.ClientID, c.o.ClientSecret
		if id == "" && had.ByHand {
			id, secret = had.ClientID, had.ClientSecret
		}
		pinned := &issuerCheck{next: c.o.HTTP.Transport, entry: had}
		if c.o.ClientID != "" { // said anew: registered wherever the server leads now
			pinned.entry = Entry{}
		}
		config := c.handlerConfig(redirect, had.Scopes, back, pinned, &got)
		opened := pages{c.lockName() + ".page", c.o.Pages}
		if resp.StatusCode == http.StatusForbidden {
			opened.file = c.lockName() + ".wider"
		}
		show := config.AuthorizationCodeFetcher
		config.AuthorizationCodeFetcher = func(ctx context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
			if err := pinned.checkPage(args.URL); err != nil {
				return nil, err
			}
			if err := CheckPage(args.URL); err != nil {
				return nil, err
			}
			if err := opened.open(c.key); err != nil {
				return nil, err
			}
			return show(ctx, args)
		}
		identify(config, id, secret)
		handler, err := auth.NewAuthorizationCodeHandler(config)
		if err != nil {
			return err
		}
		if err := handler.Authorize(ctx, resp.Request, resp); err != nil {
			return unregistered(sanitizeError(err), id)
		}
		got.ByHand = id != ""
		if got.AccessToken == "" {
			return errors.New("the server gave no token")
		}
		return c.save(got)
	})
}

// handlerConfig is the SDK's flow with our browser, our callback and our store.
func (c *Client) handlerConfig(redirect string, had []string, back net.Listener, pinned *issuerCheck, got *Entry) *auth.AuthorizationCodeHandlerConfig {
	client := *c.o.HTTP
	client.Transport = pinned
	config := &auth.AuthorizationCodeHandlerConfig{
		RedirectURL:           redirect,
		RequestRefreshToken:   true,
		AcceptUnadvertisedIss: false,
		Client:                &client,
		ScopeFilter:           func(wanted []string) []string { return mergeScopes(had, wanted) },
		AuthorizationCodeFetcher: func(ctx context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
			return c.authorize(ctx, args.URL, back)
		},
		NewTokenSource: func(_ context.Context, o *oauth2.Config, t *oauth2.Token) (oauth2.TokenSource, error) {
			*got = Entry{
				Server: c.key, ClientID: o.ClientID, ClientSecret: o.ClientSecret, AuthStyle: o.Endpoint.AuthStyle,
				Issuer: pinned.currentIssuer(), AuthURL: o.Endpoint.AuthURL, TokenURL: o.Endpoint.TokenURL, Scopes: slices.Clone(o.Scopes), Since: time.Now(),
			}
			got.take(t)
			return oauth2.StaticTokenSource(t), nil
		},
		DynamicClientRegistrationConfig: &auth.DynamicClientRegistrationConfig{Metadata: &oauthex.ClientRegistrationMetadata{
			ClientName:    "clawai",
			RedirectURIs:  []string{redirect},
			GrantTypes:    []string{"authorization_code", "refresh_token"},
			ResponseTypes: []string{"code"},
		}},
	}
	return config
}

// identify makes the flow that of a client which the owner has registered. An id that
// is an address is a document (MCP 2025-11-25 basic/authorization, client id metadata
// documents); a server that does not say that it reads such may know the id all the same.
func identify(config *auth.AuthorizationCodeHandlerConfig, id, secret string) {
	if id == "" {
		return
	}
	config.PreregisteredClient = &oauthex.ClientCredentials{ClientID: id}
	if secret != "" {
		config.PreregisteredClient.ClientSecretAuth = &oauthex.ClientSecretAuth{ClientSecret: secret}
		return
	}
	if u, err := url.Parse(id); err == nil && u.Scheme == "https" && strings.Trim(u.Path, "/") != "" {
		config.ClientIDMetadataDocumentConfig = &auth.ClientIDMetadataDocumentConfig{URL: id}
	}
}

// unregistered says what to do where the server lets no client register itself.
func unregistered(err error, id string) error {
	if text := err.Error(); id == "" && (strings.Contains(text, "register client") || strings.Contains(text, "client registration")) {
		return fmt.Errorf("%w; register a client at the server and use: clawai auth login --client-id ID", err)
	}
	return err
}

// stepUp reports a 403 that asks for a wider scope.
func stepUp(resp *http.Response) bool {
	challenges, err := oauthex.ParseWWWAuthenticate(resp.Header.Values("WWW-Authenticate"))
	if err != nil {
		return false
	}
	return slices.ContainsFunc(challenges, func(ch oauthex.Challenge) bool {
		return strings.EqualFold(ch.Scheme, "bearer") && ch.Params["error"] == "insufficient_scope"
	})
}

// CheckPage says why a page must not be opened: the address comes from the
// server, and a browser opens more than pages (CVE-2025-6514).
func CheckPage(page string) error {
	u, err := url.Parse(page)
	switch {
	case err != nil || u.Host == "":
		return errors.New("the sign-in page's address cannot be read")
	case u.User != nil: // https://bank.example@evil.example/
		return errors.New("the sign-in page's address holds a name or a password")
	case u.Scheme == "https":
	case u.Scheme == "http" && loopback(u.Hostname()):
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

func loopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}
