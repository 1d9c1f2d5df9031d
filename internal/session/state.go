package session

import (
	"context"
	"io"

	"github.com/clawai/clawai/internal/approve/queue"
	"github.com/clawai/clawai/internal/flow"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/session/pinning"
)

// State is what sessions share and what outlives each of them.
type State struct {
	Limits gate.Limits
	Pins   *pinning.Store // what was approved of servers; nil where nobody keeps that
	Flow   *flow.Session  // what the agent's session has seen; nil where nobody remembers

	// Invocation names whose state it is, for the record: "group/invocation"; "" is nobody's.
	Invocation string

	// Asked and Granted are as gate.Options has them: nil for this process alone.
	Asked, Granted gate.Ledger
}

// InMemory is the State of one process, which ends with it.
func InMemory() State { return State{Limits: &gate.Meter{}} }

// Shared is the State of one process of an agent's session, whose others count the same
// calls and questions, and go by the same grants.
func Shared(f *flow.Session) State {
	return State{Limits: &gate.Meter{Ledger: f.Counts()}, Asked: f.Asked(), Granted: f.Granted(), Flow: f}
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
	f := flow.Alone(s.o.Folders.State, flow.InvocationKey(name))
	return &Invocation{all: s, name: name, flow: f, limits: &gate.Meter{Ledger: f.Counts()}}
}

// Open is Sessions.Open for a session of it.
func (i *Invocation) Open(p Peer) (*Session, error) {
	asked, granted := i.flow.Asked(), i.flow.Granted() // each reads them from the beginning
	one, err := i.all.start(p, State{Invocation: i.name, Limits: i.limits, Pins: i.all.o.State.Pins, Flow: i.flow, Asked: asked, Granted: granted})
	if err != nil {
		release(asked, granted)
		return nil, err
	}
	one.release = func() { release(asked, granted) }
	return one, nil
}

func release(all ...gate.Ledger) {
	for _, l := range all {
		if c, ok := l.(io.Closer); ok {
			_ = c.Close()
		}
	}
}

// End forgets it, when its sessions are closed.
func (i *Invocation) End() error { return i.flow.Forget() }

// Grants is where the answers that hold for a session are shown to others, who
// may take them back. The queue is one.
type Grants interface {
	// SetGrants says which there are now.
	SetGrants(ctx context.Context, all []queue.Grant) error
	// Revoked gives the ids of those taken back, until the session is over.
	Revoked() <-chan string
}
