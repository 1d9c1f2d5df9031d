package store

import (
	"context"
	"time"

	"github.com/clawai/clawai/internal/gateway/principal"
)

// The states of a Proposal.
const (
	ProposalWaits     = "waits"
	ProposalActivated = "activated" // the bundle is in force, or was in force until a newer bundle came
	ProposalRejected  = "rejected"
	ProposalReplaced  = "replaced" // a newer bundle was published while this one waited
)

// Proposal is a published bundle that people must put into force. Until then it is no Bundle of the store, so no
// laptop gets it.
type Proposal struct {
	Bundle
	Publisher principal.Principal // the zero value: the command line of the centre
	State     string
	Decided   time.Time // when the proposal stopped waiting
	DecidedBy string    // name and key of the person who agreed last or rejected it, or the publisher of the newer bundle
	Votes     []Vote    // in the order in which they came
}

// Proposals keeps bundles that wait for people, and bundles that have waited. At most one bundle waits. Each
// newer bundle replaces it, even a newer bundle that is in force at once.
type Proposals interface {
	// AddProposal adds a bundle that waits. The error is ErrOlder if a stored bundle or proposal has the same
	// counter or a higher one, even if the proposal was rejected.
	AddProposal(ctx context.Context, p Proposal) error
	// FindProposal returns a proposal. The error is ErrNone if no proposal has this counter.
	FindProposal(ctx context.Context, counter uint64) (Proposal, error)
	// ListProposals returns the newest proposals without their bytes, the newest first.
	ListProposals(ctx context.Context, most int) ([]Proposal, error)
	// ChangeProposal calls change with a proposal that waits, and stores the result. Meanwhile no other call
	// changes the proposal or adds a bundle. change may set State, Decided, DecidedBy and Votes. If it sets
	// ProposalActivated, the bundle is added in the same transaction. The error is ErrOver if the proposal does
	// not wait any more; ChangeProposal then also returns the proposal. The error is ErrOlder if a newer bundle is
	// in force. If change returns an error, the store keeps nothing.
	ChangeProposal(ctx context.Context, counter uint64, change func(*Proposal) error) (Proposal, error)
}
