package ask

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/clawai/clawai/internal/ask/queue"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/policy"
)

// answeredByChannel ends the question with the answer of a channel. If the queue had an earlier
// answer, it returns that answer.
func (l *Chain) answeredByChannel(ctx context.Context, q gate.Question, p *entry, a gate.Answer) (gate.Answer, error) {
	if ctx.Err() != nil {
		return l.endQuestion(ctx, q, p)
	}
	status := queue.Denied
	if a.Reply.Allows() {
		status = queue.Approved
	}
	first, ours := l.resolveEntry(p, status, queue.Answer{Reply: a.Reply, Scope: a.Scope, Channel: a.Channel, By: a.By, Words: a.Words}, "")
	if !ours {
		other, err := l.answeredByQueue(ctx, q, p, first)
		other.Note = joinNotes(other.Note, a.Note) // keep the note of the channel, because the channel may have written a rule
		return other, err
	}
	l.setSessionBound(ctx, q, &a)
	p.note = a.Note
	l.rememberEntry(q, p)
	return a, nil
}

// answeredByQueue ends the question with an answer from the queue.
func (l *Chain) answeredByQueue(ctx context.Context, q gate.Question, p *entry, said queue.Answer) (gate.Answer, error) {
	a := gate.Answer{Reply: said.Reply, Digest: q.Digest, Channel: said.Channel, By: said.By, Words: said.Words}
	if said.Reply == gate.AllowAlways || said.Reply == gate.DenyAlways {
		note, err := l.writeRule(ctx, q, said)
		if err != nil {
			note = "nothing was written: " + err.Error()
			a.Reply = gate.DenyOnce
			if said.Reply == gate.AllowAlways {
				a.Reply = gate.AllowOnce
			}
		}
		a.Note = note
	}
	if said.Reply == gate.AllowSession {
		a.Scope = said.Scope
		l.setSessionBound(ctx, q, &a)
	}
	p.note = a.Note
	l.rememberEntry(q, p)
	return a, nil
}

// setSessionBound sets a.Bound if a session answer allows more than its call. If there is no such
// bound, the answer only allows the call once.
func (l *Chain) setSessionBound(ctx context.Context, q gate.Question, a *gate.Answer) {
	if a.Reply != gate.AllowSession || a.Scope == "" || a.Scope == policy.Exact.String() {
		return
	}
	note, err := l.guardedNote(func() (note string, err error) {
		a.Bound, note, err = l.o.RuleWriter.Bound(ctx, q, a.Scope)
		return note, err
	})
	if err != nil {
		a.Reply, a.Bound, note = gate.AllowOnce, nil, "allowed once, and not for the session: "+err.Error()
	}
	a.Note = joinNotes(a.Note, note)
}

func (l *Chain) writeRule(ctx context.Context, q gate.Question, said queue.Answer) (note string, err error) {
	return l.guardedNote(func() (string, error) { return l.o.RuleWriter.Write(ctx, q, said.Scope, said.Reply) })
}

// guardedNote calls the function in the parameter ask and turns a panic into an error. Without a
// RuleWriter it only returns an error.
func (l *Chain) guardedNote(ask func() (string, error)) (note string, err error) {
	if l.o.RuleWriter == nil {
		return "", errors.New("rules cannot be written here")
	}
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("writing failed: %v", r)
		}
	}()
	return ask()
}

// endQuestion ends a question that was withdrawn or has timed out. If the queue already has an
// answer, the answer comes too late for the gate, and the person who gave it is told.
func (l *Chain) endQuestion(ctx context.Context, q gate.Question, p *entry) (gate.Answer, error) {
	cause := context.Cause(ctx)
	text := endText(cause, queue.UndoneText(q.Reply))
	if _, ours := l.resolveEntry(p, queue.Expired, queue.Answer{}, text); !ours {
		l.reportOutcome(p, "too late: "+text)
	}
	return gate.Answer{Digest: q.Digest}, cause
}

// endText tells a person why a question ended before an answer came. undone tells what was
// prevented.
func endText(cause error, undone string) string {
	text := "the connection is gone"
	switch {
	case errors.Is(cause, gate.ErrResolved):
		return cause.Error()
	case errors.Is(cause, gate.ErrWithdrawn):
		text = "withdrawn by the client"
	case errors.Is(cause, errUnanswered), errors.Is(cause, context.DeadlineExceeded):
		text = "expired at " + time.Now().Format(time.TimeOnly)
	case errors.Is(cause, gate.ErrClosed):
		text = "the session is over"
	}
	return text + "; " + undone
}

// rememberEntry keeps an answered question until Concluded is called.
func (l *Chain) rememberEntry(q gate.Question, p *entry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entries[q.Number] = p
}

// Concluded stores in the queue what became of an answered call.
func (l *Chain) Concluded(q gate.Question, v gate.Verdict) {
	l.mu.Lock()
	p := l.entries[q.Number]
	delete(l.entries, q.Number)
	l.mu.Unlock()
	if p == nil {
		return
	}
	text, undone := "went on to the server", queue.UndoneText(q.Reply)
	if q.Reply {
		text = "went on to the client"
	}
	switch {
	case v.Code == gate.CodeDeniedByPerson:
		text = undone // the answer "denied" is shown beside this text
	case v.Code == gate.CodeNotAnswered:
		text = "too late: the time was up; " + undone
	case v.Action != policy.Allow:
		text = "denied: " + v.Reason + "; " + undone
	}
	l.reportOutcome(p, joinNotes(text, p.note))
}

// resolveUnasked ends a question because no person could be asked.
func (l *Chain) resolveUnasked(ctx context.Context, q gate.Question, p *entry, none, lost error) (gate.Answer, error) {
	first, ours := l.resolveEntry(p, queue.Expired, queue.Answer{}, "denied: nobody was there to be asked; "+queue.UndoneText(q.Reply))
	if !ours && lost == nil {
		return l.answeredByQueue(ctx, q, p, first)
	}
	err := none
	if lost != nil && l.o.Queue != nil {
		err = fmt.Errorf("%w; queue: %w", none, lost)
	}
	hint := l.answerHint()
	if hint != "" {
		err = fmt.Errorf("%w; %s", err, hint)
	}
	return gate.Answer{Digest: q.Digest, Note: hint}, err
}

// unapproved ends a question that the approvers at the centre have not answered. If a person at
// this machine has denied it in the queue, unapproved returns this answer.
func (l *Chain) unapproved(ctx context.Context, q gate.Question, p *entry, r answered) (gate.Answer, error) {
	outcome := "denied: the team's centre could not be asked; "
	if errors.Is(r.err, gate.ErrKept) {
		outcome = "nobody allowed it at the team's centre in time; "
	}
	first, ours := l.resolveEntry(p, queue.Expired, queue.Answer{}, outcome+queue.UndoneText(q.Reply))
	if !ours && !first.Reply.Allows() {
		return l.answeredByQueue(ctx, q, p, first)
	}
	return r.Answer, r.err
}

// answerHint tells how to answer the next such call; "" if no command of clawai helps.
func (l *Chain) answerHint() string {
	attended := slices.ContainsFunc(l.o.Channels, func(r Channel) bool { _, ok := r.(*QueueChannel); return ok })
	if l.o.Queue == nil || !l.o.Wait && !attended {
		return ""
	}
	return hintNext
}

func joinNotes(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "; " + b
}
