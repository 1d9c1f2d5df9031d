package site

import (
	"errors"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/gateway/principal"
	"github.com/clawai/clawai/internal/gateway/store"
	"github.com/clawai/clawai/internal/gateway/workload"
	"github.com/clawai/clawai/internal/state/enrolment"
	"github.com/clawai/clawai/internal/testing/oidctest"
)

// rulesOfWorkloads are for the provider of people, too: as a GitLab of one's own is.
const rulesOfWorkloads = `
[[workload]]
name = "publishes"
issuer = "ISSUER"
audience = "https://centre.example"
roles = ["publish"]
[workload.claims]
repository = "team/policy"
ref = "refs/heads/main"

[[workload]]
name = "reads"
issuer = "ISSUER"
audience = "https://centre.example"
roles = ["auditor"]
[workload.claims]
repository = "team/*"
`

// newJob returns the token of a job, with changes of its claims.
func (w *team) newJob(id, repository string, change map[string]any) string {
	now := time.Now().Unix()
	claims := map[string]any{"iss": w.idp.Issuer(), "aud": publicURL, "exp": now + 300, "iat": now, "jti": id, "sub": "repo:" + repository + ":ref:refs/heads/main", "repository": repository, "ref": "refs/heads/main"}
	maps.Copy(claims, change)
	return w.idp.SignToken(claims)
}

// A job publishes with a token, once, and reads with it as its rules say.
func TestJobsPublishWithTheirTokens(t *testing.T) {
	t.Parallel()
	w := newTeam(t, rulesOfWorkloads)
	var told []error
	w.site.Report = func(err error) { told = append(told, err) }
	job := w.newJob("1", "team/policy", nil)
	for _, c := range []struct {
		token, method, path, body string
		status                    int
		part                      string
	}{
		{job, "GET", recordsOfMachines, "", 200, `"records"`},
		{job, "GET", recordsOfMachines, "", 200, `"records"`},
		{job, "PUT", bundleOfMachines, w.signBundle(1, w.secret), 200, `"counter":1`},
		{job, "PUT", bundleOfMachines, w.signBundle(2, w.secret), 401, "used before"},
		{job, "GET", recordsOfMachines, "", 200, ""},
		{w.newJob("1", "team/policy", map[string]any{"more": 1}), "PUT", bundleOfMachines, w.signBundle(2, w.secret), 401, "used before"},
		{w.newJob("2", "team/policy", nil), "PUT", bundleOfMachines, w.signBundle(2, w.secret), 200, `"counter":2`},
		{w.newJob("3", "team/policy", nil), "PUT", bundleOfMachines, "no bundle", 422, ""},
		{w.newJob("4", "team/policy", map[string]any{"jti": nil}), "PUT", bundleOfMachines, w.signBundle(3, w.secret), 401, "jti"},
		{w.newJob("5", "team/policy", map[string]any{"jti": 5}), "PUT", bundleOfMachines, w.signBundle(3, w.secret), 401, "jti"},
		{w.newJob("6", "team/other", nil), "PUT", bundleOfMachines, w.signBundle(3, w.secret), 403, "has not the role"},
		{w.newJob("6", "team/other", nil), "GET", recordsOfMachines, "", 200, ""},
		{w.newJob("7", "other/policy", nil), "PUT", bundleOfMachines, w.signBundle(3, w.secret), 403, "No rule"},
		{w.newJob("8", "team/policy", map[string]any{"ref": "refs/pull/1/merge"}), "PUT", bundleOfMachines, w.signBundle(3, w.secret), 403, "role"},
		{w.newJob("9", "team/policy", map[string]any{"aud": oidctest.ClientID}), "PUT", bundleOfMachines, w.signBundle(3, w.secret), 401, "audience"},
		{w.newJob("10", "team/policy", map[string]any{"exp": 1}), "PUT", bundleOfMachines, w.signBundle(3, w.secret), 401, "no more"},
	} {
		status, body := w.asMachine(c.token, c.method, c.path, c.body)
		if status != c.status || !strings.Contains(body, c.part) {
			t.Errorf("%s %s: %d %s, want %d %q", c.method, c.path, status, body, c.status, c.part)
		}
	}
	if n, err := w.centre.NewestCounter(t.Context()); n != 2 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	// Who asked is in the centre's log, with the claim that did not hold.
	var log []string
	for _, err := range told {
		log = append(log, err.Error())
	}
	if text := strings.Join(log, "\n"); !strings.Contains(text, `"repo:other/policy:ref:refs/heads/main"`) || !strings.Contains(text, `publishes: repository is "other/policy"`) || !strings.Contains(text, `main": it was used before`) {
		t.Errorf("the administrator is told:\n%s", text)
	}
	if w.databaseHas(t, "refs/pull") || w.databaseHas(t, job) {
		t.Error("the database has a token, or what a refused one said")
	}
	// Who published stands beside the bundle, and the last use beside the rule.
	w.signInAs("boss", principal.Admin)
	for path, want := range map[string]string{bundlesPage: "publishes, reads (" + w.idp.Issuer() + "#repo:team/policy:ref:refs/heads/main)", keysPage: "repo:team/other:ref:refs/heads/main"} {
		if _, body := w.visit(path); !strings.Contains(body, want) {
			t.Errorf("%s has not %q\n%s", path, want, body)
		}
	}
}

// A token opens nothing but what is for machines, and a person's token nothing there, though one provider
// makes both.
func TestTokensOfOthers(t *testing.T) {
	t.Parallel()
	w := newTeam(t, rulesOfWorkloads)
	job := w.newJob("1", "team/policy", nil)
	for _, c := range []struct{ method, path string }{
		{"GET", enrolment.BundlePath}, {"POST", enrolment.StatePath}, {"POST", enrolment.QuestionsPath}, {"GET", enrolment.RecordsPath + "a/b"}, {"GET", "/v1/person/questions"}, {"GET", "/records"}, {"GET", keysPage},
	} {
		if status, body := w.asMachine(job, c.method, c.path, "{}"); status != 401 {
			t.Errorf("%s %s: %d %s", c.method, c.path, status, body)
		}
	}
	r := w.request("GET", keysPage, "")
	r.AddCookie(&http.Cookie{Name: w.site.cookie, Value: job, Secure: true}) //nolint:gosec // as an attacker sends it
	if status, _, _ := w.do(w.laptop, r); status != 401 {
		t.Errorf("a token for a cookie: %d", status)
	}
	person := w.newJob("1", "team/policy", map[string]any{"aud": oidctest.ClientID, "nonce": "n", "sub": "7", "email": "ana@corp.example"})
	for _, c := range []struct{ method, path string }{{"PUT", bundleOfMachines}, {"GET", recordsOfMachines}} {
		if status, body := w.asMachine(person, c.method, c.path, ""); status != 401 || !strings.Contains(body, "audience") {
			t.Errorf("%s: %d %s", c.path, status, body)
		}
	}
	// A key of 1 MB is not read.
	r = w.request("GET", recordsOfMachines, "")
	r.Header.Set("Authorization", "Bearer "+w.newJob("1", "team/policy", map[string]any{"x": strings.Repeat("x", 1<<20)}))
	if resp, err := w.laptop.Do(r); err == nil {
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
			t.Errorf("a token of a megabyte: %d", resp.StatusCode)
		}
	}
}

// Whoever tries tokens waits, and those that count go on.
func TestTokensAreNotTriedForLong(t *testing.T) {
	t.Parallel()
	w := newTeam(t, rulesOfWorkloads)
	told := 0
	w.site.Report = func(err error) {
		if _, ok := errors.AsType[*workload.Error](err); ok {
			told++
		}
	}
	last := 0
	for range 30 {
		last, _ = w.asMachine(w.newJob("1", "other/policy", nil), "GET", recordsOfMachines, "")
	}
	if last != http.StatusTooManyRequests || told != 20 {
		t.Errorf("%d, told %d times", last, told)
	}
	if status, body := w.asMachine(w.newJob("1", "team/policy", nil), "GET", recordsOfMachines, ""); status != 200 {
		t.Errorf("one that counts: %d %s", status, body)
	}
	// An issuer that is away is not the sender's fault.
	w2 := newTeam(t, rulesOfWorkloads)
	w2.idp.Set(func(p *oidctest.Provider) { p.Down = true })
	for range 25 {
		last, _ = w2.asMachine(w2.newJob("1", "team/policy", nil), "GET", recordsOfMachines, "")
	}
	if last != http.StatusServiceUnavailable {
		t.Errorf("an issuer that is away: %d", last)
	}
}

// The page of keys shows no secret, and an administrator ends a key on it.
func TestKeysPage(t *testing.T) {
	t.Parallel()
	w := newTeam(t, rulesOfWorkloads)
	id, token := w.newMachineKey(principal.Auditor)
	form := w.signInAs("boss", principal.Admin)
	_, body := w.visit(keysPage)
	for _, want := range []string{id, "ci", principal.Auditor, "until ", "never", "reads", "team/*", "60 minutes", w.idp.Issuer()} {
		if !strings.Contains(body, want) {
			t.Errorf("the page has not %q\n%s", want, body)
		}
	}
	_, hash, err := w.centre.Store.FindKey(t.Context(), id)
	w.must(err)
	if strings.Contains(body, token[len("clw_"+id+"_"):]) || strings.Contains(body, hash) {
		t.Error("the page has a secret")
	}
	checkHarmless(t, keysPage, body)
	isRevoked := func() bool {
		k, _, err := w.centre.Store.FindKey(t.Context(), id)
		w.must(err)
		return !k.Revoked.IsZero()
	}
	if status, _ := w.submit("/revoke-key", "form", strings.Repeat("0", len(form)), "key", id); status != 403 || isRevoked() {
		t.Errorf("another session's form: %d", status)
	}
	foreign := w.formRequest("/revoke-key", "form", form, "key", id)
	foreign.Header.Set("Origin", "https://evil.example")
	if status, _, _ := w.do(w.browser, foreign); status != 403 || isRevoked() {
		t.Errorf("another site's form: %d", status)
	}
	if status, _ := w.submit("/revoke-key", "form", form, "key", "nobody"); status != 404 {
		t.Errorf("no such key: %d", status)
	}
	for range 2 { // twice is as once
		if status, body := w.submit("/revoke-key", "form", form, "key", id); status != 200 || !isRevoked() || !strings.Contains(body, "revoked") {
			t.Errorf("%d\n%s", status, body)
		}
	}
	if status, _ := w.asMachine(token, "GET", recordsOfMachines, ""); status != 401 {
		t.Errorf("a key that was revoked: %d", status)
	}
	// A key that is over has no button.
	w.must(w.centre.Store.AddKey(t.Context(), store.Key{ID: "old", Name: "old", Expires: time.Now().Add(-time.Hour)}, "h", "", time.Time{}))
	if _, body := w.visit(keysPage); strings.Contains(body, "<form method=\"post\" action=\"/revoke-key\"") || !strings.Contains(body, "over since") {
		t.Errorf("a button for a key that is over\n%s", body)
	}
}
