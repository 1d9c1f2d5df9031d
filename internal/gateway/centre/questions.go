package centre

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/clawai/clawai/internal/gateway/figures"
	"github.com/clawai/clawai/internal/gateway/principal"
	"github.com/clawai/clawai/internal/gateway/store"
	"github.com/clawai/clawai/internal/state/enrolment"
	"github.com/clawai/clawai/policy"
)

// Limits of questions.
const (
	// QuestionLife is how long a question can be answered, and how long an approval is valid for the
	// next call with the same digest.
	QuestionLife = 15 * time.Minute
	maxPending   = 20 // pending questions of one laptop
	maxCalls     = 100
	maxHold      = 10 * time.Minute // longest time for which a call itself waits
	maxNote      = 500              // bytes of a person's words for the agent
	keptDays     = 30               // days for which questions are kept
	maxKept      = 64 << 20         // bytes of one laptop's questions
)

// Errors whose text a person or a laptop gets unchanged.
var (
	ErrBadQuestion  = errors.New("this is no question that a person could answer")
	ErrMuchKept     = fmt.Errorf("the centre keeps %d MiB of a laptop's questions, each for %d days, and no more of this one", maxKept>>20, keptDays)
	ErrManyWait     = fmt.Errorf("%d questions of this laptop wait for an answer", maxPending)
	ErrNotYours     = errors.New("the rule that asks names others than you as approvers")
	ErrSelf         = errors.New("it is your own laptop that asks, and the rule wants somebody else")
	ErrRoleGone     = errors.New("somebody who allowed it is no approver any more")
	ErrForAnother   = errors.New("the question was replaced by another one")
	ErrQuestionOver = errors.New("it was answered, or is over")
	ErrAnswered     = errors.New("you have answered it")
	ErrOnPage       = errors.New("it is your own laptop that asks, whose agent could use your command line; allow it on the page")
)

// checkQuestion returns an error for a question that cannot be shown or answered. It replaces bytes that a
// database cannot store, but it shortens no text.
func checkQuestion(a *enrolment.AskQuestion) error {
	if digest, err := hex.DecodeString(a.Digest); err != nil || len(digest) != 32 || strings.ToLower(a.Digest) != a.Digest {
		return fmt.Errorf("%w: its digest is none", ErrBadQuestion)
	}
	if len(a.Calls) == 0 || len(a.Calls) > maxCalls {
		return fmt.Errorf("%w: it has %d calls", ErrBadQuestion, len(a.Calls))
	}
	if len(a.Approvers) == 0 || len(a.Approvers) > 100 || a.Approvals < 1 || a.Approvals > policy.MaxVotes || a.Hidden < 0 {
		return fmt.Errorf("%w: it names no approvers", ErrBadQuestion)
	}
	for _, text := range a.Approvers {
		if _, _, ok := policy.SplitApprover(text); !ok {
			return fmt.Errorf("%w: %q is no approver", ErrBadQuestion, text)
		}
	}
	for i := range a.Calls {
		c := &a.Calls[i]
		for _, src := range []*[]byte{(*[]byte)(&c.Args), (*[]byte)(&c.Extra)} {
			*src = []byte(strings.ToValidUTF8(string(*src), "\ufffd"))
		}
	}
	return nil
}

// Ask adds a laptop's question. title is one line for people. If the same question is already pending,
// or has an unused approval, Ask returns the stored question.
func (c *Centre) Ask(ctx context.Context, l store.Laptop, asked enrolment.AskQuestion, title string) (store.Question, error) {
	if err := checkQuestion(&asked); err != nil {
		return store.Question{}, err
	}
	now := c.now()
	hold := min(time.Duration(max(asked.Wait, 0))*time.Second, maxHold)
	if err := c.Store.RemoveQuestions(ctx, now.Add(-keptDays*24*time.Hour)); err != nil {
		return store.Question{}, err
	}
	q, err := c.Store.AddQuestion(ctx, store.Question{
		ID: newWord("abcdefghijkmnpqrstuvwxyz23456789", 10), Laptop: l.ID, Asked: asked, Title: title, Created: now, Held: now.Add(hold), Expires: now.Add(QuestionLife),
	}, maxPending, maxKept)
	switch {
	case errors.Is(err, store.ErrMany):
		err = ErrManyWait
	case errors.Is(err, store.ErrFull):
		err = ErrMuchKept
	case err == nil && q.Created.Equal(now): // a new question
		c.Figures.CountQuestion(figures.Asked)
	}
	return q, err
}

// EachPending returns the pending questions, the oldest first. It reads 50 at a time, so that many long
// questions do not fill the memory.
func (c *Centre) EachPending(ctx context.Context) iter.Seq2[store.Question, error] {
	const most = 50
	return func(yield func(store.Question, error) bool) {
		var last store.Question
		for {
			some, err := c.Store.ListPending(ctx, c.now(), last, most)
			if err != nil {
				yield(last, err)
				return
			}
			for i := range some {
				if last = some[i]; !yield(last, nil) {
					return
				}
			}
			if len(some) < most {
				return
			}
		}
	}
}

// findQuestion returns a question of a laptop; store.ErrNone if the laptop has no question with this id.
func (c *Centre) findQuestion(ctx context.Context, l *store.Laptop, id string) (store.Question, error) {
	q, err := c.Store.FindQuestion(ctx, id)
	if err == nil && q.Laptop != l.ID {
		return store.Question{}, store.ErrNone
	}
	return q, err
}

// AwaitQuestion returns a laptop's question as soon as it is not pending, but at the latest when the
// duration wait has passed.
func (c *Centre) AwaitQuestion(ctx context.Context, l store.Laptop, id string, wait time.Duration) (store.Question, error) {
	woken, end := c.Store.Watch(id)
	defer end()
	over := time.After(wait)
	for {
		q, err := c.findQuestion(ctx, &l, id)
		if err != nil || wait <= 0 || q.StateAt(c.now()) != enrolment.QuestionPending {
			return q, err
		}
		select {
		case <-ctx.Done():
			return q, ctx.Err()
		case <-over:
			return q, nil
		case <-woken: // a change, or PollEvery has passed: the question may have expired
		}
	}
}

// CancelQuestion ends a question whose call does not wait any more. It cannot be allowed after that.
func (c *Centre) CancelQuestion(ctx context.Context, l store.Laptop, id string) (store.Question, error) {
	return c.changeOwn(ctx, &l, id, figures.Cancelled, func(q *store.Question) error { return q.Cancel(c.now()) })
}

// UseApproval uses the approval of a question, which is possible once. Everybody who allowed it must still
// be one of its approvers.
func (c *Centre) UseApproval(ctx context.Context, l store.Laptop, id string) (store.Question, error) {
	owner := c.ownerOf(&l)
	return c.changeOwn(ctx, &l, id, figures.Used, func(q *store.Question) error {
		if err := q.Use(c.now()); err != nil {
			return err
		}
		for i := range q.Votes {
			if err := c.mayAllow(&q.Asked, c.withRoles(q.Votes[i].By), owner); err != nil {
				return ErrRoleGone
			}
		}
		return nil
	})
}

func (c *Centre) changeOwn(ctx context.Context, l *store.Laptop, id, outcome string, change func(*store.Question) error) (store.Question, error) {
	q, err := c.Store.ChangeQuestion(ctx, id, func(q *store.Question) error {
		if q.Laptop != l.ID {
			return store.ErrNone
		}
		return change(q)
	})
	switch {
	case errors.Is(err, store.ErrOver):
		err = ErrQuestionOver
	case err == nil:
		c.Figures.CountQuestion(outcome)
	}
	return q, err
}

// mayAllow returns nil if a person may allow a question from a laptop of owner, or the reason why not.
func (c *Centre) mayAllow(a *enrolment.AskQuestion, p principal.Principal, owner *principal.Principal) error {
	switch {
	case !c.isApprover(p, a.Approvers):
		return ErrNotYours
	case a.NotSelf && (owner == nil || owner.IsSame(p)):
		return ErrSelf
	}
	return nil
}

// The ways by which a person's answer comes (Ballot.Way).
const (
	ByPage    = "page"
	ByCommand = "command line"
	BySlack   = "Slack"
)

// Rights describes what a person may do with a question.
type Rights struct {
	Allow error // why the person may not allow the question; nil if the person may
	Deny  bool
	Read  bool                 // the person may read the arguments of the call
	Owner *principal.Principal // owner of the laptop; nil if not known
}

// RightsOf returns what a person may do with a question on a way. Approvers may allow and deny it. The owner
// of the laptop may deny what their own agent asks. A command line may not allow a question from a laptop of
// the same person, because an agent on the same machine could use the stored sign-in. With --dev it may,
// because there is only one person.
func (c *Centre) RightsOf(ctx context.Context, p principal.Principal, way string, q *store.Question) (Rights, error) {
	l, _, err := c.Store.FindLaptop(ctx, q.Laptop)
	if err != nil {
		return Rights{Allow: ErrNotYours}, err
	}
	owner := c.ownerOf(&l)
	r := Rights{Allow: c.mayAllow(&q.Asked, p, owner), Owner: owner}
	if r.Allow == nil && way == ByCommand && !c.Dev && (owner == nil || owner.IsSame(p)) {
		r.Allow = ErrOnPage
	}
	if slices.ContainsFunc(q.Votes, func(v store.Vote) bool { return v.By.IsSame(p) }) {
		r.Allow = ErrAnswered
	}
	r.Deny = c.isApprover(p, q.Asked.Approvers) || owner != nil && owner.Key() == p.Key()
	r.Read = r.Deny || p.Has(principal.Payload)
	return r, nil
}

// Ballot is the answer of a person to a question.
type Ballot struct {
	By       principal.Principal // with the present roles
	Way      string
	Question string
	Digest   string // digest of the call that the person has seen
	Allow    bool
	Words    string
}

// Vote checks and stores a person's answer. Answers of all ways come through Vote.
func (c *Centre) Vote(ctx context.Context, b Ballot) (store.Question, error) {
	found, err := c.Store.FindQuestion(ctx, b.Question)
	if err != nil {
		return found, err
	}
	rights, err := c.RightsOf(ctx, b.By, b.Way, &found)
	switch {
	case err != nil:
		return found, err
	case b.Allow && rights.Allow != nil:
		return found, rights.Allow
	case !b.Allow && !rights.Deny:
		return found, ErrNotYours
	case b.Digest != found.Asked.Digest:
		return found, ErrForAnother
	}
	q, err := c.Store.ChangeQuestion(ctx, b.Question, func(q *store.Question) error {
		return q.AddVote(store.Vote{By: b.By, Allow: b.Allow, Words: cleanText(b.Words, maxNote), At: c.now(), Way: b.Way}, QuestionLife)
	})
	switch {
	case errors.Is(err, store.ErrOver):
		err = ErrQuestionOver
		c.Figures.CountQuestion(figures.Late)
	case errors.Is(err, store.ErrVoted):
		err = ErrAnswered
	case err == nil && q.State != enrolment.QuestionPending: // if more votes are needed, the question is still pending
		c.Figures.CountAnswer(q.State, q.Decided.Sub(q.Created))
	}
	return q, err
}
