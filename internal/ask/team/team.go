// Package team asks the approvers at a team's centre about calls whose rule names approvers
// (policy.Approval). No other channel can allow such a call. The centre gets the call in the form
// of the record: secrets are replaced, but nothing is cut. An answer is only for the call with the
// same digest.
package team

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/state/enrolment"
	"github.com/clawai/clawai/internal/text/redact"
	"github.com/clawai/clawai/policy"
)

// Name is the channel's name in records.
const Name = "gateway"

// Options configure a Channel.
type Options struct {
	State         string               // the folder with the files of the enrolment
	Transport     http.RoundTripper    // the HTTP transport for requests to the centre
	Known         func() *redact.Known // returns the secret values that the centre must not see
	Project, Home string
	Session       string // id of the agent's session
}

// Channel sends questions to the centre at which this laptop is enrolled.
type Channel struct{ o Options }

var _ gate.Approver = (*Channel)(nil)

// New returns a Channel. The channel sends nothing before the first question.
func New(o Options) *Channel { return &Channel{o} }

// Name returns the channel's name in records.
func (*Channel) Name() string { return Name }

// Available returns nil if this laptop is enrolled.
func (c *Channel) Available(_ context.Context, _ gate.Question) error {
	_, err := c.open()
	return err
}

var errNotEnrolled = errors.New("the rule asks approvers at a team's centre, and this laptop is not enrolled at one; the owner runs: clawai enroll URL")

var errLeft = errors.New("the enrolment at the team's centre ended while the call waited")

func (c *Channel) open() (*client, error) {
	e, err := enrolment.ReadEnrolment(c.o.State)
	switch {
	case errors.Is(err, enrolment.ErrNone):
		return nil, errNotEnrolled
	case err != nil:
		return nil, err
	}
	return newClient(e, c.o.Transport), nil
}

// Times of a question at the centre.
const (
	// reserve is the time that Ask keeps before the call's deadline: Ask stops waiting so early
	// that the agent still gets a note that tells how to ask again.
	reserve    = 1500 * time.Millisecond
	retryPause = time.Second
	leaveTime  = 2 * time.Second // time limit for the message that a call has ended
	useTime    = 10 * time.Second
)

// Ask sends the question to the centre and waits for the answer. It stops waiting shortly before
// the deadline. If no answer has come and the centre still holds the question, Ask returns
// gate.ErrKept.
func (c *Channel) Ask(ctx context.Context, q gate.Question) (gate.Answer, error) {
	to, err := c.open()
	if err != nil {
		return fail(q, err.Error(), err)
	}
	message, err := c.makeMessage(&q)
	if err != nil {
		return fail(q, err.Error(), err)
	}
	wait, stop := context.WithCancel(ctx)
	defer stop()
	if deadline, ok := ctx.Deadline(); ok {
		left := time.Until(deadline)
		wait, stop = context.WithTimeout(ctx, left-min(reserve, left/5))
		defer stop()
	}
	state, err := handOver(wait, to, message)
	if err != nil {
		return failWith(ctx, q, "", err)
	}
	for pause := retryPause; ; {
		switch state.State {
		case enrolment.QuestionApproved:
			return c.use(ctx, to, q, state)
		case enrolment.QuestionDenied:
			return answerOf(q, gate.DenyOnce, state), nil
		case enrolment.QuestionPending:
		default:
			return fail(q, "the question ended at the team's centre without an answer: it is "+wordOf(state.State), errors.New("the question is "+wordOf(state.State)))
		}
		next, err := to.awaitQuestion(wait, state.ID)
		switch {
		case ctx.Err() != nil: // the client withdrew the call, or something other than the deadline ended ctx
			return c.leave(ctx, to, q, state.ID)
		case err == nil && next.ID != state.ID:
			return failWith(ctx, q, state.ID, errGarbage)
		case err == nil:
			state = next
			continue
		case wait.Err() != nil && !to.unanswered:
			note := fmt.Sprintf("nobody has allowed it at the team's centre yet (approval reference %s). Once somebody has, try exactly the same call again; the question lives %d minutes", state.ID, max(state.Until/60, 1))
			return gate.Answer{Digest: q.Digest, Channel: Name, Note: note}, fmt.Errorf("%w: reference %s", gate.ErrKept, state.ID)
		case wait.Err() != nil || isFinal(err):
			return failWith(ctx, q, state.ID, err)
		}
		select {
		case <-wait.Done():
		case <-time.After(pause):
		}
	}
}

// handOver sends the question to the centre. If the caller withdraws the call meanwhile, handOver
// still waits for the centre's answer, because it needs the question's id to end the question.
func handOver(wait context.Context, to *client, message []byte) (enrolment.QuestionState, error) {
	ctx, stop := context.WithCancel(context.WithoutCancel(wait))
	defer stop()
	defer context.AfterFunc(wait, func() {
		if errors.Is(wait.Err(), context.DeadlineExceeded) {
			stop()
			return
		}
		time.AfterFunc(leaveTime, stop)
	})()
	return to.putQuestion(ctx, message)
}

// use asks the centre to consume the approval. The call is allowed only if the centre agrees.
func (c *Channel) use(ctx context.Context, to *client, q gate.Question, approved enrolment.QuestionState) (gate.Answer, error) {
	if ctx.Err() != nil {
		return c.leave(ctx, to, q, approved.ID)
	}
	using, stop := context.WithTimeout(ctx, useTime)
	defer stop()
	state, err := to.useApproval(using, approved.ID)
	if err != nil {
		return failWith(ctx, q, approved.ID, err)
	}
	if state.ID != approved.ID || state.State != enrolment.QuestionUsed {
		return failWith(ctx, q, approved.ID, errGarbage)
	}
	if !to.isEnrolled(c.o.State) {
		return fail(q, errLeft.Error(), errLeft)
	}
	if err := checkVotes(state, q.Rule.Approval); err != nil {
		return fail(q, err.Error(), err)
	}
	return answerOf(q, gate.AllowOnce, state), nil
}

// checkVotes returns an error if fewer persons allowed the call than the rule demands.
func checkVotes(state enrolment.QuestionState, a *policy.Approval) error {
	var keys []string
	for _, v := range state.Votes {
		if !v.Allow {
			return errors.New("the team's centre says that somebody denied what it allows")
		}
		if v.Key != "" && !slices.Contains(keys, v.Key) {
			keys = append(keys, v.Key)
		}
	}
	if a == nil || len(keys) < a.Votes {
		return fmt.Errorf("the team's centre allowed it by %d persons, and the rule wants more", len(keys))
	}
	return nil
}

// leave tells the centre that the call has ended, so that it accepts no answer any more.
func (c *Channel) leave(ctx context.Context, to *client, q gate.Question, id string) (gate.Answer, error) {
	telling, stop := context.WithTimeout(context.WithoutCancel(ctx), leaveTime)
	defer stop()
	_ = to.cancelQuestion(telling, id) // an error is ignored, because the centre ends the question at its deadline
	return gate.Answer{Digest: q.Digest, Channel: Name}, context.Cause(ctx)
}

// answerOf returns the gate's form of the answer from the centre.
func answerOf(q gate.Question, r gate.Reply, state enrolment.QuestionState) gate.Answer {
	var by, words []string
	for _, v := range state.Votes {
		if v.Allow == r.Allows() {
			by = append(by, fmt.Sprintf("%s (%s)", v.Name, v.Key))
			if v.Words != "" {
				words = append(words, v.Words)
			}
		}
	}
	return gate.Answer{
		Reply: r, Digest: q.Digest, Channel: Name, By: strings.Join(by, ", "), Words: strings.Join(words, "; "),
		Approval: q.Rule.Approval, Note: "question " + state.ID + " of the team's centre",
	}
}

// fail returns an empty answer with an error. note is the text for the agent.
func fail(q gate.Question, note string, err error) (gate.Answer, error) {
	return gate.Answer{Digest: q.Digest, Channel: Name, Note: note}, err
}

// failWith is fail with the note for an error in the exchange with the centre.
func failWith(ctx context.Context, q gate.Question, id string, err error) (gate.Answer, error) {
	if ctx.Err() != nil {
		return gate.Answer{Digest: q.Digest, Channel: Name}, context.Cause(ctx)
	}
	note := "the team's centre cannot be reached"
	if refused, ok := errors.AsType[*refusalError](err); ok {
		note = "the team's centre refused the question: " + refused.text
	} else if errors.Is(err, errGarbage) {
		note = errGarbage.Error()
	}
	if id != "" {
		note += " (approval reference " + id + ")"
	}
	return fail(q, note, err)
}

func wordOf(state string) string {
	if enrolment.IsName(state) && len(state) < 20 {
		return state
	}
	return "unknown"
}

// makeMessage returns the question in the JSON form for the centre.
func (c *Channel) makeMessage(q *gate.Question) ([]byte, error) {
	known, a := c.o.Known(), q.Rule.Approval
	if a == nil {
		return nil, errors.New("the rule names no approvers")
	}
	message := enrolment.AskQuestion{
		Digest: hex.EncodeToString(q.Value[:]), RuleFile: q.Rule.Pos.File, RuleLine: q.Rule.Pos.Line, RuleText: q.Rule.Description,
		Revision: q.Revision, Session: c.o.Session, Project: c.o.Project, Home: c.o.Home,
		Approvers: a.Approvers, Approvals: a.Votes, NotSelf: a.NotSelf, Wait: int(time.Until(q.Deadline).Seconds()),
	}
	text := func(s string) string {
		shown, hidden := known.HideText(s)
		message.Hidden += hidden
		return shown
	}
	source := func(src []byte) json.RawMessage {
		shown, hidden := known.HideJSON(src)
		message.Hidden += hidden
		return shown
	}
	message.Server, message.Client, message.Why = text(q.Server), text(q.ClientName), text(q.Why)
	for i := range q.Calls {
		call := &q.Calls[i]
		shown := enrolment.ShownCall{Subject: call.Subject.RuleKey(), Server: text(call.Server), Method: text(call.Method), Names: []string{}, Args: source(call.Args), Extra: source(call.Extra), Malformed: text(call.Malformed)}
		for _, name := range call.Names {
			shown.Names = append(shown.Names, text(name))
		}
		message.Calls = append(message.Calls, shown)
	}
	src, err := json.Marshal(message)
	if err != nil {
		return nil, err
	}
	if len(src) > enrolment.MaxQuestion {
		return nil, fmt.Errorf("it is too long to be shown at the team's centre, which takes %d KiB", enrolment.MaxQuestion>>10)
	}
	return src, nil
}
