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
	// Name returns the channel's name in the configuration and in records.
	Name() string
	// Available returns nil if the channel could ask about q now, otherwise the reason. It takes
	// less than a second and asks no person. Ask may still fail afterwards.
	Available(ctx context.Context, q gate.Question) error
}

// IsDangerous reports whether a question needs care or cannot be shown. The caller must not answer
// such a question together with others. IsDangerous uses only those fields of o that have facts
// about this machine.
func IsDangerous(q gate.Question, o view.Options) bool {
	o.Server, o.Rule, o.ReadFile = q.Server, q.Rule, nil
	v, err := view.NewQuestion(q.Calls, o)
	return err != nil || len(v.Dangers) > 0
}

// catchPanic calls the function in the parameter ask. If this function panics, catchPanic returns
// an error, so that the next channel can still ask the person.
func catchPanic(ask func() (gate.Answer, error)) (a gate.Answer, err error) {
	defer func() {
		if p := recover(); p != nil {
			a, err = gate.Answer{}, fmt.Errorf("asking failed: %v", p)
		}
	}()
	return ask()
}
