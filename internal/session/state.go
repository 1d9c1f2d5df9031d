package session

import (
	"context"

	"github.com/clawai/clawai/internal/approve/queue"
	"github.com/clawai/clawai/internal/gate"
)

// State is what sessions share and what outlives each of them.
type State struct {
	Limits gate.Limits
	Labels gate.Labels
}

// InMemory is the State of one process, which ends with it.
func InMemory() State { return State{Limits: &gate.Meter{}, Labels: gate.None{}} }

// Grants is where the answers that hold for a session are shown to others, who
// may take them back. The queue is one.
type Grants interface {
	// SetGrants says which there are now.
	SetGrants(ctx context.Context, all []queue.Grant) error
	// Revoked gives the ids of those taken back, until the session is over.
	Revoked() <-chan string
}
