package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/gateway/centre"
	"github.com/clawai/clawai/internal/gateway/principal"
	"github.com/clawai/clawai/internal/gateway/store"
	"github.com/clawai/clawai/internal/state/bundle"
	"github.com/clawai/clawai/internal/state/enrolment"
	"github.com/clawai/clawai/internal/testing/postgrestest"
	"github.com/clawai/clawai/internal/testing/slow"
)

const (
	teamURL    = "https://centre.example"
	teamIssuer = "https://login.example"
)

// team is a centre of several processes on one server of PostgreSQL, with laptops and approvers.
type team struct {
	t        testing.TB
	server   *postgrestest.Server
	centre   *centre.Centre // another process on the same database: it signs people in, and looks at the end
	secret   string         // signs bundles
	replicas []*replica
	client   *http.Client
}

// replica is one process with a folder of its own.
type replica struct {
	dir     string
	mu      sync.Mutex
	address string
	kill    func()
}

// at returns where the process listens now.
func (r *replica) at() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.address
}

// newTeam starts a centre of n processes whose gateway.toml ends with a text, on a server of PostgreSQL with settings.
func newTeam(t testing.TB, n int, end string, settings ...string) *team {
	t.Helper()
	w := &team{t: t, server: postgrestest.Start(t, settings...), client: &http.Client{
		Transport: &http.Transport{MaxIdleConnsPerHost: 300}, Timeout: time.Minute,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	t.Cleanup(w.client.CloseIdleConnections)
	secret, public, err := bundle.NewKey("team.example")
	w.must(err)
	w.secret = secret
	own := fmt.Sprintf("url = %q\ndatabase = %q\nbundle_keys = [%q]\n[listen]\nbehind_proxy = true\naddress = \"127.0.0.1:0\"\noperator = \"off\"\n[oidc]\nissuer = %q\nclient_id = \"centre\"\n[[role]]\nname = \"oncall\"\ngroups = [\"oncall\"]\n",
		teamURL, w.server.Address("postgres"), public, teamIssuer) + end
	var key []byte
	for i := range n {
		dir := t.TempDir()
		w.must(os.WriteFile(filepath.Join(dir, centre.SettingsFile), []byte(own), 0o600))
		if i == 0 {
			w.centre, err = centre.Open(t.Context(), dir)
			w.must(err)
			t.Cleanup(func() { _ = w.centre.Close() })
			key, err = os.ReadFile(filepath.Join(dir, "gateway.key"))
			w.must(err)
		} else {
			w.must(os.WriteFile(filepath.Join(dir, "gateway.key"), key, 0o600))
		}
		r := &replica{dir: dir}
		w.replicas = append(w.replicas, r)
		w.must(r.start())
		t.Cleanup(func() { r.kill() })
	}
	return w
}

func (w *team) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// start starts the process, and returns when it serves.
func (r *replica) start() error {
	cmd := exec.Command(os.Args[0], "serve", "--dir", r.dir)
	cmd.Env = append(os.Environ(), "CLAWAI_TEST_PLAY=gateway")
	var faults bytes.Buffer
	cmd.Stderr = &faults
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if _, address, ok := strings.Cut(lines.Text(), "Serving "+teamURL+" on "); ok {
			ended := make(chan struct{})
			go func() {
				_, _ = io.Copy(io.Discard, out)
				_ = cmd.Wait()
				close(ended)
			}()
			r.mu.Lock()
			defer r.mu.Unlock()
			r.address, r.kill = "http://"+address, func() { _ = cmd.Process.Kill(); <-ended }
			return nil
		}
	}
	return fmt.Errorf("the gateway ended: %w\n%s", errors.Join(cmd.Wait(), lines.Err()), faults.String())
}

// person is an approver who has signed in.
type person struct{ session, form string }

// signIn signs an approver in.
func (w *team) signIn(name string) person {
	w.t.Helper()
	session, err := w.centre.SignIn(w.t.Context(), principal.Principal{Issuer: teamIssuer, Subject: name, Name: name, Groups: []string{"oncall"}, GroupsKnown: true})
	w.must(err)
	return person{session, w.centre.FormToken(session)}
}

// enrol enrols a laptop and returns its token.
func (w *team) enrol() enrolment.Grant {
	w.t.Helper()
	return enrolDirectly(w.t, w.replicas[0].dir)
}

// send sends a request to a process. The status is 0 if it does not answer.
func (w *team) send(r *replica, method, path, token string, header http.Header, body []byte) (status int, answer []byte) {
	q, err := http.NewRequestWithContext(w.t.Context(), method, r.at()+path, bytes.NewReader(body))
	if err != nil {
		w.t.Error(err)
		return 0, nil
	}
	if header != nil {
		q.Header = header
	}
	q.Host = strings.TrimPrefix(teamURL, "https://")
	if token != "" {
		q.Header.Set("Authorization", "Bearer "+token)
		q.Header.Set("Content-Type", "application/json")
	}
	resp, err := w.client.Do(q)
	if err != nil {
		return 0, nil
	}
	defer resp.Body.Close()
	if answer, err = io.ReadAll(resp.Body); err != nil {
		return 0, nil
	}
	return resp.StatusCode, answer
}

// call sends a laptop's request about a question.
func (w *team) call(r *replica, token, method, path string, message any) (status int, q enrolment.QuestionState) {
	var body []byte
	if message != nil {
		var err error
		if body, err = json.Marshal(message); err != nil {
			w.t.Error(err)
		}
	}
	status, answer := w.send(r, method, enrolment.QuestionsPath+path, token, nil, body)
	if status == http.StatusOK {
		if err := json.Unmarshal(answer, &q); err != nil {
			w.t.Errorf("%q: %v", answer, err)
		}
	}
	return status, q
}

// newAsk returns question n of a laptop, for one approver on call.
func newAsk(n int) enrolment.AskQuestion {
	return enrolment.AskQuestion{
		Digest: fmt.Sprintf("%064x", n), Server: "files", Approvers: []string{"role:oncall"}, Approvals: 1, Wait: 60,
		Calls: []enrolment.ShownCall{{Subject: "tool", Method: "tools/call", Names: []string{"write"}, Args: []byte(`{"path":"/srv"}`)}},
	}
}

// answer sends the form of the page: 303 says that the answer counts.
func (w *team) answer(r *replica, p person, question, digest string, allow bool) (status int) {
	word := map[bool]string{true: "allow", false: "deny"}[allow]
	return w.submit(r, p, "/answer", url.Values{"question": {question}, "digest": {digest}, "answer": {word}})
}

// submit sends a form of a page.
func (w *team) submit(r *replica, p person, path string, form url.Values) (status int) {
	form.Set("form", p.form)
	status, _ = w.send(r, "POST", path, "", http.Header{
		"Content-Type": {"application/x-www-form-urlencoded"}, "Origin": {teamURL}, "Cookie": {"__Host-clawai=" + p.session},
	}, []byte(form.Encode()))
	return status
}

// counter counts by name.
type counter struct {
	mu sync.Mutex
	of map[string]int
}

func (c *counter) add(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.of == nil {
		c.of = map[string]int{}
	}
	c.of[name]++
}

// await waits until a name was counted.
func (c *counter) await(t *testing.T, name string) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		c.mu.Lock()
		n, of := c.of[name], fmt.Sprint(c.of)
		c.mu.Unlock()
		switch {
		case n > 0:
			return
		case time.Now().After(end):
			t.Fatalf("%s never came, but %s", name, of)
		}
	}
}

// Fifty approvers answer at two centres on one database, and fifty calls wait at both for the answer and use it:
// one decision, one use. An approval that somebody denies in time is not used. A webhook is told of each state once.
func TestReplicasDecideOnce(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	heard := counter{}
	hook := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var e struct {
			ID string `json:"id"`
		}
		if err := json.NewDecoder(r.Body).Decode(&e); err != nil {
			t.Error(err)
		}
		heard.add(e.ID)
	}))
	defer hook.Close()
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("s\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	w := newTeam(t, 2, fmt.Sprintf("[[webhook]]\nname = \"hook\"\nurl = %q\nsecret_file = %q\n", hook.URL, secret))
	grant := w.enrol()
	people := make([]person, 50)
	for i := range people {
		people[i] = w.signIn(fmt.Sprint("person", i))
	}
	const rounds = 8
	ends := counter{}
	for round := range rounds {
		asked := newAsk(round)
		status, q := w.call(w.replicas[0], grant.Token, "POST", "", asked)
		if status != http.StatusOK {
			t.Fatal(status)
		}
		heard.await(t, q.ID+"-pending-0") // or nothing would be told of a question that is over so soon
		half := round%2 == 1              // of the approvers deny
		counts := counter{}
		var all sync.WaitGroup
		for i, p := range people {
			all.Go(func() {
				allow := !half || i%4 < 2
				counts.add(fmt.Sprintf("answer %t %d", allow, w.answer(w.replicas[i%2], p, q.ID, asked.Digest, allow)))
			})
			all.Go(func() {
				status, got := w.call(w.replicas[i%2], grant.Token, "GET", "/"+q.ID+"?wait=30", nil)
				if status != http.StatusOK || got.State == enrolment.QuestionPending {
					t.Errorf("a call waits in vain: %d, %+v", status, got)
				}
				status, _ = w.call(w.replicas[(i+1)%2], grant.Token, "POST", "/"+q.ID+"/use", nil)
				counts.add("use " + strconv.Itoa(status))
			})
		}
		all.Wait()
		_, got := w.call(w.replicas[1], grant.Token, "GET", "/"+q.ID, nil)
		allowed, denied, used := counts.of["answer true 303"], counts.of["answer false 303"], counts.of["use 200"]
		late := counts.of["answer true 409"] + counts.of["answer false 409"]
		switch {
		case allowed+denied+late != len(people) || used+counts.of["use 409"] != len(people):
			t.Fatalf("round %d: %v", round, counts.of)
		case got.State == enrolment.QuestionUsed && allowed == 1 && denied == 0 && used == 1 && len(got.Votes) == 1:
		case got.State == enrolment.QuestionDenied && half && allowed <= 1 && denied == 1 && used == 0 && len(got.Votes) == 1+allowed:
		default:
			t.Errorf("round %d: %v, %+v", round, counts.of, got)
		}
		ends.add(got.State)
		heard.await(t, fmt.Sprintf("%s-%s-%d", q.ID, got.State, len(got.Votes)))
	}
	t.Log(ends.of)
	for id, n := range heard.of {
		if n != 1 {
			t.Errorf("the webhook was told %d times of %s", n, id)
		}
	}
	over, err := w.centre.Store.ListQuestions(t.Context(), time.Now().Add(-time.Hour), 100)
	if err != nil || len(over) != rounds {
		t.Errorf("%d questions are kept of %d: %v", len(over), rounds, err)
	}
}

// Twenty people agree to a bundle at two centres on one database, and some reject it: two of them put it into force, or one
// ends it, and both centres give laptops the same bundle.
func TestReplicasActivateOnce(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	w := newTeam(t, 2, "[[role]]\nname = \"admin\"\ngroups = [\"oncall\"]\n[bundles]\npeople = 2\n")
	grant := w.enrol()
	people := make([]person, 20)
	for i := range people {
		people[i] = w.signIn(fmt.Sprint("person", i))
	}
	inForce, ends := "", counter{}
	for n := range uint64(10) {
		src, err := bundle.Write(bundle.Bundle{Counter: n + 1, Created: time.Now(), Files: []bundle.File{{Name: bundle.PolicyName, Text: []byte("[[rule]]\naction = \"deny\"\ntool = \"*\"\n")}}})
		w.must(err)
		src, err = bundle.Sign(src, w.secret)
		w.must(err)
		p, err := w.centre.Publish(t.Context(), src, "test")
		w.must(err)
		counts := counter{}
		var all sync.WaitGroup
		for i, who := range people {
			all.Go(func() {
				answer := "agree"
				if n%2 == 1 && i%5 == 0 {
					answer = "reject"
				}
				status := w.submit(w.replicas[i%2], who, "/answer-bundle", url.Values{"bundle": {fmt.Sprint(p.Counter)}, "digest": {p.Digest}, "answer": {answer}})
				counts.add(answer + " " + strconv.Itoa(status))
			})
		}
		all.Wait()
		got, err := w.centre.Store.FindProposal(t.Context(), p.Counter)
		w.must(err)
		agreed, rejected := counts.of["agree 303"], counts.of["reject 303"]
		switch {
		case agreed+rejected+counts.of["agree 409"]+counts.of["reject 409"] != len(people) || agreed+rejected != len(got.Votes):
			t.Fatalf("bundle %d: %v, %+v", p.Counter, counts.of, got.Votes)
		case got.State == store.ProposalActivated && agreed == 2 && rejected == 0 && got.Votes[0].By.Key() != got.Votes[1].By.Key():
			inForce = string(src)
		case got.State == store.ProposalRejected && n%2 == 1 && agreed <= 1 && rejected == 1:
		default:
			t.Errorf("bundle %d: %s, %v", p.Counter, got.State, counts.of)
		}
		ends.add(got.State)
		for _, r := range w.replicas {
			if _, answer := w.send(r, "GET", enrolment.BundlePath, grant.Token, nil, nil); inForce != "" && string(answer) != inForce {
				t.Errorf("bundle %d: a laptop gets %.200q", p.Counter, answer)
			}
		}
	}
	t.Log(ends.of)
	if ends.of[store.ProposalActivated] < 5 {
		t.Errorf("%v", ends.of)
	}
}

// A folder whose gateway.key is missing or another one than that of the database is refused, and nothing is written
// into it: its centre would tell all laptops that they were revoked.
func TestCentresShareAKey(t *testing.T) {
	slow.Test(t)
	t.Parallel()
	text := fmt.Appendf(nil, "database = %q\n", postgrestest.Start(t).Address("postgres"))
	var dirs [2]string
	for i := range dirs {
		dirs[i] = t.TempDir()
		if err := os.WriteFile(filepath.Join(dirs[i], centre.SettingsFile), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	key := filepath.Join(dirs[1], "gateway.key")
	open := func(dir, want string) {
		t.Helper()
		c, err := centre.Open(t.Context(), dir)
		switch {
		case err == nil:
			_ = c.Close()
			if want != "" {
				t.Errorf("opened, want %q", want)
			}
		case want == "" || !strings.Contains(err.Error(), want):
			t.Errorf("%v, want %q", err, want)
		}
	}
	open(dirs[0], "")
	open(dirs[1], "there is no "+key)
	if _, err := os.Lstat(key); err == nil {
		t.Error("a key was made beside that of the database")
	}
	own, err := os.ReadFile(filepath.Join(dirs[0], "gateway.key"))
	if err != nil {
		t.Fatal(err)
	}
	for src, want := range map[string]string{strings.Repeat("0a", 32): key + " is another key", string(own): ""} {
		if err := os.WriteFile(key, []byte(src), 0o600); err != nil {
			t.Fatal(err)
		}
		open(dirs[1], want)
	}
	open(dirs[0], "")
}
