package ask

import (
	"context"
	"errors"

	"github.com/clawai/clawai/internal/gate"
)

// Never is the approver that denies each question, because no person can be asked. Reason is the
// explanation for the record and the agent.
type Never struct{ Reason string }

var _ gate.Approver = Never{}

// Ask denies at once.
func (n Never) Ask(_ context.Context, q gate.Question) (gate.Answer, error) {
	reason := n.Reason
	if reason == "" {
		reason = "nobody is here to be asked"
	}
	return gate.Answer{Reply: gate.DenyOnce, Digest: q.Digest, Channel: "never", Note: reason}, errors.New(reason)
}
