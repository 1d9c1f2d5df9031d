package site

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/gateway/principal"
	"github.com/clawai/clawai/internal/gateway/store"
	"github.com/clawai/clawai/internal/state/bundle"
	"github.com/clawai/clawai/internal/state/enrolment"
	"github.com/clawai/clawai/internal/testing/oidctest"
)

// council is a public centre whose bundles wait for two people, with browsers of its people, a laptop, and the key
// of a machine that publishes.
type council struct {
	*team
	people  map[string]*councillor
	laptop  string // its token
	machine string
}

type councillor struct {
	browser *http.Client
	form    string
}

func newCouncil(t *testing.T, more ...string) *council {
	t.Helper()
	w := &council{team: newTeam(t, append(more, "[bundles]\npeople = 2\n")...), people: map[string]*councillor{}}
	w.laptop = w.enrolAs("owner").Token
	_, w.machine = w.newMachineKey(principal.Publish)
	for _, name := range []string{"ana", "bob", "cyd"} {
		w.join(name, principal.Admin)
	}
	return w
}

// join signs somebody in, in a browser of their own.
func (w *council) join(subject string, groups ...string) {
	w.t.Helper()
	w.browser = w.newBrowser()
	w.people[subject] = &councillor{w.browser, w.signInAs(subject, groups...)}
}

// as returns the form token of a person, whose browser is used from then on.
func (w *council) as(subject string) string {
	w.browser = w.people[subject].browser
	return w.people[subject].form
}

// publish publishes bundle n by the machine's key, and returns its digest.
func (w *council) publish(n uint64) string {
	w.t.Helper()
	status, body := w.asMachine(w.machine, "PUT", bundleOfMachines, w.signBundle(n, w.secret))
	if status != 200 || !strings.Contains(body, `"state":"waits","people":2`) {
		w.t.Fatalf("%d %s", status, body)
	}
	return w.digestOf(n)
}

func (w *council) digestOf(n uint64) string {
	w.t.Helper()
	p, err := w.centre.Store.FindProposal(w.t.Context(), n)
	w.must(err)
	return p.Digest
}

// answer sends the form of the page as a person, and wants a status and a text on the page that follows.
func (w *council) answer(who string, n uint64, digest, answer string, want int, text string) {
	w.t.Helper()
	status, body := w.submit(answerBundlePath, "form", w.as(who), "bundle", fmt.Sprint(n), "digest", digest, "answer", answer)
	if status != want || !strings.Contains(body, text) {
		w.t.Fatalf("%s, %s to %d: %d, want %d %q\n%s", who, answer, n, status, want, text, body)
	}
}

// laptopHas checks which bundle a laptop gets; 0 for none.
func (w *council) laptopHas(want uint64) {
	w.t.Helper()
	r := w.request("GET", enrolment.BundlePath, "")
	r.Header.Set("Authorization", "Bearer "+w.laptop)
	status, body, _ := w.do(w.team.laptop, r)
	found := regexp.MustCompile(`(?m)^counter ([0-9]+)$`).FindStringSubmatch(body)
	switch {
	case want == 0 && status == 404:
	case want > 0 && status == 200 && found != nil && found[1] == fmt.Sprint(want):
	default:
		w.t.Fatalf("the laptop gets %d %q, want bundle %d", status, body, want)
	}
	if n, err := w.centre.NewestCounter(w.t.Context()); err != nil || n != want {
		w.t.Fatalf("bundle %d is in force, want %d: %v", n, want, err)
	}
}

// Two people put a bundle into force, and nobody counts twice: not by a second click, and not by a second account.
func TestTwoPeoplePutABundleIntoForce(t *testing.T) {
	t.Parallel()
	w := newCouncil(t)
	digest := w.publish(1)
	w.laptopHas(0)
	w.as("ana")
	if _, body := w.visit(bundlesPage + "/1"); !strings.Contains(body, "no. It waits for people.") || !strings.Contains(body, "Newly denied") {
		t.Errorf("what the waiting bundle changes:\n%s", body)
	}
	if _, body := w.visit(bundlesPage); !strings.Contains(body, `<a href="/bundles/1">Bundle 1</a> waits for people`) || !strings.Contains(body, "It waits for 2 people with the role") || !strings.Contains(body, digest) || !strings.Contains(body, "action = &#34;deny&#34;") {
		t.Error(body)
	}
	w.answer("ana", 1, digest, "agree", 200, "<dt>agreed</dt><dd>1 of 2</dd>")
	w.laptopHas(0)
	w.answer("ana", 1, digest, "agree", 409, "You have said so before, and it waits for somebody else.")
	w.browser = w.newBrowser()
	w.idp.Set(func(p *oidctest.Provider) {
		p.Claims = map[string]any{"sub": "ana-again", "groups": []string{principal.Admin}, "email": "ana@corp.example", "email_verified": true}
	})
	w.visit(beginPath)
	_, body := w.visit(mePage)
	w.people["ana-again"] = &councillor{w.browser, formToken.FindStringSubmatch(body)[1]}
	w.answer("ana-again", 1, digest, "agree", 409, "You have said so before")
	w.laptopHas(0)
	w.answer("bob", 1, digest, "agree", 200, "What people decided")
	w.laptopHas(1)
	_, body = w.visit(bundlesPage)
	for _, want := range []string{"put into force", "ana@corp.example (" + w.idp.Issuer() + "#ana", "bob@corp.example (" + w.idp.Issuer() + "#bob)"} {
		if !strings.Contains(body, want) {
			t.Errorf("the page has not %q\n%s", want, body)
		}
	}
	w.answer("cyd", 1, digest, "agree", 409, "The bundle does not wait any more")
	w.answer("cyd", 1, digest, "reject", 409, "The bundle does not wait any more")
	w.laptopHas(1)
	// The laptop knows what it has, until another one is in force.
	r := w.request("GET", enrolment.BundlePath, "")
	r.Header.Set("Authorization", "Bearer "+w.laptop)
	r.Header.Set("If-None-Match", `"`+digest+`"`)
	next := w.publish(2)
	if status, _, _ := w.do(w.team.laptop, r); status != 304 {
		t.Errorf("while another one waits: %d", status)
	}
	w.answer("cyd", 2, next, "agree", 200, "1 of 2")
	w.answer("ana", 2, next, "agree", 200, "put into force")
	w.laptopHas(2)
}

// Who has not the role sees what waits and who agreed, and answers nothing; no other page can send the form.
func TestWhoMayAnswerABundle(t *testing.T) {
	t.Parallel()
	w := newCouncil(t)
	digest := w.publish(1)
	w.join("eve", principal.Auditor, principal.Payload, principal.Enroll)
	w.as("eve")
	_, body := w.visit(bundlesPage)
	if !strings.Contains(body, ">Bundle 1</a> waits") || strings.Contains(body, `action="`+answerBundlePath) || strings.Contains(body, "Its policy") || !strings.Contains(body, "only people with the role admin put bundles into force") {
		t.Error(body)
	}
	w.answer("eve", 1, digest, "agree", 403, "")
	w.answer("eve", 1, digest, "reject", 403, "")
	form := w.as("ana")
	for name, c := range map[string]struct {
		values []string
		want   int
	}{
		"another session's form": {[]string{"form", w.people["bob"].form, "bundle", "1", "digest", digest, "answer", "agree"}, 403},
		"no form":                {[]string{"bundle", "1", "digest", digest, "answer", "agree"}, 403},
		"another digest":         {[]string{"form", form, "bundle", "1", "digest", strings.Repeat("0", 64), "answer", "agree"}, 409},
		"no such bundle":         {[]string{"form", form, "bundle", "2", "digest", digest, "answer", "agree"}, 404},
		"no number":              {[]string{"form", form, "bundle", "-1", "digest", digest, "answer", "agree"}, 404},
		"no answer":              {[]string{"form", form, "bundle", "1", "digest", digest, "answer", "yes"}, 400},
	} {
		if status, body := w.submit(answerBundlePath, c.values...); status != c.want {
			t.Errorf("%s: %d, want %d\n%s", name, status, c.want, body)
		}
	}
	if status, _ := w.visit(answerBundlePath); status != 405 {
		t.Errorf("a link: %d", status)
	}
	foreign := w.formRequest(answerBundlePath, "form", form, "bundle", "1", "digest", digest, "answer", "agree")
	foreign.Header.Set("Origin", "https://attacker.example")
	if status, _, _ := w.do(w.browser, foreign); status != 403 {
		t.Errorf("another site: %d", status)
	}
	w.browser = w.newBrowser()
	if status, _ := w.submit(answerBundlePath, "form", form, "bundle", "1", "digest", digest, "answer", "agree"); status != 401 {
		t.Errorf("nobody: %d", status)
	}
	if status, body := w.asMachine(w.machine, "POST", answerBundlePath, "bundle=1"); status != 403 && status != 401 {
		t.Errorf("a machine: %d %s", status, body)
	}
	if p, err := w.centre.Store.FindProposal(t.Context(), 1); err != nil || len(p.Votes) > 0 || p.State != store.ProposalWaits {
		t.Errorf("%+v, %v", p, err)
	}
	w.laptopHas(0)
}

// Who published a bundle as themselves, by a token of the provider of people, is none of the two.
func TestThePublisherDoesNotCount(t *testing.T) {
	t.Parallel()
	w := newCouncil(t, rulesOfWorkloads)
	status, body := w.asMachine(w.newJob("1", "team/policy", map[string]any{"sub": "ana"}), "PUT", bundleOfMachines, w.signBundle(1, w.secret))
	if status != 200 || !strings.Contains(body, `"state":"waits"`) {
		t.Fatalf("%d %s", status, body)
	}
	digest := w.digestOf(1)
	w.answer("ana", 1, digest, "agree", 403, "You published it, so others must put it into force.")
	w.as("ana")
	if _, body := w.visit(bundlesPage); !strings.Contains(body, "You cannot put it into force: you published it") || strings.Contains(body, `value="agree"`) || !strings.Contains(body, `value="reject"`) {
		t.Error(body)
	}
	w.answer("bob", 1, digest, "agree", 200, "1 of 2")
	w.laptopHas(0)
	w.answer("cyd", 1, digest, "agree", 200, "put into force")
	w.laptopHas(1)
}

// A bundle that was rejected, or replaced by a newer one, is over, and its number is used.
// Somebody who published by a token of their own does not put the bundle into force by a second account that has the
// address of the first one, though the token names no address.
func TestThePublishersOtherAccountDoesNotCount(t *testing.T) {
	t.Parallel()
	w := newCouncil(t, rulesOfWorkloads)
	status, body := w.asMachine(w.newJob("1", "team/policy", map[string]any{"sub": "ana"}), "PUT", bundleOfMachines, w.signBundle(1, w.secret))
	if status != 200 {
		t.Fatalf("%d %s", status, body)
	}
	digest := w.digestOf(1)
	w.join("ana2", principal.Admin)
	w.answer("ana2", 1, digest, "agree", 200, "1 of 2")
	w.browser = w.newBrowser()
	w.idp.Set(func(p *oidctest.Provider) {
		p.Claims = map[string]any{"sub": "ana2", "groups": []string{principal.Admin}, "email": "ANA@corp.example", "email_verified": true}
	})
	w.visit(beginPath)
	w.answer("ana2", 1, digest, "agree", 403, "You published it, so others must put it into force.")
	w.answer("bob", 1, digest, "agree", 200, "<dt>agreed</dt><dd>1 of 2</dd>")
	w.laptopHas(0)
	w.answer("cyd", 1, digest, "agree", 200, "put into force")
	w.laptopHas(1)
}

// A session of somebody who has lost the role at a later sign-in agrees to nothing, however long it lasts.
func TestAnOldSessionDoesNotAgree(t *testing.T) {
	t.Parallel()
	w := newCouncil(t)
	digest := w.publish(1)
	w.answer("bob", 1, digest, "agree", 200, "1 of 2")
	old := w.people["ana"]
	w.join("ana", principal.Auditor)
	w.people["ana"] = old
	w.answer("ana", 1, digest, "agree", 403, "Only people with the role admin put bundles into force.")
	w.as("ana")
	if _, body := w.visit(bundlesPage); strings.Contains(body, `value="agree"`) || !strings.Contains(body, "<dt>agreed</dt><dd>1 of 2</dd>") {
		t.Error(body)
	}
	w.laptopHas(0)
}

func TestBundlesThatAreOver(t *testing.T) {
	t.Parallel()
	w := newCouncil(t)
	one := w.publish(1)
	w.answer("ana", 1, one, "agree", 200, "1 of 2")
	w.answer("ana", 1, one, "reject", 200, "rejected")
	w.answer("bob", 1, one, "agree", 409, "does not wait any more")
	p, err := w.centre.Store.FindProposal(t.Context(), 1)
	w.must(err)
	for body, want := range map[string]string{string(p.Bytes): "it was rejected by ana@corp.example (", w.signBundle(1, w.secret): "--counter 2"} {
		if status, said := w.asMachine(w.machine, "PUT", bundleOfMachines, body); status != 422 || !strings.Contains(said, want) {
			t.Errorf("again: %d %s, want %q", status, said, want)
		}
	}
	two := w.publish(2)
	w.answer("bob", 2, two, "agree", 200, "1 of 2")
	three := w.publish(3)
	w.answer("cyd", 2, two, "agree", 409, "a newer one was published")
	w.as("cyd")
	if _, body := w.visit(bundlesPage); !strings.Contains(body, ">Bundle 3</a> waits") || !strings.Contains(body, "replaced by a newer one") || !strings.Contains(body, "<dt>agreed</dt><dd>0 of 2</dd>") {
		t.Error(body)
	}
	if status, said := w.asMachine(w.machine, "PUT", bundleOfMachines, w.signBundle(2, w.secret)); status != 422 || !strings.Contains(said, "--counter 4") {
		t.Errorf("an older one: %d %s", status, said)
	}
	w.laptopHas(0)
	w.answer("cyd", 3, three, "agree", 200, "1 of 2")
	w.answer("bob", 3, three, "agree", 200, "put into force")
	w.laptopHas(3)
}

// What held when the first one agreed is looked at again when the last one does.
func TestABundleIsCheckedAgain(t *testing.T) {
	t.Parallel()
	w := newCouncil(t)
	digest := w.publish(1)
	w.answer("ana", 1, digest, "agree", 200, "1 of 2")
	// Her account has the address of another one by now, so both are one person.
	w.browser = w.newBrowser()
	w.idp.Set(func(p *oidctest.Provider) {
		p.Claims = map[string]any{"sub": "ana", "groups": []string{principal.Admin}, "email": "bob@corp.example", "email_verified": true}
	})
	w.visit(beginPath)
	w.answer("bob", 1, digest, "agree", 200, "<dt>agreed</dt><dd>1 of 2</dd>")
	w.laptopHas(0)
	// She has left the group.
	w.join("ana", principal.Auditor)
	w.as("cyd")
	if _, body := w.visit(bundlesPage); !strings.Contains(body, "agreed, and has not the role any more") || !strings.Contains(body, "<dt>agreed</dt><dd>1 of 2</dd>") {
		t.Error(body)
	}
	w.laptopHas(0)

	// The key that signed it was taken out of gateway.toml.
	keys := w.centre.Settings.BundleKeys
	_, other, err := bundle.NewKey("other.example")
	w.must(err)
	w.centre.Settings.BundleKeys = []string{other}
	w.answer("cyd", 1, digest, "agree", 409, "by none of the keys")
	w.as("cyd")
	if _, body := w.visit(bundlesPage); strings.Contains(body, `value="agree"`) || !strings.Contains(body, "You cannot put it into force: ") {
		t.Error(body)
	}
	w.centre.Settings.BundleKeys = keys
	w.laptopHas(0)

	w.answer("cyd", 1, digest, "agree", 200, "put into force")
	w.laptopHas(1)
	p, err := w.centre.Store.FindProposal(t.Context(), 1)
	w.must(err)
	if len(p.Votes) != 3 || p.DecidedBy != "cyd@corp.example ("+w.idp.Issuer()+"#cyd)" {
		t.Errorf("%+v", p)
	}
}

// A smaller number puts nothing into force by itself: somebody must agree again, or the bundle be published again.
func TestFewerPeopleAreWanted(t *testing.T) {
	t.Parallel()
	w := newCouncil(t)
	one := w.publish(1)
	w.answer("ana", 1, one, "agree", 200, "1 of 2")
	w.centre.Settings.Bundles.People = 1
	w.laptopHas(0)
	if _, body := w.visit(bundlesPage); !strings.Contains(body, "Somebody must agree once more") {
		t.Error(body)
	}
	w.answer("ana", 1, one, "agree", 200, "put into force")
	w.laptopHas(1)

	w.centre.Settings.Bundles.People = 2
	two := w.publish(2)
	w.centre.Settings.Bundles.People = 0
	w.laptopHas(1)
	p, err := w.centre.Store.FindProposal(t.Context(), 2)
	w.must(err)
	if status, body := w.asMachine(w.machine, "PUT", bundleOfMachines, string(p.Bytes)); status != 200 || !strings.Contains(body, `"state":"activated"`) {
		t.Errorf("%d %s", status, body)
	}
	w.laptopHas(2)
	w.answer("ana", 2, two, "reject", 409, "")
	if p, err := w.centre.Store.FindProposal(t.Context(), 2); err != nil || !strings.HasPrefix(p.DecidedBy, "ci (machine#") || len(p.Votes) > 0 {
		t.Errorf("%+v, %v", p, err)
	}
}
