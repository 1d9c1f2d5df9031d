package site

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/gateway/centre"
	"github.com/clawai/clawai/internal/gateway/principal"
	"github.com/clawai/clawai/internal/gateway/store"
	"github.com/clawai/clawai/internal/state/enrolment"
)

// askWhat is a laptop's question about a call whose digest is all n.
func askWhat(n string, approvals int, approvers ...string) enrolment.AskQuestion {
	return enrolment.AskQuestion{
		Digest: strings.Repeat(n, 64), Server: "files", Client: "test 1\u202e", RuleFile: "p.toml", RuleLine: 3, RuleText: "on call", Hidden: 2, Wait: 45,
		Calls:     []enrolment.ShownCall{{Subject: "tool", Server: "files", Method: "tools/call", Names: []string{"write_file"}, Args: json.RawMessage(`{"path":"/tmp/<script>","text":"\u202egpj.exe"}`)}},
		Approvers: approvers, Approvals: approvals,
	}
}

func (w *world) ask(token string, a enrolment.AskQuestion) enrolment.QuestionState {
	w.t.Helper()
	var state enrolment.QuestionState
	if status := w.call(token, "POST", enrolment.QuestionsPath, a, &state); status != 200 {
		w.t.Fatalf("asking: %d", status)
	}
	return state
}

func (w *world) stateOf(token, id, query string) (int, enrolment.QuestionState) {
	w.t.Helper()
	var state enrolment.QuestionState
	status := w.call(token, "GET", enrolment.QuestionsPath+"/"+id+query, nil, &state)
	return status, state
}

// as gives the world's browser to another person and returns what their forms send along.
func (w *world) as(who string) string {
	w.t.Helper()
	jar, err := cookiejar.New(nil)
	w.must(err)
	w.browser.Jar = jar
	return w.signInAs(who)
}

func (w *world) answer(form, id, digest, answer string) (int, string) {
	w.t.Helper()
	return w.submit("/answer", "form", form, "question", id, "digest", digest, "answer", answer, "words", "a word")
}

func TestAQuestionIsAnsweredOnThePage(t *testing.T) {
	w := newWorld(t)
	grant := w.enrol("laptop")
	a := askWhat("1", 1, "role:oncall", "group:\u202eärzte")
	q := w.ask(grant.Token, a)
	if q.State != enrolment.QuestionPending || q.Until < 800 {
		t.Fatalf("%+v", q)
	}
	form := w.as("ana")
	status, list := w.visit(questionsPage)
	if status != 200 || !strings.Contains(list, "Questions (1)") || !strings.Contains(list, "/questions/"+q.ID) || !strings.Contains(list, `http-equiv="refresh"`) {
		t.Fatalf("%d\n%s", status, list)
	}
	status, page := w.visit(questionsPage + "/" + q.ID)
	for _, want := range []string{"files wants to write", "/tmp/&lt;script&gt;", `\u{202e}gpj.exe`, a.Digest, "2 secrets are not shown", "laptop", "p.toml:3", "role:oncall", "0 of 1", "Allow this call once"} {
		if !strings.Contains(page, want) {
			t.Errorf("%d: the page does not show %q\n%s", status, want, page)
		}
	}
	if strings.Contains(page, "<script") || strings.Contains(page, "\u202e") || strings.Contains(page, "refresh") {
		t.Errorf("the page is not harmless:\n%s", page)
	}
	// Opening decides nothing, nor does a form that is not ours, or one for another call.
	for _, path := range []string{"/answer", "/answer?question=" + q.ID + "&answer=allow"} {
		if status, _ := w.visit(path); status != 405 {
			t.Errorf("GET %s: %d", path, status)
		}
	}
	for name, c := range map[string]struct {
		status                   int
		form, id, digest, answer string
	}{
		"no form": {403, "", q.ID, a.Digest, "allow"}, "another's form": {403, strings.Repeat("0", 64), q.ID, a.Digest, "allow"}, "another digest": {409, form, q.ID, strings.Repeat("2", 64), "allow"},
		"no answer": {400, form, q.ID, a.Digest, "perhaps"}, "no question": {404, form, "nothing", a.Digest, "allow"},
	} {
		if status, body := w.answer(c.form, c.id, c.digest, c.answer); status != c.status {
			t.Errorf("%s: %d\n%s", name, status, body)
		}
	}
	foreign := w.formRequest("/answer", "form", form, "question", q.ID, "digest", a.Digest, "answer", "allow")
	foreign.Header.Set("Origin", "http://evil.example")
	foreign.Header.Set("Sec-Fetch-Site", "cross-site")
	if status, _, _ := w.do(w.browser, foreign); status != 403 {
		t.Errorf("another site's form: %d", status)
	}
	if _, state := w.stateOf(grant.Token, q.ID, ""); state.State != enrolment.QuestionPending || len(state.Votes) != 0 {
		t.Fatalf("%+v", state)
	}

	// The waiting laptop hears of the answer at once.
	var heard sync.WaitGroup
	began := time.Now()
	heard.Go(func() {
		if _, state := w.stateOf(grant.Token, q.ID, "?wait=30"); state.State != enrolment.QuestionApproved || state.Votes[0].Name != "ana" || state.Votes[0].Key != "local#ana" || state.Votes[0].Words != "a word" {
			t.Errorf("%+v", state)
		}
	})
	if status, body := w.answer(form, q.ID, a.Digest, "allow"); status != 200 || !strings.Contains(body, "allowed, not used yet") {
		t.Fatalf("%d\n%s", status, body)
	}
	heard.Wait()
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("the laptop heard of it after %s", took)
	}
	if status, _ := w.answer(form, q.ID, a.Digest, "allow"); status != 409 {
		t.Errorf("a second answer: %d", status)
	}
	var used enrolment.QuestionState
	if status := w.call(grant.Token, "POST", enrolment.QuestionsPath+"/"+q.ID+"/use", nil, &used); status != 200 || used.State != enrolment.QuestionUsed || len(used.Votes) != 1 {
		t.Errorf("%d %+v", status, used)
	}
	if status := w.call(grant.Token, "POST", enrolment.QuestionsPath+"/"+q.ID+"/use", nil, nil); status != 409 {
		t.Errorf("a second use: %d", status)
	}
}

func TestTwoOfTheTeamAndNotTheOwner(t *testing.T) {
	w := newWorld(t)
	grant := w.enrol("laptop") // of the administrator
	a := askWhat("1", 2, "role:oncall")
	a.NotSelf = true
	q := w.ask(grant.Token, a)
	own := w.as("administrator")
	if status, body := w.answer(own, q.ID, a.Digest, "allow"); status != 403 || !strings.Contains(body, "your own laptop") {
		t.Errorf("the owner: %d\n%s", status, body)
	}
	if _, page := w.visit(questionsPage + "/" + q.ID); strings.Contains(page, "Allow this call once") || !strings.Contains(page, ">Deny<") {
		t.Errorf("the owner's page:\n%s", page)
	}
	for _, who := range []string{"ana", "ana", "ben"} {
		form := w.as(who)
		w.answer(form, q.ID, a.Digest, "allow")
	}
	_, state := w.stateOf(grant.Token, q.ID, "")
	if state.State != enrolment.QuestionApproved || len(state.Votes) != 2 || state.Votes[0].Key != "local#ana" || state.Votes[1].Key != "local#ben" {
		t.Errorf("%+v", state)
	}
	// The owner can always deny what their own agent asks.
	b := askWhat("2", 1, "person:nobody@team.example")
	q = w.ask(grant.Token, b)
	form := w.as("eve")
	if status, _ := w.answer(form, q.ID, b.Digest, "allow"); status != 403 {
		t.Errorf("who is no approver: %d", status)
	}
	if status, _ := w.answer(form, q.ID, b.Digest, "deny"); status != 403 {
		t.Errorf("who is no approver denies: %d", status)
	}
	own = w.as("administrator")
	if status, body := w.answer(own, q.ID, b.Digest, "deny"); status != 200 {
		t.Errorf("%d\n%s", status, body)
	}
	if _, state := w.stateOf(grant.Token, q.ID, "?wait=30"); state.State != enrolment.QuestionDenied {
		t.Errorf("%+v", state)
	}
}

// TestQuestionsAreOneLaptops: another laptop can neither read nor use nor end a question.
func TestQuestionsAreOneLaptops(t *testing.T) {
	w := newWorld(t)
	mine, other := w.enrol("mine"), w.enrol("other")
	a := askWhat("1", 1, "role:oncall")
	q := w.ask(mine.Token, a)
	if again := w.ask(mine.Token, a); again.ID != q.ID {
		t.Error("the same question does not join the one that waits")
	}
	if theirs := w.ask(other.Token, a); theirs.ID == q.ID {
		t.Error("two laptops share a question")
	}
	form := w.as("ana")
	w.answer(form, q.ID, a.Digest, "allow")
	for _, c := range []struct{ method, path string }{{"GET", ""}, {"DELETE", ""}, {"POST", "/use"}} {
		if status := w.call(other.Token, c.method, enrolment.QuestionsPath+"/"+q.ID+c.path, nil, nil); status != 404 {
			t.Errorf("%s %s of another laptop: %d", c.method, c.path, status)
		}
		if status := w.call("", c.method, enrolment.QuestionsPath+"/"+q.ID+c.path, nil, nil); status != 401 {
			t.Errorf("%s %s without a token: %d", c.method, c.path, status)
		}
	}
	if status := w.call(mine.Token, "DELETE", enrolment.QuestionsPath+"/"+q.ID, nil, nil); status != 200 {
		t.Errorf("%d", status)
	}
	if status := w.call(mine.Token, "POST", enrolment.QuestionsPath+"/"+q.ID+"/use", nil, nil); status != 409 {
		t.Errorf("an approval of a call that is over was used: %d", status)
	}
}

// Whoever allowed a call can take that back until it is used.
func TestAnApprovalIsTakenBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	grant := w.enrol("laptop")
	a := askWhat("1", 1, "role:oncall")
	q := w.ask(grant.Token, a)
	form := w.as("ana")
	w.answer(form, q.ID, a.Digest, "allow")
	if _, page := w.visit(questionsPage + "/" + q.ID); !strings.Contains(page, ">Deny<") || strings.Contains(page, "Allow this call once") || !strings.Contains(page, "local#administrator") {
		t.Errorf("the page of an approval:\n%s", page)
	}
	if status, body := w.answer(form, q.ID, a.Digest, "deny"); status != 200 || strings.Contains(body, ">Deny<") {
		t.Errorf("%d\n%s", status, body)
	}
	if status := w.call(grant.Token, "POST", enrolment.QuestionsPath+"/"+q.ID+"/use", nil, nil); status != 409 {
		t.Errorf("an approval that was taken back was used: %d", status)
	}
}

// However long a value is, its approvers can see all of it, and the middle is no place to hide.
func TestNothingOfALongValueIsLeftOut(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	grant := w.enrol("laptop")
	for name, text := range map[string]string{
		"words": strings.Repeat("a ", 50_000) + "in the middle" + strings.Repeat(" b", 50_000), "lines": strings.Repeat("a\n", 50_000) + "in the middle" + strings.Repeat("\nb", 50_000),
		"blank lines": strings.Repeat("\n", 60_000) + "in the middle" + strings.Repeat("\n", 60_000),
	} {
		a := askWhat("1", 1, "role:oncall")
		src, err := json.Marshal(map[string]string{"text": text})
		w.must(err)
		a.Calls[0].Args, a.Digest = src, fmt.Sprintf("%064d", len(name))
		q := w.ask(grant.Token, a)
		status, page := w.visit(questionsPage + "/" + q.ID)
		if at := strings.Index(page, "in the middle"); status != 200 || at < 0 || at > strings.Index(page, "Allow this call once") || strings.Contains(page, "not shown here") {
			t.Errorf("%s: %d, at byte %d of %d", name, status, at, len(page))
		}
	}
}

// A laptop cannot make the centre read for it without end.
func TestWaitsOfALaptopAreBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	mine, other := w.enrol("mine"), w.enrol("other")
	q, theirs := w.ask(mine.Token, askWhat("1", 1, "role:oncall")), w.ask(other.Token, askWhat("1", 1, "role:oncall"))
	for range maxWaits {
		if !w.site.beginWork("wait "+mine.Laptop, maxWaits) {
			t.Fatal("the bound is reached too early")
		}
	}
	if status := w.call(mine.Token, "GET", enrolment.QuestionsPath+"/"+q.ID+"?wait=1", nil, nil); status != 429 {
		t.Errorf("one more: %d", status)
	}
	if status, _ := w.stateOf(mine.Token, q.ID, ""); status != 200 {
		t.Errorf("without waiting: %d", status)
	}
	if status, _ := w.stateOf(other.Token, theirs.ID, "?wait=1"); status != 200 {
		t.Errorf("another laptop: %d", status)
	}
}

// Questions that are over, however many, push none out of the list that waits.
func TestWhatWaitsStaysInTheList(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	mine, other := w.enrol("mine"), w.enrol("other")
	q := w.ask(mine.Token, askWhat("1", 1, "role:oncall"))
	for i := range mostQuestions + 1 {
		a := askWhat("1", 1, "role:oncall")
		a.Digest = fmt.Sprintf("%064d", i)
		if status := w.call(other.Token, "DELETE", enrolment.QuestionsPath+"/"+w.ask(other.Token, a).ID, nil, nil); status != 200 {
			t.Fatal(status)
		}
	}
	if _, list := w.visit(questionsPage); !strings.Contains(list, q.ID) {
		t.Error("the question that waits is not in the list")
	}
	// Nor does a list look through calls, which takes long: it has the line that was kept.
	found, err := w.centre.Store.FindQuestion(t.Context(), q.ID)
	w.must(err)
	found.Asked.Calls = nil // which could not be shown
	own := visit{s: w.site, r: w.request("GET", "/", ""), who: local("administrator")}
	row, err := own.newQuestionRow(&found, nil, false)
	if w.must(err); !strings.Contains(row.Title, "files wants to write") {
		t.Errorf("%q", row.Title)
	}
}

func TestQuestionsThatAreNone(t *testing.T) {
	w := newWorld(t)
	grant := w.enrol("laptop")
	for name, change := range map[string]func(*enrolment.AskQuestion){
		"no digest": func(a *enrolment.AskQuestion) { a.Digest = "" }, "upper case": func(a *enrolment.AskQuestion) { a.Digest = strings.Repeat("A", 64) },
		"no call": func(a *enrolment.AskQuestion) { a.Calls = nil }, "no approver": func(a *enrolment.AskQuestion) { a.Approvers = nil },
		"an odd approver": func(a *enrolment.AskQuestion) { a.Approvers = []string{"ana"} }, "no approvals": func(a *enrolment.AskQuestion) { a.Approvals = 0 },
		"too many approvals": func(a *enrolment.AskQuestion) { a.Approvals = 11 },
		"more than can be shown": func(a *enrolment.AskQuestion) {
			a.Calls[0].Args = json.RawMessage(`{"a":[` + strings.Repeat("1,", 2000) + `1]}`)
		},
	} {
		a := askWhat("1", 1, "role:oncall")
		change(&a)
		if status := w.call(grant.Token, "POST", enrolment.QuestionsPath, a, nil); status != 400 {
			t.Errorf("%s: %d", name, status)
		}
	}
	long := askWhat("1", 1, "role:oncall")
	long.Why = strings.Repeat("x", enrolment.MaxQuestion)
	if status := w.call(grant.Token, "POST", enrolment.QuestionsPath, long, nil); status != 413 {
		t.Errorf("too long: %d", status)
	}
	for i := range 21 {
		a := askWhat("1", 1, "role:oncall")
		a.Digest = fmt.Sprintf("%064d", i)
		if status := w.call(grant.Token, "POST", enrolment.QuestionsPath, a, nil); (status == 200) != (i < 20) {
			t.Errorf("question %d: %d", i, status)
		}
	}
	for _, wait := range []string{"x", "-1", "31"} {
		if status := w.call(grant.Token, "GET", enrolment.QuestionsPath+"/nothing?wait="+wait, nil, nil); status != 400 {
			t.Errorf("wait=%s: %d", wait, status)
		}
	}
}

// TestWhoIsNoApproverReadsNoArguments: without a role that reads payloads, and named by no rule, a
// person sees that a question waits, and not what it carries.
func TestWhoIsNoApproverReadsNoArguments(t *testing.T) {
	w := newWorld(t)
	grant := w.enrol("laptop")
	a := askWhat("1", 1, "group:dba")
	q := w.ask(grant.Token, a)
	w.centre.Dev, w.centre.Settings.OIDC.Issuer = false, "https://id.example" // who signs in there counts
	found, err := w.centre.Store.FindQuestion(context.Background(), q.ID)
	w.must(err)
	rights, err := w.centre.RightsOf(context.Background(), principal.Principal{Issuer: "https://id.example", Subject: "eve", Name: "eve", Groups: []string{"sre"}, Roles: []string{principal.Auditor, principal.Admin}}, centre.ByPage, &found)
	w.must(err)
	eve := visit{s: w.site, r: w.request("GET", "/", ""), who: principal.Principal{Issuer: "https://id.example", Subject: "eve", Roles: []string{principal.Auditor}}}
	found.Votes = []store.Vote{{Words: "no: /tmp/x"}}
	row, err := eve.newQuestionRow(&found, nil, true)
	if w.must(err); !row.Shown || row.Digest+row.Client+row.Hidden+row.Votes[0].Words != "" || row.Lines != nil {
		t.Errorf("%+v", row)
	}
	if rights.Read || rights.Deny || rights.Allow == nil {
		t.Errorf("%+v", rights)
	}
	rights, err = w.centre.RightsOf(context.Background(), principal.Principal{Issuer: "https://id.example", Subject: "ana", Name: "ana", Groups: []string{"dba"}}, centre.ByPage, &found)
	if w.must(err); !rights.Read || !rights.Deny || rights.Allow != nil {
		t.Errorf("%+v", rights)
	}
	// The role is checked again when the approval is used: a person's groups are those of their sign-in.
	_, err = w.centre.Vote(context.Background(), centre.Ballot{By: principal.Principal{Issuer: "https://id.example", Subject: "ana", Name: "ana", Roles: []string{"oncall"}}, Way: centre.ByPage, Question: q.ID, Digest: a.Digest, Allow: true})
	if err == nil {
		t.Error("a role that the rule does not name allowed it")
	}
	b := askWhat("2", 1, "role:oncall")
	q = w.ask(grant.Token, b)
	_, err = w.centre.Vote(context.Background(), centre.Ballot{By: principal.Principal{Issuer: "https://id.example", Subject: "ana", Name: "ana", Roles: []string{"oncall"}}, Way: centre.ByPage, Question: q.ID, Digest: b.Digest, Allow: true})
	w.must(err)
	if status := w.call(grant.Token, "POST", enrolment.QuestionsPath+"/"+q.ID+"/use", nil, nil); status != 409 {
		t.Errorf("an approver who has the role no more: %d", status)
	}
	if _, state := w.stateOf(grant.Token, q.ID, ""); state.State == enrolment.QuestionUsed {
		t.Errorf("%+v", state)
	}
	if centre.QuestionLife > time.Hour {
		t.Error("an approval outlives a session")
	}
}

// leave sends a request whose sender leaves before it is handled.
func (w *world) leave(r *http.Request) {
	w.t.Helper()
	ctx, left := context.WithCancel(w.t.Context())
	left()
	r = r.WithContext(ctx)
	r.RemoteAddr = "127.0.0.1:1"
	if r.Header.Get("Authorization") == "" {
		for _, c := range w.browser.Jar.Cookies(r.URL) {
			r.AddCookie(c)
		}
	}
	w.site.ServeHTTP(httptest.NewRecorder(), r)
}

// TestAnswersOfThoseWhoLeave: an approver who closes the page after the click has answered, and a laptop that ends
// after it has withdrawn its question has withdrawn it. A laptop that leaves while it uses an approval keeps it.
func TestAnswersOfThoseWhoLeave(t *testing.T) {
	w := newWorld(t)
	token := w.enrol("laptop").Token
	form := w.as("ana")
	mine := func(method, path string) *http.Request {
		r := w.request(method, enrolment.QuestionsPath+"/"+path, "")
		r.Header.Set("Authorization", "Bearer "+token)
		return r
	}
	is := func(id, want string) {
		t.Helper()
		if _, got := w.stateOf(token, id, ""); got.State != want {
			t.Errorf("the question is %s, want %s", got.State, want)
		}
	}
	a := askWhat("1", 1, "role:oncall")
	allowed, withdrawn := w.ask(token, a), w.ask(token, askWhat("2", 1, "role:oncall"))
	w.leave(w.formRequest("/answer", "form", form, "question", allowed.ID, "digest", a.Digest, "answer", "allow", "words", ""))
	is(allowed.ID, enrolment.QuestionApproved)
	w.leave(mine("DELETE", withdrawn.ID))
	is(withdrawn.ID, enrolment.QuestionCancelled)
	w.leave(mine("POST", allowed.ID+usePath))
	is(allowed.ID, enrolment.QuestionApproved)
}
