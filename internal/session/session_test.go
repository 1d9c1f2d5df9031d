package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/clawai/clawai/internal/ask/queue"
	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/session/base"
	"github.com/clawai/clawai/internal/state/audit"
	"github.com/clawai/clawai/internal/state/config"
	"github.com/clawai/clawai/policy"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// record keeps what is recorded. On is called for each event before that.
type record struct {
	on func(*event.Event) error

	mu     sync.Mutex // guards what follows
	events []event.Event
}

func (r *record) Record(events ...*event.Event) error {
	for _, ev := range events {
		if r.on != nil {
			if err := r.on(ev); err != nil {
				return err
			}
		}
		r.mu.Lock()
		r.events = append(r.events, *ev)
		r.mu.Unlock()
	}
	return nil
}

// of are the events of a kind.
func (r *record) of(kind event.Kind) (all []event.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, ev := range r.events {
		if ev.Kind == kind {
			all = append(all, ev)
		}
	}
	return all
}

// out is the transport's side of one call.
type out chan string

func (o out) Forward(*gate.Exchange) error            { o <- "forward"; return nil }
func (o out) Refuse(_ *gate.Exchange, v gate.Verdict) { o <- string(v.Stage) + " " + v.Code }
func (o out) Waiting(*gate.Exchange, time.Duration)   {}

// call is what becomes of a call to tool.
func call(s *Session, tool string) string {
	o := make(out, 1)
	s.Do(context.Background(), &gate.Exchange{
		Raw:   []byte(`{}`),
		Calls: []policy.Call{{Method: "tools/call", Subject: policy.ToolSubject, Names: []string{tool}}},
		Event: event.Event{Kind: event.Decision, Method: "tools/call", Subject: "tool", Names: []string{tool}}, Out: o,
	})
	return <-o
}

// house is an owner's folders, with a policy.
func house(t *testing.T, src string) config.Folders {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	f := config.Folders{Home: dir, Config: dir, State: filepath.Join(dir, "state")}
	write(t, f, src)
	return f
}

func write(t *testing.T, f config.Folders, src string) {
	t.Helper()
	if err := os.WriteFile(f.PolicyFile(), []byte(src), 0o600); err != nil {
		t.Fatal(err)
	}
}

func load(t *testing.T, f config.Folders) *config.Loaded {
	t.Helper()
	l, err := config.LoadPolicyFor(f.PolicyFile(), policy.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// sessions are those of a process that asks nobody.
func sessions(t *testing.T, src string, change func(*Spec)) (*Sessions, *record, config.Folders) {
	t.Helper()
	f, r := house(t, src), &record{}
	o := Spec{Program: "clawai 1.2", Policy: load(t, f), Recorder: r, State: &State{Limits: &gate.Meter{}}, Folders: f}
	if change != nil {
		change(&o)
	}
	return listening(t, o), r, f
}

func listening(t *testing.T, o Spec) *Sessions {
	t.Helper()
	s, err := Listen(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closed(t, s) })
	return s
}

func closed(t *testing.T, all io.Closer) {
	t.Helper()
	if err := all.Close(); err != nil {
		t.Error(err)
	}
}

// asks sets the ways to ask; nobody is there.
func asks(t *testing.T, o *Spec, ways ...string) {
	t.Helper()
	settings := fmt.Sprintf("[ask]\norder = [\"%s\"]\nnobody = \"deny\"\nnotify = false\n", strings.Join(ways, `", "`))
	if err := os.WriteFile(o.Folders.SettingsFile(), []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	o.Ask = func(string) (string, bool) { return "", false }
}

func opened(t *testing.T, s *Sessions, p Peer) *Session {
	t.Helper()
	one, err := s.Open(p)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closed(t, one) })
	return one
}

const (
	allowRead = "[[rule]]\naction = \"allow\"\ntool = \"read\"\n"
	denyRead  = "[[rule]]\naction = \"deny\"\ntool = \"read\"\n"
	askRead   = "[[rule]]\naction = \"prompt\"\ntool = \"read\"\n"
)

// What a session is built of shows in what becomes of a call, and in the record.
func TestOpen(t *testing.T) {
	for _, tt := range []struct {
		name   string
		src    string
		change func(*Spec)
		peer   Peer
		became string
		start  event.Event // its Detail without the policy
	}{
		{"a rule allows", allowRead, nil, Peer{Name: "files", Is: "command x"}, "forward",
			event.Event{Server: "files", Detail: "clawai 1.2; command x; "}},
		{"a rule denies", denyRead, nil, Peer{Is: "server https://h/"}, "policy denied_by_rule",
			event.Event{Detail: "clawai 1.2; server https://h/; "}},
		{"a name is guessed", denyRead, nil, Peer{Guess: "npm", Is: "command npm"}, "policy denied_by_rule",
			event.Event{ServerGuess: "npm", Detail: "clawai 1.2; command npm; "}},
		{"nobody is asked", askRead, nil, Peer{Is: "command x"}, "ask nobody_to_ask", event.Event{Detail: "clawai 1.2; command x; "}},
		{"nobody is there to be asked", askRead, func(o *Spec) { asks(t, o, "elicitation") }, Peer{Is: "command x"}, "ask nobody_to_ask", event.Event{Detail: "clawai 1.2; command x; "}},
		{"nothing is enforced", denyRead, func(o *Spec) { o.ObserveOnly = true }, Peer{Is: "command x"}, "forward",
			event.Event{Detail: "clawai 1.2; command x; ", Stage: "observe", Code: "not_enforced"}},
		{"a limit is reached", allowRead, func(o *Spec) { o.State.Limits = full{} }, Peer{Is: "command x"}, "forward",
			event.Event{Detail: "clawai 1.2; command x; "}}, // of a rule that has none
		{"a limit is reached that a rule has", allowRead + "limit = \"1/day\"\n", func(o *Spec) { o.State.Limits = full{} }, Peer{Is: "command x"},
			"rate limit", event.Event{Detail: "clawai 1.2; command x; "}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, r, f := sessions(t, tt.src, tt.change)
			one := opened(t, s, tt.peer)
			if got := call(one, "read"); got != tt.became {
				t.Errorf("the call became %q, want %q", got, tt.became)
			}
			one.End("exit status 3", 3)
			starts, ends := r.of(event.Start), r.of(event.End)
			if len(starts) != 1 || len(ends) != 1 {
				t.Fatalf("%d starts and %d ends are recorded", len(starts), len(ends))
			}
			got := starts[0]
			under := "policy " + f.PolicyFile() + ", revision " + s.inForce().Policy.Revision()
			if got.Server != tt.start.Server || got.ServerGuess != tt.start.ServerGuess || got.Stage != tt.start.Stage || got.Code != tt.start.Code ||
				got.Detail != tt.start.Detail+under {
				t.Errorf("it began with %+v", got)
			}
			if want := "server: exit status 3; clawai's exit code 3"; ends[0].Detail != want {
				t.Errorf("it ended with %q", ends[0].Detail)
			}
		})
	}
}

// full is a State's limits of which each is reached.
type full struct{}

func (full) Charge(_ time.Time, _ gate.Receipt, charges []policy.Charge, _ []policy.Call) (gate.Receipt, gate.Excess) {
	return nil, gate.Excess{Rule: charges[0].Rule, Wait: time.Hour}
}

// Limits are those of all sessions together.
func TestSessionsShareLimits(t *testing.T) {
	s, _, _ := sessions(t, allowRead+"limit = \"1/day\"\n", nil)
	one, two := opened(t, s, Peer{Name: "a"}), opened(t, s, Peer{Name: "b"})
	if got := call(one, "read"); got != "forward" {
		t.Error(got)
	}
	if got := call(two, "read"); got != "rate limit" {
		t.Error(got)
	}
}

// Without a record there is no session.
func TestNoRecordNoSession(t *testing.T) {
	lost := errors.New("the disk is full")
	s, r, _ := sessions(t, allowRead, nil)
	r.on = func(*event.Event) error { return lost }
	if one, err := s.Open(Peer{}); one != nil || !errors.Is(err, lost) {
		t.Errorf("%v, %v", one, err)
	}
	if len(s.open) != 0 {
		t.Error("it is told of changes")
	}
}

// A session that was being made while the policy changed is under the new one,
// is told of it once, and of none when it is over.
func TestASessionMissesNoPolicy(t *testing.T) {
	s, r, f := sessions(t, allowRead, nil)
	write(t, f, denyRead)
	after := load(t, f)
	r.on = func(ev *event.Event) error {
		if ev.Kind == event.Start {
			s.reloadSessions(after, nil)
		}
		return nil
	}
	one := opened(t, s, Peer{})
	r.on = nil
	two := opened(t, s, Peer{})
	for _, each := range []*Session{one, two} {
		if got := call(each, "read"); got != "policy denied_by_rule" {
			t.Error(got)
		}
	}
	told := r.of(event.Policy)
	if len(told) != 1 || told[0].Code != "policy_loaded" || told[0].Detail != "revision "+after.Policy.Revision() {
		t.Errorf("%+v", told)
	}
	two.End("gone", 0)
	s.reloadSessions(nil, errors.New("a typo"))
	told = r.of(event.Policy)[1:]
	if len(told) != 1 || told[0].Code != "policy_kept" || !strings.HasSuffix(told[0].Reason, "stays in force: a typo") {
		t.Errorf("%+v", told)
	}
	if got := call(one, "read"); got != "policy denied_by_rule" {
		t.Errorf("a broken policy changed the answer: %s", got)
	}
}

// The policy's file is watched for the sessions that are open.
func TestWatch(t *testing.T) {
	f, r := house(t, allowRead), &record{}
	s := listening(t, Spec{Folders: f, Recorder: r})
	one := opened(t, s, Peer{})
	write(t, f, denyRead)
	for late := time.After(time.Minute); len(r.of(event.Policy)) == 0; {
		select {
		case <-late:
			t.Fatal("nobody looked")
		case <-time.After(10 * time.Millisecond):
		}
	}
	if got := call(one, "read"); got != "policy denied_by_rule" {
		t.Error(got)
	}
}

// What stands over the policy is in the record from the start.
func TestLayersAreRecorded(t *testing.T) {
	f, r := house(t, allowRead), &record{}
	org := filepath.Join(f.Home, "org.toml")
	if err := os.WriteFile(org, []byte(denyRead), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := config.Layers{Org: []string{org}, State: f.State}.Load(f.PolicyFile(), policy.Options{})
	if err != nil {
		t.Fatal(err)
	}
	l.Notes = append(l.Notes, "one is kept")
	opened(t, listening(t, Spec{Policy: l, Recorder: r, State: &State{Limits: &gate.Meter{}}, Folders: f}), Peer{})
	told := r.of(event.Policy)
	if len(told) != 2 || told[0].Code != "layer" || !strings.HasPrefix(told[0].Detail, "under the organisation's "+org) ||
		told[1].Code != "layer_kept" || told[1].Reason != "one is kept" {
		t.Errorf("%+v", told)
	}
}

// shown is where grants are listed.
type shown struct {
	listed chan []queue.Grant
	err    error
}

func (g *shown) SetGrants(_ context.Context, all []queue.Grant) error {
	g.listed <- all
	return g.err
}

func (g *shown) Revoked() <-chan string { return nil }

// Whoever lists grants is told when they change; that it could not is recorded.
func TestGrantsAreShown(t *testing.T) {
	s, r, _ := sessions(t, allowRead, nil)
	one := opened(t, s, Peer{})
	g := &shown{listed: make(chan []queue.Grant), err: errors.New("the disk is full")}
	one.asking.tasks.Go(func() { one.asking.shareGrants(g) })
	one.asking.signalGrants()
	if all := <-g.listed; len(all) != 0 {
		t.Errorf("%+v", all)
	}
	one.asking.signalGrants() // taken up when the first is through
	<-g.listed
	told := r.of(event.Chatter)
	if len(told) == 0 || told[0].Code != "asking" || told[0].Detail != "the answers for this session cannot be listed: the disk is full" {
		t.Errorf("%+v", told)
	}
}

// Only a server that we start, in a session that asks at the terminal, writes
// where the questions are.
func TestStderr(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*Spec)
		shares bool
	}{
		{"asked at the terminal", func(o *Spec) { o.Stderr = os.Stderr; asks(t, o, "web", "terminal") }, true},
		{"asked elsewhere", func(o *Spec) { o.Stderr = os.Stderr; asks(t, o, "web") }, false},
		{"never asked", func(o *Spec) { o.Stderr = os.Stderr }, false},
		{"nothing enforced", func(o *Spec) {
			o.Stderr, o.ObserveOnly = os.Stderr, true
			asks(t, o, "terminal")
		}, false},
		{"a server elsewhere", func(o *Spec) { asks(t, o, "terminal") }, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, _, _ := sessions(t, allowRead, tt.change)
			if got := s.sharesTerminal(); got != tt.shares {
				t.Errorf("shared: %v", got)
			}
			if s.relay == nil && s.Stderr() != s.o.Stderr { // a test's stderr need not be a terminal
				t.Error("it is given another stderr")
			}
			s.CloseServerEnd()
		})
	}
}

func TestOpenRecord(t *testing.T) {
	f := house(t, "")
	log, err := base.OpenRecord(f.State, 0, audit.SyncNone)
	if err != nil {
		t.Fatal(err)
	}
	denied := func(tool, said string) *event.Event {
		return &event.Event{Kind: event.Decision, Method: "tools/call", Subject: "tool", Names: []string{tool}, Policy: said, Decision: "deny",
			Args: []byte(`{"token":"x"}`)}
	}
	if err := log.Record(denied("one", "deny"), denied("unanswered", "prompt"), denied("two", "deny")); err != nil {
		t.Fatal(err)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	known := deniedCalls{base.RecordDir(f.State)}
	var names []string
	for d, err := range known.Calls() {
		if err != nil || d.Cut || d.Call.Subject != policy.ToolSubject || d.Call.At.IsZero() || !known.Redacted(string(d.Call.Args)) {
			t.Errorf("%+v, %v", d, err)
		}
		names = append(names, d.Call.Names...)
	}
	if !slices.Equal(names, []string{"one", "two"}) {
		t.Errorf("the rules denied %q", names)
	}
	if _, err := base.OpenRecord(f.PolicyFile(), 0, audit.SyncNone); err == nil || !strings.HasPrefix(err.Error(), "cannot keep a record: ") {
		t.Errorf("a file is not a folder: %v", err)
	}
}
