package oauth_test

import (
	"context"
	"crypto/tls"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/state/config"
	"github.com/clawai/clawai/internal/state/egress"
	"github.com/clawai/clawai/internal/state/oauth"
	"github.com/clawai/clawai/internal/testing/oauthtest"
	"github.com/clawai/clawai/internal/testing/slow"
	"github.com/clawai/clawai/internal/testing/tlstest"
)

// companyHost is found by proxies alone.
const companyHost = "mcp.company.example"

// companyOwner is a person in a company's network, with a browser that is set up as clawai is.
type companyOwner struct {
	*oauthtest.Provider
	t       *testing.T
	dir     string
	network egress.Network
}

func (o *companyOwner) process() *oauth.Client {
	server, err := url.Parse(o.Server)
	if err != nil {
		o.t.Fatal(err)
	}
	options := oauth.Options{
		Server: server, Lock: filepath.Join(o.dir, "lock"), Wait: 20 * time.Second, Pages: -1, Network: o.network,
		Store: oauth.Files{Dir: filepath.Join(o.dir, "tokens"), Private: func(d string) error { return os.MkdirAll(d, 0o700) }},
		Browse: func(ctx context.Context, page string) error {
			resp, err := o.send(ctx, page, http.MethodGet, "")
			if err == nil {
				_ = resp.Body.Close()
			}
			return err
		},
	}
	if o.Client == "" {
		options.ClientID, options.ClientSecret = oauthtest.OwnedID, oauthtest.OwnedSecret
	}
	return oauth.New(options)
}

// send sends a request with a connection of its own, and follows redirections.
func (o *companyOwner) send(ctx context.Context, at, method, authorization string) (*http.Response, error) {
	carry := o.network.NewTransport(egress.Options{Tune: func(t *http.Transport) { t.DisableKeepAlives = true }})
	r, err := http.NewRequestWithContext(ctx, method, at, nil)
	if err != nil {
		return nil, err
	}
	if authorization != "" {
		r.Header.Set("Authorization", authorization)
	}
	return (&http.Client{Transport: carry}).Do(r)
}

// call makes a request as the upstream does.
func (o *companyOwner) call(c *oauth.Client) error {
	for range 3 {
		r, err := http.NewRequestWithContext(o.t.Context(), http.MethodPost, o.Server, nil)
		if err != nil {
			return err
		}
		if err := c.Apply(o.t.Context(), r); err != nil {
			return err
		}
		resp, err := o.send(o.t.Context(), o.Server, http.MethodPost, r.Header.Get("Authorization"))
		if err != nil {
			return err
		}
		_ = resp.Body.Close()
		if resp.StatusCode == http.StatusOK {
			return nil
		}
		if again, err := c.Challenged(o.t.Context(), resp); err != nil || !again {
			return errors.Join(errors.New(resp.Status), err)
		}
	}
	return errors.New("challenged for ever")
}

// Nine providers behind an authority of their own, a client certificate, and proxies: the sign-in
// and its renewal. Without the setting nothing is sent.
func TestProvidersOfCompanies(t *testing.T) {
	slow.Test(t)
	authority := tlstest.NewAuthority(t, "Company Root")
	proxy, socks := tlstest.NewHTTPProxy(t, "ada", "s3cret", nil), tlstest.NewSOCKSProxy(t, "ada", "s3cret")
	cert, key := authority.Issue(tlstest.Leaf{})
	const trusts, own = "[tls]\nca = \"ca.pem\"\n", "client_cert = \"me.pem\"\nclient_key = \"me.key\"\n"
	for column, of := range map[string]struct {
		settings, without string            // config.toml, and one in which the setting is missing
		env               map[string]string // "" in without
		asks              bool              // all servers want a client certificate
		named             bool              // all servers are reached by companyHost
		reason            string            // why it fails without
	}{
		"own authority":      {settings: trusts, reason: `issued by "CN=Company Root"`},
		"NODE_EXTRA_CA":      {env: map[string]string{"NODE_EXTRA_CA_CERTS": "ca.pem"}, reason: `issued by "CN=Company Root"`},
		"client certificate": {settings: trusts + own, without: trusts, asks: true, reason: "asks for a client certificate"},
		"proxy":              {settings: trusts, without: trusts, env: map[string]string{"HTTPS_PROXY": "http://ada:s3cret@" + proxy.Address}, named: true, reason: "the proxy 127.0.0.1:1 (HTTPS_PROXY) cannot be reached"},
		"SOCKS":              {settings: trusts, without: trusts, env: map[string]string{"ALL_PROXY": "socks5://ada:s3cret@" + socks.Address}, named: true, reason: "the proxy 127.0.0.1:1 (HTTPS_PROXY) cannot be reached"},
	} {
		for _, kind := range oauthtest.Kinds() {
			if kind.Fixed || kind.NoTarget {
				continue // what the owner says at such a provider is in TestWaysToSignIn
			}
			t.Run(column+"/"+kind.Name, func(t *testing.T) {
				tlstest.ClearEnvironment(t)
				p := oauthtest.PlayOn(t, kind, func(h http.Handler) *httptest.Server {
					set := authority.ServerConfig(tlstest.Leaf{Names: []string{"127.0.0.1", companyHost}})
					if of.asks {
						set.ClientAuth, set.ClientCAs = tls.RequireAndVerifyClientCert, authority.Pool()
					}
					s := tlstest.NewServer(h, set)
					if of.named {
						s.URL = strings.Replace(s.URL, "127.0.0.1", companyHost, 1)
					}
					return s
				})
				dir := t.TempDir()
				o := &companyOwner{p, t, dir, egress.Network{Folders: config.Folders{Config: dir, State: dir, Home: dir}}}
				for name, text := range map[string][]byte{"ca.pem": authority.PEM, "me.pem": cert, "me.key": key} {
					tlstest.WriteFile(t, dir, name, text)
				}
				set := func(settings string, env map[string]string) {
					tlstest.WriteFile(t, dir, "config.toml", []byte(settings))
					for name, value := range env {
						if value == "ca.pem" {
							value = filepath.Join(dir, value)
						}
						t.Setenv(name, value)
					}
				}
				if of.named {
					set(of.without, map[string]string{"HTTPS_PROXY": "http://ada:s3cret@127.0.0.1:1"})
				} else {
					set(of.without, nil)
				}
				if err := o.call(o.process()); err == nil || !strings.Contains(err.Error(), of.reason) || strings.Contains(err.Error(), "s3cret") {
					t.Fatalf("without the setting: %v", err)
				}
				t.Setenv("HTTPS_PROXY", "")
				set(of.settings, of.env)
				p.Change(func(s *oauthtest.Played) { s.Lives = 1 })
				if err := o.call(o.process()); err != nil {
					t.Fatal(err)
				}
				p.Change(func(s *oauthtest.Played) { s.Lives = 3600 })
				if err := o.call(o.process()); err != nil {
					t.Fatal(err)
				}
				p.Change(func(s *oauthtest.Played) {
					if len(s.Pages) != 1 || s.Refreshed == 0 {
						t.Errorf("%d pages, %d renewals", len(s.Pages), s.Refreshed)
					}
				})
			})
		}
	}
	if len(proxy.Asked()) < 8*4 || len(socks.Asked()) < 8*4 {
		t.Errorf("the proxies were asked %d and %d times", len(proxy.Asked()), len(socks.Asked()))
	}
}

// A sign-in at a server whose authority is not known says so, at once, and so does a renewal.
func TestSignInNamesTheAuthority(t *testing.T) {
	slow.Test(t)
	authority := tlstest.NewAuthority(t, "Company Root")
	for _, kind := range oauthtest.Kinds() {
		if kind.Resource == nil || kind.Fixed || kind.NoTarget {
			continue // its server and its sign-in are one, or it has rules of its own
		}
		t.Run(kind.Name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			tlstest.WriteFile(t, dir, "ca.pem", authority.PEM)
			o := &companyOwner{oauthtest.PlayOn(t, kind, func(h http.Handler) *httptest.Server {
				return tlstest.NewServer(h, authority.ServerConfig(tlstest.Leaf{Names: []string{"127.0.0.1"}}))
			}), t, dir, egress.Network{Folders: config.Folders{Config: dir, State: dir, Home: dir}}}
			known := func(host string) {
				tlstest.WriteFile(t, dir, "config.toml", []byte("[tls.host.\""+host+"\"]\nca = \"ca.pem\"\n"))
			}
			server, _ := url.Parse(o.Server)
			refused := func() {
				t.Helper()
				began := time.Now()
				err := o.call(o.process())
				if err == nil || !strings.Contains(err.Error(), `issued by "CN=Company Root", which nothing that was read vouches for; if you trust that issuer, name`) || time.Since(began) > 5*time.Second {
					t.Errorf("%v after %v", err, time.Since(began))
				}
			}
			known(server.Host)
			refused()
			known("127.0.0.1")
			o.Change(func(s *oauthtest.Played) { s.Lives = 1 })
			if err := o.call(o.process()); err != nil {
				t.Fatal(err)
			}
			time.Sleep(1100 * time.Millisecond) // the token is over
			known(server.Host)
			refused()
		})
	}
}
