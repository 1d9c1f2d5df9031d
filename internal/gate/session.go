package gate

import (
	"cmp"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/policy"
)

// Options holds the options of New. The caller must set every port. If no person can be asked,
// Approver must be one that denies. Any other port that is not used must be None.
type Options struct {
	Policy    Policy
	Recorder  Recorder
	Approver  Approver
	Concluder Concluder
	Inspector Inspector
	Labels    Labels
	Releases  Releases

	AskTimeout time.Duration // how long a call waits for a person; default 45 s, shorter than clients wait
	WaitEvery  time.Duration // how often Outlet.Waiting is called while a call waits; default 5 s

	// Limits of the exchanges that wait for a person, for each server. An exchange over a limit is
	// refused.
	MaxWaiting      int // exchanges; default 64
	MaxWaitingBytes int // total size of their frames; default 256 MiB

	// DenyMemory and AskPerMinute protect a person from too many questions. A negative value turns
	// the protection off.
	DenyMemory   time.Duration // time after a denial in which the same call is denied without a question; default 1 min
	AskPerMinute int           // after this number of questions within a minute, no person is asked for a minute; default 30

	// Limits counts calls against the limits of rules. Several sessions may share one Limits. nil
	// creates a Meter for this session alone.
	Limits Limits
	// Asked and Granted are shared with other processes of the agent's session. Asked holds the
	// times of questions, Granted the grants. nil means that this process shares nothing.
	Asked, Granted Ledger
	// Upstream is the command or the address of the server. It distinguishes servers with the same
	// name. A grant is valid only for this Upstream and this Facts.Cwd.
	Upstream string

	// Facts are the facts of every call of the session. The gate sets Elsewhere to true when the
	// client declares roots.
	Facts policy.Facts

	// Identify sets the facts about the present caller of the session: Who, Roles, Groups and Env.
	// It changes no other fact and must not block. nil means that the caller is unknown or that the
	// transport sets these facts.
	Identify func(*policy.Facts)

	// Mask removes secrets from a text of a message before the gate's answer quotes the text. nil
	// changes no text.
	Mask func(string) string

	// OnGrants is called after Grants has changed. Several goroutines may call it at once. The gate
	// holds no lock when it calls OnGrants. If a person's answer caused the change, the exchange
	// that the person was asked about has already been forwarded or refused.
	OnGrants func()
	// OnMuted is called when the session has asked n questions within a minute and needs another
	// one. Every prompt is denied until the given time.
	OnMuted func(n int, until time.Time)

	// ObserveOnly means that the session enforces nothing. It records the decision of the rules,
	// asks no person, and forwards every exchange that can be judged and recorded. It holds for the
	// whole session.
	ObserveOnly bool
}

// Session is the gate of one connection between a client and a server. Its
// methods are safe for concurrent use.
type Session struct {
	o Options // the options with defaults; the policy is in the field policy

	policy  atomic.Pointer[Policy]
	closed  atomic.Bool
	rooted  atomic.Bool // the client has declared roots other than Cwd
	screens atomic.Bool // rules look at replies
	uploads atomic.Bool // rules look at messages to a model
	lists   atomic.Bool // rules look at lists, or compare lists with the approved ones
	finds   atomic.Bool // rules look at the contents of calls
	pending pendingOutcomes
	listed  listedTools

	askers  sync.WaitGroup
	mu      sync.Mutex    // guards the fields below
	rules   chan struct{} // see RulesChanged
	waiting waitingQuestions
	memory  memory
	pace    pace             // pace of questions about the client's requests
	paces   map[string]*pace // pace of questions about servers' own requests, by server
	granted sharedGrants
}

// atOnce is the default of MaxWaiting and the least value of pace.most. This limit keeps the
// questions of other sessions visible.
const atOnce = 64

// New creates a session. The caller ends it with Close.
func New(o Options) (*Session, error) {
	if o.Policy == nil || o.Recorder == nil || o.Approver == nil || o.Concluder == nil ||
		o.Inspector == nil || o.Labels == nil || o.Releases == nil {
		return nil, errors.New("gate: every port is required")
	}
	first := o.Policy
	o.Policy = nil // otherwise o would keep the first policy in memory after SetPolicy
	s := &Session{o: o, rules: make(chan struct{})}
	s.o.AskTimeout = positiveOrDefault(o.AskTimeout, 45*time.Second)
	s.o.WaitEvery = positiveOrDefault(o.WaitEvery, 5*time.Second)
	s.o.MaxWaiting = positiveOrDefault(o.MaxWaiting, atOnce)
	s.o.MaxWaitingBytes = positiveOrDefault(o.MaxWaitingBytes, 256<<20)
	s.o.DenyMemory = cmp.Or(o.DenyMemory, time.Minute)
	s.pace = pace{limit: cmp.Or(o.AskPerMinute, 30), most: max(s.o.MaxWaiting, atOnce), shared: o.Asked}
	s.paces = make(map[string]*pace)
	s.granted.shared, s.granted.server = o.Granted, fmt.Sprintf("%q %q", o.Facts.Cwd, o.Upstream)
	if s.o.Mask == nil {
		s.o.Mask = func(text string) string { return text }
	}
	if s.o.Limits == nil {
		s.o.Limits = &Meter{}
	}
	s.waiting.questions, s.waiting.loads = make(map[*Exchange]*question), make(map[string]load)
	s.policy.Store(&first)
	s.noteScreens(first)
	return s, nil
}

// CountWaiting returns the number of questions that wait for a person.
func (s *Session) CountWaiting() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.waiting.questions)
}

func positiveOrDefault[T int | time.Duration](n, fallback T) T {
	if n <= 0 {
		return fallback
	}
	return n
}

// SetPolicy changes the rules for every later judgement. Calls that wait for a person are judged
// again at once. Grants end, because they belong to the old rules. A nil policy denies everything.
func (s *Session) SetPolicy(p Policy) {
	if p == nil {
		p = noRules{}
	}
	s.mu.Lock()
	s.policy.Store(&p)
	s.noteScreens(p)
	s.supersedeRules()
	had := len(s.memory.grants)+len(s.memory.wide) > 0
	for _, g := range s.memory.grants {
		s.granted.endGrant(g.entry)
	}
	for _, w := range s.memory.wide {
		s.granted.endGrant(w.entry)
	}
	s.memory = memory{}
	s.waiting.wakeQuestions(nil)
	s.mu.Unlock()
	if had {
		s.notifyGrants()
	}
}

// RulesChanged returns a channel that is closed when the rules change. The transport then drops
// results that it cached under the old rules. The channel stays the same as long as the rules do.
func (s *Session) RulesChanged() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rules
}

// Relist marks cached lists as out of date, although the rules are the same.
func (s *Session) Relist() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.supersedeRules()
}

// supersedeRules closes the RulesChanged channel. The caller must hold mu.
func (s *Session) supersedeRules() {
	close(s.rules)
	s.rules = make(chan struct{})
}

// NoteEvents records events that belong to no exchange: a start, a policy load, a frame that the
// transport refused itself.
func (s *Session) NoteEvents(events ...*event.Event) error {
	for _, ev := range events {
		if s.o.ObserveOnly && ev.Kind == event.Start {
			ev.Stage, ev.Code, ev.Reason = string(StageObserve), CodeNotEnforced, notEnforced
		}
	}
	return s.recordEvents(events)
}

// Withdraw takes back an exchange that its caller cancelled. It returns true when the exchange was
// waiting for a person. That exchange is never forwarded: its Refuse follows, with CodeWithdrawn.
// It returns false when the exchange has been forwarded or refused. If the delivery was still in
// progress, Withdraw waited for its end, so a cancellation that the transport sends now arrives
// after the request. The caller must not hold a lock that the Outlet needs.
func (s *Session) Withdraw(x *Exchange) bool {
	s.mu.Lock()
	q := s.waiting.questions[x]
	if q != nil && q.state == undecided {
		q.state = withdrawn
		q.cancel(ErrWithdrawn)
	}
	gone := q != nil && q.state == withdrawn
	s.mu.Unlock()
	if q != nil && !gone {
		<-q.done
	}
	return gone
}

// Close refuses everything that waits for a person and everything that comes later. It records the
// pending events and returns when all goroutines of the session have ended.
func (s *Session) Close() {
	s.closed.Store(true)
	s.mu.Lock()
	for _, q := range s.waiting.questions {
		q.cancel(ErrClosed)
	}
	s.mu.Unlock()
	s.askers.Wait()
	_ = s.Flush() // the error is ignored because nothing is left to refuse
}
