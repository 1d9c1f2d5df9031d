package oauth

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha1" //nolint:gosec // the header x5t is defined with SHA-1 and proves nothing
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"time"
)

const (
	methodKey     = "private_key_jwt"
	assertionType = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
)

// signer signs the assertions with which a client proves its identity (RFC 7523 section 2.2).
type signer struct {
	key         crypto.Signer
	id          string // name of the key at the provider; "" if the key has no name
	certificate []byte // the certificate in DER form; nil if the PEM file has none
}

// readSigner reads the key and the certificate of a PEM file.
func readSigner(text []byte, id string) (*signer, error) {
	s := &signer{id: id}
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		var key any
		var err error
		switch block.Type {
		case "PRIVATE KEY":
			key, err = x509.ParsePKCS8PrivateKey(block.Bytes)
		case "EC PRIVATE KEY":
			key, err = x509.ParseECPrivateKey(block.Bytes)
		case "RSA PRIVATE KEY":
			key, err = x509.ParsePKCS1PrivateKey(block.Bytes)
		case "ENCRYPTED PRIVATE KEY":
			return nil, errors.New("the key is encrypted; write it without a passphrase into a file that only you can read")
		case "CERTIFICATE":
			if s.certificate == nil {
				s.certificate = block.Bytes
			}
			continue
		default:
			continue
		}
		if err != nil {
			return nil, errors.New("the key cannot be read; it is a PEM file with a key of RSA or P-256, without a passphrase")
		}
		if s.key != nil {
			return nil, errors.New("the file holds two keys")
		}
		if err := s.takeKey(key); err != nil {
			return nil, err
		}
	}
	if s.key == nil {
		return nil, errors.New("the file holds no private key in PEM form")
	}
	return s, nil
}

func (s *signer) takeKey(key any) error {
	const least = 2048
	switch key := key.(type) {
	case *ecdsa.PrivateKey:
		if key.Curve != elliptic.P256() {
			return errors.New("the key's curve is not P-256, which ES256 needs")
		}
		s.key = key
	case *rsa.PrivateKey:
		if key.N.BitLen() < least {
			return fmt.Errorf("the RSA key has %d bits, and %d are needed", key.N.BitLen(), least)
		}
		s.key = key
	default:
		return errors.New("the key is neither RSA nor P-256")
	}
	return nil
}

// signAssertion returns an assertion for one request.
func (s *signer) signAssertion(client, audience string, now time.Time) (string, error) {
	const validity = 2 * time.Minute
	header := map[string]string{"typ": "JWT", "alg": "RS256"}
	if _, ok := s.key.(*ecdsa.PrivateKey); ok {
		header["alg"] = "ES256"
	}
	if s.id != "" {
		header["kid"] = s.id
	}
	if s.certificate != nil { // Entra finds the key by these members
		short, long := sha1.Sum(s.certificate), sha256.Sum256(s.certificate) //nolint:gosec // see the import
		header["x5t"], header["x5t#S256"] = encodeText(short[:]), encodeText(long[:])
	}
	head, err := json.Marshal(header)
	if err != nil {
		return "", err
	}
	claims, err := json.Marshal(map[string]any{
		"iss": client, "sub": client, "aud": audience, "jti": rand.Text(),
		"iat": now.Unix(), "nbf": now.Unix(), "exp": now.Add(validity).Unix(),
	})
	if err != nil {
		return "", err
	}
	text := encodeText(head) + "." + encodeText(claims)
	signature, err := s.sign(sha256.Sum256([]byte(text)))
	return text + "." + encodeText(signature), err
}

// sign returns the signature in the form of RFC 7518, sections 3.3 and 3.4.
func (s *signer) sign(digest [sha256.Size]byte) ([]byte, error) {
	key, ok := s.key.(*ecdsa.PrivateKey)
	if !ok {
		return s.key.Sign(rand.Reader, digest[:], crypto.SHA256)
	}
	first, second, err := ecdsa.Sign(rand.Reader, key, digest[:])
	if err != nil {
		return nil, err
	}
	const size = 32
	signature := make([]byte, 2*size)
	first.FillBytes(signature[:size])
	second.FillBytes(signature[size:])
	return signature, nil
}

func encodeText(data []byte) string { return base64.RawURLEncoding.EncodeToString(data) }
