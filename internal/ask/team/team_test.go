package team_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/ask/team"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/state/enrolment"
	"github.com/clawai/clawai/internal/testing/gatetest"
	"github.com/clawai/clawai/internal/testing/slow"
	"github.com/clawai/clawai/internal/text/redact"
	"github.com/clawai/clawai/policy"
)

// fakeCentre answers as docs/gateway.md says, by what a test wants.
type fakeCentre struct {
	mu      sync.Mutex
	changed chan struct{}
	state   string
	allow   bool
	votes   int                                           // persons in the answer to a use
	asked   []enrolment.AskQuestion                       // what came
	ended   int                                           // questions that the laptop ended
	answer  func(http.ResponseWriter, *http.Request) bool // reports whether it has answered; nil: no
	left    bool
}

func (c *fakeCentre) say(state string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.state, c.allow = state, state == enrolment.QuestionApproved
	close(c.changed)
	c.changed = make(chan struct{})
}

func (c *fakeCentre) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	special, left := c.answer, c.left
	c.mu.Unlock()
	if left {
		panic(http.ErrAbortHandler)
	}
	if special != nil && special(w, r) {
		return
	}
	if r.Header.Get("Authorization") != "Bearer secret" {
		w.WriteHeader(http.StatusUnauthorized)
		_ = json.NewEncoder(w).Encode(enrolment.Refusal{Error: "unauthorized", Description: "This laptop's token is not valid here."})
		return
	}
	state := enrolment.QuestionState{ID: "q1", Until: 900}
	body, _ := io.ReadAll(r.Body)
	c.mu.Lock()
	changed := c.changed
	switch {
	case strings.HasSuffix(r.URL.Path, "/use"):
		c.state = enrolment.QuestionUsed
	case r.Method == http.MethodPost:
		var a enrolment.AskQuestion
		_ = json.Unmarshal(body, &a)
		c.asked = append(c.asked, a)
	case r.Method == http.MethodDelete:
		c.ended++
	case c.state == enrolment.QuestionPending:
		c.mu.Unlock()
		select {
		case <-changed:
		case <-r.Context().Done():
			return
		}
		c.mu.Lock()
	}
	state.State = c.state
	if c.state == enrolment.QuestionUsed {
		c.state = enrolment.QuestionPending // for the next question
		for i := range c.votes {
			state.Votes = append(state.Votes, enrolment.Voice{Name: fmt.Sprint("ana", i), Key: fmt.Sprint("https://id.example#", i), Allow: true, Words: "fine"})
		}
	}
	if c.state == enrolment.QuestionDenied {
		state.Votes = append(state.Votes, enrolment.Voice{Name: "ben", Key: "https://id.example#ben", Words: "not now"})
		if r.Method == http.MethodGet {
			c.state = enrolment.QuestionPending
		}
	}
	c.mu.Unlock()
	_ = json.NewEncoder(w).Encode(state)
}

// start starts a centre at which a laptop is enrolled, and returns the laptop's way to ask.
func start(t testing.TB) (*fakeCentre, *team.Channel) {
	t.Helper()
	c := &fakeCentre{changed: make(chan struct{}), state: enrolment.QuestionPending, votes: 1}
	server := httptest.NewServer(c)
	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	state := t.TempDir()
	if err := enrolment.WriteEnrolment(state, enrolment.Enrolment{URL: server.URL, Laptop: "lp", Token: "secret", BundleKeys: []string{"k"}, Offline: enrolment.Offline{Days: 1, Then: enrolment.Keep}, Since: time.Now()}); err != nil {
		t.Fatal(err)
	}
	return c, team.New(team.Options{State: state, Transport: http.DefaultTransport, Known: func() *redact.Known { return redact.NewKnown([][]byte{[]byte("hunter2hunter2")}) }})
}

// person answers at the centre.
type person struct{ c *fakeCentre }

func (p person) Say(r gate.Reply) {
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		p.c.mu.Lock()
		asked := len(p.c.asked) > 0
		p.c.asked = nil
		p.c.mu.Unlock()
		if asked {
			break
		}
	}
	if r.Allows() {
		p.c.say(enrolment.QuestionApproved)
	} else {
		p.c.say(enrolment.QuestionDenied)
	}
}

func (p person) Leave() {
	p.c.mu.Lock()
	defer p.c.mu.Unlock()
	p.c.left = true
}

// reserving asks each question of the contract of approvers.
type reserving struct{ gate.Approver }

func (r reserving) Ask(ctx context.Context, q gate.Question) (gate.Answer, error) {
	q.Rule.Approval, q.Value = &policy.Approval{Approvers: []string{"role:oncall"}, Votes: 1}, q.Digest
	if deadline, ok := ctx.Deadline(); !ok || time.Until(deadline) > 5*time.Second { // a centre that is gone is tried again until then
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, 5*time.Second)
		defer stop()
	}
	return r.Approver.Ask(ctx, q)
}

func TestContract(t *testing.T) {
	gatetest.Run(t, gatetest.Approver{
		New: func(t testing.TB) (gate.Approver, gatetest.Person) {
			c, channel := start(t)
			return reserving{channel}, person{c}
		},
		Replies: []gate.Reply{gate.AllowOnce, gate.DenyOnce},
	})
}

func question(votes int) gate.Question {
	return gate.Question{
		Calls:  []policy.Call{{Server: "s", Method: "tools/call", Subject: policy.ToolSubject, Names: []string{"deploy"}, Args: []byte(`{"token":"hunter2hunter2","text":"` + strings.Repeat("a", 6000) + `"}`)}},
		Rule:   policy.Rule{Action: policy.Prompt, OutOfBand: true, Approval: &policy.Approval{Approvers: []string{"role:oncall"}, Votes: votes, NotSelf: true}, Pos: policy.Position{File: "p.toml", Line: 3}},
		Digest: [32]byte{1}, Value: [32]byte{2}, Server: "s", Deadline: time.Now().Add(time.Minute),
	}
}

// TestTheCentreSeesAllButSecrets: nothing is cut, secrets are counted, and the answer says by whom.
func TestTheCentreSeesAllButSecrets(t *testing.T) {
	c, channel := start(t)
	c.votes = 2
	c.say(enrolment.QuestionApproved)
	a, err := channel.Ask(t.Context(), question(2))
	if err != nil || a.Reply != gate.AllowOnce || a.By != "ana0 (https://id.example#0), ana1 (https://id.example#1)" || a.Channel != team.Name || a.Approval.Votes != 2 || a.Words != "fine; fine" {
		t.Fatalf("%+v, %v", a, err)
	}
	got := c.asked[0]
	args := string(got.Calls[0].Args)
	if strings.Contains(args, "hunter2") || !strings.Contains(args, strings.Repeat("a", 6000)) || got.Hidden != 1 || got.Digest != "02"+strings.Repeat("00", 31) || !got.NotSelf || got.Approvals != 2 || got.RuleLine != 3 || got.Wait < 50 {
		t.Errorf("%+v\n%s", got, args)
	}
}

// TestTheEnrolmentEndsWhileACallWaits: a centre that the owner has left allows nothing.
func TestTheEnrolmentEndsWhileACallWaits(t *testing.T) {
	c, _ := start(t)
	server := httptest.NewServer(c)
	defer server.Close()
	state := t.TempDir()
	if err := enrolment.WriteEnrolment(state, enrolment.Enrolment{URL: server.URL, Laptop: "lp", Token: "secret", BundleKeys: []string{"k"}, Offline: enrolment.Offline{Days: 1, Then: enrolment.Keep}, Since: time.Now()}); err != nil {
		t.Fatal(err)
	}
	c.answer = func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodGet {
			_ = os.RemoveAll(enrolment.Folder(state))
		}
		return false
	}
	go person{c}.Say(gate.AllowOnce)
	channel := team.New(team.Options{State: state, Transport: http.DefaultTransport, Known: func() *redact.Known { return nil }})
	a, err := channel.Ask(t.Context(), question(1))
	if err == nil || a.Reply.Allows() || !strings.Contains(a.Note, "the enrolment at the team's centre ended") {
		t.Errorf("%v %q, %v", a.Reply, a.Note, err)
	}
}

func TestACentreThatCannotBeBelieved(t *testing.T) {
	say := func(status int, body string) func(http.ResponseWriter, *http.Request) bool {
		return func(w http.ResponseWriter, _ *http.Request) bool {
			w.WriteHeader(status)
			_, _ = w.Write([]byte(body))
			return true
		}
	}
	atUse := func(status int, body string) func(http.ResponseWriter, *http.Request) bool {
		return func(w http.ResponseWriter, r *http.Request) bool {
			if !strings.HasSuffix(r.URL.Path, "/use") {
				return false
			}
			return say(status, body)(w, r)
		}
	}
	for name, c := range map[string]struct {
		answer func(http.ResponseWriter, *http.Request) bool
		note   string
	}{
		"a page":               {say(200, "<html>"), "what answers at the address of the team's centre is no centre"},
		"nothing":              {say(200, "{}"), "is no centre"},
		"a hostile id":         {say(200, `{"id":"../../x","state":"approved"}`), "is no centre"},
		"too much":             {say(200, `{"id":"q","state":"approved","x":"`+strings.Repeat("x", 1<<17)+`"}`), "is no centre"},
		"another program":      {say(404, "not found"), "is no centre"},
		"a redirect":           {say(302, ""), "is no centre"},
		"a refusal":            {say(429, `{"error":"too_many_requests","error_description":"20 questions wait.\u001b[2J"}`), `refused the question: 20 questions wait.\u{1b}[2J`},
		"used before":          {atUse(409, `{"error":"conflict","error_description":"It was answered, or is over."}`), "It was answered, or is over"},
		"nobody allowed it":    {atUse(200, `{"id":"q1","state":"used"}`), "allowed it by 0 persons"},
		"not used":             {atUse(200, `{"id":"q1","state":"approved","votes":[{"name":"a","key":"k","allow":true}]}`), "is no centre"},
		"another question":     {atUse(200, `{"id":"q2","state":"used","votes":[{"key":"k","allow":true},{"key":"l","allow":true}]}`), "is no centre"},
		"one person twice":     {atUse(200, `{"id":"q1","state":"used","votes":[{"key":"k","allow":true},{"key":"k","allow":true}]}`), "allowed it by 1 persons"},
		"somebody denied":      {atUse(200, `{"id":"q1","state":"used","votes":[{"key":"k","allow":true},{"key":"l","allow":true},{"key":"m"}]}`), "somebody denied"},
		"garbage at use":       {atUse(200, `x`), "is no centre"},
		"an expired question":  {say(200, `{"id":"q1","state":"expired"}`), "it is expired"},
		"a state that is none": {say(200, `{"id":"q1","state":"\u001b[2J"}`), "it is unknown"},
	} {
		t.Run(name, func(t *testing.T) {
			centre, channel := start(t)
			centre.say(enrolment.QuestionApproved)
			centre.answer = c.answer
			a, err := channel.Ask(t.Context(), question(2))
			if err == nil || a.Reply.Allows() || !strings.Contains(a.Note, c.note) {
				t.Errorf("%v %q, %v; want %q", a.Reply, a.Note, err, c.note)
			}
		})
	}
}

func TestACentreThatIsGone(t *testing.T) {
	c, channel := start(t)
	c.left = true
	if a, err := channel.Ask(t.Context(), question(1)); err == nil || a.Reply.Allows() || a.Note != "the team's centre cannot be reached" {
		t.Errorf("%+v, %v", a, err)
	}
	none := team.New(team.Options{State: t.TempDir(), Known: func() *redact.Known { return nil }})
	if err := none.Available(t.Context(), question(1)); err == nil || !strings.Contains(err.Error(), "clawai enroll URL") {
		t.Errorf("%v", err)
	}
	if a, err := none.Ask(t.Context(), question(1)); err == nil || !strings.Contains(a.Note, "clawai enroll URL") {
		t.Errorf("%+v, %v", a, err)
	}
	long := question(1)
	long.Calls[0].Args = []byte(`"` + strings.Repeat("x", enrolment.MaxQuestion) + `"`)
	if a, err := channel.Ask(t.Context(), long); err == nil || !strings.Contains(a.Note, "too long to be shown") {
		t.Errorf("%q, %v", a.Note, err)
	}
}

// TestNobodyAnswers: the agent is told how to ask again, before the gate's own deadline; and a call that
// is withdrawn ends its question.
func TestNobodyAnswers(t *testing.T) {
	slow.Test(t) // it waits for every deadline
	t.Parallel()
	_, channel := start(t)
	ctx, stop := context.WithTimeout(t.Context(), 7*time.Second) // of which the laptop leaves 1.4
	defer stop()
	a, err := channel.Ask(ctx, question(1))
	if !errors.Is(err, gate.ErrKept) || !strings.Contains(a.Note, "approval reference q1") || ctx.Err() != nil {
		t.Errorf("%+v, %v, %v", a, err, ctx.Err())
	}
	c, channel := start(t)
	withdrawn, cancel := context.WithCancelCause(t.Context())
	c.answer = func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodGet {
			cancel(gate.ErrWithdrawn)
		}
		return false
	}
	if a, err := channel.Ask(withdrawn, question(1)); !errors.Is(err, gate.ErrWithdrawn) || a.Reply.Allows() || c.ended != 1 {
		t.Errorf("%+v, %v; ended %d", a, err, c.ended)
	}
}

// TestACallIsWithdrawnWhileItIsHandedOver: the centre has the question, and the laptop has not read its
// name yet. It must still end.
func TestACallIsWithdrawnWhileItIsHandedOver(t *testing.T) {
	c, channel := start(t)
	withdrawn, cancel := context.WithCancelCause(t.Context())
	c.answer = func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodPost {
			cancel(gate.ErrWithdrawn)
			time.Sleep(20 * time.Millisecond)
		}
		return false
	}
	if a, err := channel.Ask(withdrawn, question(1)); !errors.Is(err, gate.ErrWithdrawn) || a.Reply.Allows() || c.ended != 1 {
		t.Errorf("%+v, %v; ended %d", a, err, c.ended)
	}
}
