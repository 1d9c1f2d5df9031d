package session

import (
	"context"
	"io"

	"github.com/clawai/clawai/internal/ask/queue"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/session/pinning"
	"github.com/clawai/clawai/internal/state/flow"
)

// State is what sessions share and what outlives each of them.
type State struct {
	Limits gate.Limits
	Pins   *pinning.Store // what was approved of servers; nil where nobody keeps that
	Flow   *flow.Session  // what the agent's session has seen; nil where nobody remembers

	// Invocation names whose state it is, for the record: "group/invocation"; "" is nobody's.
	Invocation string

	// Asked and Granted make, for each session, what gate.Options has under these names: each
	// reads it from the beginning. nil is for a session alone.
	Asked, Granted func() gate.Ledger
}

// makeLedger gives one of these, nil without.
func makeLedger(of func() gate.Ledger) gate.Ledger {
	if of == nil {
		return nil
	}
	return of()
}

// InMemory gives the State of one process, which ends with it.
func InMemory() State { return State{Limits: &gate.Meter{}} }

// SharedState gives the State of one process of an agent's session, whose others count the same
// calls and questions, and go by the same grants.
func SharedState(f *flow.Session) State {
	return State{Limits: &gate.Meter{Ledger: f.CountsLedger()}, Asked: f.AskedLedger, Granted: f.GrantedLedger, Flow: f}
}

// ListeningState gives the State of one process that serves many clients, who are one agent's session.
// What a person allowed holds in each of its sessions alone, but whoever begins one after the
// other asks no more often.
func ListeningState(f *flow.Session) State {
	s := InMemory()
	s.Flow, s.Asked = f, f.AskedLedger
	return s
}

// Invocation is what the sessions of one invocation have in common, within this process.
type Invocation struct {
	all    *Sessions
	name   string
	flow   *flow.Session
	limits *gate.Meter
}

// NewInvocation begins one.
func (s *Sessions) NewInvocation(name string) *Invocation {
	f := flow.NewIsolated(s.o.Folders.State, flow.InvocationKey(name))
	return &Invocation{all: s, name: name, flow: f, limits: &gate.Meter{Ledger: f.CountsLedger()}}
}

// Open is Sessions.Open for a session of it.
func (i *Invocation) Open(p Peer) (*Session, error) {
	return i.all.startSession(p, State{Invocation: i.name, Limits: i.limits, Pins: i.all.o.State.Pins, Flow: i.flow, Asked: i.flow.AskedLedger, Granted: i.flow.GrantedLedger})
}

func closeLedgers(all ...gate.Ledger) {
	for _, l := range all {
		if c, ok := l.(io.Closer); ok {
			_ = c.Close()
		}
	}
}

// End forgets it, when its sessions are closed.
func (i *Invocation) End() error { return i.flow.ForgetSession() }

// Grants is where the answers that hold for a session are shown to others, who
// may take them back. The queue is one.
type Grants interface {
	// SetGrants says which there are now.
	SetGrants(ctx context.Context, all []queue.Grant) error
	// Revoked gives the ids of those taken back, until the session is over.
	Revoked() <-chan string
}
