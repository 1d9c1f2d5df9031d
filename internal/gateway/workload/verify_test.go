package workload

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/gateway/issuer"
	"github.com/clawai/clawai/internal/gateway/principal"
	"github.com/clawai/clawai/internal/testing/oidctest"
)

const audience = "https://centre.example"

type m = map[string]any

// world is an issuer, and a centre's side of it with rules.
type world struct {
	t   *testing.T
	idp *oidctest.Provider
	v   *Verifier
	now time.Time
}

func newWorld(t *testing.T, rules ...Settings) *world {
	t.Helper()
	w := &world{t: t, idp: oidctest.Start(t), now: time.Now()}
	if rules == nil {
		rules = []Settings{{Name: "policy", Roles: []string{principal.Publish}, Claims: map[string]string{"repository": "team/policy", "ref": "refs/heads/*"}}}
	}
	for i := range rules {
		rules[i].Issuer, rules[i].Audience = w.idp.Issuer(), audience
	}
	if err := CheckSettings(rules, oidctest.ClientID); err != nil {
		t.Fatal(err)
	}
	w.v = NewVerifier(rules, func() time.Time { return w.now })
	return w
}

// claims returns the claims of a token that counts, with changes; nil takes one away.
func (w *world) claims(change m) m {
	now := w.now.Unix()
	all := m{"iss": w.idp.Issuer(), "aud": audience, "exp": now + 300, "iat": now, "nbf": now, "jti": "one", "sub": "repo:team/policy:ref:refs/heads/main", "repository": "team/policy", "ref": "refs/heads/main"}
	maps.Copy(all, change)
	return all
}

func TestTokenThatCounts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for name, change := range map[string]m{
		"plain": nil, "one audience in a list": {"aud": []any{audience}}, "without nbf": {"nbf": nil}, "the party is this centre": {"azp": audience}, "a small skew": {"iat": w.now.Unix() + 50, "nbf": w.now.Unix() + 50},
	} {
		got, err := w.v.Verify(t.Context(), w.idp.SignToken(w.claims(change)))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got.Issuer != w.idp.Issuer() || got.Subject != "repo:team/policy:ref:refs/heads/main" || got.Name != "policy" || !slices.Equal(got.Roles, []string{principal.Publish}) || !strings.HasSuffix(got.Token, "\x00one") {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if got, err := w.v.Verify(t.Context(), w.idp.SignToken(w.claims(m{"jti": nil}))); err != nil || got.Token != "" {
		t.Errorf("without jti: %+v, %v", got, err)
	}
	w.idp.Set(func(p *oidctest.Provider) { p.Header = m{"typ": "at+jwt"} })
	if _, err := w.v.Verify(t.Context(), w.idp.SignToken(w.claims(nil))); err != nil {
		t.Errorf("an access token: %v", err)
	}
}

// The matrix of tokens that do not count. Whoever sends one is told nothing of the rules.
func TestTokensThatDoNotCount(t *testing.T) {
	t.Parallel()
	invalid, late, other, none := textInvalid, textTime, textAudience, textRules
	for name, c := range map[string]struct {
		change  m
		idp     func(p *oidctest.Provider)
		raw     func(token string) string
		told    string
		details string // for the administrator
	}{
		"another audience":              {change: m{"aud": "https://other.example"}, told: other, details: "aud"},
		"a longer audience":             {change: m{"aud": audience + "/"}, told: other},
		"the audience in other letters": {change: m{"aud": strings.ToUpper(audience)}, told: other},
		"two audiences":                 {change: m{"aud": []any{audience, "https://other.example"}}, told: other},
		"no audience":                   {change: m{"aud": nil}, told: other},
		"an empty list":                 {change: m{"aud": []any{}}, told: other},
		"a claim AUD":                   {change: m{"aud": nil, "AUD": audience}, told: other},
		"another party":                 {change: m{"azp": "other"}, told: other},
		"a party that is a number":      {change: m{"azp": 7}, told: other},
		"a person's token":              {change: m{"aud": oidctest.ClientID, "nonce": "n", "repository": nil}, told: other},
		"another issuer":                {change: m{"iss": "https://other.example"}, told: invalid, details: "no rule names its issuer"},
		"no issuer":                     {change: m{"iss": nil}, told: invalid, details: "names no issuer"},
		"an issuer that is a list":      {change: m{"iss": []any{"x"}}, told: invalid},
		"no subject":                    {change: m{"sub": nil}, told: invalid, details: "subject"},
		"a subject with a line's end":   {change: m{"sub": "a\nb"}, told: invalid},
		"a subject in other letters":    {change: m{"sub": nil, "SUB": "x"}, told: invalid},
		"a long subject":                {change: m{"sub": strings.Repeat("x", maxValue+1)}, told: invalid},
		"expired":                       {change: m{"exp": time.Now().Unix() - 61}, told: late, details: "expired"},
		"nbf ahead":                     {change: m{"nbf": time.Now().Unix() + 120}, told: late, details: "nbf"},
		"iat ahead":                     {change: m{"iat": time.Now().Unix() + 3600}, told: late, details: "iat"},
		"no exp":                        {change: m{"exp": nil}, told: late},
		"no iat":                        {change: m{"iat": nil}, told: late},
		"an exp that is null":           {change: m{"Exp": time.Now().Unix() + 60, "exp": nil}, told: late},
		"made too long ago":             {change: m{"iat": time.Now().Unix() - defaultMinutes*60, "nbf": nil, "exp": time.Now().Unix() + 1e6}, told: late, details: "minutes"},
		"a claim is missing":            {change: m{"repository": nil}, told: none, details: "repository is missing"},
		"a claim is null":               {change: m{"repository": nil, "Repository": "team/policy"}, told: none},
		"a claim is a list":             {change: m{"repository": []any{"team/policy"}}, told: none, details: "no text"},
		"a claim is a number":           {change: m{"repository": 7}, told: none, details: "no text"},
		"a claim is an object":          {change: m{"repository": m{"team/policy": true}}, told: none},
		"another repository":            {change: m{"repository": "team/policy2"}, told: none, details: `"team/policy2"`},
		"other letters":                 {change: m{"repository": "Team/Policy"}, told: none},
		"a trailing space":              {change: m{"repository": "team/policy "}, told: none},
		"a deeper branch":               {change: m{"ref": "refs/heads/a/b"}, told: none, details: "ref is"},
		"a way up":                      {change: m{"ref": "refs/heads/.."}, told: none},
		"a tag":                         {change: m{"ref": "refs/tags/main"}, told: none},
		"an iat that is a text":         {change: m{"iat": "1"}, told: late, details: "no time by a number in iat"},
		"two members with one name":     {change: m{"more": json.RawMessage(`{"a":1,"a":2}`)}, told: invalid, details: "duplicate"},
		"half a sign":                   {change: m{"ref": json.RawMessage(`"refs/heads/\ud800"`)}, told: none, details: "ref is"},
		"a byte that is no sign":        {change: m{"ref": json.RawMessage("\"refs/heads/\xff\"")}, told: invalid, details: "in one way"},
		"alg none":                      {idp: func(p *oidctest.Provider) { p.Header = m{"alg": "none"}; p.Sign = func([]byte) []byte { return nil } }, told: invalid},
		"HS256 with the public key":     {idp: func(p *oidctest.Provider) { p.Header = m{"alg": "HS256"}; p.Sign = oidctest.SignHMAC(p.PublicPEM()) }, told: invalid},
		"HS256 named RS256":             {idp: func(p *oidctest.Provider) { p.Sign = oidctest.SignHMAC(p.PublicPEM()) }, told: invalid},
		"an unknown key":                {idp: func(p *oidctest.Provider) { p.Header = m{"kid": "two"} }, told: invalid},
		"a key in the header": {idp: func(p *oidctest.Provider) {
			p.Header = m{"kid": "two", "jku": p.Issuer() + "/keys", "jwk": m{"kty": "oct", "k": "AAAA"}}
			p.Sign = oidctest.SignHMAC([]byte{0, 0, 0})
		}, told: invalid},
		"a key of another use":                  {idp: func(p *oidctest.Provider) { p.KeyUse = "enc" }, told: invalid},
		"keys that are away":                    {idp: func(p *oidctest.Provider) { p.KeysDown = true }, told: textIssuer, details: "does not give its keys (jwks_uri): 503"},
		"an issuer that is away":                {idp: func(p *oidctest.Provider) { p.Down = true }, told: textIssuer},
		"an issuer that names itself otherwise": {idp: func(p *oidctest.Provider) { p.Metadata = m{"issuer": p.Issuer() + "/"} }, told: textIssuer},
		"keys in clear":                         {idp: func(p *oidctest.Provider) { p.Metadata = m{"jwks_uri": "http://keys.example/"} }, told: textIssuer, details: "https"},
		"another kind":                          {idp: func(p *oidctest.Provider) { p.Header = m{"typ": "logout+jwt"} }, told: invalid, details: "typ"},
		"a kind that is a list":                 {idp: func(p *oidctest.Provider) { p.Header = m{"typ": []any{"JWT"}} }, told: invalid},
		"a header it must know":                 {idp: func(p *oidctest.Provider) { p.Header = m{"crit": []any{"x"}, "x": 1} }, told: invalid},
		"claims changed": {raw: func(token string) string {
			parts := strings.Split(token, ".")
			src, _ := base64.RawURLEncoding.DecodeString(parts[1])
			return parts[0] + "." + base64.RawURLEncoding.EncodeToString([]byte(strings.Replace(string(src), "policy", "pulicy", 1))) + "." + parts[2]
		}, told: invalid},
		"no signature": {raw: func(token string) string { return token[:strings.LastIndexByte(token, '.')+1] }, told: invalid},
		"two parts":    {raw: func(token string) string { return token[:strings.LastIndexByte(token, '.')] }, told: invalid},
		"four parts":   {raw: func(token string) string { return token + ".x" }, told: invalid},
		"in JSON": {raw: func(token string) string {
			parts := strings.Split(token, ".")
			return `{"protected":"` + parts[0] + `","payload":"` + parts[1] + `","signature":"` + parts[2] + `","x":"a.b.c"}`
		}, told: invalid},
		"nothing":      {raw: func(string) string { return ".." }, told: invalid},
		"padded":       {raw: func(token string) string { return token + "=" }, told: invalid},
		"a line's end": {raw: func(token string) string { return token + "\n" }, told: invalid},
		"a megabyte":   {change: m{"more": strings.Repeat("x", 1<<20)}, told: invalid, details: "too long"},
		"sixteen KiB":  {raw: func(token string) string { return token + strings.Repeat("A", maxToken) }, told: invalid, details: "too long"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			if c.idp != nil {
				w.idp.Set(c.idp)
			}
			token := w.idp.SignToken(w.claims(c.change))
			if c.raw != nil {
				token = c.raw(token)
			}
			got, err := w.v.Verify(t.Context(), token)
			refused, ok := errors.AsType[*Error](err)
			if !ok || refused.Text != c.told || !strings.Contains(err.Error(), c.details) || got.Subject != "" || len(got.Roles) > 0 {
				t.Fatalf("%+v, %v; want %q, %q", got, err, c.told, c.details)
			}
			if len(err.Error()) > maxReport+100 || strings.Contains(err.Error(), token) && len(token) > 10 {
				t.Errorf("the administrator is told %d bytes: %.200s", len(err.Error()), err)
			}
			for _, secret := range []string{"policy", "refs/", audience, principal.Publish} {
				if strings.Contains(refused.Text, secret) {
					t.Errorf("a stranger is told of %q: %s", secret, refused.Text)
				}
			}
		})
	}
}

// An issuer whose name differs in a slash is another one.
func TestSlashOfIssuer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	token := w.idp.SignToken(w.claims(m{"iss": w.idp.Issuer() + "/"}))
	if got, err := w.v.Verify(t.Context(), token); err == nil || !strings.Contains(err.Error(), "no rule names its issuer") {
		t.Errorf("%+v, %v", got, err)
	}
	all := []Settings{w.v.rules[0].Settings}
	all[0].Issuer += "/"
	with := NewVerifier(all, time.Now)
	for _, token := range []string{token, w.idp.SignToken(w.claims(nil))} {
		if got, err := with.Verify(t.Context(), token); err == nil {
			t.Errorf("%+v", got)
		}
	}
}

// A token counts by the rules of its own issuer, with the roles of all of them that it meets.
func TestRulesOfOneToken(t *testing.T) {
	t.Parallel()
	ten := 10
	w := newWorld(t,
		Settings{Name: "publish", Roles: []string{principal.Publish}, Minutes: &ten, Claims: map[string]string{"repository": "team/policy", "ref": "refs/heads/main"}},
		Settings{Name: "read", Roles: []string{principal.Auditor}, Claims: map[string]string{"repository": "team/*"}},
		Settings{Name: "read2", Roles: []string{principal.Payload, principal.Auditor}, Claims: map[string]string{"repository": "team/special"}},
	)
	for _, c := range []struct {
		change m
		rules  string
		roles  []string
	}{
		{nil, "publish, read", []string{principal.Publish, principal.Auditor}},
		{m{"ref": "refs/heads/x"}, "read", []string{principal.Auditor}},
		{m{"iat": w.now.Unix() - 600}, "read", []string{principal.Auditor}},
		{m{"repository": "team/special"}, "read, read2", []string{principal.Auditor, principal.Payload}},
	} {
		got, err := w.v.Verify(t.Context(), w.idp.SignToken(w.claims(c.change)))
		if err != nil || got.Name != c.rules || !slices.Equal(got.Roles, c.roles) {
			t.Errorf("%v: %+v, %v", c.change, got, err)
		}
	}
	// The other issuer knows the same claims, and is not theirs.
	other := oidctest.Start(t)
	rules := []Settings{w.v.rules[0].Settings, {Name: "other", Issuer: other.Issuer(), Audience: audience, Roles: []string{principal.Auditor}, Claims: map[string]string{"repository": "*/*x"}}}
	v := NewVerifier(rules, time.Now)
	if got, err := v.Verify(t.Context(), other.SignToken(w.claims(m{"iss": other.Issuer()}))); err == nil {
		t.Errorf("%+v", got)
	}
	// Two issuers with one key, as tenants of one platform have: what counts is who the token says signed it.
	if got, err := v.Verify(t.Context(), other.SignToken(w.claims(nil))); err != nil || got.Name != "publish" {
		t.Errorf("both sign with the key of the test: %+v, %v", got, err)
	}
}

// Tokens of unknown keys ask for the keys at most three times a minute, and keep no other out.
func TestUnknownKeysAreBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	good := w.idp.SignToken(w.claims(nil))
	if _, err := w.v.Verify(t.Context(), good); err != nil {
		t.Fatal(err)
	}
	w.idp.Set(func(p *oidctest.Provider) { p.Header = m{"kid": "two"} })
	bad := w.idp.SignToken(w.claims(nil))
	for range 20 {
		if _, err := w.v.Verify(t.Context(), bad); err == nil {
			t.Fatal("a token of an unknown key")
		}
	}
	// It may be a new key, for which others kept the centre from asking.
	if refused, ok := errors.AsType[*Error](func() error { _, err := w.v.Verify(t.Context(), bad); return err }()); !ok || !refused.IsIssuerFault() {
		t.Errorf("%v", refused)
	}
	if n := w.idp.KeysRead(); n != issuer.MostKeys {
		t.Errorf("the keys were read %d times", n)
	}
	w.idp.Set(func(p *oidctest.Provider) { p.Down = true })
	if _, err := w.v.Verify(t.Context(), good); err != nil {
		t.Errorf("a known key, while the issuer is away: %v", err)
	}
}

// While the issuer does not give its keys, a token is not at fault, also if it was asked for them too often.
func TestKeysThatAreAway(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.idp.Set(func(p *oidctest.Provider) { p.KeysDown = true })
	for range issuer.MostKeys + 2 {
		_, err := w.v.Verify(t.Context(), w.idp.SignToken(w.claims(nil)))
		if refused, ok := errors.AsType[*Error](err); !ok || !refused.IsIssuerFault() {
			t.Errorf("%v", err)
		}
	}
	w.v.Look(t.Context(), func(_ string, _ time.Duration, _ bool, err error) {
		if err == nil || !strings.Contains(err.Error(), "jwks_uri") {
			t.Errorf("Look: %v", err)
		}
	})
	w.idp.Set(func(p *oidctest.Provider) { p.KeysDown, p.KeyUse = false, "enc" })
	w.v.Look(t.Context(), func(_ string, _ time.Duration, _ bool, err error) {
		if err == nil || !strings.Contains(err.Error(), "none for signatures") {
			t.Errorf("Look at keys for another use: %v", err)
		}
	})
}

func TestLook(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	told := 0
	w.v.Look(t.Context(), func(address string, ahead time.Duration, known bool, err error) {
		told++
		if address != w.idp.Issuer() || !known || err != nil || ahead.Abs() > time.Minute {
			t.Errorf("%s, %v, %v, %v", address, ahead, known, err)
		}
	})
	w.idp.Set(func(p *oidctest.Provider) { p.Down = true })
	w.v.Look(t.Context(), func(_ string, _ time.Duration, _ bool, err error) {
		told++
		if err == nil {
			t.Error("it is down")
		}
	})
	if told != 2 {
		t.Errorf("told %d times", told)
	}
}
