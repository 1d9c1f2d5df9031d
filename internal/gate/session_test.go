package gate

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"
	"weak"

	"go.uber.org/goleak"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/policy"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// rules is a Policy made of one function.
type rules func(cs []policy.Call) policy.Decision

func (r rules) DecideAll(cs []policy.Call) policy.Decision           { return r(cs) }
func (rules) Hint([]policy.Call) string                              { return "" }
func (rules) AlterReply([]policy.Call, []string) []policy.Alteration { return nil }
func (rules) Timed() bool                                            { return false }
func (rules) Labelled() bool                                         { return false }
func (rules) Packs() []policy.Pack                                   { return nil }
func (rules) Pin(string) policy.Pin                                  { return 0 }
func (rules) Revision() string                                       { return "" }
func (rules) Screens(policy.On) ([]string, bool)                     { return nil, false }
func (rules) FindsIn(*policy.Call) bool                              { return true }
func (rules) DecideReply(policy.On, []policy.Call, []string) policy.Decision {
	return policy.Decision{Action: policy.Allow}
}

func rule(a policy.Action, line int, text string) *policy.Rule {
	return &policy.Rule{Action: a, Description: text, Pos: policy.Position{File: "/secret/p.toml", Line: line}}
}

var (
	allowRule  = rule(policy.Allow, 1, "fine")
	promptRule = rule(policy.Prompt, 2, "ask me")
	denyRule   = rule(policy.Deny, 3, "no shell")
)

// always is a Policy of one rule.
func always(r *policy.Rule) Policy {
	return rules(func([]policy.Call) policy.Decision { return policy.Decision{Action: r.Action, Rule: r} })
}

// byName decides by the first name of the strictest call: the frames of a test
// say what shall become of them.
var byName = rules(func(cs []policy.Call) (d policy.Decision) {
	d.Action = policy.Allow
	for i := range cs {
		switch cs[i].Names[0] {
		case "allow":
			if d.Rule == nil {
				d.Rule = allowRule
			}
		case "prompt":
			if d.Action == policy.Allow {
				d = policy.Decision{Action: policy.Prompt, Rule: promptRule}
			}
		case "deny":
			return policy.Decision{Rule: denyRule}
		case "malformed":
			return policy.Decision{Reason: "the name has an invisible character"}
		case "panic":
			panic("rules fell")
		case "free":
		default:
			return policy.Decision{}
		}
	}
	return d
})

// journal is Recorder, Approver and Outlet at once, and writes down in which
// order the gate used them.
type journal struct {
	mu       sync.Mutex
	lines    []string
	events   []event.Event
	ends     map[*Exchange][]string
	verdicts map[*Exchange]Verdict

	record  func() error
	person  func(ctx context.Context, q Question) (Answer, error)
	forward func() error
	waiting func()
}

func newJournal() *journal {
	return &journal{ends: map[*Exchange][]string{}, verdicts: map[*Exchange]Verdict{}}
}

func (j *journal) log(format string, args ...any) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lines = append(j.lines, fmt.Sprintf(format, args...))
}

func (j *journal) Record(events ...*event.Event) error {
	j.mu.Lock()
	fails := j.record
	j.mu.Unlock()
	if fails != nil {
		if err := fails(); err != nil {
			return err
		}
	}
	j.log("record %d", len(events))
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, ev := range events {
		ev.Record = fmt.Sprintf("r%d", len(j.events)+1)
		j.events = append(j.events, *ev)
	}
	return nil
}

func (j *journal) Ask(ctx context.Context, q Question) (Answer, error) {
	j.log("ask")
	if j.person == nil {
		return Answer{Note: "no terminal"}, errors.New("open /dev/tty: ENXIO")
	}
	return j.person(ctx, q)
}

func (j *journal) end(x *Exchange, how string, v Verdict) {
	j.log("%s %s", how, x.Raw)
	j.mu.Lock()
	defer j.mu.Unlock()
	j.ends[x] = append(j.ends[x], how)
	j.verdicts[x] = v
}

func (j *journal) Forward(x *Exchange) error {
	j.end(x, "forward", Verdict{Action: policy.Allow})
	if j.forward != nil {
		return j.forward()
	}
	return nil
}

func (j *journal) Refuse(x *Exchange, v Verdict) { j.end(x, "refuse", v) }

func (j *journal) Waiting(x *Exchange, elapsed time.Duration) {
	j.log("waiting %s", elapsed)
	if j.waiting != nil {
		j.waiting()
	}
}

// became is "forward", the code of the refusal, or what went wrong.
func (j *journal) became(x *Exchange) string {
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.ends[x]) != 1 {
		return fmt.Sprintf("%d ends: %v", len(j.ends[x]), j.ends[x])
	}
	if j.ends[x][0] == "refuse" {
		return j.verdicts[x].Code
	}
	return "forward"
}

func (j *journal) expect(t *testing.T, x *Exchange, want string) {
	t.Helper()
	if got := j.became(x); got != want {
		t.Errorf("%s became %q, want %q", x.Raw, got, want)
	}
}

// message is an exchange that no rule governs.
func (j *journal) message(raw string) *Exchange {
	return &Exchange{Raw: []byte(raw), Event: event.Event{Server: "srv"}, Out: j}
}

// call is a tool call; its raw bytes name what byName shall say.
func (j *journal) call(raw string) *Exchange {
	x := j.message(raw)
	x.Calls = []policy.Call{tool(raw)}
	return x
}

func tool(name string) policy.Call {
	return policy.Call{Server: "srv", Method: "tools/call", Subject: policy.ToolSubject, Names: []string{name}, Args: []byte(`{"a":1}`)}
}

// says is a person with one answer.
func says(r Reply) func(context.Context, Question) (Answer, error) {
	return func(_ context.Context, q Question) (Answer, error) {
		return Answer{Reply: r, Digest: q.Digest, Channel: "test"}, nil
	}
}

// silent is a person who never answers.
func silent(ctx context.Context, _ Question) (Answer, error) {
	<-ctx.Done()
	return Answer{}, ctx.Err()
}

func session(t *testing.T, j *journal, p Policy) *Session {
	t.Helper()
	return sessionOf(t, j, p, Options{})
}

// alone has nobody behind the ports that o leaves out.
func alone(o Options) Options {
	if o.Concluder == nil {
		o.Concluder = None{}
	}
	if o.Inspector == nil {
		o.Inspector = None{}
	}
	if o.Labels == nil {
		o.Labels = None{}
	}
	if o.Releases == nil {
		o.Releases = None{}
	}
	return o
}

func sessionOf(t *testing.T, j *journal, p Policy, o Options) *Session {
	t.Helper()
	o.Policy, o.Recorder, o.Approver = p, j, j
	s, err := New(alone(o))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// A policy that another has taken the place of is not kept, the first included.
func TestASupersededPolicyIsLetGo(t *testing.T) {
	s, gone := func() (*Session, weak.Pointer[revised]) {
		first := &revised{byName}
		return session(t, &journal{}, first), weak.Make(first)
	}()
	s.SetPolicy(byName)
	for range 2 {
		runtime.GC()
	}
	if gone.Value() != nil {
		t.Error("the first policy is still there")
	}
	runtime.KeepAlive(s)
}

// A call is judged, and recorded, with the folder that its server was started in; a
// denial has what the rules would have let through.
func TestWhereRelativePathsStart(t *testing.T) {
	j := &journal{}
	seen := ""
	s := sessionOf(t, j, hinting{func(cs []policy.Call) policy.Decision {
		seen = cs[0].Cwd + cs[0].OS
		return policy.Decision{}
	}}, Options{Facts: policy.Facts{Cwd: "/srv", OS: "windows"}})
	x := j.call("deny")
	s.Do(t.Context(), x)
	if seen != "/srvwindows" || x.Event.Cwd != "/srv" || x.Event.OS != "windows" {
		t.Errorf("judged in %q, recorded in %q", seen, x.Event.Cwd)
	}
	if x.verdict.Hint != "~/projects" {
		t.Errorf("the hint is %q", x.verdict.Hint)
	}
}

// hinting is rules that know a folder.
type hinting struct{ rules }

func (hinting) Hint([]policy.Call) string { return "~/projects" }

// Who keeps what the rules let through hears when there are others.
func TestRulesAreSuperseded(t *testing.T) {
	s := session(t, &journal{}, noRules{})
	before := s.RulesChanged()
	select {
	case <-before:
		t.Error("they are in force")
	default:
	}
	s.SetPolicy(noRules{})
	<-before
	if s.RulesChanged() == before {
		t.Error("the new ones are called superseded")
	}
}
