package centre

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/gateway/principal"
	"github.com/clawai/clawai/internal/gateway/store"
	"github.com/clawai/clawai/internal/gateway/store/sqlstore"
	"github.com/clawai/clawai/internal/state/enrolment"
)

var ana = principal.Principal{Issuer: "https://idp.example", Subject: "7", Name: "ana", Groups: []string{"ops"}, GroupsKnown: true}

// clocked returns a centre with an empty database and a clock that a test moves.
func clocked(t *testing.T) (*Centre, *time.Time) {
	t.Helper()
	now := time.Date(2026, 12, 1, 10, 0, 0, 0, time.UTC)
	db, err := sqlstore.OpenSQLite(t.Context(), filepath.Join(t.TempDir(), "db"), "main")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	s := defaultSettings()
	s.OIDC.Issuer = ana.Issuer
	s.Roles = []principal.Role{{Name: "oncall", Groups: []string{"ops"}}}
	return newCentre(db, s, make([]byte, 32), func() time.Time { return now }), &now
}

// A session ends after an hour, and its roles are those of now.
func TestSessionsEnd(t *testing.T) {
	t.Parallel()
	c, now := clocked(t)
	session, err := c.SignIn(t.Context(), ana)
	if err != nil {
		t.Fatal(err)
	}
	*now = now.Add(sessionLife - time.Second)
	if p, err := c.FindPerson(t.Context(), session); err != nil || p.Key() != ana.Key() || !slices.Equal(p.Roles, []string{"oncall"}) {
		t.Errorf("%+v, %v", p, err)
	}
	c.Settings.Roles = nil
	if p, err := c.FindPerson(t.Context(), session); err != nil || len(p.Roles) > 0 {
		t.Errorf("%+v, %v", p, err)
	}
	*now = now.Add(time.Second)
	if p, err := c.FindPerson(t.Context(), session); !errors.Is(err, store.ErrNone) {
		t.Errorf("%+v, %v", p, err)
	}
}

// The administrator of --dev has every role there, and none elsewhere.
func TestTheLocalAdministrator(t *testing.T) {
	t.Parallel()
	c, _ := clocked(t)
	c.Dev = true
	token, err := c.NewLink(t.Context(), "administrator")
	if err != nil {
		t.Fatal(err)
	}
	session, err := c.UseLink(t.Context(), token)
	if err != nil {
		t.Fatal(err)
	}
	p, err := c.FindPerson(t.Context(), session)
	if want := []string{principal.Admin, principal.Enroll, principal.Auditor, principal.Payload, "oncall"}; err != nil || !slices.Equal(p.Roles, want) || p.Key() != "local#administrator" {
		t.Errorf("%+v, %v", p, err)
	}
	c.Dev = false
	if p, err := c.FindPerson(t.Context(), session); !errors.Is(err, store.ErrNone) || len(p.Roles) > 0 {
		t.Errorf("%+v, %v", p, err)
	}
}

// Whoever a former provider named, or a link of --dev, is nobody once the folder is served otherwise: no
// session, no role, no approver; and a laptop of theirs is nobody's, so that nobody allows their own calls
// by a new account.
func TestPeopleOfAnotherTime(t *testing.T) {
	t.Parallel()
	c, _ := clocked(t)
	local := principal.Principal{Issuer: principal.Local, Subject: "administrator", GroupsKnown: true, Groups: []string{"ops"}}
	former := ana
	former.Issuer = "https://old.example"
	approvers := []string{"role:oncall", "group:ops", "person:" + former.Key(), "person:" + local.Key()}
	for _, dev := range []bool{false, true} {
		c.Dev = dev
		for _, p := range []principal.Principal{local, ana, former} {
			known := p.Issuer == ana.Issuer && !dev || p.Issuer == principal.Local && dev
			session, err := c.SignIn(t.Context(), p)
			if err != nil {
				t.Fatal(err)
			}
			_, err = c.FindPerson(t.Context(), session)
			if (err == nil) != known || !known && !errors.Is(err, store.ErrNone) {
				t.Errorf("dev %v: a session of %s: %v", dev, p.Key(), err)
			}
			if got := c.isApprover(c.withRoles(p), approvers); got != known {
				t.Errorf("dev %v: %s is an approver: %v", dev, p.Key(), got)
			}
			if got := len(c.RolesOf(p)) > 0; got != known {
				t.Errorf("dev %v: %s has roles: %v", dev, p.Key(), got)
			}
			l := store.Laptop{Owner: store.Owner{Principal: p}}
			if got := c.ownerOf(&l) != nil; got != known {
				t.Errorf("dev %v: %s owns a laptop: %v", dev, p.Key(), got)
			}
			if err := c.mayAllow(&enrolment.AskQuestion{Approvers: []string{"group:ops"}, NotSelf: true}, ana, c.ownerOf(&l)); !dev && !errors.Is(err, ErrSelf) {
				t.Errorf("ana may allow what a laptop of %s asks, of not_self: %v", p.Key(), err)
			}
		}
	}
}

// One machine has a whole /64 of IPv6 addresses, which count as one.
func TestLimitsByNetwork(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"192.0.2.7": "192.0.2.7", "::ffff:192.0.2.7": "::ffff:192.0.2.7", "2001:db8::1": "2001:db8::/64", "2001:db8::ffff:1": "2001:db8::/64", "2001:db8:0:1::1": "2001:db8:0:1::/64", "fe80::1%eth0": "fe80::/64", "": "", "x": "x",
	} {
		if got := networkOf(address); got != want {
			t.Errorf("%q: %q, want %q", address, got, want)
		}
	}
}

// An attempt to sign in lasts ten minutes, and no sign of its cookie can be changed.
func TestFlows(t *testing.T) {
	t.Parallel()
	c, now := clocked(t)
	cookie, flow := c.NewFlow("/records?tool=x")
	got, next, ok := c.ReadFlow(cookie)
	if !ok || got != flow || next != "/records?tool=x" || flow.State == flow.Nonce || flow.Nonce == flow.Verifier || len(flow.Verifier) < 43 || strings.Contains(cookie, flow.State) {
		t.Fatalf("%+v, %q, %v", got, next, ok)
	}
	if _, other := c.NewFlow("/records?tool=x"); other == flow {
		t.Error("two attempts have the same secrets")
	}
	for i := range len(cookie) {
		changed := cookie[:i] + "z" + cookie[i+1:]
		if changed == cookie {
			continue
		}
		if got, _, ok := c.ReadFlow(changed); ok && got.State == flow.State {
			t.Errorf("%q has the state of %q", changed, cookie)
		}
	}
	for _, text := range []string{"", "a.b", "a.b.c.d", "a.99999999999.!", "a.x.Lw"} {
		if _, _, ok := c.ReadFlow(text); ok {
			t.Errorf("%q is an attempt", text)
		}
	}
	*now = now.Add(flowLife)
	if _, _, ok := c.ReadFlow(cookie); ok {
		t.Error("it does not end")
	}
}

func TestIdentities(t *testing.T) {
	t.Parallel()
	c, now := clocked(t)
	c.Settings.Env = "prod"
	days := time.Duration(c.Settings.OIDC.GroupsDays) * 24 * time.Hour
	named := ana
	named.Email = "ana@team.example"
	local := principal.Principal{Issuer: principal.Local, Subject: "administrator", Name: "administrator", GroupsKnown: true}
	for name, o := range map[string]struct {
		is   store.Owner
		want *enrolment.Identity
	}{
		"nobody": {store.Owner{}, nil},
		"ana":    {store.Owner{Principal: ana, Seen: *now}, &enrolment.Identity{Who: ana.Key(), Key: ana.Key(), Groups: []string{"ops"}, GroupsKnown: true, Roles: []string{"oncall"}, Env: "prod"}},
		"ana with an address": {store.Owner{Principal: named, Seen: *now},
			&enrolment.Identity{Who: "ana@team.example", Key: ana.Key(), Groups: []string{"ops"}, GroupsKnown: true, Roles: []string{"oncall"}, Env: "prod"}},
		"groups from the last day": {store.Owner{Principal: ana, Seen: now.Add(-days)},
			&enrolment.Identity{Who: ana.Key(), Key: ana.Key(), Groups: []string{"ops"}, GroupsKnown: true, Roles: []string{"oncall"}, Env: "prod"}},
		"groups of long ago":           {store.Owner{Principal: ana, Seen: now.Add(-days - time.Second)}, &enrolment.Identity{Who: ana.Key(), Key: ana.Key(), Groups: []string{}, Roles: []string{}, Env: "prod"}},
		"the administrator elsewhere":  {store.Owner{Principal: local, Seen: now.Add(-2 * days)}, nil},
		"somebody of another provider": {store.Owner{Principal: principal.Principal{Issuer: "https://old.example", Subject: "7", Email: "ana@team.example", Groups: []string{"ops"}, GroupsKnown: true}, Seen: *now}, nil},
	} {
		if got := c.IdentityOf(&store.Laptop{Owner: o.is}); !reflect.DeepEqual(got, o.want) {
			t.Errorf("%s: %+v, want %+v", name, got, o.want)
		}
	}
}

const sufficient = "url = \"https://centre.example\"\n[listen]\ncertificate = \"c\"\nkey = \"k\"\n[oidc]\nissuer = \"https://idp.example\"\nclient_id = \"x\"\n[[role]]\nname = \"admin\"\ngroups = [\"ops\"]\n"

func TestPublicSettings(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change         [2]string
		readable, full bool
	}{
		"as they should be":         {[2]string{}, true, true},
		"no address":                {[2]string{"url = \"https://centre.example\"\n", ""}, true, false},
		"an address without TLS":    {[2]string{"https://centre", "http://centre"}, false, false},
		"an address with a path":    {[2]string{"centre.example", "centre.example/x"}, false, false},
		"a slash":                   {[2]string{"centre.example", "centre.example/"}, false, false},
		"large letters":             {[2]string{"centre.example", "Centre.example"}, false, false},
		"the port of HTTPS":         {[2]string{"centre.example", "centre.example:443"}, false, false},
		"another port":              {[2]string{"centre.example", "centre.example:8443"}, true, true},
		"no certificate":            {[2]string{"certificate = \"c\"\n", ""}, true, false},
		"no provider":               {[2]string{"issuer = \"https://idp.example\"\nclient_id = \"x\"\n", ""}, true, false},
		"a provider without TLS":    {[2]string{"https://idp", "http://idp"}, false, false},
		"a role of nobody":          {[2]string{"groups = [\"ops\"]\n", ""}, false, false},
		"no role":                   {[2]string{"[[role]]\nname = \"admin\"\ngroups = [\"ops\"]\n", ""}, true, false},
		"a proxy":                   {[2]string{"certificate = \"c\"\nkey = \"k\"\n", "behind_proxy = true\n"}, true, true},
		"a proxy and a certificate": {[2]string{"key = \"k\"\n", "key = \"k\"\nbehind_proxy = true\n"}, false, false},
		"a proxy elsewhere":         {[2]string{"certificate = \"c\"\nkey = \"k\"\n", "behind_proxy = true\naddress = \"0.0.0.0:80\"\n"}, false, false},
		"no port":                   {[2]string{"key = \"k\"\n", "key = \"k\"\naddress = \"0.0.0.0\"\n"}, false, false},
		"an operator's port":        {[2]string{"key = \"k\"\n", "key = \"k\"\noperator = \"off\"\n"}, true, true},
	} {
		dir := t.TempDir()
		src := sufficient
		if c.change[0] != "" {
			if src = strings.Replace(sufficient, c.change[0], c.change[1], 1); src == sufficient {
				t.Errorf("%s changes nothing", name)
			}
		}
		writeFile(t, dir+"/"+SettingsFile, src)
		s, err := ReadSettings(dir)
		if (err == nil) != c.readable {
			t.Errorf("%s: %v", name, err)
		} else if err == nil && (s.CheckPublic() == nil) != c.full {
			t.Errorf("%s: %v", name, s.CheckPublic())
		}
	}
	l := Listen{BehindProxy: true}
	if l.PublicAddress() != proxiedAddress || l.OperatorAddress() != operatorAddress || (&Listen{}).PublicAddress() != publicAddress || (&Listen{Operator: "off"}).OperatorAddress() != "" {
		t.Errorf("%+v", l)
	}
}

// What docs/gateway.md shows for a team is enough.
func TestTheDocumentedSettingsServe(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../docs/gateway.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "```toml\nurl = ")
	block, _, ok := strings.Cut(rest, "```")
	if !ok {
		t.Fatal("the page has no such block")
	}
	dir := t.TempDir()
	writeFile(t, dir+"/"+SettingsFile, "url = "+block)
	s, err := ReadSettings(dir)
	if err != nil || s.CheckPublic() != nil || len(s.Roles) != 2 {
		t.Errorf("%+v, %v, %v", s, err, s.CheckPublic())
	}
}

// The session of a command line ends with that of the page on which it was confirmed, and after an hour.
func TestACommandLineEndsWithItsPage(t *testing.T) {
	t.Parallel()
	for _, dev := range []bool{false, true} {
		c, now := clocked(t)
		p, life := ana, sessionLife
		if c.Dev = dev; dev {
			p, life = principal.Principal{Issuer: principal.Local, Subject: "administrator"}, commandLife+40*time.Minute
		}
		session, err := c.SignIn(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		*now = now.Add(40 * time.Minute)
		code, err := c.BeginSignIn(t.Context(), enrolment.AskEnrolment{Name: "desk"}, "1.2.3.4")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.DecideSignIn(t.Context(), code.UserCode, true, session); err != nil {
			t.Fatal(err)
		}
		granted, refusal, err := c.PollSignIn(t.Context(), code.DeviceCode)
		if want := life - 40*time.Minute; err != nil || refusal != nil || time.Duration(granted.ExpiresIn)*time.Second != want || granted.Key != p.Key() {
			t.Fatalf("%+v, %+v, %v; want %s", granted, refusal, err, want)
		}
		*now = now.Add(life - 40*time.Minute - time.Second)
		if who, err := c.CheckPerson(t.Context(), granted.Token); err != nil || who.Key() != p.Key() {
			t.Errorf("%+v, %v", who, err)
		}
		*now = now.Add(time.Second)
		if _, err := c.CheckPerson(t.Context(), granted.Token); !errors.Is(err, ErrNoAccess) {
			t.Errorf("it outlives its hour, or its page: %v", err)
		}
		if _, refusal, err := c.PollSignIn(t.Context(), code.DeviceCode); refusal == nil || refusal.Error != enrolment.Expired || err != nil {
			t.Errorf("%+v, %v", refusal, err)
		}
	}
}
