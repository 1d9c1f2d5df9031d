package egress

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/clawai/clawai/internal/state/config"
)

// The variables of the environment that name certificates of authorities.
const (
	certFile  = "SSL_CERT_FILE"
	certDir   = "SSL_CERT_DIR"
	nodeExtra = "NODE_EXTRA_CA_CERTS"
)

// authorities are the certificates of one file, or of the folders that one variable names.
type authorities struct {
	path  string
	from  string // the setting that names the file or the folders
	certs []*x509.Certificate
}

// settings are all settings of the owner and of the environment for connections.
type settings struct {
	file  string // path of config.toml
	owner config.TLS
	env   []authorities
	trust map[string]*trust // the host's settings, by the name of the entry in config.toml
}

// trust holds the authorities and our own certificate for connections to one host.
type trust struct {
	entry  string         // the host in config.toml; "" for the settings for all hosts
	file   string         // path of config.toml
	roots  *x509.CertPool // nil: the authorities of the system
	read   []authorities
	client *keyPair // our certificate; nil if there is none
	shared bool     // our certificate was named for all servers, not for one host
}

// forProxy returns the settings for a connection to a proxy. They keep a client certificate only if
// it was named for the proxy's own host. A certificate for all servers is left out.
func (t *trust) forProxy() *trust {
	bare := *t
	if t.shared {
		bare.client = nil
	}
	return &bare
}

// keyPair names the files of the owner's certificate.
type keyPair struct{ cert, key string }

// readSettings reads config.toml, and the files that the environment names.
func (n Network) readSettings(getenv func(string) string) (*settings, error) {
	s := &settings{trust: make(map[string]*trust)}
	if n.Folders.Config != "" {
		s.file = n.Folders.SettingsFile()
		var err error
		if s.owner, err = config.LoadTLS(n.Folders); err != nil {
			return nil, newError(true, err, "%v; nothing was sent", err)
		}
	}
	for _, name := range []string{certFile, nodeExtra} {
		if path := getenv(name); path != "" {
			one, err := readAuthorities(path, name, readPlain)
			if err != nil {
				return nil, err
			}
			s.env = append(s.env, one)
		}
	}
	if dirs := getenv(certDir); dirs != "" {
		one, err := readFolders(dirs)
		if err != nil {
			return nil, err
		}
		s.env = append(s.env, one)
	}
	return s, nil
}

// forHost returns the settings for a host. The text host may end with a port.
func (s *settings) forHost(host string) (*trust, error) {
	host = strings.ToLower(host)
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = strings.Trim(host, "[]")
	}
	entry := ""
	for _, one := range []string{host, name} {
		if _, ok := s.owner.Hosts[one]; ok {
			entry = one
			break
		}
	}
	if known := s.trust[entry]; known != nil {
		return known, nil
	}
	made, err := s.makeTrust(entry)
	if err == nil {
		s.trust[entry] = made
	}
	return made, err
}

func (s *settings) makeTrust(entry string) (*trust, error) {
	t := &trust{entry: entry, file: s.file, read: slices.Clone(s.env)}
	own, files := s.owner.Hosts[entry], slices.Clone(s.owner.All.CA)
	for _, path := range append(files, own.CA...) {
		from := "tls.ca"
		if !slices.Contains(s.owner.All.CA, path) {
			from = fmt.Sprintf("tls.host.%q.ca", entry)
		}
		one, err := readAuthorities(path, from, config.ReadFile)
		if err != nil {
			return nil, err
		}
		t.read = append(t.read, one)
	}
	if own.Cert == "" {
		own, t.shared = s.owner.All, true
	}
	if own.Cert != "" {
		t.client = &keyPair{own.Cert, own.Key}
		if _, err := t.client.load(); err != nil {
			return nil, err
		}
	}
	if len(t.read) == 0 {
		return t, nil
	}
	roots, err := x509.SystemCertPool()
	if err != nil {
		return nil, newError(true, err, "the system's certificates cannot be read: %v; nothing was sent", err)
	}
	for _, one := range t.read {
		for _, cert := range one.certs {
			roots.AddCert(cert)
		}
	}
	t.roots = roots
	return t, nil
}

// clientConfig returns the settings in the form of package tls. The parameter asked is set to true
// when a server asks for a certificate.
func (t *trust) clientConfig(asked *atomic.Bool) *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS12, RootCAs: t.roots,
		GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			asked.Store(true)
			if t.client == nil {
				return &tls.Certificate{}, nil
			}
			return t.client.load() // read the files again each time, because such certificates are renewed often
		},
	}
}

// load reads the certificate and its key.
func (k *keyPair) load() (*tls.Certificate, error) {
	cert, err := config.ReadFile(k.cert)
	if err != nil {
		return nil, fileError("client_cert", k.cert, err)
	}
	key, err := config.ReadSecret(k.key)
	if err != nil {
		return nil, fileError("client_key", k.key, err)
	}
	if isEncrypted(key) {
		return nil, newError(true, nil, "the key in %s is encrypted, and nobody is asked for its password; write it without one: openssl pkey -in %[1]s -out NEW, then client_key = \"NEW\"", k.key)
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return nil, newError(true, err, "client_cert %s and client_key %s do not go together (%s); name the certificate and the key that belongs to it, both as PEM", k.cert, k.key, strings.TrimPrefix(err.Error(), "tls: "))
	}
	return &pair, nil
}

// isEncrypted reports whether a PEM text holds an encrypted key.
func isEncrypted(text []byte) bool {
	for {
		var block *pem.Block
		if block, text = pem.Decode(text); block == nil {
			return false
		}
		if block.Type == "ENCRYPTED PRIVATE KEY" || strings.HasSuffix(block.Type, "PRIVATE KEY") && strings.Contains(block.Headers["Proc-Type"], "ENCRYPTED") {
			return true
		}
	}
}

// readAuthorities reads a PEM file of certificates. It skips certificates that Go cannot read. It
// returns an error if it can read no certificate at all.
func readAuthorities(path, from string, read func(string) ([]byte, error)) (authorities, error) {
	a := authorities{path: path, from: from}
	text, err := read(path)
	if err != nil {
		return a, fileError(from, path, err)
	}
	for {
		var block *pem.Block
		if block, text = pem.Decode(text); block == nil {
			break
		}
		if block.Type != "CERTIFICATE" && block.Type != "TRUSTED CERTIFICATE" && block.Type != "X509 CERTIFICATE" {
			continue
		}
		cert, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			continue // some systems' bundles contain certificates that Go does not read
		}
		a.certs = append(a.certs, cert)
	}
	if len(a.certs) == 0 {
		return a, newError(true, nil, "%s (%s) holds no certificate in PEM form; nothing was sent. %s", path, from, pemAdvice(from))
	}
	return a, nil
}

func pemAdvice(from string) string {
	if strings.HasPrefix(from, "tls.") {
		return "Write the authority's certificate there, from -----BEGIN CERTIFICATE----- on"
	}
	return "Correct the file, or unset " + from
}

// readFolders reads the folders that SSL_CERT_DIR names. A folder may be missing and may hold other
// files. But there must be at least one certificate in all folders together.
func readFolders(dirs string) (authorities, error) {
	a := authorities{path: dirs, from: certDir}
	for _, dir := range filepath.SplitList(dirs) {
		entries, _ := os.ReadDir(dir)
		for _, e := range entries {
			if one, err := readAuthorities(filepath.Join(dir, e.Name()), certDir, readPlain); err == nil {
				a.certs = append(a.certs, one.certs...)
			}
		}
	}
	if len(a.certs) == 0 {
		return a, newError(true, nil, "no folder of %s (%s) holds a certificate; nothing was sent. Correct it, or unset %s", dirs, certDir, certDir)
	}
	return a, nil
}

// maxBundle is the maximum size, in bytes, of a file of certificates.
const maxBundle = 16 << 20

// readPlain reads a file that the environment names. It does not check who can write the file,
// because other programs also read the file without this check.
func readPlain(path string) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errors.New("it is not a regular file")
	case info.Size() > maxBundle:
		return nil, fmt.Errorf("it is larger than %d MiB", maxBundle>>20)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return io.ReadAll(io.LimitReader(f, maxBundle))
}

// fileError is the error for a file that a setting names.
func fileError(from, path string, err error) error {
	if failed, ok := errors.AsType[*fs.PathError](err); ok {
		err = failed.Err
	}
	next := "correct " + from + " in config.toml"
	if strings.ToUpper(from) == from {
		next = "correct or unset " + from
	}
	return newError(true, err, "%s (%s) cannot be used: %v; nothing was sent; %s", path, from, err, next)
}
