package site

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/gateway/centre"
	"github.com/clawai/clawai/internal/gateway/principal"
	"github.com/clawai/clawai/internal/state/enrolment"
	"github.com/clawai/clawai/internal/testing/slacktest"
)

// click returns a user's signed click.
func (w *slackTeam) click(user, action, question, digest string) *http.Request {
	return w.slack.Click(w.t, publicURL, user, action, question+" "+digest)
}

// slackTeam is a team with a workspace.
type slackTeam struct {
	*team
	slack *slacktest.Workspace
}

// newSlackTeam starts a team whose questions are told in Slack.
func newSlackTeam(t *testing.T, payload bool, users map[string]string) *slackTeam {
	slack := slacktest.Start(t, users)
	w := newTeam(t, fmt.Sprintf("[slack]\nteam = %q\ntoken_env = %q\nsigning_secret_env = %q\nurl = %q\npayload = %v\n[[slack.channel]]\nid = %q\napprovers = [\"role:oncall\"]\n",
		slacktest.Team, slacktest.Token, slacktest.Signing, slack.URL, payload, slacktest.Channel))
	for _, way := range w.site.Slack.Ways() {
		go w.centre.Deliver(t.Context(), way, w.site.Address(), func(err error) { t.Log(err) })
	}
	return &slackTeam{w, slack}
}

// TestAQuestionIsAnsweredInSlack: a question is posted, a click of an approver allows it, and the message says so.
// Who asks, who is nobody, and who comes late changes nothing, and is told.
func TestAQuestionIsAnsweredInSlack(t *testing.T) {
	w := newSlackTeam(t, true, map[string]string{"UANA": "ana@corp.example", "UBOB": "BOB@corp.example", "UEVE": "eve@corp.example", "UNEW": "new@corp.example", "UFAKE": slacktest.Unconfirmed + "bob@corp.example"})
	slack := w.slack
	laptop := w.enrolFor(w.signInAs("ana", principal.Enroll, "oncall"))
	w.signInAs("bob", "oncall")
	w.signInAs("eve", principal.Auditor)
	other := askWhat("2", 1, "role:dba")
	w.ask(laptop, other) // its approvers are told elsewhere
	a := askWhat("1", 1, "role:oncall")
	a.NotSelf = true
	q := w.ask(laptop, a)
	posted := slack.Await(t, "chat.postMessage", q.ID)
	for _, want := range []string{"/tmp/<script>", `\u{202e}gpj.exe`, "2 secrets are not shown", "clawai_allow", publicURL + "/questions/" + q.ID} {
		if !strings.Contains(strings.ReplaceAll(strings.ReplaceAll(posted.Text, `\u003c`, "<"), `\u003e`, ">"), want) && !strings.Contains(fmt.Sprint(posted.Body), want) {
			t.Errorf("the message does not show %q: %s", want, posted.Text)
		}
	}
	for user, want := range map[string]string{"UANA": "your own laptop", "UEVE": "names others than you", "UNEW": "does not know who you are", "UFAKE": "does not know who you are", "UNONE": "cannot answer now"} {
		if status, _, _ := w.do(w.laptop, w.click(user, "clawai_allow", q.ID, a.Digest)); status != 200 {
			t.Errorf("%s: %d", user, status)
		}
		if told := slack.Await(t, "chat.postEphemeral", user); !strings.Contains(told.Text, want) {
			t.Errorf("%s is told: %s", user, told.Text)
		}
	}
	for name, change := range map[string]func(*http.Request){
		"another secret": func(r *http.Request) { slacktest.Sign(t, r, "other", time.Now()) }, "old": func(r *http.Request) { slacktest.Sign(t, r, slacktest.Signing, time.Now().Add(-6*time.Minute)) },
		"no signature": func(r *http.Request) { r.Header.Del("X-Slack-Signature") },
	} {
		r := w.click("UBOB", "clawai_allow", q.ID, a.Digest)
		change(r)
		if status, _, _ := w.do(w.laptop, r); status != 401 {
			t.Errorf("%s: %d", name, status)
		}
	}
	if status, _, _ := w.do(w.laptop, w.request("GET", slackPath, "")); status != 405 {
		t.Errorf("GET: %d", status)
	}
	if _, state := w.stateOf(laptop, q.ID, ""); state.State != enrolment.QuestionPending || len(state.Votes) > 0 {
		t.Fatalf("%+v", state)
	}
	r := w.click("UBOB", "clawai_allow", q.ID, a.Digest)
	again := r.Clone(t.Context())
	again.Body, _ = r.GetBody()
	if status, _, _ := w.do(w.laptop, r); status != 200 {
		t.Fatalf("%d", status)
	}
	if status, _, _ := w.do(w.laptop, again); status != 401 {
		t.Errorf("a replay: %d", status)
	}
	if _, state := w.stateOf(laptop, q.ID, ""); state.State != enrolment.QuestionApproved || state.Votes[0].Name != "bob@corp.example" {
		t.Fatalf("%+v", state)
	}
	updated := slack.Await(t, "chat.update", "allowed by bob@corp.example")
	if strings.Contains(updated.Text, "clawai_allow") || updated.Body["ts"] != posted.TS {
		t.Errorf("%s", updated.Text)
	}
	if status, _, _ := w.do(w.laptop, w.click("UBOB", "clawai_allow", q.ID, a.Digest)); status != 200 {
		t.Errorf("%d", status)
	}
	slack.Await(t, "chat.postEphemeral", "UBOB")
	if status := w.call(laptop, "POST", enrolment.QuestionsPath+"/"+q.ID+"/use", nil, nil); status != 200 {
		t.Errorf("used: %d", status)
	}
	found, err := w.centre.Store.FindQuestion(t.Context(), q.ID)
	if w.must(err); len(found.Votes) != 1 || found.Votes[0].Way != centre.BySlack {
		t.Errorf("%+v", found.Votes)
	}
	if n := slack.Count("chat.postMessage"); n != 1 {
		t.Errorf("%d messages", n)
	}
}

// TestWhatSlackDoesNotShowIsAllowedOnThePage: without payload, or with a call that is too long, no click allows,
// also one that somebody made up; one that denies counts.
func TestWhatSlackDoesNotShowIsAllowedOnThePage(t *testing.T) {
	for _, payload := range []bool{false, true} {
		w := newSlackTeam(t, payload, map[string]string{"UBOB": "bob@corp.example"})
		slack := w.slack
		laptop := w.enrolFor(w.signInAs("ana", principal.Enroll))
		w.signInAs("bob", "oncall")
		a := askWhat("1", 1, "role:oncall")
		a.Calls[0].Args = json.RawMessage(`{"text":"hidden-word ` + strings.Repeat("many different words ", 1000) + `"}`)
		q := w.ask(laptop, a)
		posted := slack.Await(t, "chat.postMessage", q.ID)
		if strings.Contains(posted.Text, "hidden-word") || strings.Contains(posted.Text, "clawai_allow") || !strings.Contains(posted.Text, "clawai_deny") {
			t.Errorf("%s", posted.Text)
		}
		status, _, _ := w.do(w.laptop, w.click("UBOB", "clawai_allow", q.ID, a.Digest))
		if want := map[bool]int{false: 400, true: 200}[payload]; status != want {
			t.Errorf("%d", status)
		}
		if _, state := w.stateOf(laptop, q.ID, ""); state.State != enrolment.QuestionPending {
			t.Errorf("%+v", state)
		}
		if payload {
			slack.Await(t, "chat.postEphemeral", "does not show all")
		}
		if status, _, _ := w.do(w.laptop, w.click("UBOB", "clawai_deny", q.ID, a.Digest)); status != 200 {
			t.Errorf("%d", status)
		}
		if _, state := w.stateOf(laptop, q.ID, ""); state.State != enrolment.QuestionDenied {
			t.Errorf("%+v", state)
		}
	}
}

// TestSlackRacesThePage: one decision, by one way; a role that is lost until the approval is used counts no more.
func TestSlackRacesThePage(t *testing.T) {
	w := newSlackTeam(t, true, map[string]string{"UBOB": "bob@corp.example"})
	laptop := w.enrolFor(w.signInAs("ana", principal.Enroll))
	w.signInAs("bob", "oncall")
	form := w.signInAs("carl", "oncall")
	for i := range 5 {
		a := askWhat(string(rune('0'+i)), 1, "role:oncall")
		q := w.ask(laptop, a)
		click := w.click("UBOB", "clawai_allow", q.ID, a.Digest)
		var both sync.WaitGroup
		var page int
		both.Go(func() { w.do(w.laptop, click) })
		both.Go(func() { page, _ = w.answer(form, q.ID, a.Digest, "allow") })
		both.Wait()
		found, err := w.centre.Store.FindQuestion(t.Context(), q.ID)
		if w.must(err); len(found.Votes) != 1 || (found.Votes[0].Way == centre.ByPage) != (page == 200) {
			t.Fatalf("page %d: %+v", page, found.Votes)
		}
	}
	a := askWhat("9", 1, "role:oncall")
	q := w.ask(laptop, a)
	w.do(w.laptop, w.click("UBOB", "clawai_allow", q.ID, a.Digest))
	w.centre.Settings.Roles = nil
	if status := w.call(laptop, "POST", enrolment.QuestionsPath+"/"+q.ID+"/use", nil, nil); status != 409 {
		t.Errorf("used by who has the role no more: %d", status)
	}
}
