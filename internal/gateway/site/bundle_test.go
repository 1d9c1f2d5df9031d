package site

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/gateway/principal"
	"github.com/clawai/clawai/internal/state/bundle"
	"github.com/clawai/clawai/internal/state/enrolment"
)

// publishFiles publishes a bundle with a policy and fixtures, which are given as name and text.
func (w *world) publishFiles(counter uint64, policy string, fixtures ...string) {
	w.t.Helper()
	b := bundle.Bundle{Counter: counter, Created: time.Now().UTC().Truncate(time.Second)}
	for i := 0; i < len(fixtures); i += 2 {
		b.Files = append(b.Files, bundle.File{Name: bundle.FixtureName(fixtures[i]), Text: []byte(fixtures[i+1])})
	}
	b.Files = append(b.Files, bundle.File{Name: bundle.PolicyName, Text: []byte(policy)})
	src, err := bundle.Write(b)
	w.must(err)
	src, err = bundle.Sign(src, w.secret)
	w.must(err)
	_, err = w.centre.Publish(w.t.Context(), src, "ana")
	w.must(err)
}

const (
	firstRules    = "[[rule]]\naction = \"deny\"\ntool = \"write_file\"\ndescription = \"<b>no</b> writes\"\n"
	secondRules   = firstRules + "[[rule]]\naction = \"prompt\"\ntool = \"move_file\"\nserver = \"files\"\n"
	writeIsDenied = `{"method":"tools/call","params":{"name":"write_file","arguments":{"path":"/srv/a"}},"expected":"deny"}`
)

// The page of a bundle shows its rules, which of them its fixtures try, what it changes beside the bundle
// before it, and who has it.
func TestPageOfABundle(t *testing.T) {
	t.Parallel()
	w := newTeam(t)
	grant := w.enrolAs("ana")
	w.publishFiles(7, firstRules, "a.json", writeIsDenied)
	w.publishFiles(9, secondRules, "a.json", writeIsDenied)
	if status := w.call(grant.Token, "POST", enrolment.StatePath, enrolment.Report{Counter: 9}, nil); status != http.StatusOK {
		t.Fatal(status)
	}
	for _, role := range []string{principal.Admin, principal.Auditor} {
		w.signInAs("p", role)
		if _, body := w.visit(bundlesPage); !strings.Contains(body, `<a href="/bundles/9">9</a>`) {
			t.Errorf("%s finds no way to the bundle\n%s", role, body)
		}
		for number, wants := range map[string][]string{
			"7": {"where no bundle was", "Newly denied", "tools/call write_file", "on 0 of 1 laptops", "rules: 1, packs: 0, fixtures: 1", "Its fixtures show 1 of 1 points"},
			"9": {`What it changes beside <a href="/bundles/7">bundle 7</a>`, "Newly asked", "tools/call move_file", "on 1 of 1 laptops", "Its fixtures show 1 of 3 points",
				"No fixture shows that the rule matches. Add a call", "No fixture shows that server &#34;files&#34; fails", "fixtures show 0 of 2 points", "&lt;b&gt;no&lt;/b&gt; writes", "<strong>2. prompt</strong>", ">tool = &#34;move_file&#34;</div>"},
		} {
			status, body := w.visit(bundlesPage + "/" + number)
			for _, want := range wants {
				if status != http.StatusOK || !strings.Contains(body, want) {
					t.Errorf("%s: bundle %s: %d without %q\n%s", role, number, status, want, body)
				}
			}
			checkHarmless(t, number, body)
		}
		if _, body := w.visit(bundlesPage + "/9"); strings.Contains(body, "Newly denied") {
			t.Errorf("%s: what bundle 7 changed is told of bundle 9", role)
		}
	}
	for _, number := range []string{"8", "07", "-1", "x", "18446744073709551615", "18446744073709551616"} {
		if status, _ := w.visit(bundlesPage + "/" + number); status != http.StatusNotFound {
			t.Errorf("bundle %s: %d", number, status)
		}
	}
	w.signInAs("p", "oncall")
	if status, body := w.visit(bundlesPage + "/9"); status != http.StatusForbidden || strings.Contains(body, "move_file") {
		t.Errorf("without a role that reads: %d\n%s", status, body)
	}
}

// A bundle whose fixtures cannot be measured is shown with the reason.
func TestPageOfABundleWithoutFixtures(t *testing.T) {
	t.Parallel()
	w := newTeam(t)
	w.publishFiles(1, firstRules)
	w.publishFiles(2, "")
	w.signInAs("p", principal.Admin)
	for number, want := range map[string]string{"1": "was not measured: no fixture expects anything", "2": "It has no rules."} {
		if status, body := w.visit(bundlesPage + "/" + number); status != http.StatusOK || !strings.Contains(body, want) {
			t.Errorf("bundle %s: %d without %q\n%s", number, status, want, body)
		}
	}
}

// While a bundle is compared, the page of another one that was compared before is shown at once, and whoever leaves
// waits no longer.
func TestPageOfABundleWaitsForNoOther(t *testing.T) {
	t.Parallel()
	w := newTeam(t)
	w.publishFiles(1, firstRules, "a.json", writeIsDenied)
	w.publishFiles(2, secondRules, "a.json", writeIsDenied)
	w.signInAs("p", principal.Admin)
	if status, body := w.visit(bundlesPage + "/1"); status != http.StatusOK {
		t.Fatalf("%d\n%s", status, body)
	}
	w.site.reviewing <- struct{}{}
	if status, body := w.visit(bundlesPage + "/1"); status != http.StatusOK || !strings.Contains(body, "Newly denied") {
		t.Errorf("%d\n%s", status, body)
	}
	b, err := w.centre.Store.FindBundle(t.Context(), 2)
	w.must(err)
	ctx, leave := context.WithCancel(t.Context())
	leave()
	if _, _, err := w.site.reviewBundle(ctx, &b, false); !errors.Is(err, context.Canceled) {
		t.Errorf("it waits for somebody who has left: %v", err)
	}
	<-w.site.reviewing
	over, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()
	if _, err := newReview(over, &b, &b, false); err == nil || !strings.Contains(err.Error(), "fixtures of bundle 2 take longer") {
		t.Error(err)
	}
	if _, _, err := w.site.reviewBundle(t.Context(), &b, false); err != nil {
		t.Error(err)
	}
}

// The page of a bundle says if its key was taken out of gateway.toml.
func TestPageOfABundleOfAnotherKey(t *testing.T) {
	t.Parallel()
	w := newTeam(t)
	w.publishFiles(1, firstRules, "a.json", writeIsDenied)
	w.signInAs("p", principal.Auditor)
	const says = "laptops that enrol from now on refuse it"
	if _, body := w.visit(bundlesPage + "/1"); strings.Contains(body, says) {
		t.Error(body)
	}
	_, other, err := bundle.NewKey("other.example")
	w.must(err)
	w.centre.Settings.BundleKeys = []string{other}
	if status, body := w.visit(bundlesPage + "/1"); status != http.StatusOK || !strings.Contains(body, says) || !strings.Contains(body, "Newly denied") {
		t.Errorf("%d\n%s", status, body)
	}
}
