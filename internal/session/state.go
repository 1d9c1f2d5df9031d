package session

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/clawai/clawai/internal/ask/queue"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/session/pinning"
	"github.com/clawai/clawai/internal/state/flow"
	"github.com/clawai/clawai/policy"
)

// State is shared by several sessions. It stays open longer than each of these sessions.
type State struct {
	Limits gate.Limits    // counts the calls of all these sessions together
	Pins   *pinning.Store // the approved entries of servers; nil if approvals are not kept
	Flow   *flow.Session  // the agent's session with its labels; nil if labels are not kept

	// Invocation names the invocation of these sessions in the record: "group/invocation"; "" for
	// no invocation.
	Invocation string

	// Asked and Granted open the ledgers for gate.Options.Asked and gate.Options.Granted. Each
	// session opens its own gate.Ledger, because each reads the ledger from the beginning. If a
	// function is nil, the sessions do not share that ledger.
	Asked, Granted func() gate.Ledger
}

// openLedger calls the function in the parameter open. If this function is nil, openLedger returns
// nil.
func openLedger(open func() gate.Ledger) gate.Ledger {
	if open == nil {
		return nil
	}
	return open()
}

// AgentKeys returns the keys of the agent's session for a client that works in the project. If
// project is "", the process serves many clients, and they all share one session.
func AgentKeys(project string) []string {
	if project == "" {
		return flow.OwnKeys()
	}
	return flow.SessionKeys(os.Getenv, project)
}

// shareState sets the state that this process shares with the other processes of the agent's
// session: all of them count the same calls and questions, and use the same grants.
//
// A process without a project serves many clients, and shares calls and grants with no other
// process: a grant holds only in the session in which a person gave it. But all its sessions count
// the same questions, so that a client gets no more questions by opening more sessions.
func (s *Sessions) shareState() (err error) {
	folder, project, call := s.o.Folders.State, s.o.Files.Project, s.o.Call
	var f *flow.Session
	switch {
	case call != nil && call.Labels:
		if f, err = flow.OfHook(folder, project, call.Session); err != nil {
			err = fmt.Errorf("what the session has seen cannot be read: %w", err)
		}
	case call != nil:
		f = flow.New(folder, flow.SessionKeys(os.Getenv, project))
	case s.o.Parent:
		f = flow.New(folder, AgentKeys(""))
	default:
		f = flow.New(folder, AgentKeys(project))
	}
	s.o.State = &State{Limits: &gate.Meter{}, Asked: f.AskedLedger, Flow: f, Pins: pinning.NewStore(folder, project)}
	s.o.State.Pins.Known = s.hidden.Load
	if call != nil || project != "" {
		s.o.State.Limits, s.o.State.Granted = &gate.Meter{Ledger: f.CountsLedger()}, f.GrantedLedger
	}
	if call == nil && project != "" && !s.o.Parent {
		f.ListenKeys(flow.ClientKeys()...)
		f.FollowClient(os.Getenv)
	}
	return err
}

// OpenAgent is like Open, for the session of one agent among several that this process serves. The
// agent's labels apply only to this agent and to the processes that share its keys.
func (s *Sessions) OpenAgent(p Peer, keys ...string) (*Session, error) {
	f := flow.New(s.o.Folders.State, keys)
	return s.startSession(p, &State{Limits: &gate.Meter{}, Pins: s.o.State.Pins, Flow: f, Asked: f.AskedLedger})
}

// Denies reports whether a rule in force would deny the calls even if no detector found anything in
// them. The condition `after` is treated as met, because the session may see more before the next
// call.
func (s *Session) Denies(calls []policy.Call) bool {
	calls, now := slices.Clone(calls), time.Now()
	for i := range calls {
		calls[i].Screened, calls[i].At = true, now
	}
	d := s.All.inForce().Policy.DecideAll(calls)
	return d.Action == policy.Deny && d.Rule != nil
}

// JoinAgent joins the agent's session with the session that a client names by its id.
func (s *Session) JoinAgent(id string) error { return s.flow.JoinKey(flow.IDKey(id)) }

// JoinProcess joins the agent's session with the session of a client's process.
func (s *Session) JoinProcess(pid int) error { return s.flow.JoinProcess(pid) }

// Invocation is the state that the sessions of one invocation (clawai proxy --invocations) share in
// this process.
type Invocation struct {
	all    *Sessions
	name   string
	flow   *flow.Session
	limits *gate.Meter
}

// NewInvocation begins an invocation.
func (s *Sessions) NewInvocation(name string) *Invocation {
	f := flow.NewIsolated(s.o.Folders.State, flow.InvocationKey(name))
	return &Invocation{all: s, name: name, flow: f, limits: &gate.Meter{Ledger: f.CountsLedger()}}
}

// Open is like Sessions.Open, for a session of the invocation.
func (i *Invocation) Open(p Peer) (*Session, error) {
	return i.all.startSession(p, &State{Invocation: i.name, Limits: i.limits, Pins: i.all.o.State.Pins, Flow: i.flow, Asked: i.flow.AskedLedger, Granted: i.flow.GrantedLedger})
}

func closeLedgers(all ...gate.Ledger) {
	for _, l := range all {
		if c, ok := l.(io.Closer); ok {
			_ = c.Close()
		}
	}
}

// End removes the invocation's state. All sessions of the invocation must be closed.
func (i *Invocation) End() error { return i.flow.ForgetSession() }

// Grants shows a session's grants to other processes, and lets them revoke a grant. The queue
// implements Grants.
type Grants interface {
	// SetGrants replaces the list of current grants.
	SetGrants(ctx context.Context, all []queue.Grant) error
	// Revoked returns a channel of the ids of revoked grants; it is closed when the session is
	// over.
	Revoked() <-chan string
}
