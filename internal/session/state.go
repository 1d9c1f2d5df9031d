package session

import (
	"context"

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

// Grants is where the answers that hold for a session are shown to others, who
// may take them back. The queue is one.
type Grants interface {
	// SetGrants says which there are now.
	SetGrants(ctx context.Context, all []queue.Grant) error
	// Revoked gives the ids of those taken back, until the session is over.
	Revoked() <-chan string
}
