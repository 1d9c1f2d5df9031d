package gate

import (
	"context"
	"testing"
	"time"
)

// frozen is a context whose timer has not run, as in a process that was stopped
// and goes on.
type frozen struct {
	context.Context
	deadline time.Time
}

func (f frozen) Deadline() (time.Time, bool) { return f.deadline, true }

// An answer that was found after the deadline is too late although nobody has told
// so yet.
func TestTheClockEndsAQuestionBeforeItsTimer(t *testing.T) {
	now := time.Now()
	for at, want := range map[time.Time]bool{now.Add(-time.Second): true, now.Add(time.Hour): false} {
		if got := isTimeUp(frozen{t.Context(), at}); got != want {
			t.Errorf("deadline %v from now: over is %t", at.Sub(now), got)
		}
	}
	if isTimeUp(t.Context()) {
		t.Error("over without a deadline")
	}
	q := &question{x: &Exchange{}}
	if v := q.noAnswerVerdict(frozen{t.Context(), now}); v.Code != CodeNotAnswered {
		t.Errorf("refused as %s", v.Code)
	}
}
