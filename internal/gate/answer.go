package gate

import (
	"crypto/sha256"
	"fmt"
	"strings"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/policy"
)

// rejudge judges the call of q again. It stores in q the rule that asks a person now.
func (s *Session) rejudge(q *question) Verdict {
	q.under = s.policy.Load()
	v := *s.judgeExchange(q.x)
	q.labels = v.labels
	switch {
	case v.Policy == policy.Prompt:
		q.now, q.over = v.Rule, ""
	case v.labels != "":
		q.now = v.Rule
	}
	if v.Stage == StageRate {
		limit, _, _ := strings.Cut(v.Reason, ";")
		q.over = fmt.Sprintf(" (beyond its limit: %s)", limit)
	}
	return v
}

// endIfSettled judges the call again after a change. When the call needs no person any more,
// endIfSettled ends the question and sets v to the verdict. It returns true when v is final. It
// returns false when a person must still be asked. It also returns false when the caller may be
// showing its own form. In this case the Approver must return first; resolveUnasked then sets the
// verdict.
func (s *Session) endIfSettled(q *question, v *Verdict) bool {
	*v = s.rejudge(q)
	if v.Action == policy.Prompt {
		return false
	}
	q.resolved = true
	q.end(resolvedCause(v))
	return q.asked.Client == nil
}

// resolveUnasked returns the verdict of a question that was settled while the caller may have been
// away. The current rules decide.
func (s *Session) resolveUnasked(q *question) Verdict {
	if v := s.rejudge(q); v.Action != policy.Prompt {
		return v
	}
	return q.refusalVerdict(CodeNobodyToAsk, "the rules changed twice while it was asked about", "")
}

// resolvedCause returns the error that tells the Approver why the question is over.
func resolvedCause(v *Verdict) error {
	switch {
	case v.Code == CodeAllowedInSession:
		return fmt.Errorf("%w: allowed for this session", ErrResolved)
	case v.Code == CodeDeniedByPerson:
		return fmt.Errorf("%w: denied for good", ErrResolved)
	case v.Action == policy.Allow:
		return fmt.Errorf("%w: the rules changed and allow it", ErrResolved)
	}
	return fmt.Errorf("%w: the rules changed and deny it", ErrResolved)
}

// resolveAnswer turns an answer into a verdict. It judges the call again, because the rules may
// have changed since the question. An answer can change a prompt, but never a deny.
func (s *Session) resolveAnswer(q *question, r reply) Verdict {
	switch {
	case r.Digest != q.digest || r.Reply > HandOver:
		return q.refusalVerdict(CodeWrongAnswer, "the answer was not for this call", "")
	case sha256.Sum256(q.x.OriginalRaw()) != q.digest:
		return q.refusalVerdict(CodeChanged, "it changed while a person was asked", "")
	}
	v := s.rejudge(q)
	if !r.Reply.Allows() {
		s.rememberDeny(q, r)
		who := "the owner denied it"
		if r.Approval != nil {
			who = "an approver of the team denied it"
		}
		return q.refusalVerdict(CodeDeniedByPerson, appendWords(who, r.Words), "")
	}
	switch {
	case v.Action != policy.Prompt:
		return v
	case !q.isApproved(r.Approval):
		q.rule = q.now // the refusal names the people who can now allow the call
		return q.refusalVerdict(CodeNobodyToAsk, "the rules want the approval of others than those who gave it", "")
	case q.labels != q.shown:
		return q.refusalVerdict(CodeNobodyToAsk, "the session has seen more since the owner was asked", "")
	case q.now != nil && q.now.OutOfBand && r.Reply == HandOver:
		return q.refusalVerdict(CodeWrongAnswer, "the client must not be asked", "")
	case q.now != nil && q.now.OutOfBand && !(q.rule != nil && q.rule.OutOfBand):
		return q.refusalVerdict(CodeNobodyToAsk, "the rules changed while it was asked about, and say now that the client must not be asked", "")
	}
	// The session remembers an "always" answer only until its new rule is loaded. Loading a policy
	// ends all grants.
	if r.Reply != AllowOnce && r.Reply != HandOver && q.now == q.rule && q.isGrantable() {
		s.rememberAllow(q, r.sessionBound())
	}
	v.Action, v.Stage, v.Code = policy.Allow, StageAsk, CodeAllowedByPerson
	if r.Reply == HandOver {
		v.Code = CodeHandedOver
	}
	v.endorsed = q.labels != "" && r.Reply != HandOver
	v.owner = ""
	q.x.noteVerdict(&v)
	return v
}

// isApproved reports whether an answer satisfies the rule that asks now. checked is the approval
// that a team's centre has checked, or nil. checked must equal the rule's approval requirement. If
// the rule has no such requirement, checked must be nil.
func (q *question) isApproved(checked *policy.Approval) bool {
	if q.now == nil {
		return checked == nil
	}
	return q.now.Approval.IsEqual(checked)
}

// sessionBound returns the bound of an answer for the session. nil means that the answer covers
// only the calls it was given for.
func (r *reply) sessionBound() Bound {
	if r.Reply != AllowSession { // the rule of an "always" answer takes the place of a bound
		return nil
	}
	return r.Bound
}

// conclusion holds the end of one question. It does not use the exchange, because the transport may
// reuse the exchange after it has left the gate.
type conclusion struct {
	q     *question
	event event.Event // the fields of the answer's record that come from the exchange
}

func (q *question) makeConclusion() conclusion {
	ev := &q.x.Event
	return conclusion{q, event.Event{
		Kind: event.Answered, Digest: q.digest, Server: ev.Server, ServerGuess: ev.ServerGuess,
		Direction: ev.Direction, Method: ev.Method, ID: ev.ID, Subject: ev.Subject, Names: ev.Names,
	}}
}

// answerEvent returns the record of a person's answer, or nil when there is no answer.
func (c *conclusion) answerEvent(r reply) *event.Event {
	if !r.came || r.err != nil {
		return nil
	}
	ev := c.event
	ev.Channel, ev.Answer, ev.By, ev.Words = r.Channel, r.Reply.String(), oneLine(r.By, 200), oneLine(r.Words, maxWords)
	ev.Waited, ev.Detail = r.waited, r.Note
	if r.late {
		ev.Code, ev.Reason = CodeTooLate, "the call was over by then"
	}
	return &ev
}

// concludeQuestion waits for the Approver to finish with a question that has left the gate. Then it
// passes v to the Concluder.
func (s *Session) concludeQuestion(c conclusion, v Verdict, r reply) {
	if c.q.regranted {
		s.notifyGrants()
	}
	if c.q.answers == nil {
		return
	}
	if !r.came {
		r = <-c.q.answers
		r.late = true
		if ev := c.answerEvent(r); ev != nil {
			ev.Ref = v.Record
			_ = s.recordEvents([]*event.Event{ev}) // the error is ignored because nothing depends on this record any more
		}
	}
	if r.err == nil {
		runHook(func() { s.o.Concluder.Concluded(c.q.asked, v) })
	}
}

// runHook runs a callback of the session's owner and ignores a panic in it.
func runHook(f func()) {
	defer func() { _ = recover() }()
	f()
}
