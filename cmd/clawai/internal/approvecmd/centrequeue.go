package approvecmd

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/clawai/clawai/cmd/clawai/internal/courier"
	"github.com/clawai/clawai/internal/ask/console"
	"github.com/clawai/clawai/internal/ask/queue"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/state/config"
	"github.com/clawai/clawai/internal/state/enrolment"
)

// centreQueue holds the questions at a team's centre that this person may answer. On the screen, it
// takes the place of the laptop's queue. The centre checks and counts the answers.
type centreQueue struct {
	centre *courier.Centre

	mu    sync.Mutex
	known map[string]*enrolment.Asked // by id; the content of a question never changes, only its state
}

var _ console.Queue = (*centreQueue)(nil)

// openCentre opens the queue of a centre. If necessary, it first signs the person in.
func openCentre(ctx context.Context, c *cli.Context, dirs config.Folders) (*centreQueue, error) {
	s, err := signIn(ctx, c, dirs)
	if err != nil {
		return nil, err
	}
	return &centreQueue{centre: courier.NewCentre(dirs, s.URL, s.Token), known: map[string]*enrolment.Asked{}}, nil
}

// Close closes idle connections.
func (q *centreQueue) Close() error { q.centre.Close(); return nil }

// Watch sends only one signal, because the screen itself reads the questions again at intervals.
func (q *centreQueue) Watch(ctx context.Context) <-chan struct{} {
	out := make(chan struct{}, 1)
	out <- struct{}{}
	context.AfterFunc(ctx, func() { close(out) })
	return out
}

func (q *centreQueue) list(ctx context.Context) (list enrolment.AskedList, err error) {
	err = q.centre.ExchangeJSON(ctx, http.MethodGet, enrolment.AnswersPath, nil, &list)
	return list, explainCentre(err)
}

// Pending returns the waiting questions.
func (q *centreQueue) Pending(ctx context.Context) ([]queue.Request, error) {
	list, err := q.list(ctx)
	if err != nil {
		return nil, err
	}
	return q.requests(ctx, list.Waiting)
}

// History returns the last n questions that no longer wait.
func (q *centreQueue) History(ctx context.Context, n int) ([]queue.Request, error) {
	list, err := q.list(ctx)
	if err != nil {
		return nil, err
	}
	return q.requests(ctx, list.Over[:min(n, len(list.Over))])
}

func (q *centreQueue) requests(ctx context.Context, all []enrolment.AskedState) ([]queue.Request, error) {
	requests := make([]queue.Request, 0, len(all))
	for i := range all {
		asked, err := q.find(ctx, &all[i])
		if err != nil {
			return nil, err
		}
		requests = append(requests, requestOfCentre(asked, time.Now()))
	}
	return requests, nil
}

// find returns a question with its current state s. It requests the content of each question only
// once from the centre.
func (q *centreQueue) find(ctx context.Context, s *enrolment.AskedState) (enrolment.Asked, error) {
	q.mu.Lock()
	known := q.known[s.ID]
	q.mu.Unlock()
	if known == nil {
		return q.read(ctx, s.ID)
	}
	asked := *known
	asked.AskedState = *s
	return asked, nil
}

func (q *centreQueue) read(ctx context.Context, id string) (enrolment.Asked, error) {
	return q.exchange(ctx, http.MethodGet, id, nil)
}

func (q *centreQueue) exchange(ctx context.Context, method, id string, message any) (asked enrolment.Asked, err error) {
	if err = q.centre.ExchangeJSON(ctx, method, enrolment.AnswersPath+"/"+url.PathEscape(id), message, &asked); err != nil {
		return asked, err
	}
	if asked.ID != id {
		return asked, errors.New("the centre answered with another question")
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	kept := asked
	q.known[id] = &kept
	return asked, nil
}

// Get returns the only question with an id that begins with prefix.
func (q *centreQueue) Get(ctx context.Context, prefix string) (queue.Request, error) {
	list, err := q.list(ctx)
	if err != nil {
		return queue.Request{}, err
	}
	var found []enrolment.AskedState
	for _, all := range [][]enrolment.AskedState{list.Waiting, list.Over} {
		for i := range all {
			if prefix != "" && strings.HasPrefix(all[i].ID, prefix) {
				found = append(found, all[i])
			}
		}
	}
	switch {
	case len(found) == 0:
		return queue.Request{}, errUnknownHere
	case len(found) > 1:
		return queue.Request{}, queue.ErrAmbiguous
	}
	asked, err := q.find(ctx, &found[0])
	return requestOfCentre(asked, time.Now()), explainCentre(err)
}

var errUnknownHere = fmt.Errorf("%w --gateway", queue.ErrUnknown)

// Decide sends the person's answer to the centre, with the digest of the call that was shown.
func (q *centreQueue) Decide(ctx context.Context, id string, a queue.Answer) (queue.Request, error) {
	r, err := q.Get(ctx, id)
	if err != nil {
		return r, err
	}
	if a.Reply != gate.AllowOnce && a.Reply != gate.DenyOnce {
		return r, errors.New(onceOnly)
	}
	q.mu.Lock()
	digest := q.known[r.ID].Digest
	q.mu.Unlock()
	asked, err := q.exchange(ctx, http.MethodPost, r.ID, enrolment.Answer{Digest: digest, Allow: a.Reply.Allows(), Words: a.Words})
	if refused, ok := errors.AsType[*courier.StatusError](err); ok && refused.Code == http.StatusConflict {
		if now, err := q.Get(ctx, r.ID); err == nil && now.Status != queue.Pending {
			return now, &queue.ResolvedError{Request: now}
		}
	}
	if err != nil {
		return r, explainCentre(err)
	}
	now := requestOfCentre(asked, time.Now())
	now.Answer.Reply = a.Reply // the answer of this person; the call may need answers of other people too
	return now, nil
}

// outcomeEvery is how often the centre is asked for the result of an allowed call.
const outcomeEvery = 500 * time.Millisecond

// Await returns a question when the result of its call is known, or when ctx ends.
func (q *centreQueue) Await(ctx context.Context, id string) (queue.Request, error) {
	for {
		asked, err := q.read(ctx, id)
		if err != nil {
			return queue.Request{}, explainCentre(err)
		}
		if asked.State != enrolment.QuestionApproved || asked.Held == 0 {
			return requestOfCentre(asked, time.Now()), nil
		}
		select {
		case <-ctx.Done():
			return requestOfCentre(asked, time.Now()), nil
		case <-time.After(outcomeEvery):
		}
	}
}

// Grants returns nothing, because an approver's answer is for one call only.
func (q *centreQueue) Grants(context.Context) ([]queue.Grant, error) { return nil, nil }

// Revoke returns an error, because there are no grants.
func (q *centreQueue) Revoke(context.Context, string) error { return errors.New(onceOnly) }

const onceOnly = "an approver's answer holds for one call; nothing else is offered at the centre"

// requestOfCentre converts a question of the centre into a request of the laptop's queue, for the
// screens. It converts the times to the clock of this machine.
func requestOfCentre(a enrolment.Asked, now time.Time) queue.Request {
	given := 0
	var by, words []string
	for _, v := range a.Votes {
		if v.Allow {
			given++
		}
		by = append(by, v.Name+" ("+v.Key+")")
		if v.Words != "" {
			words = append(words, v.Words)
		}
	}
	laptop := a.Laptop
	if a.Owner != "" {
		laptop += ", of " + a.Owner
	}
	approvers := fmt.Sprintf("%s; %d of %d have allowed it", strings.Join(a.Approvers, ", "), given, a.Approvals)
	if a.NotSelf {
		approvers += "; not the owner of the laptop"
	}
	r := queue.Request{
		ID: a.ID, Session: a.Session, Created: a.Created, Deadline: now.Add(time.Duration(a.Until) * time.Second),
		Server: a.Server, Client: a.Client, Project: a.Project, Calls: a.PolicyCalls(), Digest: a.DigestBytes(), Rule: a.PolicyRule(),
		Reason: a.Why, Revision: a.Revision, NoOffer: onceOnly, Decided: a.Decided,
		Centre: &queue.Centre{Laptop: laptop, Home: a.Home, Approvers: approvers, Hidden: a.Hidden, WhyNot: a.WhyNot},
	}
	r.Answer = queue.Answer{Channel: "the team's centre", By: strings.Join(by, ", "), Words: strings.Join(words, "; ")}
	setOutcome(&r, &a)
	return r
}

// setOutcome sets the status of a question of the centre, and the result of its call.
func setOutcome(r *queue.Request, a *enrolment.Asked) {
	r.Answer.Reply = gate.AllowOnce
	switch a.State {
	case enrolment.QuestionPending:
		r.Status = queue.Pending
		if len(a.Votes) > 0 {
			r.Outcome = fmt.Sprintf("others must allow it, too; %d of %d have", len(a.Votes), a.Approvals)
		}
	case enrolment.QuestionUsed:
		r.Status, r.Outcome = queue.Approved, "the call went on"
	case enrolment.QuestionApproved:
		r.Status, r.Outcome = queue.Approved, fmt.Sprintf("the agent can make this call once, within %d minutes", (a.Until+59)/60)
	case enrolment.QuestionDenied:
		r.Status, r.Answer.Reply, r.Outcome = queue.Denied, gate.DenyOnce, "the call was denied"
	case enrolment.QuestionCancelled:
		r.Status, r.Outcome = queue.Expired, "the call was withdrawn"
	default:
		r.Status, r.Outcome = queue.Expired, "expired"
	}
	if r.Status == queue.Expired && r.Decided.IsZero() {
		r.Decided = time.Now()
	}
}
