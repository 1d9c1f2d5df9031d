package hook

import (
	"context"
	"errors"
	"slices"

	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/policy"
)

// Dialog asks a person through the client's own dialog. It returns false if the client cannot do
// this.
type Dialog func(q gate.Question) (gate.Answer, bool)

// Ask makes a Dialog an Approver. It is for a program whose only way to ask is the client's dialog.
func (d Dialog) Ask(_ context.Context, q gate.Question) (gate.Answer, error) {
	if answer, can := d(q); can {
		return answer, nil
	}
	return gate.Answer{}, errors.New("nobody can be asked from here")
}

// answerByDialog returns the answer that leaves the question to the client's dialog. It returns
// false if that is not safe.
func (h *hookRun) answerByDialog(q gate.Question) (gate.Answer, bool) {
	if !h.canAskClient(&q.Rule) {
		return gate.Answer{}, false
	}
	a := gate.Answer{Reply: gate.HandOver, Digest: q.Digest, Channel: "client", By: h.req.Row.ID}
	if q.Rule.Preview && h.Preview != nil {
		h.preview = h.Preview(q)
		a.Note = "preview: " + h.preview
	}
	return a, true
}

// canAskClient reports whether the client would show its dialog, the rule allows this, and a person
// is there. In a mode in which the dialog may not appear, the client might answer by itself.
func (h *hookRun) canAskClient(rule *policy.Rule) bool {
	if rule == nil || rule.OutOfBand {
		return false
	}
	if _, can := h.req.Row.AnswerAsk(h.req.Event, ""); !can {
		return false
	}
	if name := h.req.Row.Attended; name != "" && h.Getenv(name) == "0" {
		return false
	}
	return slices.Contains(h.req.Row.Modes, h.req.Mode)
}
