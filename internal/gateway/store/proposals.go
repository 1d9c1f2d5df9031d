package store

import (
	"context"
	"time"

	"github.com/clawai/clawai/internal/gateway/principal"
)

// The states of a Proposal.
const (
	ProposalWaits     = "waits"
	ProposalActivated = "activated" // it is in force, or was until a newer bundle came
	ProposalRejected  = "rejected"
	ProposalReplaced  = "replaced" // a newer bundle was published while it waited
)

// Proposal is a published bundle that people must put into force. Until then it is no Bundle of the store, so no
// laptop gets it.
type Proposal struct {
	Bundle
	Publisher principal.Principal // the zero value: the command line of the centre
	State     string
	Decided   time.Time // when it stopped waiting
	DecidedBy string    // name and key of the last who had to agree, or who rejected it; who published the newer bundle
	Votes     []Vote    // in the order in which they came
}

// Proposals keeps bundles that wait for people, and those that have waited. At most one waits: each newer bundle,
// also one that is in force at once, replaces it.
type Proposals interface {
	// AddProposal adds a bundle that waits. ErrOlder: its counter is not higher than that of every bundle and
	// every proposal, whatever became of it.
	AddProposal(ctx context.Context, p Proposal) error
	// FindProposal returns a proposal; ErrNone if there is none with this counter.
	FindProposal(ctx context.Context, counter uint64) (Proposal, error)
	// ListProposals returns the newest proposals without their bytes, the newest first.
	ListProposals(ctx context.Context, most int) ([]Proposal, error)
	// ChangeProposal changes a proposal that waits; no other call changes it, or adds a bundle, at that time.
	// change may set State, Decided, DecidedBy and Votes. If it sets ProposalActivated, the bundle is added in the
	// same transaction. ErrOver: the proposal does not wait; it is returned too. ErrOlder: a newer bundle is in
	// force. If change returns an error, nothing is stored.
	ChangeProposal(ctx context.Context, counter uint64, change func(*Proposal) error) (Proposal, error)
}
