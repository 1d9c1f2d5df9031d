package session

import (
	"context"
	"sync"

	"github.com/clawai/clawai/internal/gate"
)

// quickApprover passes each question to its function, the field first. If this function has no
// answer, quickApprover asks the embedded Approver.
type quickApprover struct {
	first func(gate.Question) (gate.Answer, bool)
	gate.Approver
	gate.Concluder

	mu       sync.Mutex      // guards the fields below
	answered map[uint64]bool // numbers of the questions that the function has answered and that are not concluded
}

// Ask calls the function, and asks the embedded Approver if the function has no answer.
func (b *quickApprover) Ask(ctx context.Context, q gate.Question) (gate.Answer, error) {
	answer, known := b.first(q)
	if !known {
		return b.Approver.Ask(ctx, q)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.answered == nil {
		b.answered = map[uint64]bool{}
	}
	b.answered[q.Number] = true
	return answer, nil
}

// Concluded informs the embedded Concluder, unless the function gave the answer.
func (b *quickApprover) Concluded(q gate.Question, v gate.Verdict) {
	b.mu.Lock()
	own := b.answered[q.Number]
	delete(b.answered, q.Number)
	b.mu.Unlock()
	if !own {
		b.Concluder.Concluded(q, v)
	}
}
