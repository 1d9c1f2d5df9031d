// Package issuer loads the metadata and the keys of an OpenID Connect issuer, and verifies tokens that
// the issuer has signed. Sign-ins of people and tokens of workloads use this package.
package issuer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/clawai/clawai/internal/text/redact"
	"github.com/coreos/go-oidc/v3/oidc"
	strictjson "github.com/go-jose/go-jose/v4/json"
)

const maxSkew = 60 * time.Second // allowed difference between the clocks of the issuer and the centre

// Limits of requests to an issuer.
const (
	RequestTime = 10 * time.Second // maximum duration of one request
	FreshFor    = time.Hour        // after this time, the metadata is requested again
	KeptFor     = 24 * time.Hour   // metadata is used for this time if the issuer does not respond
	RetryAfter  = 5 * time.Second  // pause after a failed request before the next request
	KeysEvery   = time.Minute      // at most MostKeys requests for keys are sent in this time
	MostKeys    = 3
)

// algorithms are the accepted signature algorithms. Each of them uses a public key.
var algorithms = []string{oidc.RS256, oidc.RS384, oidc.RS512, oidc.PS256, oidc.PS384, oidc.PS512, oidc.ES256, oidc.ES384, oidc.ES512, oidc.EdDSA}

// Issuer is one issuer of tokens. It is safe for concurrent use.
type Issuer struct {
	address string // the issuer's address, exactly as in its tokens
	now     func() time.Time
	check   func(*Metadata) error
	client  *http.Client

	mu     sync.Mutex
	known  *Metadata
	failed error // error of the last request for metadata; nil if it succeeded
	tried  time.Time
}

// Metadata is the metadata of an issuer (OpenID Connect Discovery), with its keys.
type Metadata struct {
	Provider *oidc.Provider
	address  string
	keysAt   string
	keys     oidc.KeySet
	client   *http.Client // client for requests for keys
	at       time.Time
	date     time.Time // Date of the response, by the issuer's clock; zero if the response had none
}

// New returns an issuer. It sends no request. check can refuse the issuer's metadata with an error; nil
// accepts all metadata.
func New(address string, now func() time.Time, check func(*Metadata) error) *Issuer {
	return &Issuer{address: address, now: now, check: check, client: newClient()}
}

// Client returns the HTTP client for requests to the issuer. The client limits responses and does not
// follow redirects.
func (i *Issuer) Client() *http.Client { return i.client }

// Find returns the metadata of the issuer. If the issuer does not respond, it returns the last known
// metadata for up to KeptFor.
func (i *Issuer) Find(ctx context.Context) (*Metadata, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	now := i.now()
	if i.known != nil && now.Sub(i.known.at) < FreshFor {
		return i.known, nil
	}
	if i.failed == nil || now.Sub(i.tried).Abs() >= RetryAfter {
		// The caller may leave, but other callers wait for the same request. So the caller's ctx does
		// not end the request.
		short, cancel := context.WithTimeout(context.WithoutCancel(ctx), RequestTime)
		defer cancel()
		m, err := i.discover(short)
		// Callers that waited for this request get its error, because a request for each of them would
		// take too long.
		if i.failed, i.tried = err, i.now(); err == nil {
			i.known = m
			return m, nil
		}
	}
	if i.known != nil && now.Sub(i.known.at) < KeptFor {
		return i.known, nil
	}
	return nil, i.failed
}

// Look requests the metadata and the keys. It returns how far the issuer's clock is ahead of ours.
// known is false if the issuer's response has no date.
func (i *Issuer) Look(ctx context.Context) (ahead time.Duration, known bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, RequestTime)
	defer cancel()
	m, err := i.discover(ctx)
	if err == nil {
		err = m.lookAtKeys(ctx)
	}
	if err != nil {
		return 0, false, err
	}
	return m.date.Sub(m.at), !m.date.IsZero(), nil
}

// discover requests the metadata of the issuer (OpenID Connect Discovery).
func (i *Issuer) discover(ctx context.Context) (*Metadata, error) {
	answers := &dated{next: i.client.Transport}
	client := *i.client
	client.Transport = answers
	found, err := oidc.NewProvider(oidc.ClientContext(ctx, &client), i.address)
	if err != nil {
		return nil, shortenError(err)
	}
	var said struct {
		Keys string `json:"jwks_uri"`
	}
	if err := found.Claims(&said); err != nil {
		return nil, err
	}
	m := &Metadata{Provider: found, address: i.address, keysAt: said.Keys, at: i.now(), date: answers.date}
	if err := m.CheckEndpoint(said.Keys); err != nil {
		return nil, fmt.Errorf("jwks_uri: %w", err)
	}
	if i.check != nil {
		if err := i.check(m); err != nil {
			return nil, err
		}
	}
	keys := *i.client
	keys.Transport = &seldom{next: signingKeys{i.client.Transport}, now: i.now}
	m.client = &keys
	m.keys = oidc.NewRemoteKeySet(oidc.ClientContext(context.WithoutCancel(ctx), &keys), said.Keys)
	return m, nil
}

// CheckEndpoint returns an error for an address without https, because secrets or keys would travel
// unencrypted. It allows http only if the address and the issuer are both on this machine.
func (m *Metadata) CheckEndpoint(address string) error {
	u, err := url.Parse(address)
	is, _ := url.Parse(m.address)
	if err != nil || u.Host == "" || u.Scheme != "https" && (!isLoopback(u) || !isLoopback(is)) {
		return fmt.Errorf("%q does not begin with https://", redact.MaskAddress(address))
	}
	return nil
}

// Verify returns a token and its claims if the issuer has signed it. The caller must check the
// audience, and must call CheckTimes.
func (m *Metadata) Verify(ctx context.Context, raw string) (*oidc.IDToken, map[string]any, error) {
	keys := &watched{KeySet: m.keys}
	verifier := oidc.NewVerifier(m.address, keys, &oidc.Config{
		SupportedSigningAlgs: algorithms,
		SkipClientIDCheck:    true, // the caller checks the audience
		SkipExpiryCheck:      true, // CheckTimes checks the expiry, with a smaller tolerance
	})
	token, err := verifier.Verify(ctx, raw)
	if keys.failed != nil {
		return nil, nil, &KeysError{shortenError(keys.failed)}
	}
	if err != nil {
		return nil, nil, shortenError(err)
	}
	var src json.RawMessage
	if err := token.Claims(&src); err != nil {
		return nil, nil, err
	}
	said, err := readClaims(src)
	return token, said, err
}

// readClaims reads the claims of a token. It refuses two claims with the same name, because two
// programs may read different ones.
func readClaims(src []byte) (said map[string]any, err error) {
	if !utf8.Valid(src) {
		return nil, errors.New("its claims cannot be read in one way: they are no UTF-8")
	}
	if err := strictjson.Unmarshal(src, &said); err != nil {
		return nil, fmt.Errorf("its claims cannot be read in one way: %w", shortenError(err))
	}
	return said, nil
}

// CheckTimes returns an error if a token is not valid at the given time (RFC 7519 section 4.1). It
// also returns the times at which the token expires and was made.
func CheckTimes(said map[string]any, now time.Time) (expires, made time.Time, err error) {
	at := func(name string) (time.Time, bool) {
		seconds, ok := said[name].(float64)
		return time.Unix(int64(min(max(seconds, 0), 1<<40)), 0), ok
	}
	for _, name := range []string{"exp", "nbf", "iat"} {
		if _, ok := said[name].(float64); said[name] != nil && !ok || said[name] == nil && name != "nbf" {
			return expires, made, fmt.Errorf("the token says no time by a number in %s, which each token must have here", name)
		}
	}
	expires, ok := at("exp")
	if !ok || !now.Before(expires.Add(maxSkew)) {
		return expires, made, fmt.Errorf("the token expired at %s; is the clock of this machine right?", expires.UTC().Format(time.RFC3339))
	}
	for _, name := range []string{"nbf", "iat"} {
		_, there := said[name]
		begins, ok := at(name)
		if there && !ok || name == "iat" && !there || now.Add(maxSkew).Before(begins) {
			return expires, made, fmt.Errorf("the token counts from %s on (%s); is the clock of this machine right?", begins.UTC().Format(time.RFC3339), name)
		}
		made = begins
	}
	return expires, made, nil
}

// IsPlain reports whether a text from an issuer can be stored and shown unchanged. The text must not be
// empty, and must not have more bytes than the parameter most. It must not contain U+FFFD, because
// U+FFFD replaces unreadable characters and two such texts can look alike.
func IsPlain(s string, most int) bool {
	return s != "" && len(s) <= most && utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) || r == utf8.RuneError })
}

// CheckAddress returns an error if address cannot be the address of an issuer. address comes from the
// key issuer in gateway.toml.
func CheckAddress(address string) error {
	u, err := url.Parse(address)
	shown := redact.MaskAddress(address)
	switch {
	case address == "":
		return errors.New("issuer is missing; it is the address that the issuer writes into its tokens")
	case err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return fmt.Errorf("issuer %q is not an address such as https://login.example", shown)
	case u.Scheme != "https" && !isLoopback(u):
		return fmt.Errorf("issuer %q would send passwords and tokens in clear; it begins with https://", shown)
	}
	return nil
}

// isLoopback reports whether a URL has http and a host on this machine.
func isLoopback(u *url.URL) bool {
	ip, err := netip.ParseAddr(u.Hostname())
	return u.Scheme == "http" && (u.Hostname() == "localhost" || err == nil && ip.IsLoopback())
}
