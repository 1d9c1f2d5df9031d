package gate

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/clawai/clawai/policy"
)

// refusalVerdict returns the refusal of a call that a rule asks about and no person allowed. The
// parameter why is the reason that the agent gets, and the parameter owner is the reason for the
// record.
func (q *question) refusalVerdict(code Code, why, owner string) Verdict {
	v := Verdict{
		Policy: policy.Prompt, Rule: q.rule, Stage: StageAsk, Code: code,
		Reason: why, owner: cmp.Or(owner, q.labels), Releasable: q.x.Event.Release != "",
		led: q.x.verdict.led, // of the last time that the call was judged
	}
	q.x.noteVerdict(&v)
	return v
}

// noAnswerVerdict returns the refusal of a call whose question ended before an answer.
func (q *question) noAnswerVerdict(ctx context.Context) Verdict {
	if cause := context.Cause(ctx); cause == nil || errors.Is(cause, context.DeadlineExceeded) { // nil when only the clock shows the end (isTimeUp)
		return q.refusalVerdict(CodeNotAnswered, "nobody answered in time",
			"no answer within "+time.Since(q.start).Round(time.Millisecond).String())
	}
	return q.refusalVerdict(CodeClosed, "the session ended meanwhile", "")
}

// callerAwayVerdict returns the refusal of a call whose caller did not return from its
// own form in time.
func (q *question) callerAwayVerdict(ctx context.Context) Verdict {
	if errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
		return q.refusalVerdict(CodeCallerAway, "the caller did not return with its answer in time", "")
	}
	return q.noAnswerVerdict(ctx)
}

// nobodyAskedVerdict returns the refusal of a call whose question no person saw.
func (q *question) nobodyAskedVerdict(r reply) Verdict {
	if r.panics {
		return q.refusalVerdict(CodePanic, "asking failed inside clawai; tell the owner", r.err.Error())
	}
	why := "no person could be asked"
	if r.Note != "" {
		why += " (" + r.Note + ")"
	}
	return q.refusalVerdict(CodeNobodyToAsk, why, r.err.Error())
}
