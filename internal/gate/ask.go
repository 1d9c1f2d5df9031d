package gate

import (
	"context"
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/clawai/clawai/internal/audit"
	"github.com/clawai/clawai/policy"
)

// maxWaiting is how many exchanges of one session may wait for a person; a
// flood beyond it is refused, so that it holds neither memory nor the person.
const maxWaiting = 64

// question is an exchange that waits for a person. The state is guarded by
// Session.mu and leaves waiting once: that picks the winner between the caller
// who withdraws and the goroutine that concludes.
type question struct {
	x      *Exchange
	rule   *policy.Rule
	digest [32]byte
	start  time.Time
	state  state
	cancel context.CancelCauseFunc
	turn   chan struct{} // closed when the person is free for this question
	pass   chan struct{} // to be closed when the person is free for the next
	done   chan struct{} // closed after the Outlet was called
}

type state uint8

const (
	waiting state = iota
	withdrawn
	delivering
)

// hold starts the asking for x and returns at once.
func (s *Session) hold(ctx context.Context, x *Exchange, rule *policy.Rule) {
	q := &question{x: x, rule: rule, digest: x.Event.Digest, start: time.Now(), done: make(chan struct{})}
	ctx, q.cancel = context.WithCancelCause(ctx)
	s.mu.Lock()
	full, closed := len(s.pending) >= maxWaiting, s.closed.Load()
	if !full && !closed {
		s.pending[x] = q
		q.turn, q.pass = s.last, make(chan struct{})
		s.last = q.pass
		s.askers.Add(1)
	}
	s.mu.Unlock()
	switch {
	case closed:
		q.cancel(nil)
		s.conclude(x, s.over(x), nil)
	case full:
		q.cancel(nil)
		s.conclude(x, q.refusal(CodeTooMany, "too many calls wait for one already", ""), nil)
	default:
		go s.ask(ctx, q)
	}
}

// ask sees one question through to its end.
func (s *Session) ask(ctx context.Context, q *question) {
	defer s.askers.Done()
	defer q.cancel(nil)
	ctx, stop := context.WithDeadline(ctx, q.start.Add(s.askTimeout))
	defer stop()
	v, answered := s.decide(ctx, q)

	s.mu.Lock()
	lost := q.state == withdrawn
	if !lost {
		q.state = delivering
	}
	s.mu.Unlock()
	if lost {
		v = q.refusal(CodeWithdrawn, "the caller withdrew it meanwhile", "")
	}
	s.conclude(q.x, v, answered)

	s.mu.Lock()
	if s.pending[q.x] == q { // the transport may have used x again by now
		delete(s.pending, q.x)
	}
	s.mu.Unlock()
	close(q.done)
}

// decide takes its turn at the person and returns a verdict that is allow or
// deny, with the record of the answer if there was one.
func (s *Session) decide(ctx context.Context, q *question) (v Verdict, answered *audit.Event) {
	defer func() {
		if r := recover(); r != nil {
			v, answered = s.panicked(q.x, r), nil
		}
	}()
	if _, ok := await(ctx, s, q, q.turn); !ok {
		passAfter(s, q, q.turn)
		return q.unanswered(ctx), nil
	}
	// The rules, or an answer for the session, may have settled it meanwhile.
	now := s.judge(q.x)
	if now.Action != policy.Prompt {
		close(q.pass)
		return now, nil
	}
	q.rule = now.Rule // the one the person is shown
	answers := s.put(ctx, q)
	r, ok := await(ctx, s, q, answers)
	if !ok {
		passAfter(s, q, answers)
		return q.unanswered(ctx), nil
	}
	defer close(q.pass) // not before the answer is weighed: it may settle the next question too
	_, back := await(ctx, s, q, q.x.back())
	switch {
	case !back && r.err == nil:
		return q.away(ctx), q.answered(r)
	case !back:
		return q.away(ctx), nil
	case r.err != nil:
		return q.unasked(r), nil
	}
	return s.weigh(q, r), q.answered(r)
}

// reply is what came back from the Approver.
type reply struct {
	Answer
	err    error
	panics bool
}

// put asks the person.
func (s *Session) put(ctx context.Context, q *question) <-chan reply {
	deadline, _ := ctx.Deadline()
	asked := Question{Calls: q.x.Calls, Digest: q.digest, Deadline: deadline, Session: grantable(q.x.Calls), Client: q.x.caller()}
	if q.rule != nil {
		asked.Rule = *q.rule
	}
	answers := make(chan reply, 1)
	s.askers.Go(func() {
		var r reply
		defer func() {
			if p := recover(); p != nil {
				r = reply{err: fmt.Errorf("panic: %v", p), panics: true}
			}
			answers <- r
			close(answers)
		}()
		r.Answer, r.err = s.approver.Ask(ctx, asked)
	})
	return answers
}

// passAfter passes the turn on when ch has something to receive: when the person
// is free, not when this question gave up. A second question over an open one
// could be answered by keys meant for the first.
func passAfter[T any](s *Session, q *question, ch <-chan T) {
	s.askers.Go(func() {
		<-ch
		close(q.pass)
	})
}

// await receives from ch unless ctx ends, and keeps the caller alive meanwhile.
func await[T any](ctx context.Context, s *Session, q *question, ch <-chan T) (got T, ok bool) {
	tick := time.NewTicker(s.waitEvery)
	defer tick.Stop()
	for {
		select {
		case got = <-ch:
			return got, ctx.Err() == nil // when both are there, it is too late
		case <-ctx.Done():
			return got, false
		case <-tick.C:
			q.stillWaiting()
		}
	}
}

func (q *question) stillWaiting() {
	defer func() { _ = recover() }() // a progress message that fails changes no verdict
	q.x.Out.Waiting(q.x, time.Since(q.start))
}

// weigh turns an answer into a verdict. The call is judged again: the rules may
// have changed while the person thought, and only a prompt can be lifted.
func (s *Session) weigh(q *question, r reply) Verdict {
	switch {
	case r.Digest != q.digest || r.Reply > DenyAlways:
		return q.refusal(CodeWrongAnswer, "the answer was not for this call", "")
	case sha256.Sum256(q.x.Raw) != q.digest:
		return q.refusal(CodeChanged, "it changed while a person was asked", "")
	case !r.Reply.Allows():
		return q.refusal(CodeDeniedByPerson, "the owner denied it", "")
	}
	v := s.judge(q.x)
	if v.Action != policy.Prompt {
		return v
	}
	// An "always" holds here until its rule is loaded, which ends all grants.
	if r.Reply != AllowOnce && v.Rule == q.rule && grantable(q.x.Calls) {
		s.remember(v.Rule, q.x.Calls)
	}
	v.Action, v.Stage, v.Code = policy.Allow, StageAsk, CodeAllowedByPerson
	q.x.note(v, "")
	return v
}
