package signin

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/clawai/clawai/internal/gateway/issuer"
	"github.com/clawai/clawai/internal/gateway/principal"
)

// Flow binds one attempt to sign in to a browser. All fields are secrets of 256 bits, and the centre
// can compute them only with this browser's cookie. Verifier is the code verifier of PKCE (RFC 7636).
type Flow struct{ State, Nonce, Verifier string }

// Provider is the team's identity provider. It is safe for concurrent use.
type Provider struct {
	settings         Settings
	secret, redirect string
	now              func() time.Time
	issuer           *issuer.Issuer
}

// metadata is the provider's metadata, with the data for a sign-in.
type metadata struct {
	*issuer.Metadata
	endpoint oauth2.Endpoint
	namesIss bool // the provider puts iss into its responses (RFC 9207)
}

// NewProvider returns a provider. It sends no request. secret is the client secret; "" if the client
// has none. redirect is the address to which the provider sends people back.
func NewProvider(s Settings, secret, redirect string, now func() time.Time) *Provider {
	p := &Provider{settings: s, secret: secret, redirect: redirect, now: now}
	p.issuer = issuer.New(s.Issuer, now, func(m *issuer.Metadata) error {
		_, err := p.read(m)
		return err
	})
	return p
}

// Error says why a person was not signed in. Text is for the person and contains no foreign text. Err
// is for the centre's administrator and may contain foreign text.
type Error struct {
	Text string
	Err  error
}

func (e *Error) Error() string {
	if e.Err == nil {
		return e.Text
	}
	return e.Text + ": " + e.Err.Error()
}

func (e *Error) Unwrap() error { return e.Err }

// away is the Text for a provider that does not respond correctly.
const away = "The identity provider does not answer as it should. Try again in a minute; if it stays so, tell the centre's administrator"

// find returns the provider's metadata.
func (p *Provider) find(ctx context.Context) (*metadata, error) {
	m, err := p.issuer.Find(ctx)
	if err != nil {
		return nil, &Error{away, err}
	}
	return p.read(m)
}

// read returns the data for a sign-in from the provider's metadata.
func (p *Provider) read(m *issuer.Metadata) (*metadata, error) {
	var said struct {
		Authorize string   `json:"authorization_endpoint"`
		Token     string   `json:"token_endpoint"`
		UserInfo  string   `json:"userinfo_endpoint"`
		Methods   []string `json:"token_endpoint_auth_methods_supported"`
		NamesIss  bool     `json:"authorization_response_iss_parameter_supported"`
	}
	if err := m.Provider.Claims(&said); err != nil {
		return nil, err
	}
	for name, address := range map[string]string{"authorization_endpoint": said.Authorize, "token_endpoint": said.Token, "userinfo_endpoint": said.UserInfo} {
		if err := m.CheckEndpoint(address); err != nil && (address != "" || name != "userinfo_endpoint") {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	all := &metadata{Metadata: m, endpoint: m.Provider.Endpoint(), namesIss: said.NamesIss}
	switch {
	case p.secret == "":
		all.endpoint.AuthStyle = oauth2.AuthStyleInParams
	case len(said.Methods) == 0 || slices.Contains(said.Methods, "client_secret_basic"):
		all.endpoint.AuthStyle = oauth2.AuthStyleInHeader
	case slices.Contains(said.Methods, "client_secret_post"):
		all.endpoint.AuthStyle = oauth2.AuthStyleInParams
	default:
		return nil, fmt.Errorf("it takes a client's secret in none of the ways that are known here, but %q", said.Methods)
	}
	return all, nil
}

func (p *Provider) config(m *metadata) *oauth2.Config {
	return &oauth2.Config{ClientID: p.settings.ClientID, ClientSecret: p.secret, Endpoint: m.endpoint, RedirectURL: p.redirect, Scopes: append([]string{oidc.ScopeOpenID}, p.settings.Scopes...)}
}

// Begin returns the address of the provider's page where a person signs in.
func (p *Provider) Begin(ctx context.Context, f Flow) (string, error) {
	m, err := p.find(ctx)
	if err != nil {
		return "", err
	}
	return p.config(m).AuthCodeURL(f.State, oidc.Nonce(f.Nonce), oauth2.S256ChallengeOption(f.Verifier)), nil
}

// Finish returns the person who signed in. answer is the query of the URL to which the provider sent
// the browser back. f is the Flow of the attempt in this browser.
func (p *Provider) Finish(ctx context.Context, f Flow, answer url.Values) (principal.Principal, error) {
	var none principal.Principal
	for _, name := range []string{"state", "code", "iss", "error"} {
		if len(answer[name]) > 1 {
			return none, &Error{"The identity provider's answer cannot be read. Sign in again", nil}
		}
	}
	if f.State == "" || !isSame(answer.Get("state"), f.State) {
		return none, &Error{"This answer is not one to a sign-in that was begun in this browser. Sign in again", nil}
	}
	m, err := p.find(ctx)
	if err != nil {
		return none, err
	}
	// Without this check, an attacker could replace the provider by another one that the person also
	// uses (RFC 9207).
	if iss, sent := answer["iss"]; sent && iss[0] != p.settings.Issuer || !sent && m.namesIss {
		return none, &Error{"The answer does not come from the identity provider of this centre. Sign in again", nil}
	}
	if word := answer.Get("error"); word != "" {
		text := "The identity provider did not sign you in"
		if strings.Trim(word, "abcdefghijklmnopqrstuvwxyz_") == "" && len(word) <= 40 {
			text += " (" + word + ")"
		}
		return none, &Error{text + ". Sign in again, or ask who keeps the provider", fmt.Errorf("%s: %s", word, answer.Get("error_description"))}
	}
	if answer.Get("code") == "" {
		return none, &Error{"The identity provider's answer has no code. Sign in again", nil}
	}
	ctx, cancel := context.WithTimeout(oidc.ClientContext(ctx, p.issuer.Client()), 3*issuer.RequestTime)
	defer cancel()
	tokens, err := p.config(m).Exchange(ctx, answer.Get("code"), oauth2.VerifierOption(f.Verifier))
	if err != nil {
		if refused, ok := errors.AsType[*oauth2.RetrieveError](err); ok && refused.ErrorCode == "invalid_grant" {
			return none, &Error{"The identity provider does not take this sign-in any more: it was used, or took too long. Sign in again", withoutBody(err)}
		}
		return none, &Error{away, withoutBody(err)}
	}
	raw, _ := tokens.Extra("id_token").(string)
	if raw == "" {
		return none, &Error{away, errors.New("its answer has no id_token; is the scope openid allowed for this client?")}
	}
	return p.readToken(ctx, m, raw, tokens, f.Nonce)
}

// withoutBody returns an error of the token endpoint without the response, because the response may
// contain secrets.
func withoutBody(err error) error {
	if refused, ok := errors.AsType[*oauth2.RetrieveError](err); ok {
		return fmt.Errorf("the token endpoint answered %s: %s %s", refused.Response.Status, refused.ErrorCode, refused.ErrorDescription)
	}
	if failed, ok := errors.AsType[*url.Error](err); ok {
		return failed.Err
	}
	return err
}

// readToken verifies an ID token and returns its person.
func (p *Provider) readToken(ctx context.Context, m *metadata, raw string, tokens *oauth2.Token, nonce string) (principal.Principal, error) {
	var none principal.Principal
	const wrong = "The identity provider's token is not valid here. Sign in again; if it stays so, tell the centre's administrator"
	token, all, err := m.Verify(ctx, raw)
	if err != nil {
		return none, &Error{wrong, err}
	}
	said := claims(all)
	if _, _, err := issuer.CheckTimes(said, p.now()); err != nil {
		return none, &Error{wrong, err}
	}
	if !slices.Contains(token.Audience, p.settings.ClientID) {
		return none, &Error{wrong, errors.New("the token is for another audience (aud)")}
	}
	if azp, ok := said["azp"]; ok && azp != p.settings.ClientID || !ok && len(token.Audience) > 1 {
		return none, &Error{wrong, errors.New("the token was made for another client (azp)")}
	}
	if !isSame(token.Nonce, nonce) {
		return none, &Error{wrong, errors.New("the token's nonce is not that of this browser")}
	}
	if !isPlain(token.Subject) {
		return none, &Error{wrong, errors.New("the token's subject is empty, too long, or has signs that cannot be shown")}
	}
	more, err := p.askMore(ctx, m, said, token.Subject, tokens)
	if err != nil {
		return none, &Error{away, err}
	}
	return newPrincipal(p.settings.Issuer, token.Subject, p.settings.GroupsClaim, said, more), nil
}

// askMore asks the userinfo endpoint for claims that the token does not have, because many providers
// put groups and addresses only there. It returns nil if no claim is missing or if the provider has no
// such endpoint.
func (p *Provider) askMore(ctx context.Context, m *metadata, said claims, subject string, tokens *oauth2.Token) (claims, error) {
	_, hasGroups := said.find(p.settings.GroupsClaim)
	_, hasEmail := said["email"]
	if (hasGroups || said.hasElsewhere(p.settings.GroupsClaim)) && hasEmail || m.Provider.UserInfoEndpoint() == "" {
		return nil, nil
	}
	info, err := m.Provider.UserInfo(ctx, oauth2.StaticTokenSource(tokens))
	if err != nil {
		return nil, fmt.Errorf("userinfo_endpoint: %w", err)
	}
	if info.Subject != subject {
		return nil, errors.New("userinfo_endpoint answers about somebody else than the token") // OpenID Connect Core 5.3.2
	}
	more := claims{}
	return more, info.Claims(&more)
}

func isSame(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// Look requests the provider's metadata and keys. It returns how far the provider's clock is ahead of
// ours. known is false if the provider's response has no date.
func (p *Provider) Look(ctx context.Context) (ahead time.Duration, known bool, err error) {
	return p.issuer.Look(ctx)
}
