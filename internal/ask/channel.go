package ask

import (
	"context"
	"fmt"

	"github.com/clawai/clawai/internal/ask/view"
	"github.com/clawai/clawai/internal/gate"
)

// Channel is one way to ask a person.
type Channel interface {
	gate.Approver
	// Name returns the channel's word in the configuration and in records.
	Name() string
	// Available returns nil if q could be asked here now, otherwise the reason. It takes less than
	// a second and asks no person. Ask may still fail afterwards.
	Available(ctx context.Context, q gate.Question) error
}

// IsDangerous reports whether a question needs care or cannot be shown: such a question is never
// answered together with others. Only the facts about this machine are used from o.
func IsDangerous(q gate.Question, o view.Options) bool {
	o.Server, o.Rule, o.ReadFile = q.Server, q.Rule, nil
	v, err := view.NewQuestion(q.Calls, o)
	return err != nil || len(v.Dangers) > 0
}

// catchPanic turns a panic while asking into an error: the question must get an answer, and the
// other channels must continue.
func catchPanic(ask func() (gate.Answer, error)) (a gate.Answer, err error) {
	defer func() {
		if p := recover(); p != nil {
			a, err = gate.Answer{}, fmt.Errorf("asking failed: %v", p)
		}
	}()
	return ask()
}
