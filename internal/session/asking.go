package session

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/clawai/clawai/internal/ask"
	"github.com/clawai/clawai/internal/ask/elicit"
	"github.com/clawai/clawai/internal/ask/notify"
	"github.com/clawai/clawai/internal/ask/queue"
	"github.com/clawai/clawai/internal/ask/remember"
	"github.com/clawai/clawai/internal/ask/team"
	"github.com/clawai/clawai/internal/ask/view"
	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/state/config"
	"github.com/clawai/clawai/internal/state/egress"
	"github.com/clawai/clawai/internal/text/redact"
	"github.com/clawai/clawai/policy"
)

// asking holds everything that one session needs to ask a person. It opens nothing before the first
// question.
type asking struct {
	settings config.Ask
	folders  config.Folders
	server   string // the server's name for people
	view     view.Options
	by       string               // the account of the person at our terminal
	session  string               // id of the session in the queue
	known    func() *redact.Known // returns the values that the queue must not store
	desktop  *notify.Desktop
	relay    *ask.StderrRelay
	keeper   *remember.Writer // writes the rule for an answer "always" into the policy
	chain    *ask.Chain       // nil: no person is asked
	guard    *Session         // the session that asks; set before the first question

	mu     sync.Mutex // guards the fields below
	queue  *queue.Queue
	proxy  *queue.Proxy
	tasks  sync.WaitGroup
	shared chan struct{} // wakes the goroutine that publishes the session's grants
	over   chan struct{} // closed when the session ends
}

// newAsking returns the asking for one session. server is the server's name for people. loaded is
// the policy in force.
func (s *Sessions) newAsking(server string, loaded *config.Loaded) *asking {
	a := &asking{
		relay: s.relay, settings: s.settings, folders: s.o.Folders, server: server, view: s.o.View, by: s.o.By,
		session: rand.Text(), known: s.hidden.Load, desktop: notify.New(notify.Options{}), shared: make(chan struct{}, 1), over: make(chan struct{}),
	}
	if len(a.settings.Order.Is) == 0 {
		return a
	}
	a.keeper = NewRuleWriter(loaded.Path, loaded.Options(), a.folders, a.view)
	a.keeper.Wrote = s.edits.NoteEdit
	a.chain = ask.NewChain(ask.ChainOptions{
		Channels: a.makeChannels(), Team: a.newTeam(), Queue: a.queueClient(), RuleWriter: a.keeper, Wait: a.settings.Nobody.Is == "wait",
		Risk: a.isRisky, Project: a.view.Project, Notify: a.notifyQuestion, OnError: a.onError, Preview: a.preview,
	})
	return a
}

// queueClient returns the client of the queue. It returns nil if the settings use no channel of the
// queue and deny a call if no channel is available.
func (a *asking) queueClient() *ask.QueueClient {
	queued := func(name string) bool { return findChannel(name).queued }
	if a.settings.Nobody.Is == "deny" && !slices.ContainsFunc(a.settings.Order.Is, queued) {
		return nil
	}
	return ask.NewQueueClient(a.newEnqueuer)
}

// makeChannels returns the channels in their order.
func (a *asking) makeChannels() (all []ask.Channel) {
	for _, name := range a.settings.Order.Is {
		all = append(all, findChannel(name).make(a))
	}
	return all
}

// listReach returns the scopes that the client's form may offer for the rest of the session. The
// form always offers the exact call, so that scope is not in the list. For a risky call the list is
// empty, because it is not known who answers in the client's form.
func (a *asking) listReach(q gate.Question) (all []elicit.Reach) {
	if a.isRisky(q) {
		return nil
	}
	offers, _ := a.keeper.Offers(q)
	for _, o := range view.ForSession(offers) {
		if o.Scope != policy.Exact.String() { // the form always offers the exact call
			all = append(all, elicit.Reach{Scope: o.Scope, Title: o.Session})
		}
	}
	return all
}

// newTeam returns the channel that asks the approvers at the team's centre.
func (a *asking) newTeam() ask.Channel {
	return team.New(team.Options{
		State: a.folders.State, Transport: egress.Network{Folders: a.folders}.NewTransport(egress.Options{}),
		Known: a.known, Project: a.view.Project, Home: a.folders.Home, Session: a.session,
	})
}

func terminalLock(f config.Folders) string { return filepath.Join(f.State, "terminal.lock") }

func (a *asking) newTerminal() *ask.Terminal {
	return ask.NewTerminal(ask.Options{
		Lock: terminalLock(a.folders), Stderr: a.relay, RuleWriter: a.keeper, By: a.by, View: a.view,
	})
}

// makeApprover returns the approver for the gate. It also returns the concluder, which the gate
// informs about the result of an answer.
func (a *asking) makeApprover() (gate.Approver, gate.Concluder) {
	if a.chain == nil {
		return ask.Never{Reason: "asking is switched off"}, gate.None{}
	}
	return a.chain, a.chain
}

func (a *asking) isRisky(q gate.Question) bool {
	return ask.IsDangerous(q, a.view)
}

// notifyQuestion shows a desktop notification that a question waits and no channel is available.
func (a *asking) notifyQuestion(q gate.Question) {
	if a.settings.Notify.Is {
		a.desktop.NotifyQuestion(q.Server, q.Calls)
	}
}

// onError only records an error, because the error does not change the answer to a question.
func (a *asking) onError(err error) {
	_ = a.guard.noteServerEvents(&event.Event{Kind: event.Chatter, Code: "asking", Detail: err.Error()})
}

// notifyMuted shows a desktop notification that the server caused too many questions, and that no
// person is asked for a while.
func (a *asking) notifyMuted(int, time.Time) {
	if a.settings.Notify.Is {
		a.desktop.NotifyMuted(a.server)
	}
}

// openQueue returns the queue, and opens it on first use.
func (a *asking) openQueue() (*queue.Queue, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.queue != nil {
		return a.queue, nil
	}
	select {
	case <-a.over:
		return nil, errors.New("the session is over")
	default:
	}
	q, err := queue.Open(queueDir(a.folders), queue.Options{})
	if err != nil {
		return nil, err
	}
	a.queue = q
	return q, nil
}

func (a *asking) listAnswerers() ([]string, error) {
	q, err := a.openQueue()
	if err != nil {
		return nil, err
	}
	return q.Answerers()
}

// newEnqueuer returns this session's side of the queue.
func (a *asking) newEnqueuer() (ask.Enqueuer, error) {
	q, err := a.openQueue()
	if err != nil {
		return nil, err
	}
	p, err := q.Attach(queue.Session{ID: a.session, Server: a.server, Project: a.view.Project, Known: a.known})
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	a.proxy = p
	a.mu.Unlock()
	var grants Grants = p
	a.tasks.Go(func() { a.shareGrants(grants) })
	a.tasks.Go(func() {
		for id := range grants.Revoked() {
			a.guard.Revoke(id)
		}
	})
	return ask.NewEnqueuer(p), nil
}

// signalGrants wakes the goroutine that publishes the grants, because the grants have changed.
func (a *asking) signalGrants() {
	select {
	case a.shared <- struct{}{}:
	default: // a signal is already waiting
	}
}

// shareGrants publishes the grants of the session for clawai approve --granted.
func (a *asking) shareGrants(grants Grants) {
	for {
		select {
		case <-a.shared:
		case <-a.over:
			return
		}
		var all []queue.Grant
		for _, g := range a.guard.Grants() {
			all = append(all, queue.Grant{ID: g.ID, Rule: g.Rule, Calls: g.Calls, Reach: g.Reach, Since: g.Since, Uses: g.Uses})
		}
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		if err := grants.SetGrants(ctx, all); err != nil {
			a.onError(fmt.Errorf("the answers for this session cannot be listed: %w", err))
		}
		cancel()
	}
}

// close closes everything that asking has opened. The caller has closed the gate, so no question is
// open.
func (a *asking) close() {
	if a.chain != nil {
		a.chain.Close()
	}
	close(a.over)
	a.mu.Lock()
	p, q := a.proxy, a.queue
	a.mu.Unlock()
	if p != nil {
		_ = p.Close()
	}
	a.tasks.Wait()
	if q != nil {
		_ = q.Close()
	}
	a.desktop.Close()
}
