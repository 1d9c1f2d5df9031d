package console

import (
	"context"
	"time"

	"github.com/clawai/clawai/internal/ask/queue"
	"github.com/clawai/clawai/internal/text/term"
)

// outcomeWait is the longest wait for the outcome of the call after an answer.
const outcomeWait = 5 * time.Second

// SendAnswer answers a request and waits at most outcomeWait for the outcome of the call.
func SendAnswer(ctx context.Context, q Queue, id string, a queue.Answer) (queue.Request, error) {
	r, err := q.Decide(ctx, id, a)
	if err != nil {
		return r, err
	}
	ctx, cancel := context.WithTimeout(ctx, outcomeWait)
	defer cancel()
	if known, err := q.Await(ctx, r.ID); err == nil {
		r.Outcome = known.Outcome
	}
	return r, nil
}

// ResultText returns the answer to a request and the outcome of its call as one harmless sentence.
func ResultText(r queue.Request) string {
	if r.Outcome == "" {
		return AnswerText(r.Answer) + "; what became of the call is not known yet"
	}
	return AnswerText(r.Answer) + ": " + term.VisibleText(r.Outcome)
}
