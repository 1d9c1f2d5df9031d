package session

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/clawai/clawai/internal/ask/queue"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/session/pinning"
	"github.com/clawai/clawai/internal/state/flow"
)

// State holds what sessions share and what outlives each of them.
type State struct {
	Limits gate.Limits
	Pins   *pinning.Store // what was approved of servers; nil if that is not kept
	Flow   *flow.Session  // what the agent's session has seen; nil if that is not remembered

	// Invocation names the invocation of this state, for the record: "group/invocation"; "" for
	// none.
	Invocation string

	// Asked and Granted return the ledgers of that name in gate.Options. Each session gets its
	// own, because each reads the ledger from the beginning. nil means that the session does not
	// share.
	Asked, Granted func() gate.Ledger
}

// makeLedger returns a new ledger; nil if there is no function.
func makeLedger(of func() gate.Ledger) gate.Ledger {
	if of == nil {
		return nil
	}
	return of()
}

// InMemory returns a State that ends with the process.
func InMemory() *State { return &State{Limits: &gate.Meter{}} }

// AgentKeys returns the keys of the agent's session for a client that works in the project. A
// process without a project serves many clients, which all share one session.
func AgentKeys(project string) []string {
	if project == "" {
		return flow.OwnKeys()
	}
	return flow.SessionKeys(os.Getenv, project)
}

// shareState sets the state that this process shares with the others of the agent's session: they
// count the same calls and questions, and use the same grants. A process that serves many clients
// shares it with no other. There, a grant holds only in the session in which it was given, but the
// limit of questions is shared, so that opening sessions one after the other allows no more.
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
	default:
		f = flow.New(folder, AgentKeys(project))
	}
	s.o.State = &State{Limits: &gate.Meter{}, Asked: f.AskedLedger, Flow: f, Pins: pinning.NewStore(folder, project)}
	s.o.State.Pins.Known = s.hidden.Load
	if call != nil || project != "" {
		s.o.State.Limits, s.o.State.Granted = &gate.Meter{Ledger: f.CountsLedger()}, f.GrantedLedger
	}
	if call == nil && project != "" {
		f.ListenKeys(flow.ClientKeys()...)
		f.FollowClient(os.Getenv)
	}
	return err
}

// Invocation is what the sessions of one invocation share in this process.
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

// End removes the invocation's state. Its sessions must be closed.
func (i *Invocation) End() error { return i.flow.ForgetSession() }

// Grants shows the answers that hold for a session to other processes, which may revoke them. The
// queue implements it.
type Grants interface {
	// SetGrants replaces the list of current grants.
	SetGrants(ctx context.Context, all []queue.Grant) error
	// Revoked returns a channel of the ids of revoked grants; it is closed when the session is
	// over.
	Revoked() <-chan string
}
