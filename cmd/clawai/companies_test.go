//go:build unix

package main

import (
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/testing/oauthtest"
	"github.com/clawai/clawai/internal/testing/slow"
	"github.com/clawai/clawai/internal/testing/tlstest"
)

// companyHost is found by proxies alone.
const companyHost = "mcp.company.example"

// companySetting is what one company wants, in one way to say it.
type companySetting struct {
	settings string // of config.toml
	env      []string
	named    bool // the server is reached by companyHost
	asks     bool // the server wants a client certificate
	reason   string
}

func companySettings(t *testing.T, proxy, socks *tlstest.Proxy) map[string]companySetting {
	t.Helper()
	return map[string]companySetting{
		"own authority, by config.toml":        {settings: "[tls]\nca = \"ca.pem\"\n", reason: "Company Root"},
		"own authority, by Node's variable":    {env: []string{"NODE_EXTRA_CA_CERTS=DIR/ca.pem"}, reason: "Company Root"},
		"own authority, by OpenSSL's variable": {env: []string{"SSL_CERT_FILE=DIR/ca.pem"}, reason: "Company Root"},
		"client certificate":                   {settings: "[tls]\nca = \"ca.pem\"\n[tls.host.\"127.0.0.1\"]\nclient_cert = \"me.pem\"\nclient_key = \"me.key\"\n", asks: true, reason: "Company Root"},
		"proxy":                                {settings: "[tls]\nca = \"ca.pem\"\n", env: []string{"HTTPS_PROXY=http://ada:s3cret@" + proxy.Address}, named: true, reason: companyHost},
		"SOCKS":                                {settings: "[tls]\nca = \"ca.pem\"\n", env: []string{"ALL_PROXY=socks5h://ada:s3cret@" + socks.Address}, named: true, reason: companyHost},
	}
}

// Servers that only a company's settings reach are reached by every form, and not without the
// settings.
func TestServersOfCompanies(t *testing.T) {
	slow.Test(t)
	authority := tlstest.NewAuthority(t, "Company Root")
	proxy, socks := tlstest.NewHTTPProxy(t, "ada", "s3cret", nil), tlstest.NewSOCKSProxy(t, "ada", "s3cret")
	cert, key := authority.Issue(tlstest.Leaf{})
	for name, of := range companySettings(t, proxy, socks) {
		t.Run(name, func(t *testing.T) {
			back := newBackServer(t)
			back.TLS = authority.ServerConfig(tlstest.Leaf{Names: []string{"127.0.0.1", companyHost}})
			if of.asks {
				back.TLS.ClientAuth, back.TLS.ClientCAs = tls.RequireAndVerifyClientCert, authority.Pool()
			}
			back.StartTLS()
			address := back.URL
			if of.named {
				address = strings.Replace(address, "127.0.0.1", companyHost, 1)
			}
			prepare := func(set bool, args ...string) *running {
				r := prepareClawai(t, args...)
				r.cmd.Env = append(r.cmd.Env, "HTTPS_PROXY=", "ALL_PROXY=", "NO_PROXY=")
				r.write("ca.pem", string(authority.PEM))
				r.write("me.pem", string(cert))
				r.write("me.key", string(key))
				settings := ""
				if set {
					settings = of.settings
					for _, v := range of.env {
						r.cmd.Env = append(r.cmd.Env, strings.Replace(v, "DIR", r.dir, 1))
					}
				}
				r.write("config.toml", settings)
				return r
			}
			for _, set := range []bool{true, false} {
				want := []string{`"id":1`, `"result"`}
				if !set {
					want = []string{`"id":1`, "cannot be reached", of.reason}
				}
				r := prepare(set, "--", address+"/mcp").start()
				r.call("1", "hello")
				r.wants(want...)
				_ = r.in.Close()
				r.code(inTime)
				r.keeps([]string{"s3cret"})

				s := serve(t, prepare(set, "--listen", "127.0.0.1:0", "--upstream", "b="+address+"/mcp"), 1)
				if answer := s.post(s.at["b"], callOf(1, "hello"), ownClient(t)); set != strings.Contains(answer, `"result"`) || !set && !strings.Contains(answer, of.reason) || strings.Contains(answer, "s3cret") {
					t.Errorf("listen, %v: %s", set, answer)
				}

				r = prepare(set)
				r.cmd.Args[1] = "hub"
				r.write("config.toml", r.read("config.toml")+"[hub]\nlist_wait = \"1m\"\n[upstream.b]\nurl = \""+address+"/mcp\"\n")
				r.start()
				r.say(begin)
				r.wants(`"id":0,"result"`)
				r.say(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
				r.call("1", "b__hello")
				line := r.wants(`"id":1`)
				if set != strings.Contains(line, `"content":[]`) || !set && !strings.Contains(line, of.reason) {
					t.Errorf("hub, %v: %s", set, line)
				}
				_ = r.in.Close()
				r.code(inTime)
				r.keeps([]string{"s3cret"})
			}
		})
	}
	if len(proxy.Asked()) == 0 || len(socks.Asked()) == 0 {
		t.Error("a proxy was not asked")
	}
}

// A sign-in and its renewal go the same way.
func TestSignInsOfCompanies(t *testing.T) {
	slow.Test(t)
	authority := tlstest.NewAuthority(t, "Company Root")
	proxy := tlstest.NewHTTPProxy(t, "ada", "s3cret", nil)
	for name, through := range map[string]bool{"own authority": false, "proxy": true} {
		t.Run(name, func(t *testing.T) {
			start := func(h http.Handler) *httptest.Server {
				s := tlstest.NewServer(h, authority.ServerConfig(tlstest.Leaf{Names: []string{"127.0.0.1", companyHost}}))
				if through {
					s.URL = strings.Replace(s.URL, "127.0.0.1", companyHost, 1)
				}
				return s
			}
			var kind oauthtest.ProviderKind
			for _, k := range oauthtest.Kinds() {
				if k.Name == "workos" {
					kind = k
				}
			}
			p := oauthtest.PlayOn(t, kind, start)
			p.Change(func(s *oauthtest.Played) { s.Lives = 1 })
			r := prepareClawai(t, "--", p.Server)
			r.write("ca.pem", string(authority.PEM))
			r.cmd.Env = append(r.cmd.Env, "BROWSER=browser", "CLAWAI_STATE_DIR="+r.path("state"), "HTTPS_PROXY=", "ALL_PROXY=", "NO_PROXY=", "SSL_CERT_FILE=")
			o := &owner{running: r}
			if said := o.clawai(1, "auth", "login", p.Server); !strings.Contains(said, "cannot be reached") || !through && !strings.Contains(said, "Company Root") {
				t.Error(said)
			}
			r.cmd.Env = append(r.cmd.Env, "SSL_CERT_FILE="+r.path("ca.pem")) // the browser reads it, too
			if through {
				wrong := append(r.cmd.Env, "HTTPS_PROXY=http://ada:wr0ng@"+proxy.Address)
				o.cmd.Env, wrong = wrong, o.cmd.Env
				if said := o.clawai(1, "auth", "login", p.Server); !strings.Contains(said, "refuses the name and the password in HTTPS_PROXY") || strings.Contains(said, "wr0ng") {
					t.Error(said)
				}
				o.cmd.Env = append(wrong, "HTTPS_PROXY=http://ada:s3cret@"+proxy.Address)
			}
			if said := o.clawai(0, "auth", "login", p.Server); !strings.Contains(said, "Signed in at") {
				t.Error(said)
			}
			r.start()
			r.call("1", "hello")
			r.wants(`"id":1`)
			p.Change(func(s *oauthtest.Played) {
				if s.Refreshed != 1 || len(s.Pages) != 1 {
					t.Errorf("%d renewals, %d pages", s.Refreshed, len(s.Pages))
				}
			})
			_ = r.in.Close()
			r.code(inTime)
			r.keeps([]string{"s3cret"})
		})
	}
	if len(proxy.Asked()) < 4 {
		t.Errorf("the proxy was asked for %q", proxy.Asked())
	}
}

// Doctor says what would be used, and what is wrong with it.
func TestDoctorOnCompanies(t *testing.T) {
	authority := tlstest.NewAuthority(t, "Company Root")
	r := prepareClawai(t)
	o := &owner{running: r}
	cert, key := authority.Issue(tlstest.Leaf{})
	for name, text := range map[string][]byte{"ca.pem": authority.PEM, "me.pem": cert, "me.key": key} {
		r.write(name, string(text))
	}
	r.cmd.Env = append(r.cmd.Env, "CLAWAI_STATE_DIR="+r.path("state"), "HTTP_PROXY=", "ALL_PROXY=", "NO_PROXY=", "HTTPS_PROXY=http://ada:s3cret@proxy.example:3128")
	if err := os.Remove(r.path("policy.toml")); err != nil {
		t.Fatal(err)
	}
	wants := func(parts ...string) {
		t.Helper()
		said := o.clawai(1, "doctor", "--all") // there is no policy
		for _, part := range parts {
			if !strings.Contains(said, part) {
				t.Errorf("%s\nwant %s", said, part)
			}
		}
		if strings.Contains(said, "s3cret") {
			t.Error(said)
		}
	}
	r.write("config.toml", "[tls]\nca = \"ca.pem\"\n[tls.host.\"mcp.example.com\"]\nclient_cert = \"me.pem\"\nclient_key = \"me.key\"\n[upstream.b]\nurl = \"https://mcp.example.com/mcp\"\n")
	wants(`authorities: `+r.path("ca.pem")+` (tls.ca): "CN=Company Root", until `, "client certificate: "+r.path("me.pem"),
		"https:// goes through the proxy proxy.example:3128 (HTTPS_PROXY)", "upstream.b (mcp.example.com): through the proxy proxy.example:3128 (HTTPS_PROXY); trusts the system's authorities")
	r.write("me.key", "nothing")
	wants("broken   remote", "do not go together", "fix: correct it; docs/remote.md")
}
