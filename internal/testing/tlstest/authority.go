// Package tlstest imitates the network of a company for tests, with a certificate authority, valid
// and invalid certificates, and proxies.
package tlstest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Authority is a certificate authority that issues certificates.
type Authority struct {
	PEM []byte

	t    testing.TB
	cert *x509.Certificate
	key  crypto.Signer
}

// Leaf describes a certificate. Names are host names and IP addresses. If From and To are zero, the
// certificate is valid now.
type Leaf struct {
	Names    []string
	From, To time.Time
}

// NewAuthority returns an authority with this common name.
func NewAuthority(t testing.TB, name string) *Authority {
	a := &Authority{t: t}
	a.cert, a.key = issue(t, &x509.Certificate{
		Subject: pkix.Name{CommonName: name}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(365 * 24 * time.Hour),
	}, nil, nil)
	a.PEM = encodePEM("CERTIFICATE", a.cert.Raw)
	return a
}

// Issue returns a certificate and its key as PEM. A server or a client can use the certificate.
func (a *Authority) Issue(l Leaf) (cert, key []byte) {
	a.t.Helper()
	template := &x509.Certificate{
		Subject: pkix.Name{CommonName: "leaf of " + a.cert.Subject.CommonName}, NotBefore: l.From, NotAfter: l.To, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	if l.From.IsZero() {
		template.NotBefore = time.Now().Add(-time.Hour)
	}
	if l.To.IsZero() {
		template.NotAfter = time.Now().Add(90 * 24 * time.Hour)
	}
	for _, name := range l.Names {
		if ip := net.ParseIP(name); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, name)
		}
	}
	made, signer := issue(a.t, template, a.cert, a.key)
	raw, err := x509.MarshalPKCS8PrivateKey(signer)
	if err != nil {
		a.t.Fatal(err)
	}
	return encodePEM("CERTIFICATE", made.Raw), encodePEM("PRIVATE KEY", raw)
}

// ServerConfig returns the TLS settings of a server whose certificate is issued for l.
func (a *Authority) ServerConfig(l Leaf) *tls.Config {
	a.t.Helper()
	pair, err := tls.X509KeyPair(a.Issue(l))
	if err != nil {
		a.t.Fatal(err)
	}
	return &tls.Config{Certificates: []tls.Certificate{pair}}
}

// Pool returns a pool of certificates that contains only this authority.
func (a *Authority) Pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(a.cert)
	return pool
}

func issue(t testing.TB, template, parent *x509.Certificate, by crypto.Signer) (*x509.Certificate, crypto.Signer) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template.SerialNumber = big.NewInt(time.Now().UnixNano())
	if parent == nil {
		parent, by = template, key
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), by)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(raw)
	if err != nil {
		t.Fatal(err)
	}
	return cert, key
}

func encodePEM(kind string, raw []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: raw})
}

// WriteFile writes a file that only its owner can read, and returns its path.
func WriteFile(t testing.TB, dir, name string, text []byte) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// NewServer starts a server with TLS. The caller must close it.
func NewServer(h http.Handler, set *tls.Config) *httptest.Server {
	s := httptest.NewUnstartedServer(h)
	s.TLS = set
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // some tests cause errors on purpose
	s.StartTLS()
	return s
}

// variables are the environment variables that name certificate authorities and proxies.
var variables = []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS"}

// ClearEnvironment clears the variables that name certificate authorities and proxies for a test,
// which then cannot run in parallel.
func ClearEnvironment(t testing.TB) {
	t.Helper()
	for _, name := range variables {
		t.Setenv(name, "")
		t.Setenv(strings.ToLower(name), "")
	}
}

// UnsetEnvironment removes these variables for all tests of a package. The package calls it before
// its tests run.
func UnsetEnvironment() {
	for _, name := range variables {
		if err := errors.Join(os.Unsetenv(name), os.Unsetenv(strings.ToLower(name))); err != nil {
			panic(err)
		}
	}
}
