package site

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/gateway/centre"
	"github.com/clawai/clawai/internal/gateway/principal"
	"github.com/clawai/clawai/internal/state/enrolment"
)

// scriptedSlack answers as Slack's Web API does, and keeps what it was sent.
type scriptedSlack struct {
	*httptest.Server
	mu    sync.Mutex
	calls []slackCall
	users map[string]string // id to the e-mail address that is confirmed
	news  chan struct{}
}

type slackCall struct {
	method string
	body   map[string]any
	text   string
}

func newScriptedSlack(t *testing.T) *scriptedSlack {
	s := &scriptedSlack{users: map[string]string{}, news: make(chan struct{}, 100)}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		method := strings.TrimPrefix(r.URL.Path, "/api/")
		if r.Header.Get("Authorization") != "Bearer TOKEN" {
			_, _ = io.WriteString(w, `{"ok":false,"error":"invalid_auth"}`)
			return
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if method == "users.info" {
			id := r.URL.Query().Get("user")
			_ = json.NewEncoder(w).Encode(map[string]any{"ok": s.users[id] != "", "error": "user_not_found", "user": map[string]any{
				"id": id, "team_id": "T1", "is_email_confirmed": !strings.HasPrefix(s.users[id], "unconfirmed "), "profile": map[string]any{"email": strings.TrimPrefix(s.users[id], "unconfirmed ")},
			}})
			return
		}
		text, _ := io.ReadAll(r.Body)
		call := slackCall{method: method, text: string(text)}
		_ = json.Unmarshal(text, &call.body)
		s.calls = append(s.calls, call)
		_, _ = fmt.Fprintf(w, `{"ok":true,"ts":"%d.0"}`, len(s.calls))
		s.news <- struct{}{}
	}))
	t.Cleanup(s.Close)
	return s
}

// await returns the next call of a method that has a text.
func (s *scriptedSlack) await(t *testing.T, method, has string) slackCall {
	t.Helper()
	over := time.After(time.Minute)
	for {
		s.mu.Lock()
		for _, c := range s.calls {
			if c.method == method && strings.Contains(c.text, has) {
				s.mu.Unlock()
				return c
			}
		}
		s.mu.Unlock()
		select {
		case <-s.news:
		case <-over:
			t.Fatalf("no %s with %q came: %+v", method, has, s.calls)
		}
	}
}

func (s *scriptedSlack) count(method string) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.calls {
		if c.method == method {
			n++
		}
	}
	return n
}

// clicks numbers the clicks of tests, so that no two are the same.
var clicks int

// click returns a user's signed click.
func (w *team) click(user, action, question, digest string) *http.Request {
	clicks++
	src, err := json.Marshal(map[string]any{
		"type": "block_actions", "team": map[string]any{"id": "T1"}, "user": map[string]any{"id": user, "team_id": "T1"}, "channel": map[string]any{"id": "C1"}, "trigger_id": clicks,
		"actions": []any{map[string]any{"action_id": action, "value": question + " " + digest}},
	})
	w.must(err)
	r := w.request("POST", slackPath, url.Values{"payload": {string(src)}}.Encode())
	w.sign(r, "SIGNING", time.Now())
	return r
}

func (w *team) sign(r *http.Request, secret string, at time.Time) {
	body, err := r.GetBody()
	w.must(err)
	text, _ := io.ReadAll(body)
	stamp := strconv.FormatInt(at.Unix(), 10)
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte("v0:" + stamp + ":" + string(text)))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("X-Slack-Request-Timestamp", stamp)
	r.Header.Set("X-Slack-Signature", "v0="+hex.EncodeToString(mac.Sum(nil)))
}

// newSlackTeam starts a team whose questions are told in Slack.
func newSlackTeam(t *testing.T, payload bool) (*team, *scriptedSlack) {
	slack := newScriptedSlack(t)
	w := newTeam(t, fmt.Sprintf("[slack]\nteam = \"T1\"\ntoken_env = \"TOKEN\"\nsigning_secret_env = \"SIGNING\"\nurl = %q\npayload = %v\n[[slack.channel]]\nid = \"C1\"\napprovers = [\"role:oncall\"]\n", slack.URL, payload))
	for _, way := range w.site.Slack.Ways() {
		go w.centre.Deliver(t.Context(), way, w.site.Address(), func(err error) { t.Log(err) })
	}
	return w, slack
}

// TestAQuestionIsAnsweredInSlack: a question is posted, a click of an approver allows it, and the message says so.
// Who asks, who is nobody, and who comes late changes nothing, and is told.
func TestAQuestionIsAnsweredInSlack(t *testing.T) {
	w, slack := newSlackTeam(t, true)
	laptop := w.enrolFor(w.signInAs("ana", principal.Enroll, "oncall"))
	w.signInAs("bob", "oncall")
	w.signInAs("eve", principal.Auditor)
	slack.users = map[string]string{"UANA": "ana@corp.example", "UBOB": "BOB@corp.example", "UEVE": "eve@corp.example", "UNEW": "new@corp.example", "UFAKE": "unconfirmed bob@corp.example"}
	other := askWhat("2", 1, "role:dba")
	w.ask(laptop, other) // its approvers are told elsewhere
	a := askWhat("1", 1, "role:oncall")
	a.NotSelf = true
	q := w.ask(laptop, a)
	posted := slack.await(t, "chat.postMessage", q.ID)
	for _, want := range []string{"/tmp/<script>", `\u{202e}gpj.exe`, "2 secrets are not shown", "clawai_allow", publicURL + "/questions/" + q.ID} {
		if !strings.Contains(strings.ReplaceAll(strings.ReplaceAll(posted.text, `\u003c`, "<"), `\u003e`, ">"), want) && !strings.Contains(fmt.Sprint(posted.body), want) {
			t.Errorf("the message does not show %q: %s", want, posted.text)
		}
	}
	for user, want := range map[string]string{"UANA": "your own laptop", "UEVE": "names others than you", "UNEW": "does not know who you are", "UFAKE": "does not know who you are", "UNONE": "cannot answer now"} {
		if status, _, _ := w.do(w.laptop, w.click(user, "clawai_allow", q.ID, a.Digest)); status != 200 {
			t.Errorf("%s: %d", user, status)
		}
		if told := slack.await(t, "chat.postEphemeral", user); !strings.Contains(told.text, want) {
			t.Errorf("%s is told: %s", user, told.text)
		}
	}
	for name, change := range map[string]func(*http.Request){
		"another secret": func(r *http.Request) { w.sign(r, "other", time.Now()) }, "old": func(r *http.Request) { w.sign(r, "SIGNING", time.Now().Add(-6*time.Minute)) },
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
	updated := slack.await(t, "chat.update", "allowed by bob@corp.example")
	if strings.Contains(updated.text, "clawai_allow") || updated.body["ts"] != "1.0" {
		t.Errorf("%s", updated.text)
	}
	if status, _, _ := w.do(w.laptop, w.click("UBOB", "clawai_allow", q.ID, a.Digest)); status != 200 {
		t.Errorf("%d", status)
	}
	slack.await(t, "chat.postEphemeral", "UBOB")
	if status := w.call(laptop, "POST", enrolment.QuestionsPath+"/"+q.ID+"/use", nil, nil); status != 200 {
		t.Errorf("used: %d", status)
	}
	found, err := w.centre.Store.FindQuestion(t.Context(), q.ID)
	if w.must(err); len(found.Votes) != 1 || found.Votes[0].Way != centre.BySlack {
		t.Errorf("%+v", found.Votes)
	}
	if n := slack.count("chat.postMessage"); n != 1 {
		t.Errorf("%d messages", n)
	}
}

// TestWhatSlackDoesNotShowIsAllowedOnThePage: without payload, or with a call that is too long, no click allows,
// also one that somebody made up; one that denies counts.
func TestWhatSlackDoesNotShowIsAllowedOnThePage(t *testing.T) {
	for _, payload := range []bool{false, true} {
		w, slack := newSlackTeam(t, payload)
		laptop := w.enrolFor(w.signInAs("ana", principal.Enroll))
		w.signInAs("bob", "oncall")
		slack.users = map[string]string{"UBOB": "bob@corp.example"}
		a := askWhat("1", 1, "role:oncall")
		a.Calls[0].Args = json.RawMessage(`{"text":"hidden-word ` + strings.Repeat("many different words ", 1000) + `"}`)
		q := w.ask(laptop, a)
		posted := slack.await(t, "chat.postMessage", q.ID)
		if strings.Contains(posted.text, "hidden-word") || strings.Contains(posted.text, "clawai_allow") || !strings.Contains(posted.text, "clawai_deny") {
			t.Errorf("%s", posted.text)
		}
		status, _, _ := w.do(w.laptop, w.click("UBOB", "clawai_allow", q.ID, a.Digest))
		if want := map[bool]int{false: 400, true: 200}[payload]; status != want {
			t.Errorf("%d", status)
		}
		if _, state := w.stateOf(laptop, q.ID, ""); state.State != enrolment.QuestionPending {
			t.Errorf("%+v", state)
		}
		if payload {
			slack.await(t, "chat.postEphemeral", "does not show all")
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
	w, slack := newSlackTeam(t, true)
	laptop := w.enrolFor(w.signInAs("ana", principal.Enroll))
	w.signInAs("bob", "oncall")
	form := w.signInAs("carl", "oncall")
	slack.users = map[string]string{"UBOB": "bob@corp.example"}
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
