package gate

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/clawai/clawai/internal/audit"
	"github.com/clawai/clawai/policy"
)

// rules is a Policy whose answer a test can change; nil panics.
type rules struct {
	mu sync.Mutex
	of func(cs []policy.Call) policy.Decision
}

func (r *rules) DecideAll(cs []policy.Call) policy.Decision {
	r.mu.Lock()
	of := r.of
	r.mu.Unlock()
	return of(cs)
}

func (r *rules) set(of func(cs []policy.Call) policy.Decision) {
	r.mu.Lock()
	r.of = of
	r.mu.Unlock()
}

var (
	allowRule  = &policy.Rule{Action: policy.Allow, Description: "fine", Pos: policy.Position{File: "/secret/p.toml", Line: 1}}
	promptRule = &policy.Rule{Action: policy.Prompt, Description: "ask me", Pos: policy.Position{File: "/secret/p.toml", Line: 2}}
	denyRule   = &policy.Rule{Action: policy.Deny, Description: "no shell", Pos: policy.Position{File: "/secret/p.toml", Line: 3}}
)

func always(r *policy.Rule) func([]policy.Call) policy.Decision {
	return func([]policy.Call) policy.Decision { return policy.Decision{Action: r.Action, Rule: r} }
}

// journal is a Recorder, an Approver and an Outlet that writes down the order
// in which the gate used them.
type journal struct {
	mu      sync.Mutex
	lines   []string
	events  []audit.Event
	seq     int
	fail    error
	ask     func(ctx context.Context, q Question) (Answer, error)
	forward error
	ends    map[*Exchange]int
	verdict map[*Exchange]Verdict
	ended   chan *Exchange
}

func newJournal() *journal {
	return &journal{ends: map[*Exchange]int{}, verdict: map[*Exchange]Verdict{}, ended: make(chan *Exchange, 1000)}
}

func (j *journal) log(format string, args ...any) {
	j.lines = append(j.lines, fmt.Sprintf(format, args...))
}

func (j *journal) Record(events ...*audit.Event) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.fail != nil {
		return j.fail
	}
	j.log("record %d", len(events))
	for _, ev := range events {
		j.seq++
		ev.Record = fmt.Sprintf("r%d", j.seq)
		j.events = append(j.events, *ev)
	}
	return nil
}

func (j *journal) Ask(ctx context.Context, q Question) (Answer, error) {
	j.mu.Lock()
	ask := j.ask
	j.log("ask")
	j.mu.Unlock()
	if ask == nil {
		return Answer{Note: "no terminal"}, errors.New("open /dev/tty: ENXIO")
	}
	return ask(ctx, q)
}

func (j *journal) end(x *Exchange, v Verdict, what string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.log("%s %s", what, x.Raw)
	j.ends[x]++
	j.verdict[x] = v
	j.ended <- x
}

func (j *journal) Forward(x *Exchange) error {
	j.end(x, Verdict{Action: policy.Allow}, "forward")
	return j.forward
}
func (j *journal) Refuse(x *Exchange, v Verdict)    { j.end(x, v, "refuse") }
func (j *journal) Waiting(*Exchange, time.Duration) { j.mu.Lock(); j.log("waiting"); j.mu.Unlock() }
func (j *journal) message(raw string) *Exchange     { return &Exchange{Raw: []byte(raw), Out: j} }
func (j *journal) call(raw string) *Exchange {
	x := j.message(raw)
	x.Calls = []policy.Call{{Server: "s", Method: "tools/call", Subject: policy.ToolSubject, Names: []string{"t"}, Args: []byte(`{"a":1}`)}}
	return x
}
