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

// Options holds the options of New. All ports are required, so that an unused port is
// named on purpose: an Approver that denies, or None for the other ports.
type Options struct {
	Policy    Policy
	Recorder  Recorder
	Approver  Approver
	Concluder Concluder
	Inspector Inspector
	Labels    Labels
	Releases  Releases

	AskTimeout time.Duration // how long a call waits for a person; default 45 s, below what clients wait
	WaitEvery  time.Duration // how often Outlet.Waiting is called while a call waits; default 5 s

	// Limits of the exchanges that wait for a person, for each server; further ones are refused.
	MaxWaiting      int // exchanges; default 64
	MaxWaitingBytes int // total size of their frames; default 256 MiB

	// Protection of a person from too many questions; a negative value turns it off.
	DenyMemory   time.Duration // how long an identical call is denied after a denial, without a question; default 1 min
	AskPerMinute int           // after this many questions within a minute nobody is asked for a minute; default 30

	// Limits counts calls against the limits of rules. Sessions share it; nil creates
	// a Meter for this session alone.
	Limits Limits
	// Asked and Granted are shared with other processes of the agent's session: the
	// times of questions, and what was allowed until the session ends. nil means this
	// process alone.
	Asked, Granted Ledger
	// Upstream tells the server from others with the same name: its command or its
	// address. A grant holds only for this Upstream and this Facts.Cwd.
	Upstream string

	// Facts are the facts of every call of the session. Elsewhere also becomes true
	// when the client declares roots.
	Facts policy.Facts

	// Identify sets the facts about the present caller of the session: Who, Roles, Groups and Env. It
	// changes no other fact and must not block. nil means that the caller is unknown, or that the
	// transport has set these facts.
	Identify func(*policy.Facts)

	// Mask removes secrets from a text of a message that the gate's answer quotes; nil: no text is
	// changed.
	Mask func(string) string

	// OnGrants is called after Grants has changed, perhaps from several goroutines at
	// once. No lock is held, and the call that caused the change is over.
	OnGrants func()
	// OnMuted is called when the session has asked n times within a minute and another
	// question came. Every prompt is denied until the time until.
	OnMuted func(n int, until time.Time)

	// ObserveOnly enforces nothing. The decision of the rules is recorded, and every
	// exchange that can be judged and recorded is forwarded without asking anybody. It
	// holds for the whole session.
	ObserveOnly bool
}

// Session is the gate of one connection between a client and a server. Its
// methods are safe for concurrent use.
type Session struct {
	o Options // with the defaults filled in; the policy is in its own field

	policy  atomic.Pointer[Policy]
	closed  atomic.Bool
	rooted  atomic.Bool // the client has declared roots that are not Cwd
	screens atomic.Bool // rules look at replies
	uploads atomic.Bool // rules look at what goes to a model
	lists   atomic.Bool // rules look at lists, or compare them with the approved lists
	finds   atomic.Bool // rules ask about the contents of calls
	pending pendingOutcomes
	listed  listedTools

	askers  sync.WaitGroup
	mu      sync.Mutex    // guards the fields below
	rules   chan struct{} // see RulesChanged
	waiting waitingQuestions
	memory  memory
	pace    pace             // of the client's requests
	paces   map[string]*pace // of the requests that servers send by themselves
	granted sharedGrants
}

// atOnce is how many questions one session may show to a person at once, so that other
// sessions' questions stay visible.
const atOnce = 64

// New creates a session. Close ends it.
func New(o Options) (*Session, error) {
	if o.Policy == nil || o.Recorder == nil || o.Approver == nil || o.Concluder == nil ||
		o.Inspector == nil || o.Labels == nil || o.Releases == nil {
		return nil, errors.New("gate: every port is required")
	}
	first := o.Policy
	o.Policy = nil // otherwise the first policy would be kept in memory after SetPolicy
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

// SetPolicy changes the rules for every later judgement. Calls that wait for a person
// are judged again at once. Answers for the session end with the rules that asked. A
// nil policy denies everything.
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

// RulesChanged returns a channel that is closed when the rules change. A cached result
// of the rules is then out of date. The channel stays the same as long as the rules
// do.
func (s *Session) RulesChanged() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rules
}

// Relist marks cached lists as out of date, though the rules are the same.
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

// NoteEvents records events that belong to no exchange: a start, a policy load, a
// frame that was refused before it could be judged.
func (s *Session) NoteEvents(events ...*event.Event) error {
	for _, ev := range events {
		if s.o.ObserveOnly && ev.Kind == event.Start {
			ev.Stage, ev.Code, ev.Reason = string(StageObserve), CodeNotEnforced, notEnforced
		}
	}
	return s.recordEvents(events)
}

// Withdraw takes back an exchange that its caller cancelled. True means that the
// exchange was waiting for a person and will never be forwarded: its Refuse follows,
// with CodeWithdrawn. False means that the exchange has been forwarded or refused. If
// that was still in progress, Withdraw waited for it, so a cancellation that is sent
// on now arrives after the request. Do not hold a lock that the Outlet needs.
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

// Close refuses everything that waits for a person and everything that comes later,
// records the pending events, and returns when all goroutines of the session have
// ended.
func (s *Session) Close() {
	s.closed.Store(true)
	s.mu.Lock()
	for _, q := range s.waiting.questions {
		q.cancel(ErrClosed)
	}
	s.mu.Unlock()
	s.askers.Wait()
	_ = s.Flush() // after an error there is nothing left to refuse
}
