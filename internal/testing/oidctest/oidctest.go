// Package oidctest imitates the identity provider of a team. It supports OpenID Connect with the
// code flow and signing keys. A test can make each of its answers wrong. The package also signs
// tokens of workloads.
package oidctest

import (
	"cmp"
	"crypto"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"
	"time"
)

// The id and the secret of the only client that the provider accepts.
const (
	ClientID = "centre"
	Secret   = "the client's secret"
)

// Provider is an identity provider. A browser that opens its authorization page is signed in at
// once, as the person in Claims. A test must change the fields inside Set. A nil value in Claims or
// Header removes that member from the token.
type Provider struct {
	// Claims are claims of the ID token. They replace the default values of iss, aud, exp, iat and
	// nonce.
	Claims   map[string]any
	UserInfo map[string]any // members of the answer at /me in addition to sub; nil for only sub
	Header   map[string]any // members of the token's header; they replace the default values
	Metadata map[string]any // members of the discovery document; they replace the default values
	Sign     func(input []byte) []byte
	KeyUse   string // value of the member use in the key set; "" means sig
	KeysDown bool   // requests for the keys get status 503
	Down     bool   // all requests get status 503
	NoIss    bool   // the browser returns without the parameter iss
	Iss      string

	server *httptest.Server
	key    *rsa.PrivateKey

	mu       sync.Mutex
	given    map[string]attempt // the authorization request of each code
	keysRead int
}

type attempt struct{ nonce, challenge, redirect string }

var makeKey = sync.OnceValues(func() (*rsa.PrivateKey, error) { return rsa.GenerateKey(rand.Reader, 2048) })

// Start starts a provider on a loopback port. It ends with the test.
func Start(t testing.TB) *Provider {
	t.Helper()
	key, err := makeKey()
	if err != nil {
		t.Fatal(err)
	}
	p := &Provider{key: key, given: map[string]attempt{}, Claims: map[string]any{"sub": "7"}}
	p.server = httptest.NewServer(p)
	t.Cleanup(p.server.Close)
	return p
}

// Issuer returns the address of the provider. The address is also its issuer.
func (p *Provider) Issuer() string { return p.server.URL }

// Set calls the function change, which may change the provider's fields. Until the function
// returns, the provider answers no request.
func (p *Provider) Set(change func(p *Provider)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change(p)
}

// KeysRead returns how often the keys were requested.
func (p *Provider) KeysRead() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.keysRead
}

// PublicPEM returns the public key as PEM. An attacker can use this text as the secret of an HMAC.
func (p *Provider) PublicPEM() []byte {
	raw, _ := x509.MarshalPKIXPublicKey(&p.key.PublicKey)
	return pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: raw})
}

// SignHMAC returns a function for Provider.Sign that signs with HS256 and this secret.
func SignHMAC(secret []byte) func([]byte) []byte {
	return func(input []byte) []byte {
		h := hmac.New(sha256.New, secret)
		h.Write(input)
		return h.Sum(nil)
	}
}

// ServeHTTP answers the provider's requests.
func (p *Provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.Down || p.KeysDown && r.URL.Path == "/keys" {
		http.Error(w, "down", http.StatusServiceUnavailable)
		return
	}
	switch r.URL.Path {
	case "/.well-known/openid-configuration":
		doc := map[string]any{
			"issuer": p.Issuer(), "authorization_endpoint": p.Issuer() + "/authorize", "token_endpoint": p.Issuer() + "/token", "jwks_uri": p.Issuer() + "/keys",
			"userinfo_endpoint": p.Issuer() + "/me", "id_token_signing_alg_values_supported": []string{"RS256", "HS256", "none"}, "authorization_response_iss_parameter_supported": true,
		}
		maps.Copy(doc, p.Metadata)
		writeJSON(w, http.StatusOK, doc)
	case "/keys":
		p.keysRead++
		use := cmp.Or(p.KeyUse, "sig")
		e := base64.RawURLEncoding.EncodeToString([]byte{1, 0, 1})
		writeJSON(w, http.StatusOK, map[string]any{"keys": []any{map[string]any{"kty": "RSA", "use": use, "kid": "one", "n": base64.RawURLEncoding.EncodeToString(p.key.N.Bytes()), "e": e}}})
	case "/authorize":
		p.authorize(w, r)
	case "/token":
		p.giveToken(w, r)
	case "/me":
		info := map[string]any{"sub": p.Claims["sub"]}
		maps.Copy(info, p.UserInfo)
		writeJSON(w, http.StatusOK, info)
	default:
		http.NotFound(w, r)
	}
}

func writeJSON(w http.ResponseWriter, status int, doc any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(doc)
}

func (p *Provider) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	if q.Get("client_id") != ClientID || q.Get("response_type") != "code" || q.Get("code_challenge_method") != "S256" || q.Get("state") == "" || q.Get("nonce") == "" {
		http.Error(w, "the request is not as it should be: "+r.URL.RawQuery, http.StatusBadRequest)
		return
	}
	code := fmt.Sprint("code", len(p.given), time.Now().UnixNano())
	p.given[code] = attempt{q.Get("nonce"), q.Get("code_challenge"), q.Get("redirect_uri")}
	answer := url.Values{"code": {code}, "state": {q.Get("state")}, "iss": {p.Issuer()}}
	if p.Iss != "" {
		answer.Set("iss", p.Iss)
	}
	if p.NoIss {
		answer.Del("iss")
	}
	// The redirect is safe, because the test itself has chosen this address.
	http.Redirect(w, r, q.Get("redirect_uri")+"?"+answer.Encode(), http.StatusFound) //nolint:gosec
}

func (p *Provider) giveToken(w http.ResponseWriter, r *http.Request) {
	id, secret, _ := r.BasicAuth()
	if name, err := url.QueryUnescape(secret); err == nil {
		secret = name
	}
	of, known := p.given[r.PostFormValue("code")]
	delete(p.given, r.PostFormValue("code"))
	sum := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
	switch {
	case id != ClientID || secret != Secret:
		writeJSON(w, http.StatusUnauthorized, map[string]any{"error": "invalid_client"})
	case !known || base64.RawURLEncoding.EncodeToString(sum[:]) != of.challenge || r.PostFormValue("redirect_uri") != of.redirect:
		writeJSON(w, http.StatusBadRequest, map[string]any{"error": "invalid_grant"})
	default:
		writeJSON(w, http.StatusOK, map[string]any{"access_token": "access", "token_type": "Bearer", "expires_in": 60, "id_token": p.makeToken(of.nonce)})
	}
}

// makeToken returns an ID token with a nonce.
func (p *Provider) makeToken(nonce string) string {
	now := time.Now().Unix()
	claims := map[string]any{"iss": p.Issuer(), "aud": ClientID, "exp": now + 60, "iat": now, "nonce": nonce}
	maps.Copy(claims, p.Claims)
	return p.sign(claims)
}

// SignToken returns a signed token with these claims and the members of Header. It omits claims
// that are nil.
func (p *Provider) SignToken(claims map[string]any) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.sign(maps.Clone(claims))
}

func (p *Provider) sign(claims map[string]any) string {
	header := map[string]any{"alg": "RS256", "kid": "one", "typ": "JWT"}
	maps.Copy(header, p.Header)
	var input string
	for i, part := range []map[string]any{header, claims} {
		maps.DeleteFunc(part, func(_ string, value any) bool { return value == nil })
		src, _ := json.Marshal(part)
		input += []string{"", "."}[i] + base64.RawURLEncoding.EncodeToString(src)
	}
	sign := p.Sign
	if sign == nil {
		sign = func(input []byte) []byte {
			digest := sha256.Sum256(input)
			signature, _ := rsa.SignPKCS1v15(nil, p.key, crypto.SHA256, digest[:])
			return signature
		}
	}
	return input + "." + base64.RawURLEncoding.EncodeToString(sign([]byte(input)))
}
