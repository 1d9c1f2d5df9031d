package oauthtest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"math/big"
	"net/url"
	"strings"
	"time"
)

// Trust makes the provider accept assertions that were signed with the private key of this public
// key.
func (p *Provider) Trust(key crypto.PublicKey) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.trusted, p.used = key, make(map[string]bool)
}

// verifyAssertion reports whether an assertion is valid (RFC 7523 section 3). It accepts each
// assertion only once.
func (p *Provider) verifyAssertion(form url.Values, audience string) bool {
	parts := strings.Split(form.Get("client_assertion"), ".")
	if len(parts) != 3 || form.Get("client_assertion_type") != "urn:ietf:params:oauth:client-assertion-type:jwt-bearer" {
		return false
	}
	var decoded [3][]byte
	for i, part := range parts {
		var err error
		if decoded[i], err = base64.RawURLEncoding.DecodeString(part); err != nil {
			return false
		}
	}
	var header struct{ Alg, Kid string }
	var claims struct {
		Iss, Sub, Aud, Jti string
		Iat, Exp           int64
	}
	if json.Unmarshal(decoded[0], &header) != nil || json.Unmarshal(decoded[1], &claims) != nil {
		return false
	}
	digest, signed := sha256.Sum256([]byte(parts[0]+"."+parts[1])), false
	switch key := p.trusted.(type) {
	case *ecdsa.PublicKey:
		r, s := new(big.Int).SetBytes(decoded[2][:min(32, len(decoded[2]))]), new(big.Int).SetBytes(decoded[2][min(32, len(decoded[2])):])
		signed = header.Alg == "ES256" && len(decoded[2]) == 64 && ecdsa.Verify(key, digest[:], r, s)
	case *rsa.PublicKey:
		signed = header.Alg == "RS256" && rsa.VerifyPKCS1v15(key, crypto.SHA256, digest[:], decoded[2]) == nil
	}
	now := time.Now().Unix()
	if !signed || claims.Iss != OwnedID || claims.Sub != OwnedID || claims.Aud != audience || claims.Jti == "" || p.used[claims.Jti] ||
		claims.Iat > now || claims.Exp < now || claims.Exp > now+600 {
		return false
	}
	p.used[claims.Jti] = true
	return true
}
