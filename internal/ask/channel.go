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
	// Name is the word of the configuration and of records.
	Name() string
	// Available is nil when q could be asked here now, or says why not. It takes
	// part of a second at most, asks nobody, and promises nothing: Ask may fail.
	Available(ctx context.Context, q gate.Question) error
}

// IsDangerous says that a question needs care, or cannot be shown: it is never
// answered together with others. Of o it takes what is known of this machine.
func IsDangerous(q gate.Question, o view.Options) bool {
	o.Server, o.Rule, o.ReadFile = q.Server, q.Rule, nil
	v, err := view.NewQuestion(q.Calls, o)
	return err != nil || len(v.Dangers) > 0
}

// catchPanic turns a panic of whatever asks into an error: the question must get
// an answer, and the other channels must go on.
func catchPanic(ask func() (gate.Answer, error)) (a gate.Answer, err error) {
	defer func() {
		if p := recover(); p != nil {
			a, err = gate.Answer{}, fmt.Errorf("asking failed: %v", p)
		}
	}()
	return ask()
}
