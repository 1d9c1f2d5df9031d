package gate

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/clawai/clawai/policy"
)

// startAsking starts to ask a person about x, because of rule, and returns at once.
func (s *Session) startAsking(ctx context.Context, x *Exchange, rule *policy.Rule) {
	x.held = true
	q := &question{
		x: x, rule: rule, frame: len(x.Raw), digest: x.Event.Digest, value: valueOf(x.Calls), start: time.Now(),
		wake: make(chan struct{}, 1), done: make(chan struct{}),
	}
	ctx, q.cancel = context.WithCancelCause(ctx)
	s.mu.Lock()
	over := s.closed.Load()
	full := !over && !s.waiting.addQuestion(q, &s.o)
	if !full && !over {
		s.askers.Add(1)
	}
	s.mu.Unlock()
	switch {
	case over:
		q.cancel(nil)
		x.noteVerdict(&closed)
		s.concludeExchange(x, closed, nil)
	case full:
		q.cancel(nil)
		s.concludeExchange(x, q.refusalVerdict(CodeTooMany, "too many calls wait for a person already", ""), nil)
	default:
		go s.askQuestion(ctx, q)
	}
}

// askQuestion handles one question from start to end.
func (s *Session) askQuestion(ctx context.Context, q *question) {
	defer s.askers.Done()
	ctx, stop := context.WithDeadline(ctx, q.start.Add(s.o.AskTimeout))
	defer stop()
	v, r := s.decideQuestion(ctx, q)

	s.mu.Lock()
	lost := q.state == withdrawn
	if !lost {
		q.state = delivering
	}
	s.mu.Unlock()
	if lost {
		v, r.late = q.refusalVerdict(CodeWithdrawn, "the caller withdrew it meanwhile", ""), true
	}
	c := q.makeConclusion()
	v = s.concludeExchange(q.x, v, c.answerEvent(r))

	s.mu.Lock()
	s.waiting.removeQuestion(q)
	s.mu.Unlock()
	close(q.done)
	q.cancel(nil)
	s.concludeQuestion(c, v, r)
}

// reply holds the result of Approver.Ask.
type reply struct {
	Answer
	err    error
	waited time.Duration
	came   bool // the Approver has returned
	late   bool // the reply came after the question was over
	panics bool // the Approver panicked, and err describes the panic
}

// decideQuestion asks a person. It returns a verdict (allow or deny), and the reply if one came.
func (s *Session) decideQuestion(ctx context.Context, q *question) (v Verdict, r reply) {
	defer func() {
		if p := recover(); p != nil {
			v = panicVerdict(q.x, StageGate, p)
			q.x.noteVerdict(&v)
		}
	}()
	// The rules or an answer may have changed before q was among the waiting questions, and such a
	// change does not wake q. So the call is judged again here.
	if v = s.rejudge(q); v.Action != policy.Prompt {
		return v, r
	}
	q.rule = q.now
	s.sendQuestion(ctx, q)
	if v, r = s.awaitReply(ctx, q); v.Action != policy.Prompt {
		return v, r
	}
	// After the deadline the call is denied without an answer, so it is not necessary to wait for
	// the caller's return.
	if (r.err == nil || !isTimeUp(ctx)) && !s.awaitCaller(ctx, q) {
		return q.callerAwayVerdict(ctx), r
	}
	switch {
	case isTimeUp(ctx): // a reply at the same time as the deadline is too late
		r.late = true
		return q.noAnswerVerdict(ctx), r
	case r.err == nil:
		return s.resolveAnswer(q, r), r
	case q.resolved:
		return s.resolveUnasked(q), r
	case errors.Is(r.err, ErrKept):
		return q.refusalVerdict(CodeApprovalWaits, r.Note, r.err.Error()), r
	}
	return q.nobodyAskedVerdict(r), r
}

// isTimeUp reports whether a question's deadline has passed. It also checks the clock, because a
// process that was stopped may get the answer before its timers run.
func isTimeUp(ctx context.Context) bool {
	deadline, ok := ctx.Deadline()
	return ctx.Err() != nil || ok && !time.Now().Before(deadline)
}

// sendQuestion sends the question to the Approver.
func (s *Session) sendQuestion(ctx context.Context, q *question) {
	ctx, q.end = context.WithCancelCause(ctx)
	deadline, _ := ctx.Deadline()
	caller := q.x.getCaller()
	q.asked = Question{
		Number: q.number, Calls: q.x.shownCalls(), Reply: q.x.asks != "", Digest: q.digest, Asked: q.start, Deadline: deadline,
		Session: q.isGrantable(), Server: q.x.Event.Server, Value: s.approvalValue(q.x.Calls), Revision: (*q.under).Revision(), Client: caller.Client(), ClientName: clientName(caller),
	}
	if q.asked.Server == "" {
		q.asked.Server = q.x.Event.ServerGuess
	}
	if q.rule != nil {
		q.asked.Rule = *q.rule
		q.asked.Rule.Description = strings.TrimSpace(q.rule.Description + q.over)
	}
	if q.labels != "" { // the labels of the session require a question, even without a rule
		q.asked.Why, q.asked.Rule.Pinned = q.labels, true
	}
	q.shown = q.labels
	if q.x.asks != "" {
		q.asked.Why, q.asked.Finds = q.x.asks, q.x.Event.Finds
	}
	answers := make(chan reply, 1)
	q.answers = answers
	s.askers.Go(func() {
		r := reply{came: true}
		defer func() {
			if p := recover(); p != nil {
				r.err, r.panics = fmt.Errorf("panic: %v", p), true
			}
			answers <- r
		}()
		r.Answer, r.err = s.o.Approver.Ask(ctx, q.asked)
		r.waited = time.Since(q.start)
	})
}

// awaitReply waits until the reply comes, ctx ends, or a change settles the call. Meanwhile it
// tells the caller that the call still waits. It returns a prompt as the verdict when the reply
// must decide.
func (s *Session) awaitReply(ctx context.Context, q *question) (v Verdict, r reply) {
	tick := time.NewTicker(s.o.WaitEvery)
	defer tick.Stop()
	for {
		select {
		case r = <-q.answers:
			return Verdict{Action: policy.Prompt}, r
		case <-ctx.Done():
			return q.noAnswerVerdict(ctx), r
		case <-q.wake:
			if ctx.Err() == nil && len(q.answers) == 0 && s.endIfSettled(q, &v) {
				return v, r
			}
		case <-tick.C:
			q.stillWaiting()
		}
	}
}

// awaitCaller waits until the caller is back or ctx ends. It returns true when the caller is back.
func (s *Session) awaitCaller(ctx context.Context, q *question) bool {
	back := q.x.getCaller().Back()
	tick := time.NewTicker(s.o.WaitEvery)
	defer tick.Stop()
	for {
		select {
		case <-back:
			return true
		default:
		}
		select {
		case <-back:
		case <-ctx.Done():
			return false
		case <-tick.C:
			q.stillWaiting()
		}
	}
}

func (q *question) stillWaiting() {
	defer func() { _ = recover() }() // a panic in a progress message changes no verdict
	q.x.Out.Waiting(q.x, time.Since(q.start))
}
