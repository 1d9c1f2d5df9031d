package signin

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/clawai/clawai/internal/gateway/principal"
	"github.com/clawai/clawai/internal/state/egress"
)

const (
	requestTime = 10 * time.Second // of one question to the provider
	maxAnswer   = 1 << 20          // bytes of one answer
	maxSkew     = 60 * time.Second // between the clocks of the provider and the centre
	freshFor    = time.Hour        // then what the provider says of itself is asked again
	keptFor     = 24 * time.Hour   // so long it counts while the provider does not answer
	retryAfter  = 5 * time.Second  // between two questions that failed
	keysEvery   = time.Minute      // in such a span the keys are asked for at most mostKeys times
	mostKeys    = 3
)

// algorithms are those by which a token may be signed: each has a public key.
var algorithms = []string{oidc.RS256, oidc.RS384, oidc.RS512, oidc.PS256, oidc.PS384, oidc.PS512, oidc.ES256, oidc.ES384, oidc.ES512, oidc.EdDSA}

// Flow binds one attempt to a browser. All three are secrets of 256 bits that this browser alone brings
// back; Verifier is that of PKCE (RFC 7636).
type Flow struct{ State, Nonce, Verifier string }

// Provider is the team's identity provider. It is safe for concurrent use.
type Provider struct {
	settings         Settings
	secret, redirect string
	now              func() time.Time
	client           *http.Client

	mu     sync.Mutex
	known  *metadata
	failed error // why the last question failed
	tried  time.Time
}

// metadata is what the provider says of itself.
type metadata struct {
	provider *oidc.Provider
	verifier *oidc.IDTokenVerifier
	endpoint oauth2.Endpoint
	namesIss bool // it names itself in its answers (RFC 9207)
	at       time.Time
	date     time.Time // of the answer, by the provider's clock; zero if it sent none
}

// NewProvider returns a provider. It sends nothing. secret is that of the client; "" for a client
// without one. redirect is the address to which the provider sends people back.
func NewProvider(s Settings, secret, redirect string, now func() time.Time) *Provider {
	return &Provider{settings: s, secret: secret, redirect: redirect, now: now, client: &http.Client{
		Transport: cautious{egress.Network{}.NewTransport(egress.Options{})}, Timeout: requestTime,
		// A redirect could lead a secret elsewhere, or fetch keys in clear.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// cautious bounds answers, which its users read whole.
type cautious struct{ next http.RoundTripper }

func (c cautious) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := c.next.RoundTrip(r)
	if err == nil {
		resp.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(resp.Body, maxAnswer), resp.Body}
	}
	return resp, err
}

// Error is why nobody is signed in. Text is for the person and has no foreign text; Err, for the
// centre's administrator, may have.
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

// away is the text for a provider that does not answer as it should.
const away = "The identity provider does not answer as it should. Try again in a minute; if it stays so, tell the centre's administrator"

// find returns what the provider says of itself. While it does not answer, what it said before counts
// for a day.
func (p *Provider) find(ctx context.Context) (*metadata, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	if p.known != nil && now.Sub(p.known.at) < freshFor {
		return p.known, nil
	}
	if p.failed == nil || now.Sub(p.tried).Abs() >= retryAfter {
		// Somebody who closes the page must not end the question for the others.
		short, cancel := context.WithTimeout(context.WithoutCancel(ctx), requestTime)
		defer cancel()
		m, err := p.discover(short)
		// Those who wait for this answer must not each wait for one of their own.
		if p.failed, p.tried = err, p.now(); err == nil {
			p.known = m
			return m, nil
		}
	}
	if p.known != nil && now.Sub(p.known.at) < keptFor {
		return p.known, nil
	}
	return nil, &Error{away, p.failed}
}

// discover asks the provider what it says of itself (OpenID Connect Discovery).
func (p *Provider) discover(ctx context.Context) (*metadata, error) {
	answers := &dated{next: p.client.Transport}
	client := *p.client
	client.Transport = answers
	found, err := oidc.NewProvider(oidc.ClientContext(ctx, &client), p.settings.Issuer)
	if err != nil {
		return nil, err
	}
	var said struct {
		Authorize string   `json:"authorization_endpoint"`
		Token     string   `json:"token_endpoint"`
		Keys      string   `json:"jwks_uri"`
		UserInfo  string   `json:"userinfo_endpoint"`
		Methods   []string `json:"token_endpoint_auth_methods_supported"`
		NamesIss  bool     `json:"authorization_response_iss_parameter_supported"`
	}
	if err := found.Claims(&said); err != nil {
		return nil, err
	}
	for name, address := range map[string]string{"authorization_endpoint": said.Authorize, "token_endpoint": said.Token, "jwks_uri": said.Keys, "userinfo_endpoint": said.UserInfo} {
		if err := p.checkAddress(address); err != nil && (address != "" || name != "userinfo_endpoint") {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	m := &metadata{provider: found, endpoint: found.Endpoint(), namesIss: said.NamesIss, at: p.now(), date: answers.date}
	switch {
	case p.secret == "":
		m.endpoint.AuthStyle = oauth2.AuthStyleInParams
	case len(said.Methods) == 0 || slices.Contains(said.Methods, "client_secret_basic"):
		m.endpoint.AuthStyle = oauth2.AuthStyleInHeader
	case slices.Contains(said.Methods, "client_secret_post"):
		m.endpoint.AuthStyle = oauth2.AuthStyleInParams
	default:
		return nil, fmt.Errorf("it takes a client's secret in none of the ways that are known here, but %q", said.Methods)
	}
	keys := &http.Client{Transport: &seldom{next: p.client.Transport, now: p.now}, Timeout: requestTime, CheckRedirect: p.client.CheckRedirect}
	m.verifier = oidc.NewVerifier(p.settings.Issuer, oidc.NewRemoteKeySet(oidc.ClientContext(context.WithoutCancel(ctx), keys), said.Keys), &oidc.Config{
		ClientID: p.settings.ClientID, SupportedSigningAlgs: algorithms,
		SkipExpiryCheck: true, // checkTimes does it, with a smaller skew
	})
	return m, nil
}

// checkAddress refuses an address of the provider to which a secret would go in clear.
func (p *Provider) checkAddress(address string) error {
	u, err := url.Parse(address)
	issuer, _ := url.Parse(p.settings.Issuer)
	if err != nil || u.Host == "" || u.Scheme != "https" && (!isLoopback(u) || !isLoopback(issuer)) {
		return fmt.Errorf("%q does not begin with https://", address)
	}
	return nil
}

// dated keeps the time at which an answer was made.
type dated struct {
	next http.RoundTripper
	date time.Time
}

func (d *dated) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := d.next.RoundTrip(r)
	if err == nil {
		d.date, _ = http.ParseTime(resp.Header.Get("Date"))
	}
	return resp, err
}

// errSeldom is the error of a question for keys that comes too soon.
var errSeldom = errors.New("the keys were asked for several times within a minute, and no key has signed the token")

// seldom bounds how often the keys are asked for: each token with the name of an unknown key asks.
type seldom struct {
	next http.RoundTripper
	now  func() time.Time

	mu    sync.Mutex
	times []time.Time
}

func (s *seldom) RoundTrip(r *http.Request) (*http.Response, error) {
	s.mu.Lock()
	now := s.now()
	s.times = slices.DeleteFunc(s.times, func(t time.Time) bool { return now.Sub(t).Abs() >= keysEvery })
	often := len(s.times) >= mostKeys
	if !often {
		s.times = append(s.times, now)
	}
	s.mu.Unlock()
	if often {
		return nil, errSeldom
	}
	return s.next.RoundTrip(r)
}

func (p *Provider) config(m *metadata) *oauth2.Config {
	return &oauth2.Config{ClientID: p.settings.ClientID, ClientSecret: p.secret, Endpoint: m.endpoint, RedirectURL: p.redirect, Scopes: append([]string{oidc.ScopeOpenID}, p.settings.Scopes...)}
}

// Begin returns the address at which a person signs in.
func (p *Provider) Begin(ctx context.Context, f Flow) (string, error) {
	m, err := p.find(ctx)
	if err != nil {
		return "", err
	}
	return p.config(m).AuthCodeURL(f.State, oidc.Nonce(f.Nonce), oauth2.S256ChallengeOption(f.Verifier)), nil
}

// Finish returns who has signed in. answer is the query with which the provider sent the browser back,
// and f that of the attempt which this browser began.
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
	// Without this check, another provider of the same person could be put in this one's place (RFC 9207).
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
	ctx, cancel := context.WithTimeout(oidc.ClientContext(ctx, p.client), 3*requestTime)
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

// withoutBody returns an error of the token endpoint without the answer, which may have secrets.
func withoutBody(err error) error {
	if refused, ok := errors.AsType[*oauth2.RetrieveError](err); ok {
		return fmt.Errorf("the token endpoint answered %s: %s %s", refused.Response.Status, refused.ErrorCode, refused.ErrorDescription)
	}
	if failed, ok := errors.AsType[*url.Error](err); ok {
		return failed.Err
	}
	return err
}

// readToken returns who an ID token is about.
func (p *Provider) readToken(ctx context.Context, m *metadata, raw string, tokens *oauth2.Token, nonce string) (principal.Principal, error) {
	var none principal.Principal
	const wrong = "The identity provider's token is not valid here. Sign in again; if it stays so, tell the centre's administrator"
	token, err := m.verifier.Verify(ctx, raw)
	if err != nil {
		return none, &Error{wrong, err}
	}
	said := claims{}
	if err := token.Claims(&said); err != nil {
		return none, &Error{wrong, err}
	}
	if err := checkTimes(said, p.now()); err != nil {
		return none, &Error{wrong, err}
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

// askMore asks the provider for what the token does not have: many put groups and addresses there
// alone. It returns nil if nothing is missing, or nothing can be asked.
func (p *Provider) askMore(ctx context.Context, m *metadata, said claims, subject string, tokens *oauth2.Token) (claims, error) {
	_, hasGroups := said.find(p.settings.GroupsClaim)
	_, hasEmail := said["email"]
	if (hasGroups || said.hasElsewhere(p.settings.GroupsClaim)) && hasEmail || m.provider.UserInfoEndpoint() == "" {
		return nil, nil
	}
	info, err := m.provider.UserInfo(ctx, oauth2.StaticTokenSource(tokens))
	if err != nil {
		return nil, fmt.Errorf("userinfo_endpoint: %w", err)
	}
	if info.Subject != subject {
		return nil, errors.New("userinfo_endpoint answers about somebody else than the token") // OpenID Connect Core 5.3.2
	}
	more := claims{}
	return more, info.Claims(&more)
}

// checkTimes checks when a token counts (RFC 7519 section 4.1).
func checkTimes(said claims, now time.Time) error {
	at := func(name string) (time.Time, bool) {
		seconds, ok := said[name].(float64)
		return time.Unix(int64(min(max(seconds, 0), 1<<40)), 0), ok
	}
	expires, ok := at("exp")
	if !ok || !now.Before(expires.Add(maxSkew)) {
		return fmt.Errorf("the token expired at %s; is the clock of this machine right?", expires.UTC().Format(time.RFC3339))
	}
	for _, name := range []string{"nbf", "iat"} {
		_, there := said[name]
		begins, ok := at(name)
		if there && !ok || name == "iat" && !there || now.Add(maxSkew).Before(begins) {
			return fmt.Errorf("the token counts from %s on (%s); is the clock of this machine right?", begins.UTC().Format(time.RFC3339), name)
		}
	}
	return nil
}

func isSame(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// Look asks the provider what it says of itself, and returns how far its clock is ahead of ours;
// known is false if it did not say the time.
func (p *Provider) Look(ctx context.Context) (ahead time.Duration, known bool, err error) {
	m, err := p.discover(ctx)
	if err != nil {
		return 0, false, err
	}
	return m.date.Sub(m.at), !m.date.IsZero(), nil
}
