//go:build e2e

package e2e

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/testing/tlstest"
	"github.com/clawai/clawai/internal/testing/viewtest"
)

// beginPublicCentre starts an identity provider, and makes what a centre with TLS of its own needs: it
// returns the centre's address, the provider's, and the text of gateway.toml up to its roles.
func (s *site) beginPublicCentre() (origin, issuer, settings string) {
	s.t.Helper()
	authority := tlstest.NewAuthority(s.t, "team")
	cert, key := authority.Issue(tlstest.Leaf{Names: []string{"127.0.0.1"}})
	s.write("tls/cert.pem", string(cert))
	s.write("tls/key.pem", string(key))
	s.write("tls/authority.pem", string(authority.PEM))
	s.write("secret", "a secret of the client\n")
	s.env = append(s.env, "SSL_CERT_FILE="+filepath.Join(s.home, "tls/authority.pem"))
	address := freeAddress(s.t)
	origin = "https://" + address
	line, err := s.starts(nil, "node", "team-oidc.mjs", origin+"/oidc/callback").ReadString('\n')
	issuer = strings.TrimSpace(line)
	if err != nil || !strings.HasPrefix(issuer, "http://127.0.0.1:") {
		s.t.Fatalf("%q, %v", line, err)
	}
	s.must(clawai, "policy", "bundle", "key", "team.example", "--output", filepath.Join(s.home, "team.key"))
	public, err := os.ReadFile(filepath.Join(s.home, "team.key.pub"))
	if err != nil {
		s.t.Fatal(err)
	}
	return origin, issuer, fmt.Sprintf(`bundle_keys = [%q]
url = %q

[listen]
address = %q
certificate = %q
key = %q
operator = "off"

[oidc]
issuer = %q
client_id = "centre"
client_secret_file = %q
scopes = ["profile", "email", "groups"]
`, strings.TrimSpace(string(public)), origin, address, filepath.Join(s.home, "tls/cert.pem"), filepath.Join(s.home, "tls/key.pem"), issuer, filepath.Join(s.home, "secret"))
}

// servePublicCentre serves the centre in the folder "centre" of the site.
func (s site) servePublicCentre(origin string) {
	s.t.Helper()
	served := s.starts(nil, gateway(), "serve", "--dir", filepath.Join(s.home, "centre"))
	if line, err := served.ReadString('\n'); err != nil || !strings.HasPrefix(line, "Serving "+origin) {
		s.t.Fatalf("%q, %v", line, err)
	}
}

// signInAt opens a page of the centre in a new browser, and signs somebody in there by the keyboard.
func signInAt(t *testing.T, origin, who, path string) *browser {
	t.Helper()
	b := newBrowser(t, 1200, 900, "light", "any-certificate")
	b.do(nil, "open", map[string]any{"url": origin + path})
	b.wait("main", "You are not signed in")
	b.fits("the page before the sign-in")
	b.tabTo("Tab", "Sign in")
	b.do(nil, "leave", map[string]any{"key": "Enter"})
	b.wait("main", "Account")
	b.do(nil, "type", map[string]any{"text": who})
	b.do(nil, "leave", map[string]any{"key": "Enter"})
	b.wait("header", "Sign out")
	var at string
	if b.do(&at, "url", nil); at != origin+path {
		t.Errorf("%s is at %s after signing in, want %s", who, at, origin+path)
	}
	return b
}

// enrolAs enrols the laptop of this site by the device flow, and confirms the code as somebody in a browser.
func (s site) enrolAs(origin, who, name string) *browser {
	s.t.Helper()
	enroll := s.starts(nil, clawai, "enroll", "--name", name, origin)
	next := func(found *regexp.Regexp) []string {
		for {
			line, err := enroll.ReadString('\n')
			if err != nil {
				s.t.Fatalf("clawai enroll: %v", err)
			}
			if m := found.FindStringSubmatch(line); m != nil {
				return m
			}
		}
	}
	b := signInAt(s.t, origin, who, "/enroll?code="+next(regexp.MustCompile(`confirm the code ([A-Z-]+)`))[1])
	b.wait("main", name)
	b.tabTo("Tab", "Allow")
	b.do(nil, "leave", map[string]any{"key": "Enter"})
	b.wait("main", "You allowed")
	next(regexp.MustCompile(`^Enrolled at `))
	return b
}

// TestTeamSignsIn: people of a real identity provider in real browsers, at a centre with TLS of its own.
// One enrols a laptop and owns it, an auditor sees no argument, one with the role does, and somebody
// without a role is told what is missing.
func TestTeamSignsIn(t *testing.T) {
	t.Parallel()
	s := newSite(t, "[[rule]]\naction = \"deny\"\ntool = \"write_file\"\n")
	origin, issuer, settings := s.beginPublicCentre()
	must := func(argv ...string) string {
		t.Helper()
		out, err := s.run(argv...)
		if err != nil {
			t.Fatalf("%q: %v\n%s", argv, err, out)
		}
		return out
	}
	s.write("centre/gateway.toml", settings+`
[[role]]
name = "admin"
groups = ["security"]

[[role]]
name = "enroll"
groups = ["engineering"]

[[role]]
name = "auditor"
groups = ["audit"]

[[role]]
name = "auditor.payload"
people = ["PIA@corp.example", "ana@corp.example"]
`)
	dir := filepath.Join(s.home, "centre")
	s.servePublicCentre(origin)
	doctor, _ := s.run(gateway(), "doctor", "--dir", dir) // no bundle is published, so it fails
	for _, want := range []string{"ok    certificate: until ", "ok    address: " + origin + " answers", "ok    provider: " + issuer + " answers"} {
		if !strings.Contains(doctor, want) {
			t.Errorf("doctor does not say %q:\n%s", want, doctor)
		}
	}

	signIn := func(who, path string) *browser { return signInAt(t, origin, who, path) }
	bob := s.enrolAs(origin, "bob", "bob's laptop")
	bob.do(nil, "goto", map[string]any{"url": origin + "/records"})
	bob.wait("main", "This needs the role admin or auditor or auditor.payload")
	bob.do(nil, "goto", map[string]any{"url": origin + "/"})
	bob.wait("main", "Type the code")

	s.write("calls", `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"write_file","arguments":{"path":"/srv/the-argument"}}}
`)
	must("sh", "-c", `"$0" proxy --server files -- cat < "$1/calls"`, clawai, s.home)
	must(clawai, "enroll", "sync")
	laptop := regexp.MustCompile(`(?m)^(\w{12}) `).FindStringSubmatch(must(gateway(), "laptops", "--dir", dir))
	if laptop == nil {
		t.Fatal("no laptop is listed")
	}

	eva, pia := signIn("eva", "/records"), signIn("pia", "/records")
	paths := []string{"/", "/laptops", "/laptops/" + laptop[1], "/records", "/records?kind=all", "/records/1", "/records/2", "/bundles", "/me"}
	for _, who := range []struct {
		b    *browser
		sees bool
	}{{eva, false}, {pia, true}} {
		seen := 0
		for _, path := range paths {
			who.b.do(nil, "goto", map[string]any{"url": origin + path})
			who.b.wait("main", "")
			who.b.do(nil, "run", map[string]any{"script": `document.querySelectorAll('main details').forEach((one) => { one.open = true })`})
			var html string
			who.b.do(&html, "html", map[string]any{"selector": "html"})
			if strings.Contains(html, "the-argument") {
				seen++
			}
			who.b.fits(path)
		}
		if who.sees != (seen > 0) {
			t.Errorf("the argument stands on %d pages; want any: %v", seen, who.sees)
		}
	}
	eva.do(nil, "goto", map[string]any{"url": origin + "/laptops/" + laptop[1]})
	if text := eva.text("main"); !strings.Contains(text, "allowed by bob@corp.example ("+issuer+"#bob)") || strings.Contains(text, "Revoke") {
		t.Errorf("the laptop's page: %s", text)
	}

	// Max says that he has ana's address, and the provider has not verified it.
	max := signIn("max", "/records")
	max.wait("main", "You have none.")
	text := max.text("main")
	viewtest.CheckHarmless(t, viewtest.Case{Name: "max"}, strings.ReplaceAll(text, "\t", " "))
	if !strings.Contains(text, issuer+"#max") || !strings.Contains(text, "none that the identity provider says it has verified") {
		t.Errorf("max: %s", text)
	}
	max.do(nil, "size", map[string]any{"width": 390, "height": 844})
	max.fits("a person without a role, on a narrow screen")
	max.tabTo("Tab", "Sign out")
	max.do(nil, "leave", map[string]any{"key": "Enter"})
	max.wait("main", "You are signed out here")

	must(clawai, "unenroll")
	for _, b := range []*browser{bob, eva, pia, max} {
		var seen struct {
			Console, Errors, URLs []string
		}
		b.do(&seen, "seen", nil)
		for _, one := range seen.URLs {
			_, to, _ := strings.Cut(one, " ")
			if u, err := url.Parse(to); err != nil || u.Scheme+"://"+u.Host != origin && u.Scheme+"://"+u.Host != issuer {
				t.Errorf("a browser asked %s", one)
			}
		}
		for _, said := range append(seen.Console, seen.Errors...) {
			if !strings.Contains(said, "401") && !strings.Contains(said, "403") && !strings.Contains(said, issuer) {
				t.Errorf("a browser said %s", said)
			}
		}
	}
}
