package signin

import (
	"errors"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/gateway/issuer"
	"github.com/clawai/clawai/internal/gateway/principal"
	"github.com/clawai/clawai/internal/testing/oidctest"
)

const redirect = "https://centre.example/callback"

var flow = Flow{State: "the-state", Nonce: "the-nonce", Verifier: strings.Repeat("v", 43)}

// world is a provider, and the centre's side of it.
type world struct {
	t   *testing.T
	idp *oidctest.Provider
	p   *Provider
	now time.Time // zero: that of the machine
}

func newWorld(t *testing.T, change ...func(*Settings)) *world {
	t.Helper()
	w := &world{t: t, idp: oidctest.Start(t)}
	s := DefaultSettings()
	s.Issuer, s.ClientID = w.idp.Issuer(), oidctest.ClientID
	for _, c := range change {
		c(&s)
	}
	if err := s.Check(); err != nil {
		t.Fatal(err)
	}
	w.p = NewProvider(s, oidctest.Secret, redirect, func() time.Time {
		if !w.now.IsZero() {
			return w.now
		}
		return time.Now()
	})
	return w
}

// begin opens the provider's page as a browser does, and returns the answer.
func (w *world) begin(f Flow) (url.Values, error) {
	w.t.Helper()
	address, err := w.p.Begin(w.t.Context(), f)
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(w.t.Context(), "GET", address, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		w.t.Fatal(err)
	}
	_ = resp.Body.Close()
	to, err := resp.Location()
	if err != nil || !strings.HasPrefix(to.String(), redirect+"?") {
		w.t.Fatalf("%v, %v", to, err)
	}
	return to.Query(), nil
}

func (w *world) signIn() (principal.Principal, error) {
	w.t.Helper()
	answer, err := w.begin(flow)
	if err != nil {
		return principal.Principal{}, err
	}
	return w.p.Finish(w.t.Context(), flow, answer)
}

func TestWhoSignsIn(t *testing.T) {
	t.Parallel()
	many := make([]any, maxGroups/2)
	for i := range many {
		many[i] = "g"
	}
	type m = map[string]any
	for name, c := range map[string]struct {
		claim       string // "": groups
		token, more m
		want        principal.Principal
	}{
		"only a subject":             {"", m{"sub": "7"}, nil, principal.Principal{Name: "7"}},
		"a verified address":         {"", m{"email": "ana@corp.example", "email_verified": true, "name": "Ana"}, nil, principal.Principal{Name: "ana@corp.example", Email: "ana@corp.example"}},
		"verified, as a text":        {"", m{"email": "ana@corp.example", "email_verified": "true"}, nil, principal.Principal{Name: "ana@corp.example", Email: "ana@corp.example"}},
		"an address not verified":    {"", m{"email": "ana@corp.example", "email_verified": false, "name": "Ana"}, nil, principal.Principal{Name: "Ana"}},
		"an address without a mark":  {"", m{"email": "ana@corp.example"}, nil, principal.Principal{Name: "7"}},
		"a name like an address":     {"", m{"name": "boss@corp.example", "preferred_username": "ana"}, nil, principal.Principal{Name: "ana"}},
		"a name like a key":          {"", m{"name": "Ana (https://idp#1)"}, nil, principal.Principal{Name: "7"}},
		"the mark of another source": {"", m{"email": "boss@corp.example"}, m{"email": "ana@corp.example", "email_verified": true}, principal.Principal{Name: "7"}},
		"groups":                     {"", m{"groups": []any{"a", "b"}}, nil, principal.Principal{Name: "7", Groups: []string{"a", "b"}, GroupsKnown: true}},
		"no groups":                  {"", m{"groups": []any{}}, nil, principal.Principal{Name: "7", GroupsKnown: true}},
		"one group":                  {"", m{"groups": "a"}, nil, principal.Principal{Name: "7", Groups: []string{"a"}, GroupsKnown: true}},
		"no groups, told elsewhere":  {"", m{"groups": []any{}}, m{"groups": []any{"a"}}, principal.Principal{Name: "7", GroupsKnown: true}},
		"groups told elsewhere":      {"", m{}, m{"groups": []any{"a"}}, principal.Principal{Name: "7", Groups: []string{"a"}, GroupsKnown: true}},
		"a path":                     {"realm_access.roles", m{"realm_access": m{"roles": []any{"a"}}}, nil, principal.Principal{Name: "7", Groups: []string{"a"}, GroupsKnown: true}},
		"a path to nothing":          {"realm_access.roles", m{"realm_access": "x"}, nil, principal.Principal{Name: "7"}},
		"a claim named by a URL":     {"https://corp.example/groups", m{"https://corp.example/groups": []any{"a"}}, nil, principal.Principal{Name: "7", Groups: []string{"a"}, GroupsKnown: true}},
		"not a list":                 {"", m{"groups": m{"a": true}}, nil, principal.Principal{Name: "7"}},
		"a number among them":        {"", m{"groups": []any{"a", 1}}, nil, principal.Principal{Name: "7"}},
		"an empty one among them":    {"", m{"groups": []any{"a", ""}}, nil, principal.Principal{Name: "7"}},
		"a group that hides a sign":  {"", m{"groups": []any{"a", "b\u200b"}}, nil, principal.Principal{Name: "7"}},
		"just enough":                {"", m{"groups": many[:len(many)-1]}, nil, principal.Principal{Name: "7", Groups: slices.Repeat([]string{"g"}, len(many)-1), GroupsKnown: true}},
		"too many":                   {"", m{"groups": many}, nil, principal.Principal{Name: "7"}},
		"too many for Entra ID": {"", m{"_claim_names": m{"groups": "src1"}, "_claim_sources": m{"src1": m{"endpoint": "https://graph.example/x"}}},
			m{"groups": []any{"admins"}}, principal.Principal{Name: "7"}},
		"some, and too many for Entra ID": {"", m{"groups": []any{"admins"}, "_claim_names": m{"groups": "src1"}, "_claim_sources": m{"src1": m{"endpoint": "https://graph.example/x"}}},
			nil, principal.Principal{Name: "7"}},
		"too many for a form": {"", m{"hasgroups": true}, m{"groups": []any{"admins"}}, principal.Principal{Name: "7"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, func(s *Settings) {
				if c.claim != "" {
					s.GroupsClaim = c.claim
				}
			})
			w.idp.Set(func(p *oidctest.Provider) {
				p.Claims, p.UserInfo = c.token, c.more
				p.Claims["sub"] = "7"
			})
			got, err := w.signIn()
			c.want.Issuer, c.want.Subject = w.idp.Issuer(), "7"
			if err != nil || !reflect.DeepEqual(got, c.want) {
				t.Errorf("%+v, %v; want %+v", got, err, c.want)
			}
		})
	}
}

// The token matrix: whatever is wrong with an answer or a token, nobody is signed in, and the person is
// told no text of the provider.
func TestNobodyIsSignedIn(t *testing.T) {
	t.Parallel()
	now := time.Now().Unix()
	for name, c := range map[string]struct {
		idp    func(*oidctest.Provider)
		answer func(url.Values)
		flow   Flow
		want   string // in the error
	}{
		"another audience":  {idp: func(p *oidctest.Provider) { p.Claims["aud"] = "another" }, want: "audience"},
		"ours among others": {idp: func(p *oidctest.Provider) { p.Claims["aud"] = []string{"another", oidctest.ClientID} }, want: "azp"},
		"made for another":  {idp: func(p *oidctest.Provider) { p.Claims["azp"] = "another" }, want: "azp"},
		"another issuer":    {idp: func(p *oidctest.Provider) { p.Claims["iss"] = "https://idp.example" }, want: "different provider"},
		"another tenant":    {idp: func(p *oidctest.Provider) { p.Claims["iss"] = p.Issuer() + "/other-tenant" }, want: "different provider"},
		"alg none": {idp: func(p *oidctest.Provider) {
			p.Header = map[string]any{"alg": "none"}
			p.Sign = func([]byte) []byte { return nil }
		}, want: "malformed jwt"},
		"no alg": {idp: func(p *oidctest.Provider) { p.Header = map[string]any{"alg": nil} }, want: "malformed jwt"},
		"HS256 by the public key": {idp: func(p *oidctest.Provider) {
			p.Header = map[string]any{"alg": "HS256"}
			p.Sign = oidctest.SignHMAC(p.PublicPEM())
		}, want: "malformed jwt"},
		"HS256 by our secret": {idp: func(p *oidctest.Provider) {
			p.Header = map[string]any{"alg": "HS256"}
			p.Sign = oidctest.SignHMAC([]byte(oidctest.Secret))
		}, want: "malformed jwt"},
		"a wrong signature": {idp: func(p *oidctest.Provider) { p.Sign = func([]byte) []byte { return make([]byte, 256) } }, want: "verify"},
		"an unknown key":    {idp: func(p *oidctest.Provider) { p.Header = map[string]any{"kid": "two"} }, want: "verify"},
		"its own key": {idp: func(p *oidctest.Provider) {
			p.Header = map[string]any{"kid": "two", "jku": "https://attacker.example/keys"}
		}, want: "verify"},
		"expired":                  {idp: func(p *oidctest.Provider) { p.Claims["exp"] = now - 70 }, want: "expired"},
		"no end":                   {idp: func(p *oidctest.Provider) { p.Claims["exp"] = nil }, want: "no time by a number in exp"},
		"not yet":                  {idp: func(p *oidctest.Provider) { p.Claims["nbf"] = now + 120 }, want: "nbf"},
		"a text for a time":        {idp: func(p *oidctest.Provider) { p.Claims["nbf"] = "yesterday" }, want: ""},
		"made tomorrow":            {idp: func(p *oidctest.Provider) { p.Claims["iat"] = now + 120 }, want: "iat"},
		"made never":               {idp: func(p *oidctest.Provider) { p.Claims["iat"] = nil }, want: "iat"},
		"another nonce":            {idp: func(p *oidctest.Provider) { p.Claims["nonce"] = "another" }, want: "nonce"},
		"no nonce":                 {idp: func(p *oidctest.Provider) { p.Claims["nonce"] = nil }, want: "nonce"},
		"no subject":               {idp: func(p *oidctest.Provider) { p.Claims["sub"] = "" }, want: "subject"},
		"a subject of two lines":   {idp: func(p *oidctest.Provider) { p.Claims["sub"] = "7\nadmin" }, want: "subject"},
		"another person's address": {idp: func(p *oidctest.Provider) { p.UserInfo = map[string]any{"sub": "8"} }, want: "somebody else"},
		"no keys":                  {idp: func(p *oidctest.Provider) { p.KeysDown = true }, want: "keys"},
		"keys in clear":            {idp: func(p *oidctest.Provider) { p.Metadata = map[string]any{"jwks_uri": "http://idp.example/keys"} }, want: "https"},
		"an issuer of its own":     {idp: func(p *oidctest.Provider) { p.Metadata = map[string]any{"issuer": "https://idp.example"} }, want: "issuer"},
		"no way for the secret": {idp: func(p *oidctest.Provider) {
			p.Metadata = map[string]any{"token_endpoint_auth_methods_supported": []string{"private_key_jwt"}}
		}, want: "private_key_jwt"},
		"the provider is down":        {idp: func(p *oidctest.Provider) { p.Down = true }, want: "503"},
		"another state":               {answer: func(q url.Values) { q.Set("state", "another") }, want: "in this browser"},
		"no state":                    {answer: func(q url.Values) { q.Del("state") }, want: "in this browser"},
		"two states":                  {answer: func(q url.Values) { q.Add("state", "another") }, want: "cannot be read"},
		"a browser that began none":   {flow: Flow{Nonce: "x", Verifier: "y"}, answer: func(q url.Values) { q.Set("state", "") }, want: "in this browser"},
		"another browser's verifier":  {flow: Flow{State: flow.State, Nonce: flow.Nonce, Verifier: strings.Repeat("w", 43)}, want: "not take this sign-in"},
		"another browser's nonce":     {flow: Flow{State: flow.State, Nonce: "another", Verifier: flow.Verifier}, want: "nonce"},
		"another provider answers":    {answer: func(q url.Values) { q.Set("iss", "https://idp.example") }, want: "does not come from"},
		"a provider without its name": {idp: func(p *oidctest.Provider) { p.NoIss = true }, want: "does not come from"},
		"two providers":               {answer: func(q url.Values) { q.Add("iss", "https://idp.example") }, want: "cannot be read"},
		"an invented code":            {answer: func(q url.Values) { q.Set("code", "invented") }, want: "not take this sign-in"},
		"no code":                     {answer: func(q url.Values) { q.Del("code") }, want: "no code"},
		"refused":                     {answer: func(q url.Values) { q.Set("error", "access_denied") }, want: "(access_denied)"},
		"refused in other words":      {answer: func(q url.Values) { q.Set("error", "<b>call 555</b>") }, want: "did not sign you in."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			if c.idp != nil {
				w.idp.Set(c.idp)
			}
			if c.flow == (Flow{}) {
				c.flow = flow
			}
			answer, err := w.begin(flow)
			var got principal.Principal
			if err == nil {
				if c.answer != nil {
					c.answer(answer)
				}
				got, err = w.p.Finish(t.Context(), c.flow, answer)
			}
			told, ok := errors.AsType[*Error](err)
			if !ok || !strings.Contains(err.Error(), c.want) || !reflect.DeepEqual(got, principal.Principal{}) {
				t.Fatalf("%+v, %v; want %q", got, err, c.want)
			}
			if strings.Contains(told.Text, "<b>") || strings.Contains(told.Text, w.idp.Issuer()) {
				t.Errorf("the person is told %q", told.Text)
			}
		})
	}
}

// A clock that is a minute off signs people in.
func TestSmallSkewIsTaken(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	now := time.Now().Unix()
	for _, change := range []map[string]any{{"sub": "7", "exp": now - 50}, {"sub": "7", "iat": now + 50, "nbf": now + 50}} {
		w.idp.Set(func(p *oidctest.Provider) { p.Claims = change })
		if p, err := w.signIn(); err != nil || p.Subject != "7" {
			t.Errorf("%v: %+v, %v", change, p, err)
		}
	}
}

// A code signs in once.
func TestACodeIsUsedOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	answer, err := w.begin(flow)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.p.Finish(t.Context(), flow, answer); err != nil {
		t.Fatal(err)
	}
	if _, err := w.p.Finish(t.Context(), flow, answer); err == nil || !strings.Contains(err.Error(), "not take this sign-in") {
		t.Errorf("again: %v", err)
	}
}

// Tokens with names of unknown keys do not make the centre ask for the keys without bound, and do not
// keep others out; keys that were read count while the provider does not give them.
func TestUnknownKeysAreBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.now = time.Now()
	if _, err := w.signIn(); err != nil {
		t.Fatal(err)
	}
	w.idp.Set(func(p *oidctest.Provider) { p.Header = map[string]any{"kid": "two"} })
	for range 20 {
		if _, err := w.signIn(); err == nil {
			t.Fatal("a token of an unknown key")
		}
	}
	if n := w.idp.KeysRead(); n != issuer.MostKeys {
		t.Errorf("the keys were read %d times, want %d", n, issuer.MostKeys)
	}
	w.idp.Set(func(p *oidctest.Provider) { p.Header, p.KeysDown = nil, true })
	if _, err := w.signIn(); err != nil {
		t.Errorf("with keys that are known: %v", err)
	}
	w.now = w.now.Add(issuer.KeysEvery)
	w.idp.Set(func(p *oidctest.Provider) { p.Header, p.KeysDown = map[string]any{"kid": "two"}, false })
	if _, err := w.signIn(); err == nil || w.idp.KeysRead() != issuer.MostKeys+1 {
		t.Errorf("a minute later: %v, %d", err, w.idp.KeysRead())
	}
}

// What the provider says of itself counts for a day while it does not answer, and then no more.
func TestAProviderThatIsDown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.now = time.Now()
	first := w.now
	if _, err := w.begin(flow); err != nil {
		t.Fatal(err)
	}
	w.idp.Set(func(p *oidctest.Provider) { p.Down = true })
	for _, c := range []struct {
		after time.Duration
		ok    bool
	}{{issuer.FreshFor - time.Second, true}, {issuer.KeptFor - time.Second, true}, {issuer.KeptFor, false}} {
		w.now = first.Add(c.after)
		if _, err := w.p.Begin(t.Context(), flow); (err == nil) != c.ok {
			t.Errorf("after %v: %v", c.after, err)
		}
	}
	w.idp.Set(func(p *oidctest.Provider) { p.Down = false })
	if _, err := w.p.Begin(t.Context(), flow); err == nil {
		t.Error("it was asked again at once")
	}
	w.now = w.now.Add(issuer.RetryAfter)
	if _, err := w.p.Begin(t.Context(), flow); err != nil {
		t.Errorf("it is back: %v", err)
	}
}

func TestLook(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.now = time.Now().Add(-time.Hour)
	if ahead, known, err := w.p.Look(t.Context()); err != nil || !known || ahead < 59*time.Minute || ahead > 61*time.Minute {
		t.Errorf("%v, %v, %v", ahead, known, err)
	}
}

func TestSettings(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(*Settings){
		"":                    func(*Settings) {},
		"issuer is missing":   func(s *Settings) { s.Issuer = "" },
		"in clear":            func(s *Settings) { s.Issuer = "http://idp.example" },
		"not an address":      func(s *Settings) { s.Issuer = "idp" },
		"such as https":       func(s *Settings) { s.Issuer = "https://idp.example/#x" },
		"client_id":           func(s *Settings) { s.ClientID = "" },
		"keep one":            func(s *Settings) { s.SecretFile, s.SecretEnv = "a", "b" },
		"groups_days":         func(s *Settings) { s.GroupsDays = 0 },
		"scopes has an empty": func(s *Settings) { s.Scopes = []string{""} },
	} {
		s := DefaultSettings()
		s.Issuer, s.ClientID = "https://idp.example/tenant", "centre"
		change(&s)
		if err := s.Check(); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
