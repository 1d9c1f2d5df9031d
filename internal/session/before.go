package session

import (
	"context"
	"sync"

	"github.com/clawai/clawai/internal/gate"
)

// before is an approver that tries to answer a question before the other approver is asked.
type before struct {
	first func(gate.Question) (gate.Answer, bool)
	gate.Approver
	gate.Concluder

	mu       sync.Mutex // guards the fields below
	answered map[uint64]bool
}

// Ask asks the other approver if first has no answer.
func (b *before) Ask(ctx context.Context, q gate.Question) (gate.Answer, error) {
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

// Concluded informs the other approver, unless first gave the answer.
func (b *before) Concluded(q gate.Question, v gate.Verdict) {
	b.mu.Lock()
	own := b.answered[q.Number]
	delete(b.answered, q.Number)
	b.mu.Unlock()
	if !own {
		b.Concluder.Concluded(q, v)
	}
}
