package egress_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/state/config"
	"github.com/clawai/clawai/internal/state/egress"
	"github.com/clawai/clawai/internal/testing/tlstest"
)

// company is a network with an authority of its own.
type company struct {
	*tlstest.Authority
	t       *testing.T
	folders config.Folders
	dir     string
	reached atomic.Int32 // connections to servers
}

const company1 = "mcp.company.example"

func newCompany(t *testing.T) *company {
	t.Helper()
	tlstest.ClearEnvironment(t)
	dir := t.TempDir()
	c := &company{Authority: tlstest.NewAuthority(t, "Company Root"), t: t, dir: dir, folders: config.Folders{Config: dir, State: dir, Home: dir}}
	tlstest.WriteFile(t, dir, "ca.pem", c.PEM)
	return c
}

func (c *company) path(name string) string { return filepath.Join(c.dir, name) }

func (c *company) write(name string, text []byte) string {
	c.t.Helper()
	return tlstest.WriteFile(c.t, c.dir, name, text)
}

// settle writes config.toml.
func (c *company) settle(text string) { c.write("config.toml", []byte(text)) }

// serve starts a server over TLS; without settings, one over plain HTTP.
func (c *company) serve(set *tls.Config) *httptest.Server {
	c.t.Helper()
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.TLS != nil && len(r.TLS.PeerCertificates) > 0 {
			fmt.Fprint(w, r.TLS.PeerCertificates[0].SerialNumber)
		}
	}))
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			c.reached.Add(1)
		}
	}
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.EnableHTTP2 = true
	if s.TLS = set; set == nil {
		s.Start()
	} else {
		s.StartTLS()
	}
	c.t.Cleanup(s.Close)
	return s
}

func (c *company) ask(address string) (string, error) {
	c.t.Helper()
	carry := egress.Network{Folders: c.folders}.NewTransport(egress.Options{})
	defer carry.CloseIdleConnections()
	r, err := http.NewRequestWithContext(c.t.Context(), http.MethodPost, address, strings.NewReader("a secret"))
	if err != nil {
		c.t.Fatal(err)
	}
	resp, err := carry.RoundTrip(r)
	if err != nil {
		return "", err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	return string(text), err
}

func (c *company) passes(address string) string {
	c.t.Helper()
	text, err := c.ask(address)
	if err != nil {
		c.t.Errorf("%s: %v", address, err)
	}
	return text
}

// fails requires an error of ours with all of parts.
func (c *company) fails(address string, parts ...string) *egress.Error {
	c.t.Helper()
	_, err := c.ask(address)
	failed, ok := errors.AsType[*egress.Error](err)
	if !ok {
		c.t.Fatalf("%s: %T %v, want %q", address, err, err, parts)
	}
	for _, part := range parts {
		if !strings.Contains(failed.Error(), part) {
			c.t.Errorf("%v, want %q", failed, part)
		}
	}
	return failed
}

// byName returns the address of a server by the company's name, which only proxies find.
func byName(s *httptest.Server) string {
	_, port, _ := strings.Cut(strings.TrimPrefix(s.URL, "https://"), ":")
	return "https://" + company1 + ":" + port + "/"
}

var here = tlstest.Leaf{Names: []string{"127.0.0.1", company1}}

func TestAuthorities(t *testing.T) {
	other := tlstest.NewAuthority(t, "Other Root")
	for name, prepare := range map[string]func(c *company){
		"for all":             func(c *company) { c.settle("[tls]\nca = \"ca.pem\"") },
		"in a list":           func(c *company) { c.settle("[tls]\nca = [\"other.pem\", \"~/ca.pem\"]") },
		"for the host":        func(c *company) { c.settle("[tls.host.\"127.0.0.1\"]\nca = \"" + c.path("ca.pem") + "\"") },
		"beside that of all":  func(c *company) { c.settle("[tls]\nca = \"ca.pem\"\n[tls.host.\"127.0.0.1\"]\nca = \"other.pem\"") },
		"NODE_EXTRA_CA_CERTS": func(c *company) { c.t.Setenv("NODE_EXTRA_CA_CERTS", c.path("ca.pem")) },
		"SSL_CERT_FILE":       func(c *company) { c.t.Setenv("SSL_CERT_FILE", c.path("ca.pem")) },
		"SSL_CERT_DIR": func(c *company) {
			c.t.Setenv("SSL_CERT_DIR", "/nowhere"+string(os.PathListSeparator)+c.dir)
		},
		"several in a file": func(c *company) {
			c.t.Setenv("NODE_EXTRA_CA_CERTS", c.write("both.pem", append([]byte("# ours\n"+string(other.PEM)), c.PEM...)))
		},
		"CRLF": func(c *company) {
			c.t.Setenv("NODE_EXTRA_CA_CERTS", c.write("crlf.pem", []byte(strings.ReplaceAll(string(c.PEM), "\n", "\r\n"))))
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCompany(t)
			c.write("other.pem", other.PEM)
			t.Setenv("HOME", c.dir)
			s := c.serve(c.ServerConfig(here))
			c.fails(s.URL, "Company Root", "the system's authorities", "name the PEM file of its certificate in NODE_EXTRA_CA_CERTS, in SSL_CERT_FILE or in config.toml")
			prepare(c)
			c.passes(s.URL)
		})
	}
}

// A further authority opens nothing else, and the error names what was read.
func TestOtherAuthorities(t *testing.T) {
	c := newCompany(t)
	other := tlstest.NewAuthority(t, "Other\x1b[2J Root")
	c.settle("[tls]\nca = \"ca.pem\"\n[tls.host.\"localhost\"]\nca = \"other.pem\"")
	c.write("other.pem", other.PEM)
	s := c.serve(other.ServerConfig(here))
	failed := c.fails(s.URL, `Other\x1b[2J Root`, c.path("ca.pem")+" (tls.ca)")
	if !failed.Lasting || strings.ContainsRune(failed.Error(), '\x1b') || strings.Contains(failed.Error(), "other.pem") {
		t.Error(failed)
	}
}

func TestWrongCertificates(t *testing.T) {
	c := newCompany(t)
	c.settle("[tls]\nca = \"ca.pem\"")
	day := 24 * time.Hour
	for _, bad := range []struct {
		leaf tlstest.Leaf
		want []string
	}{
		{tlstest.Leaf{Names: here.Names, From: time.Now().Add(-9 * day), To: time.Now().Add(-day)}, []string{"expired on", "leaf of Company Root"}},
		{tlstest.Leaf{Names: here.Names, From: time.Now().Add(day), To: time.Now().Add(9 * day)}, []string{"is valid only from", "clock"}},
		{tlstest.Leaf{Names: []string{"a.example", "b\x1b.example"}}, []string{`"a.example, b\x1b.example"`, `not for "127.0.0.1"`}},
	} {
		c.fails(c.serve(c.ServerConfig(bad.leaf)).URL, bad.want...)
	}
}

func TestClientCertificates(t *testing.T) {
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		for _, http2 := range []bool{true, false} {
			t.Run(fmt.Sprint(tls.VersionName(version), http2), func(t *testing.T) {
				c := newCompany(t)
				set := c.ServerConfig(here)
				set.ClientAuth, set.ClientCAs, set.MaxVersion = tls.RequireAndVerifyClientCert, c.Pool(), version
				if !http2 {
					set.NextProtos = []string{"http/1.1"}
				}
				s := c.serve(set)
				c.settle("[tls]\nca = \"ca.pem\"\n[tls.host.\"elsewhere.example\"]\nclient_cert = \"me.pem\"\nclient_key = \"me.key\"")
				cert, key := c.Issue(tlstest.Leaf{})
				c.write("me.pem", cert)
				c.write("me.key", key)
				for range 20 {
					c.fails(s.URL, "asks for a client certificate", "client_cert = \"FILE\"")
				}
				host := strings.TrimPrefix(s.URL, "https://")
				for _, text := range []string{
					"[tls]\nca = \"ca.pem\"\nclient_cert = \"me.pem\"\nclient_key = \"me.key\"",
					"[tls]\nca = \"ca.pem\"\n[tls.host.\"127.0.0.1\"]\nclient_cert = \"me.pem\"\nclient_key = \"me.key\"",
					"[tls]\nca = \"ca.pem\"\nclient_cert = \"none.pem\"\n[tls.host.\"" + host + "\"]\nclient_cert = \"me.pem\"\nclient_key = \"me.key\"",
					"[tls]\nca = \"ca.pem\"\nclient_cert = \"both.pem\"",
				} {
					c.write("both.pem", append(append([]byte(nil), key...), cert...))
					c.settle(text)
					if c.passes(s.URL) == "" {
						t.Errorf("%s: no certificate was shown", text)
					}
				}
				strangers, strangersKey := tlstest.NewAuthority(t, "Stranger").Issue(tlstest.Leaf{})
				c.write("me.pem", strangers)
				c.write("me.key", strangersKey)
				c.settle("[tls]\nca = \"ca.pem\"\nclient_cert = \"me.pem\"\nclient_key = \"me.key\"")
				for range 20 { // the alert may come too late
					c.fails(s.URL, "refuses the client certificate "+c.path("me.pem"), "clawai doctor --all")
				}
			})
		}
	}
}

// A certificate that is renewed while we run is shown at the next connection.
func TestRenewedCertificate(t *testing.T) {
	c := newCompany(t)
	set := c.ServerConfig(here)
	set.ClientAuth = tls.RequireAnyClientCert
	s := c.serve(set)
	c.settle("[tls]\nca = \"ca.pem\"\nclient_cert = \"both.pem\"")
	carry := egress.Network{Folders: c.folders}.NewTransport(egress.Options{})
	var seen []string
	for range 2 {
		cert, key := c.Issue(tlstest.Leaf{})
		c.write("both.pem", append(cert, key...))
		r, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL, nil)
		resp, err := carry.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		seen = append(seen, string(text))
		carry.CloseIdleConnections()
	}
	if seen[0] == seen[1] || seen[0] == "" {
		t.Error(seen)
	}
}

// nginx answers with a page where a certificate is missing.
func TestAPageThatWantsACertificate(t *testing.T) {
	c := newCompany(t)
	c.settle("[tls]\nca = \"ca.pem\"")
	status, kind := http.StatusBadRequest, "text/html"
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		w.WriteHeader(status)
	}))
	s.TLS = c.ServerConfig(here)
	s.TLS.ClientAuth = tls.RequestClientCert
	s.StartTLS()
	t.Cleanup(s.Close)
	c.fails(s.URL, "asks for a client certificate")
	kind = "application/json"
	c.passes(s.URL)
}

// What is named and cannot be used ends the request before a connection is opened.
func TestUnusableFiles(t *testing.T) {
	c := newCompany(t)
	cert, key := c.Issue(tlstest.Leaf{})
	_, otherKey := c.Issue(tlstest.Leaf{})
	c.write("me.pem", cert)
	c.write("me.key", key)
	c.write("other.key", otherKey)
	c.write("empty", nil)
	c.write("text", []byte("no PEM"))
	c.write("broken", []byte("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"))
	c.write("pkcs8", pem.EncodeToMemory(&pem.Block{Type: "ENCRYPTED PRIVATE KEY", Bytes: []byte("x")}))
	ec, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := x509.MarshalECPrivateKey(ec)
	if err != nil {
		t.Fatal(err)
	}
	c.write("legacy", pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Headers: map[string]string{"Proc-Type": "4,ENCRYPTED", "DEK-Info": "AES-128-CBC,00"}, Bytes: raw}))
	s := c.serve(c.ServerConfig(here))
	ca := "[tls]\nca = \"ca.pem\"\n"
	for name, bad := range map[string]struct{ env, settings, want string }{
		"missing":            {settings: "[tls]\nca = \"none\"", want: "tls.ca"},
		"empty":              {settings: "[tls]\nca = \"empty\"", want: "holds no certificate in PEM form"},
		"text":               {settings: "[tls]\nca = \"text\"", want: "holds no certificate in PEM form"},
		"broken":             {settings: "[tls]\nca = \"broken\"", want: "holds no certificate in PEM form"},
		"a key":              {settings: "[tls]\nca = \"me.key\"", want: "holds no certificate in PEM form"},
		"a folder":           {settings: "[tls]\nca = \".\"", want: "regular file"},
		"one of two":         {settings: "[tls]\nca = [\"ca.pem\", \"none\"]", want: "none (tls.ca)"},
		"of the host":        {settings: ca + "[tls.host.\"127.0.0.1\"]\nca = \"none\"", want: `tls.host."127.0.0.1".ca`},
		"extra missing":      {env: "NODE_EXTRA_CA_CERTS=none", settings: ca, want: "correct or unset NODE_EXTRA_CA_CERTS"},
		"extra empty":        {env: "NODE_EXTRA_CA_CERTS=empty", settings: ca, want: "unset NODE_EXTRA_CA_CERTS"},
		"file missing":       {env: "SSL_CERT_FILE=none", settings: ca, want: "correct or unset SSL_CERT_FILE"},
		"file folder":        {env: "SSL_CERT_FILE=.", settings: ca, want: "not a regular file"},
		"dir missing":        {env: "SSL_CERT_DIR=none", settings: ca, want: "no folder of"},
		"no certificate":     {settings: ca + "client_cert = \"none\"\nclient_key = \"me.key\"", want: "client_cert"},
		"no key":             {settings: ca + "client_cert = \"me.pem\"\nclient_key = \"none\"", want: "client_key"},
		"key of another":     {settings: ca + "client_cert = \"me.pem\"\nclient_key = \"other.key\"", want: "do not go together"},
		"no key in one file": {settings: ca + "client_cert = \"me.pem\"", want: "do not go together"},
		"encrypted":          {settings: ca + "client_cert = \"me.pem\"\nclient_key = \"pkcs8\"", want: "is encrypted"},
		"encrypted of old":   {settings: ca + "client_cert = \"me.pem\"\nclient_key = \"legacy\"", want: "is encrypted"},
		"key alone":          {settings: ca + "client_key = \"me.key\"", want: "client_key belongs to a client_cert"},
		"unknown setting":    {settings: "[tls]\nca_file = \"ca.pem\"", want: "not a setting"},
		"host with path":     {settings: ca + "[tls.host.\"https://127.0.0.1/\"]\nca = \"ca.pem\"", want: "write a host"},
	} {
		t.Run(name, func(t *testing.T) {
			if variable, value, set := strings.Cut(bad.env, "="); set {
				t.Setenv(variable, c.path(value))
			}
			c.settle(bad.settings)
			before := c.reached.Load()
			c.fails(s.URL, bad.want)
			if c.reached.Load() != before {
				t.Error("a connection was opened")
			}
			_, plain, _ := strings.Cut(c.serve(nil).URL, "://")
			if bad.env != "" {
				c.passes("http://" + plain) // no certificate is needed there
			}
		})
	}
	c.settle(ca)
	if err := os.Chmod(c.path("me.key"), 0o644); err != nil {
		t.Fatal(err)
	}
	c.settle(ca + "client_cert = \"me.pem\"\nclient_key = \"me.key\"")
	c.fails(s.URL, "me.key", "can open it")
}

// A file that is mended is read at the next request.
func TestMendedFile(t *testing.T) {
	c := newCompany(t)
	s := c.serve(c.ServerConfig(here))
	c.settle("[tls]\nca = \"late.pem\"")
	carry := egress.Network{Folders: c.folders}.NewTransport(egress.Options{})
	defer carry.CloseIdleConnections()
	for _, good := range []bool{false, true} {
		r, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL, nil)
		resp, err := carry.RoundTrip(r)
		if (err == nil) != good {
			t.Errorf("%v", err)
		}
		if err == nil {
			_ = resp.Body.Close()
		}
		c.write("late.pem", c.PEM)
	}
}

func TestProxies(t *testing.T) {
	c := newCompany(t)
	c.settle("[tls]\nca = \"ca.pem\"\nclient_cert = \"me.pem\"\n[tls.host.\"127.0.0.1\"]\nca = \"ca.pem\"")
	cert, key := c.Issue(tlstest.Leaf{})
	c.write("me.pem", append(cert, key...))
	s, plain := c.serve(c.ServerConfig(here)), c.serve(nil)
	_, plainPort, _ := strings.Cut(strings.TrimPrefix(plain.URL, "http://"), ":")
	byPlainName := "http://" + company1 + ":" + plainPort + "/"
	open, closed := tlstest.NewHTTPProxy(t, "", "", nil), tlstest.NewHTTPProxy(t, "ada", "s3cr%t", nil)
	socks, closedSOCKS := tlstest.NewSOCKSProxy(t, "", ""), tlstest.NewSOCKSProxy(t, "ada", "s3cr%t")
	over := tlstest.NewHTTPProxy(t, "", "", c.ServerConfig(here))
	refusing := tlstest.NewHTTPProxy(t, "", "", nil)
	refusing.Refuses = http.StatusForbidden
	const who = "ada:s3cr%25t@"
	for name, one := range map[string]struct {
		variable, value, address string
		by                       *tlstest.Proxy // nil: it fails
		want                     string
	}{
		"http":                  {variable: "HTTPS_PROXY", value: "http://" + open.Address, by: open},
		"small letters":         {variable: "https_proxy", value: "http://" + open.Address, by: open},
		"no scheme":             {variable: "HTTPS_PROXY", value: open.Address, by: open},
		"all":                   {variable: "ALL_PROXY", value: "http://" + open.Address, by: open},
		"all, small letters":    {variable: "all_proxy", value: "http://" + open.Address, by: open},
		"password":              {variable: "HTTPS_PROXY", value: "http://" + who + closed.Address, by: closed},
		"https":                 {variable: "HTTPS_PROXY", value: "https://" + over.Address, by: over},
		"socks5":                {variable: "ALL_PROXY", value: "socks5://" + socks.Address, by: socks},
		"socks5h":               {variable: "HTTPS_PROXY", value: "socks5h://" + socks.Address, by: socks},
		"socks5 password":       {variable: "ALL_PROXY", value: "socks5://" + who + closedSOCKS.Address, by: closedSOCKS},
		"plain":                 {variable: "HTTP_PROXY", value: "http://" + open.Address, by: open, address: byPlainName},
		"plain password":        {variable: "HTTP_PROXY", value: "http://" + who + closed.Address, by: closed, address: byPlainName},
		"plain socks":           {variable: "ALL_PROXY", value: "socks5://" + socks.Address, by: socks, address: byPlainName},
		"no password":           {variable: "HTTPS_PROXY", value: "http://" + closed.Address, want: "asks for a name and a password; write them into HTTPS_PROXY like http://NAME:PASSWORD@" + closed.Address},
		"plain no password":     {variable: "HTTP_PROXY", value: "http://" + closed.Address, address: byPlainName, want: "asks for a name and a password"},
		"wrong password":        {variable: "HTTPS_PROXY", value: "http://ada:wr0ng@" + closed.Address, want: "the proxy " + closed.Address + " (HTTPS_PROXY) refuses the name and the password"},
		"socks5 no password":    {variable: "ALL_PROXY", value: "socks5://" + closedSOCKS.Address, want: "asks for a name and a password"},
		"socks5 wrong password": {variable: "ALL_PROXY", value: "socks5://ada:wr0ng@" + closedSOCKS.Address, want: "refuses the name and the password"},
		"refused":               {variable: "HTTPS_PROXY", value: "http://ada:wr0ng@" + refusing.Address, want: "opens no connection to " + company1},
		"nobody":                {variable: "HTTPS_PROXY", value: "http://ada:wr0ng@127.0.0.1:1", want: "the proxy 127.0.0.1:1 (HTTPS_PROXY) cannot be reached: "},
		"socks5 nobody":         {variable: "ALL_PROXY", value: "socks5://ada:wr0ng@127.0.0.1:1", want: "the proxy 127.0.0.1:1 (ALL_PROXY) cannot be reached: "},
		"https to http":         {variable: "HTTPS_PROXY", value: "https://ada:wr0ng@" + open.Address, want: "cannot be reached"},
		"kind":                  {variable: "ALL_PROXY", value: "socks4://ada:wr0ng@127.0.0.1:1", want: `of the kind "socks4"; use one of http, https, socks5, socks5h`},
		"unreadable":            {variable: "HTTPS_PROXY", value: "http://ada:wr0ng%zz@127.0.0.1:1", want: "HTTPS_PROXY holds no address of a proxy"},
		"no host":               {variable: "HTTPS_PROXY", value: "http://:3128", want: "HTTPS_PROXY holds no address of a proxy"},
		"no port":               {variable: "HTTPS_PROXY", value: "http:/127.0.0.1:1", want: "HTTPS_PROXY holds no address of a proxy"},
		"word for a port":       {variable: "HTTPS_PROXY", value: "http://127.0.0.1:port", want: "HTTPS_PROXY holds no address of a proxy"},
		"blank in password":     {variable: "HTTPS_PROXY", value: "http://ada:wr0ng wr0ng@127.0.0.1:1", want: "HTTPS_PROXY holds no address of a proxy"},
		"slash in password":     {variable: "HTTPS_PROXY", value: "http://ada:4711/wr0ng@127.0.0.1:1", want: "HTTPS_PROXY holds no address of a proxy; write it like http://HOST:PORT or"},
		"hash in password":      {variable: "HTTPS_PROXY", value: "ada:4711#wr0ng@127.0.0.1:1", want: "with %2F for / and %23 for # in the password"},
		"mark in password":      {variable: "HTTPS_PROXY", value: "http://ada:4711?wr0ng@127.0.0.1:1", want: "HTTPS_PROXY holds no address of a proxy"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(one.variable, one.value)
			address := one.address
			if address == "" {
				address = byName(s)
			}
			if one.by == nil {
				before := c.reached.Load()
				if failed := c.fails(address, one.want); strings.Contains(failed.Error(), "wr0ng") || strings.Contains(failed.Error(), "s3cr") {
					t.Error(failed)
				}
				if c.reached.Load() != before {
					t.Error("a connection was opened")
				}
				return
			}
			before := len(one.by.Asked())
			c.passes(address)
			if asked := one.by.Asked(); len(asked) != before+1 || !strings.HasPrefix(asked[before], company1) {
				t.Errorf("the proxy was asked for %q", asked[before:])
			}
			c.passes(s.URL) // this machine is reached without a proxy
			c.passes(strings.Replace(plain.URL, "127.0.0.1", "localhost", 1))
			if asked := one.by.Asked(); len(asked) != before+1 {
				t.Errorf("the proxy was asked for %q", asked[before:])
			}
			t.Setenv("NO_PROXY", "other.example, .company.example")
			if _, err := c.ask(address); err == nil || len(one.by.Asked()) != before+1 {
				t.Errorf("NO_PROXY was not heeded: %v", err)
			}
		})
	}
}

// The owner's certificate for a server is not shown to the proxy before it.
func TestProxySeesNoCertificate(t *testing.T) {
	c := newCompany(t)
	server, front := c.ServerConfig(here), c.ServerConfig(here)
	server.ClientAuth, front.ClientAuth = tls.RequireAnyClientCert, tls.RequestClientCert
	s, over := c.serve(server), tlstest.NewHTTPProxy(t, "", "", front)
	cert, key := c.Issue(tlstest.Leaf{})
	c.write("me.pem", append(cert, key...))
	t.Setenv("HTTPS_PROXY", "https://"+over.Address)
	pair := "client_cert = \"me.pem\"\n"
	for settings, shown := range map[string]bool{
		"[tls]\nca = \"ca.pem\"\n[tls.host.\"" + company1 + "\"]\n" + pair:                 false,
		"[tls]\nca = \"ca.pem\"\n" + pair:                                                  false, // that of all servers
		"[tls]\nca = \"ca.pem\"\n" + pair + "[tls.host.\"127.0.0.1\"]\nca = \"ca.pem\"":    false,
		"[tls]\nca = \"ca.pem\"\n" + pair + "[tls.host.\"" + over.Address + "\"]\n" + pair: true, // the proxy's own
	} {
		c.settle(settings)
		c.passes(byName(s))
		if over.TLS == nil || len(over.TLS.PeerCertificates) > 0 != shown {
			t.Errorf("the proxy got the certificate: %v, with\n%s", !shown, settings)
		}
	}
	c.settle("")
	c.fails(byName(s), "the certificate of the proxy "+over.Address+" (HTTPS_PROXY)", "Company Root")
	t.Setenv("HTTPS_PROXY", "http://"+tlstest.NewHTTPProxy(t, "", "", nil).Address)
	c.fails(byName(s), "the certificate of "+company1, "reached through the proxy")
}

// A proxy that gives no answer of HTTP is named in the error, with what to do.
func TestSilentProxies(t *testing.T) {
	c := newCompany(t)
	c.settle("[tls]\nca = \"ca.pem\"")
	for _, says := range []string{"", "\x00\xff no HTTP\r\n\r\n", "HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n<html>", "HTTP/1.1 ada:s3cret\r\n\r\n"} {
		proxy, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			for {
				conn, err := proxy.Accept()
				if err != nil {
					return
				}
				_, _ = conn.Read(make([]byte, 4096))
				_, _ = conn.Write([]byte(says))
				_ = conn.Close()
			}
		}()
		at := proxy.Addr().String()
		t.Setenv("HTTPS_PROXY", "http://"+at)
		t.Setenv("HTTP_PROXY", "http://"+at)
		c.fails("https://a.example/", "no answer of a.example came through the proxy "+at+" (HTTPS_PROXY)", "name it in NO_PROXY")
		if !strings.HasPrefix(says, "HTTP/1.1 200") {
			c.fails("http://a.example/", "no answer of a.example came through the proxy "+at+" (HTTP_PROXY)")
		}
		_ = proxy.Close()
	}
}

func TestNoProxy(t *testing.T) {
	c := newCompany(t)
	for exempt, hosts := range map[string]map[string]bool{ // true: without the proxy
		"*":                           {"a.example": true, "10.1.2.3": true},
		"a.example":                   {"a.example": true, "b.a.example": true, "ba.example": false, "a.example:8443": true},
		".a.example":                  {"a.example": false, "b.a.example": true},
		"*.a.example":                 {"a.example": false, "b.a.example": true},
		"A.Example ":                  {"a.example": true, "A.EXAMPLE": true},
		"a.example:8443":              {"a.example": false, "a.example:8443": true},
		"10.0.0.0/8, 192.0.2.7":       {"10.1.2.3": true, "11.1.2.3": false, "192.0.2.7": true, "192.0.2.8": false},
		"[2001:db8::1], 2001:db8:1::": {"[2001:db8::1]": true, "[2001:db8:1::]": true, "[2001:db8::2]": false},
		"192.0.2.7:8443":              {"192.0.2.7": false, "192.0.2.7:8443": true},
		", ,.,*.":                     {"a.example": false},
		"b.example a.example\tc":      {"a.example": true, "b.example": true, "c": true, "d.example": false},
		"a.example.":                  {"a.example": true, "a.example.": true, "b.a.example.": true},
		"a.example.:8443":             {"a.example:8443": true, "a.example": false},
		"":                            {"localhost": true, "127.9.9.9": true, "[::1]": true, "[::ffff:127.0.0.1]": true, "localhost.": true, "localhost.example": false},
	} {
		t.Setenv("NO_PROXY", exempt)
		t.Setenv("HTTPS_PROXY", "socks4://x") // an error, for whom it is
		for host, direct := range hosts {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+host+"/", nil)
			if err != nil {
				t.Fatal(err)
			}
			_, err = egress.Network{Folders: c.folders}.DescribeRoute(r.URL)
			if (err == nil) != direct {
				t.Errorf("NO_PROXY=%q, %s: %v", exempt, host, err)
			}
		}
	}
}

func TestReport(t *testing.T) {
	c := newCompany(t)
	n := egress.Network{Folders: c.folders}
	if r := n.Report(); len(r.Files)+len(r.Proxies)+len(r.Problems) > 0 {
		t.Errorf("%+v", r)
	}
	cert, key := c.Issue(tlstest.Leaf{})
	c.write("me.pem", append(cert, key...))
	c.settle("[tls]\nca = \"ca.pem\"\n[tls.host.\"a.example\"]\nclient_cert = \"me.pem\"\n[tls.host.\"b.example\"]\nca = \"none\"")
	t.Setenv("HTTPS_PROXY", "http://ada:s3cret@proxy.example:3128")
	t.Setenv("HTTP_PROXY", "ftp://ada:s3cret@proxy.example:3128")
	r := n.Report()
	text := fmt.Sprintf("%+v", r)
	if len(r.Files) != 2 || len(r.Problems) != 2 || strings.Contains(text, "s3cret") || len(r.Proxies) != 1 || !strings.Contains(r.Proxies[0], "proxy.example:3128 (HTTPS_PROXY)") {
		t.Error(text)
	}
}
