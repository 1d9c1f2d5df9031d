package site

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/clawai/clawai/internal/gateway/centre"
	"github.com/clawai/clawai/internal/gateway/principal"
	"github.com/clawai/clawai/internal/state/enrolment"
)

// begin asks for the code of a command line.
func (w *world) begin() (code enrolment.DeviceCode) {
	w.t.Helper()
	if status := w.call("", "POST", enrolment.SignInPath, enrolment.AskEnrolment{Name: "<b>desk", OS: "linux", Version: "1"}, &code); status != 200 {
		w.t.Fatalf("a code: %d", status)
	}
	return code
}

// command signs a command line in for who has the browser, and returns its token.
func (w *world) command(form string) string {
	w.t.Helper()
	code := w.begin()
	status, page := w.visit(commandPage + "?code=" + code.UserCode)
	if status != 200 || !strings.Contains(page, "&lt;b&gt;desk") || !strings.Contains(page, "It will answer questions as you") {
		w.t.Fatalf("%d\n%s", status, page)
	}
	var granted enrolment.SignIn
	if status := w.call("", "POST", enrolment.SignInTokenPath, enrolment.AskToken{DeviceCode: code.DeviceCode}, nil); status != 400 {
		w.t.Fatalf("opening the page signed it in: %d", status)
	}
	if status, body := w.submit(commandPage, "form", form, "code", code.UserCode, "answer", "allow"); status != 200 || !strings.Contains(body, "You signed in the command line") {
		w.t.Fatalf("%d\n%s", status, body)
	}
	if status := w.call("", "POST", enrolment.SignInTokenPath, enrolment.AskToken{DeviceCode: code.DeviceCode}, &granted); status != 200 || granted.ExpiresIn < 1 || granted.ExpiresIn > 3600 {
		w.t.Fatalf("%d %+v", status, granted)
	}
	return granted.Token
}

// enrolFor enrols a laptop of who is signed in in the browser.
func (w *world) enrolFor(form string) string {
	w.t.Helper()
	var code enrolment.DeviceCode
	w.call("", "POST", enrolment.EnrollPath, enrolment.AskEnrolment{Name: "laptop", OS: "linux", Version: "1"}, &code)
	if status, body := w.submit(enrollPage, "form", form, "code", code.UserCode, "answer", "allow"); status != 200 || !strings.Contains(body, "You allowed") {
		w.t.Fatalf("%d\n%s", status, body)
	}
	var grant enrolment.Grant
	w.call("", "POST", enrolment.TokenPath, enrolment.AskToken{DeviceCode: code.DeviceCode}, &grant)
	return grant.Token
}

// TestTokensOfPeopleAndLaptopsDiffer: neither counts in the place of the other, nor does one's code.
func TestTokensOfPeopleAndLaptopsDiffer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	laptop := w.enrol("laptop").Token
	form := w.signIn()
	token := w.command(form)
	a := askWhat("1", 1, "role:oncall")
	q := w.ask(laptop, a)
	answers := enrolment.AnswersPath + "/" + q.ID
	for _, wrong := range []string{"", laptop, "clp_", "clp_x", strings.TrimPrefix(token, "clp_"), token + "x", strings.Repeat("clp_", 100)} {
		for path, method := range map[string]string{enrolment.AnswersPath: "GET", answers: "GET", enrolment.SignInPath: "DELETE"} {
			if status := w.call(wrong, method, path, nil, nil); status != 401 {
				t.Errorf("%s %s with %q: %d", method, path, wrong, status)
			}
		}
		if status := w.call(wrong, "POST", answers, enrolment.Answer{Digest: a.Digest, Allow: true}, nil); status != 401 {
			t.Errorf("an answer with %q: %d", wrong, status)
		}
	}
	for path, method := range map[string]string{enrolment.BundlePath: "GET", enrolment.QuestionsPath + "/" + q.ID: "GET"} {
		if status := w.call(token, method, path, nil, nil); status != 401 {
			t.Errorf("%s: a person's token counts for a laptop: %d", path, status)
		}
	}
	r := w.request("GET", mePage, "")
	r.AddCookie(&http.Cookie{Name: w.site.cookie, Value: token})
	if status, _, _ := w.do(w.laptop, r); status != 401 {
		t.Errorf("a person's token counts as a cookie: %d", status)
	}
	// A code of one kind is no code of the other.
	person := w.begin()
	if _, page := w.visit(enrollPage + "?code=" + person.UserCode); !strings.Contains(page, "Nothing waits with this code") {
		t.Errorf("the code of a command line enrols a laptop:\n%s", page)
	}
	if _, err := w.centre.DecideSignIn(t.Context(), person.UserCode, true, "no session"); err == nil {
		t.Error("it was confirmed without a session")
	}
	if status, _ := w.submit(commandPage, "form", form, "code", person.UserCode, "answer", "allow"); status != 200 {
		t.Errorf("%d", status)
	}
	if status := w.call("", "POST", enrolment.TokenPath, enrolment.AskToken{DeviceCode: person.DeviceCode}, nil); status != 400 {
		t.Errorf("the code of a command line gives a laptop's token: %d", status)
	}
	var code enrolment.DeviceCode
	w.call("", "POST", enrolment.EnrollPath, enrolment.AskEnrolment{Name: "l"}, &code)
	if _, page := w.visit(commandPage + "?code=" + code.UserCode); !strings.Contains(page, "Nothing waits with this code") {
		t.Errorf("the code of a laptop signs a command line in:\n%s", page)
	}
	for _, header := range []string{"Origin", "Sec-Fetch-Site", "Cookie"} {
		r := w.request("GET", enrolment.AnswersPath, "")
		r.Header.Set("Authorization", "Bearer "+token)
		r.Header.Set(header, "x")
		if status, _, _ := w.do(w.laptop, r); status != 403 {
			t.Errorf("a browser (%s) is answered: %d", header, status)
		}
	}
	if w.databaseHas(t, token) || w.databaseHas(t, strings.TrimPrefix(token, "clp_")) {
		t.Error("the database has the token")
	}
	if status := w.call(token, "DELETE", enrolment.SignInPath, nil, nil); status != 200 {
		t.Errorf("signing out: %d", status)
	}
	if status := w.call(token, "GET", enrolment.AnswersPath, nil, nil); status != 401 {
		t.Errorf("signed out: %d", status)
	}
}

// TestAnswersOfACommandLine: an approver reads and answers what others ask, bound to its digest; the owner of
// the laptop allows nothing on this way, and whoever is no approver reads nothing.
func TestAnswersOfACommandLine(t *testing.T) {
	t.Parallel()
	w := newTeam(t)
	form := w.signInAs("ana", principal.Enroll, "oncall")
	laptop := w.enrolFor(form)
	owner := w.command(form)
	a := askWhat("1", 1, "role:oncall")
	q := w.ask(laptop, a)
	path := enrolment.AnswersPath + "/" + q.ID
	allow := enrolment.Answer{Digest: a.Digest, Allow: true}

	var asked enrolment.Asked
	if status := w.call(owner, "GET", path, nil, &asked); status != 200 || asked.WhyNot != centre.ErrOnPage.Error() || asked.Laptop != "laptop" {
		t.Fatalf("%d %+v", status, asked)
	}
	if status := w.call(owner, "POST", path, allow, nil); status != 403 {
		t.Errorf("the asker allowed it from a command line: %d", status)
	}
	form = w.signInAs("eve", principal.Auditor, principal.Admin, principal.Payload)
	eve := w.command(form)
	var list enrolment.AskedList
	if status := w.call(eve, "GET", enrolment.AnswersPath, nil, &list); status != 200 || len(list.Waiting) != 0 {
		t.Errorf("%d %+v", status, list)
	}
	for method, message := range map[string]any{"GET": nil, "POST": allow} {
		if status := w.call(eve, method, path, message, nil); status != 403 {
			t.Errorf("who is no approver: %s %d", method, status)
		}
	}
	bob := w.command(w.signInAs("bob", "oncall"))
	if status := w.call(bob, "GET", enrolment.AnswersPath, nil, &list); status != 200 || len(list.Waiting) != 1 || list.Waiting[0].ID != q.ID || list.Waiting[0].WhyNot != "" {
		t.Errorf("%d %+v", status, list)
	}
	asked = enrolment.Asked{}
	if status := w.call(bob, "GET", path, nil, &asked); status != 200 || asked.Digest != a.Digest || !strings.Contains(string(asked.Calls[0].Args), "gpj.exe") || asked.Hidden != 2 {
		t.Errorf("%d %+v", status, asked)
	}
	if status := w.call(bob, "POST", path, enrolment.Answer{Digest: strings.Repeat("2", 64), Allow: true}, nil); status != 409 {
		t.Errorf("another digest: %d", status)
	}
	if status := w.call(bob, "POST", path, allow, &asked); status != 200 || asked.State != enrolment.QuestionApproved {
		t.Errorf("%d %+v", status, asked)
	}
	found, err := w.centre.Store.FindQuestion(t.Context(), q.ID)
	if w.must(err); len(found.Votes) != 1 || found.Votes[0].Way != centre.ByCommand || found.Votes[0].By.Subject != "bob" {
		t.Errorf("%+v", found.Votes)
	}
	if status := w.call(bob, "POST", path, allow, nil); status != 409 {
		t.Errorf("a second answer: %d", status)
	}
	// Who has lost the role until it is used has allowed nothing.
	w.centre.Settings.Roles = nil
	if status := w.call(laptop, "POST", enrolment.QuestionsPath+"/"+q.ID+"/use", nil, nil); status != 409 {
		t.Errorf("the role is gone: %d", status)
	}
}

// TestWaysRace: what comes on two ways at the same time is decided once.
func TestWaysRace(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	laptop := w.enrol("laptop").Token
	token := w.command(w.as("bob"))
	form := w.as("ana")
	for i := range 10 {
		a := askWhat(string(rune('0'+i)), 1, "role:oncall")
		q := w.ask(laptop, a)
		var both sync.WaitGroup
		var page, command int
		both.Go(func() { page, _ = w.answer(form, q.ID, a.Digest, "allow") })
		both.Go(func() {
			command = w.call(token, "POST", enrolment.AnswersPath+"/"+q.ID, enrolment.Answer{Digest: a.Digest, Allow: true}, nil)
		})
		both.Wait()
		found, err := w.centre.Store.FindQuestion(t.Context(), q.ID)
		w.must(err)
		if (page == 200) == (command == 200) || len(found.Votes) != 1 || (found.Votes[0].Way == centre.ByPage) != (page == 200) {
			t.Fatalf("page %d, command line %d: %+v", page, command, found.Votes)
		}
		if status := w.call(laptop, "POST", enrolment.QuestionsPath+"/"+q.ID+"/use", nil, nil); status != 200 {
			t.Fatalf("used: %d", status)
		}
		if status := w.call(laptop, "POST", enrolment.QuestionsPath+"/"+q.ID+"/use", nil, nil); status != 409 {
			t.Fatalf("used twice: %d", status)
		}
	}
}

// TestACommandLineNeedsItsPerson: denied, or confirmed twice, it gets nothing more.
func TestACommandLineNeedsItsPerson(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	form := w.signIn()
	code := w.begin()
	if _, body := w.submit(commandPage, "form", form, "code", code.UserCode, "answer", "deny"); !strings.Contains(body, "You denied the command line") {
		t.Fatal(body)
	}
	if _, body := w.submit(commandPage, "form", form, "code", code.UserCode, "answer", "allow"); !strings.Contains(body, "was allowed or denied before") {
		t.Fatal(body)
	}
	var refusal enrolment.Refusal
	if status := w.call("", "POST", enrolment.SignInTokenPath, enrolment.AskToken{DeviceCode: code.DeviceCode}, &refusal); status != 400 || refusal.Error != enrolment.Refused {
		t.Errorf("%d %+v", status, refusal)
	}
	if _, err := w.centre.CheckPerson(t.Context(), "clp_"+code.DeviceCode); err == nil {
		t.Error("who was denied is signed in")
	}
	if status, _ := w.submit(commandPage, "form", strings.Repeat("0", 64), "code", w.begin().UserCode, "answer", "allow"); status != 403 {
		t.Errorf("another site's form: %d", status)
	}
}

// TestQuestionsForOthersPushOutNone: however many questions wait for others, and since when, an approver sees
// the own one, on the page and on a command line.
func TestQuestionsForOthersPushOutNone(t *testing.T) {
	t.Parallel()
	w := newTeam(t)
	for asked := 0; asked <= mostQuestions; asked += 20 {
		laptop := w.enrolAt(fmt.Sprint("laptop", asked), fmt.Sprint("1.2.3.", asked))
		for i := range 20 {
			a := askWhat("1", 1, "role:dba")
			a.Digest = fmt.Sprintf("%064x", i)
			w.ask(laptop.Token, a)
		}
	}
	q := w.ask(w.enrolAt("last", "1.2.4.1").Token, askWhat("2", 1, "role:oncall"))
	token := w.command(w.signInAs("ana", "oncall"))
	var list enrolment.AskedList
	if status := w.call(token, "GET", enrolment.AnswersPath, nil, &list); status != 200 || len(list.Waiting) != 1 || list.Waiting[0].ID != q.ID {
		t.Errorf("%d %+v", status, list)
	}
	if status, page := w.visit(questionsPage); status != 200 || !strings.Contains(page, "/questions/"+q.ID) {
		t.Errorf("%d: the page does not list it:\n%s", status, page)
	}
}
