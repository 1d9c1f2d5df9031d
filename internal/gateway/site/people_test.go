package site

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/gateway/centre"
	"github.com/clawai/clawai/internal/gateway/message"
	"github.com/clawai/clawai/internal/gateway/principal"
	"github.com/clawai/clawai/internal/gateway/signin"
	"github.com/clawai/clawai/internal/gateway/store"
	"github.com/clawai/clawai/internal/page"
	"github.com/clawai/clawai/internal/state/audit"
	"github.com/clawai/clawai/internal/state/bundle"
	"github.com/clawai/clawai/internal/state/enrolment"
	"github.com/clawai/clawai/internal/testing/oidctest"
	"github.com/clawai/clawai/internal/testing/tlstest"
)

const publicURL = "https://centre.example"

// team is a public centre with its identity provider.
type team struct {
	*world
	idp    *oidctest.Provider
	dialer *http.Transport
}

// newTeam starts a public centre with the roles of its groups: the group of each has its name. more is text for
// gateway.toml, where ISSUER stands for the provider.
func newTeam(t *testing.T, more ...string) *team {
	t.Helper()
	w := &team{world: &world{t: t, dir: t.TempDir()}, idp: oidctest.Start(t)}
	var public string
	var err error
	w.secret, public, err = bundle.NewKey("team.example")
	w.must(err)
	settings := fmt.Sprintf("bundle_keys = [%q]\nurl = %q\nenv = \"prod\"\n[listen]\ncertificate = \"c\"\nkey = \"k\"\n[oidc]\nissuer = %q\nclient_id = %q\n", public, publicURL, w.idp.Issuer(), oidctest.ClientID)
	for _, role := range []string{principal.Admin, principal.Enroll, principal.Auditor, principal.Payload, "oncall"} {
		settings += fmt.Sprintf("[[role]]\nname = %q\ngroups = [%[1]q]\n", role)
	}
	w.must(os.WriteFile(filepath.Join(w.dir, centre.SettingsFile), []byte(settings+strings.ReplaceAll(strings.Join(more, "\n"), "ISSUER", w.idp.Issuer())), 0o600))
	w.centre, err = centre.Open(t.Context(), w.dir)
	w.must(err)
	w.must(w.centre.Settings.CheckPublic())
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	w.must(err)
	w.listener = l
	authority := tlstest.NewAuthority(t, "team")
	w.site, err = NewPublic(w.centre, l, authority.ServerConfig(tlstest.Leaf{Names: []string{"centre.example"}}), signin.NewProvider(w.centre.Settings.OIDC, oidctest.Secret, publicURL+CallbackPath, time.Now))
	w.must(err)
	if s := w.centre.Settings.Slack; s.IsOn() {
		w.site.Slack, err = message.NewSlack(s, func(s message.Secret) (string, error) { return s.Env, nil }, time.Now)
		w.must(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- w.site.Serve(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-served; err != nil {
			t.Error(err)
		}
		_ = w.centre.Close()
	})
	w.dialer = &http.Transport{TLSClientConfig: &tls.Config{RootCAs: authority.Pool()}, DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		if strings.HasPrefix(address, "centre.example:") {
			address = w.host()
		}
		return (&net.Dialer{}).DialContext(ctx, network, address)
	}}
	t.Cleanup(w.dialer.CloseIdleConnections)
	w.browser = w.newBrowser()
	w.laptop = &http.Client{Transport: w.dialer, Timeout: time.Minute}
	return w
}

func (w *team) newBrowser() *http.Client {
	jar, err := cookiejar.New(nil)
	w.must(err)
	return &http.Client{Transport: w.dialer, Jar: jar, Timeout: time.Minute}
}

// signInAs signs the browser in as a person with groups, and returns what its forms send along.
func (w *team) signInAs(subject string, groups ...string) (form string) {
	w.t.Helper()
	w.idp.Set(func(p *oidctest.Provider) {
		p.Claims = map[string]any{"sub": subject, "groups": groups, "email": subject + "@corp.example", "email_verified": true}
	})
	status, body := w.visit(beginPath)
	if status != 200 || !strings.Contains(body, "You are signed in as <strong>"+subject+"@corp.example</strong>") {
		w.t.Fatalf("signing in: %d\n%s", status, body)
	}
	_, body = w.visit(mePage)
	found := formToken.FindStringSubmatch(body)
	if found == nil {
		w.t.Fatal(body)
	}
	return found[1]
}

func TestPeopleSignIn(t *testing.T) {
	t.Parallel()
	w := newTeam(t)
	status, body := w.visit("/records?tool=x")
	if status != 401 || !strings.Contains(body, `href="/oidc/begin?next=%2Frecords%3Ftool%3Dx"`) {
		t.Fatalf("%d\n%s", status, body)
	}
	w.idp.Set(func(p *oidctest.Provider) {
		p.Claims = map[string]any{"sub": "7", "groups": []string{principal.Auditor}}
	})
	r := w.request("GET", beginPath+"?next=%2Frecords%3Ftool%3Dx", "")
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	status, body, headers := w.do(w.browser, r)
	if status != 200 || headers.Get("Refresh") != "0; url=/records?tool=x" || !strings.Contains(body, `href="/records?tool=x"`) || headers.Get("Strict-Transport-Security") == "" {
		t.Fatalf("%d, %v\n%s", status, headers, body)
	}
	said := strings.Join(headers.Values("Set-Cookie"), "\n")
	for _, want := range []string{"__Host-clawai=", "; Secure", "; HttpOnly", "; SameSite=Lax", "; Path=/", "Max-Age=3600", flowCookie + "=;"} {
		if !strings.Contains(said, want) {
			t.Errorf("the cookies lack %q: %s", want, said)
		}
	}
	if strings.Contains(said, "Domain") {
		t.Error(said)
	}
	if status, body := w.visit("/records?tool=x"); status != 200 || strings.Contains(body, "Enrol a laptop") {
		t.Errorf("%d\n%s", status, body)
	}
	if status, _ := w.visit(SignInPath + "x"); status != 404 {
		t.Errorf("the page of links: %d", status)
	}
	form := w.signInAs("8", principal.Auditor)
	if status, _ := w.submit("/sign-out", "form", form); status != 200 {
		t.Errorf("signing out: %d", status)
	}
	if status, _ := w.visit("/"); status != 401 {
		t.Errorf("after signing out: %d", status)
	}

	// A link of a time when the centre was one of --dev does not count.
	token, err := w.centre.NewLink(t.Context(), "administrator")
	w.must(err)
	session, err := w.centre.UseLink(t.Context(), token)
	w.must(err)
	r = w.request("GET", "/", "")
	r.AddCookie(&http.Cookie{Name: "__Host-clawai", Value: session})
	if status, _, _ := w.do(w.laptop, r); status != 401 {
		t.Errorf("the administrator of --dev: %d", status)
	}
}

// One sign-in belongs to one browser, and counts once.
func TestSignInsAreBoundToABrowser(t *testing.T) {
	t.Parallel()
	w := newTeam(t)
	stop := func(c *http.Client) *http.Client {
		c.CheckRedirect = func(r *http.Request, _ []*http.Request) error {
			if r.URL.Path == callback {
				return http.ErrUseLastResponse
			}
			return nil
		}
		return c
	}
	begin := func(c *http.Client) (callbackURL string) {
		t.Helper()
		resp, err := c.Do(w.request("GET", beginPath, ""))
		w.must(err)
		_ = resp.Body.Close()
		return resp.Header.Get("Location")
	}
	open := func(c *http.Client, address string) (int, string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), "GET", address, nil)
		w.must(err)
		r.Header.Set("Sec-Fetch-Site", "cross-site")
		r.Header.Set("Sec-Fetch-Mode", "navigate")
		r.Header.Set("Sec-Fetch-Dest", "document")
		status, body, _ := w.do(c, r)
		return status, body
	}
	hers, his := stop(w.newBrowser()), stop(w.newBrowser())
	address, status := begin(hers), 0
	if status, body := open(his, address); status != 403 || !strings.Contains(body, "in this browser") {
		t.Errorf("a browser that began nothing: %d\n%s", status, body)
	}
	begin(his)
	if status, body := open(his, address); status != 403 || !strings.Contains(body, "in this browser") {
		t.Errorf("a browser that began another one: %d\n%s", status, body)
	}
	if status, body := open(hers, address); status != 200 {
		t.Errorf("her own: %d\n%s", status, body)
	}
	if status, _ := open(hers, address); status != 403 {
		t.Errorf("again: %d", status)
	}
	// A cookie that the centre did not make: a state that goes with it cannot be made either.
	forged := "x.99999999999.Lw"
	r := w.request("GET", callback+"?code=x&state="+strings.Repeat("0", 64), "")
	r.AddCookie(&http.Cookie{Name: flowCookie, Value: forged})
	if status, _, _ := w.do(w.laptop, r); status != 403 {
		t.Errorf("a forged cookie: %d", status)
	}
	for range 310 {
		if status, _ = open(his, publicURL+callback+"?code=x&state=x"); status == 429 {
			break
		}
		begin(his)
	}
	if status != 429 {
		t.Errorf("the 310th answer from an address: %d", status)
	}
}

// Each page and form asks for its roles.
func TestPagesAskForRoles(t *testing.T) {
	t.Parallel()
	w := newTeam(t)
	w.browser = w.newBrowser()
	for _, groups := range [][]string{nil, {"oncall"}, {principal.Enroll}, {principal.Auditor}, {principal.Payload}, {principal.Admin}, {principal.Enroll, principal.Auditor}} {
		form := w.signInAs("p", groups...)
		for path, list := range routes {
			for _, rt := range list {
				if rt.open || path == "/sign-out" {
					continue
				}
				if strings.HasSuffix(path, "/") && path != "/" {
					path += "1"
				}
				var status int
				var body string
				if rt.method == http.MethodGet {
					w.browser.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
					status, body = w.visit(path)
					w.browser.CheckRedirect = nil
				} else {
					status, body = w.submit(path, "form", form, "answer", "deny", "laptop", "nobody", "key", "nobody", "code", "BCDF-GHJK")
				}
				may := rt.roles == nil || slices.ContainsFunc(groups, func(g string) bool { return slices.Contains(rt.roles, g) })
				lack := strings.Contains(body, "This needs the role")
				if isFirst := path == "/" && slices.Contains(groups, principal.Enroll) && !may; isFirst {
					if status != 303 {
						t.Errorf("%q: the first page: %d", groups, status)
					}
				} else if may == (status == 403 || lack) {
					t.Errorf("%q, %s %s: %d\n%s", groups, rt.method, path, status, body)
				}
			}
		}
	}
}

// Somebody without a role is told who they are, and what is missing.
func TestWhoLacksARole(t *testing.T) {
	t.Parallel()
	w := newTeam(t)
	for name, c := range map[string]struct {
		claims map[string]any
		want   []string
	}{
		"groups that give nothing": {map[string]any{"sub": "7", "groups": []string{"<b>devs</b>"}}, []string{w.idp.Issuer() + "#7", "&lt;b&gt;devs", "You have none", "none that the identity provider says"}},
		"too many groups":          {map[string]any{"sub": "7", "hasgroups": true, "groups": []string{principal.Admin}}, []string{"not known", "did not say which groups"}},
		"hostile texts":            {map[string]any{"sub": "7<script>", "name": "<img src=x onerror=alert(1)>", "groups": []string{"'\"><b>", "' onclick='"}}, []string{"You have none"}},
	} {
		w.browser = w.newBrowser()
		w.idp.Set(func(p *oidctest.Provider) { p.Claims = c.claims })
		_, body := w.visit(beginPath)
		checkHarmless(t, name, body)
		status, body := w.visit("/")
		for _, want := range c.want {
			if status != 403 || !strings.Contains(body, want) {
				t.Errorf("%s: %d, want %q\n%s", name, status, want, body)
			}
		}
		checkHarmless(t, name, body)
	}
}

// No page shows arguments to an auditor, nor to an administrator: nor the texts that may quote them.
func TestArgumentsNeedARole(t *testing.T) {
	t.Parallel()
	w := newTeam(t)
	grant := w.enrolAs("ana")
	const secret = "the-argument"
	tool := recordedCall("deny", "write_file", `{"path":"/srv/`+secret+`"}`)
	tool.RuleText = "Write files below /srv/" + secret // as an answer "always" describes its rule
	tool.Reason = "the path /srv/" + secret + " is outside"
	resource := recordedCall("deny", "file:///srv/"+secret, `{}`)
	resource.Subject, resource.Method = "resource", "resources/read"
	sampled := recordedCall("deny", secret, `{}`)
	sampled.Subject, sampled.Method = "sampling", "sampling/createMessage"
	for name, segment := range recordSegments(t, audit.Options{}, tool, resource, sampled) {
		if status, _ := w.ship(grant.Token, name, 0, segment, true); status != 200 {
			t.Fatal(status)
		}
	}
	records, err := w.centre.Store.ListRecords(t.Context(), store.Query{Most: 10})
	w.must(err)
	paths := []string{"/", laptopsPage, laptopsPage + "/" + grant.Laptop, recordsPage, recordsPage + "?kind=all", recordsPage + "?decision=refused", bundlesPage}
	for _, r := range records {
		paths = append(paths, fmt.Sprint(recordsPage, "/", r.ID))
	}
	for _, c := range []struct {
		groups []string
		sees   bool
	}{{[]string{principal.Auditor}, false}, {[]string{principal.Admin}, false}, {[]string{principal.Payload}, true}, {[]string{principal.Auditor, principal.Payload}, true}} {
		w.signInAs("p", c.groups...)
		seen := 0
		for _, path := range paths {
			status, body := w.visit(path)
			if status != 200 {
				t.Errorf("%q, %s: %d", c.groups, path, status)
			}
			if strings.Contains(body, secret) {
				if seen++; !c.sees {
					t.Errorf("%q, %s:\n%s", c.groups, path, body)
				}
			}
		}
		// Whoever guesses the address of a resource must not find out that it is right.
		for tool, finds := range map[string]bool{"file:///srv/" + secret: c.sees, "write_file": true} {
			status, body := w.visit(page.Address(recordsPage, "tool", tool))
			if got := !strings.Contains(body, "No record is one of these."); status != 200 || got != finds {
				t.Errorf("%q: tool=%s finds a record: %v", c.groups, tool, got)
			}
		}
		if c.sees && seen < 5 {
			t.Errorf("%q: the argument stands on %d pages", c.groups, seen)
		}
	}
}

// enrolAs enrols a laptop that a person with the role enroll confirms on the page.
func (w *team) enrolAs(subject string, groups ...string) enrolment.Grant {
	w.t.Helper()
	form := w.signInAs(subject, append(groups, principal.Enroll)...)
	var code enrolment.DeviceCode
	if status := w.call("", "POST", enrolment.EnrollPath, enrolment.AskEnrolment{Name: "laptop of " + subject, OS: "linux/amd64", Version: "1.2.3"}, &code); status != 200 {
		w.t.Fatal(status)
	}
	if code.VerificationURI != publicURL+enrollPage {
		w.t.Errorf("%+v", code)
	}
	if status, body := w.submit(enrollPage, "form", form, "code", code.UserCode, "answer", "allow"); status != 200 || !strings.Contains(body, "You allowed") {
		w.t.Fatalf("%d\n%s", status, body)
	}
	var grant enrolment.Grant
	if status := w.call("", "POST", enrolment.TokenPath, enrolment.AskToken{DeviceCode: code.DeviceCode}, &grant); status != 200 {
		w.t.Fatal(status)
	}
	return grant
}

// A laptop is told whose it is, with the groups of the owner's last sign-in and the roles of now.
func TestALaptopIsToldWhoseItIs(t *testing.T) {
	t.Parallel()
	w := newTeam(t)
	grant, other := w.enrolAs("ana", "oncall", "devs"), w.enrolAs("bob")
	key := w.idp.Issuer() + "#ana"
	ask := func(token string) enrolment.Identity {
		t.Helper()
		var told enrolment.Told
		if status := w.call(token, "POST", enrolment.StatePath, enrolment.Report{}, &told); status != 200 || told.Who == nil {
			t.Fatalf("%d, %+v", status, told)
		}
		return *told.Who
	}
	want := enrolment.Identity{Who: "ana@corp.example", Key: key, Groups: []string{"oncall", "devs", "enroll"}, GroupsKnown: true, Roles: []string{principal.Enroll, "oncall"}, Env: "prod"}
	if got := ask(grant.Token); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := ask(other.Token); got.Key != w.idp.Issuer()+"#bob" || !slices.Equal(got.Roles, []string{principal.Enroll}) {
		t.Errorf("%+v", got)
	}
	w.signInAs("ana", "devs") // she is not on call any more
	if got := ask(grant.Token); !slices.Equal(got.Groups, []string{"devs"}) || len(got.Roles) > 0 || got.Roles == nil {
		t.Errorf("%+v", got)
	}
	w.idp.Set(func(p *oidctest.Provider) { p.Claims = map[string]any{"sub": "ana", "hasgroups": true} })
	if status, _ := w.visit(beginPath); status != 200 {
		t.Fatal(status)
	}
	if got := ask(grant.Token); got.GroupsKnown || len(got.Groups) > 0 {
		t.Errorf("%+v", got)
	}
	form := w.signInAs("root", principal.Admin)
	if _, body := w.visit(laptopsPage + "/" + grant.Laptop); !strings.Contains(body, "allowed by ana@corp.example ("+key+")") || !strings.Contains(body, "<dt>owner</dt>") {
		t.Error(body)
	}
	w.submit("/revoke", "form", form, "laptop", grant.Laptop)
	if _, body := w.visit(laptopsPage + "/" + grant.Laptop); !strings.Contains(body, "by root@corp.example (") {
		t.Error(body)
	}
}

// A public centre is opened from links elsewhere, and nothing else comes from there.
func TestWhatOtherSitesCanCause(t *testing.T) {
	t.Parallel()
	w := newTeam(t)
	form := w.signInAs("root", principal.Admin)
	from := func(r *http.Request, site, mode, dest string) *http.Request {
		r.Header.Set("Sec-Fetch-Site", site)
		r.Header.Set("Sec-Fetch-Mode", mode)
		r.Header.Set("Sec-Fetch-Dest", dest)
		return r
	}
	post := func() *http.Request { return w.formRequest("/revoke", "form", form, "laptop", "x") }
	origin := func(r *http.Request, text string) *http.Request { r.Header.Set("Origin", text); return r }
	host := func(r *http.Request, text string) *http.Request { r.Host = text; return r }
	for name, c := range map[string]struct {
		r    *http.Request
		want int
	}{
		"a link elsewhere":         {from(w.request("GET", "/", ""), "cross-site", "navigate", "document"), 200},
		"a frame elsewhere":        {from(w.request("GET", "/", ""), "cross-site", "navigate", "iframe"), 403},
		"a script elsewhere":       {from(w.request("GET", "/", ""), "cross-site", "cors", "empty"), 403},
		"a neighbour":              {from(w.request("GET", "/", ""), "same-site", "no-cors", "image"), 403},
		"a sign-in elsewhere":      {from(w.request("GET", beginPath, ""), "cross-site", "navigate", "document"), 403},
		"a form elsewhere":         {from(origin(post(), "https://attacker.example"), "cross-site", "navigate", "document"), 403},
		"a form without an origin": {origin(post(), ""), 403},
		"a form of plain HTTP":     {origin(post(), "http://centre.example"), 403},
		"a form of a neighbour":    {from(origin(post(), "https://x.centre.example"), "same-site", "navigate", "document"), 403},
		"our form":                 {post(), 404},
		"another name":             {host(w.request("GET", "/", ""), "attacker.example"), 421},
		"a port":                   {host(w.request("GET", "/", ""), "centre.example:443"), 421},
		"another name, as a link":  {host(from(w.request("GET", "/", ""), "cross-site", "navigate", "document"), "attacker.example"), 421},
	} {
		if status, body, _ := w.do(w.browser, c.r); status != c.want {
			t.Errorf("%s: %d, want %d\n%s", name, status, c.want, body)
		}
	}
	if _, err := tls.Dial("tcp", w.host(), &tls.Config{InsecureSkipVerify: true, MaxVersion: tls.VersionTLS11}); err == nil { //nolint:gosec // that it fails is tested
		t.Error("TLS 1.1 is spoken")
	}
}

func TestPathsAfterSigningIn(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"/": "/", "/enroll?code=ABCD-EFGH": "/enroll?code=ABCD-EFGH", "/records/7": "/records/7", "": "/", "records": "/", "//attacker.example": "/", `/\attacker.example`: "/",
		"https://attacker.example/": "/", "javascript:alert(1)": "/", "/%5cattacker.example": "/", "/%0d%0aSet-Cookie:a=b": "/", "/\r\nX: y": "/", "///attacker.example": "/",
		"/oidc/begin": "/", "/oidc/callback?code=x": "/", "/" + strings.Repeat("x", maxForm): "/", "/x#y": "/", "/%2fattacker.example": "/",
	} {
		if got := localPath(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// FuzzLocalPath: whatever is asked for, a browser stays at the centre.
func FuzzLocalPath(f *testing.F) {
	for _, seed := range []string{"/", "//x", `/\x`, "/a?b=c", "https://x", "/%2f%2fx", "/\t/x"} {
		f.Add(seed)
	}
	base, _ := url.Parse(publicURL)
	f.Fuzz(func(t *testing.T, text string) {
		got := localPath(text)
		u, err := base.Parse(got)
		if err != nil || u.Host != base.Host || u.Scheme != base.Scheme || !strings.HasPrefix(got, "/") || strings.HasPrefix(got, "//") || strings.HasPrefix(got, `/\`) ||
			strings.ContainsFunc(got, func(r rune) bool { return r <= ' ' || r > '~' }) {
			t.Errorf("%q: %q, %v", text, got, u)
		}
	})
}

// Behind a proxy, an address is what the proxy says, and elsewhere nobody can say one.
func TestAddresses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		proxied bool
		said    []string
		want    string
	}{
		{true, []string{"192.0.2.7"}, "192.0.2.7"}, {true, []string{"127.0.0.1, 192.0.2.7"}, "192.0.2.7"}, {true, []string{"192.0.2.1", "192.0.2.7"}, "192.0.2.7"},
		{true, []string{"<b>"}, "198.51.100.1"}, {true, nil, "198.51.100.1"}, {false, []string{"192.0.2.7"}, "198.51.100.1"},
	} {
		s := &Site{proxied: c.proxied}
		r := &http.Request{Header: http.Header{"X-Forwarded-For": c.said}, RemoteAddr: "198.51.100.1:7"}
		if got := s.addressOf(r); got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
}

func TestOperator(t *testing.T) {
	t.Parallel()
	w := newTeam(t)
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	w.must(err)
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- ServeOperator(ctx, w.centre, l) }()
	ask := func(path string) int {
		r, err := http.NewRequestWithContext(t.Context(), "GET", "http://"+l.Addr().String()+path, nil)
		w.must(err)
		status, _, _ := w.do(w.laptop, r)
		return status
	}
	if a, b, c := ask("/healthz"), ask("/readyz"), ask("/laptops"); a != 200 || b != 200 || c != 404 {
		t.Error(a, b, c)
	}
	w.must(w.centre.Close())
	if a, b := ask("/healthz"), ask("/readyz"); a != 200 || b != 503 {
		t.Error(a, b)
	}
	cancel()
	w.must(<-served)
}
