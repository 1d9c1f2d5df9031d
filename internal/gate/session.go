package gate

import (
	"cmp"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/clawai/clawai/policy"

	"github.com/clawai/clawai/internal/event"
)

// Options of New. The ports are required: whoever has nobody behind one says so
// by name. "No approver" is an Approver that denies, for the others there is None.
type Options struct {
	Policy     Policy
	Recorder   Recorder
	Approver   Approver
	Concluder  Concluder
	Principals Principals
	Inspector  Inspector
	Labels     Labels

	AskTimeout time.Duration // how long a call waits for a person; default 45 s, below what clients wait
	WaitEvery  time.Duration // how often Outlet.Waiting is called meanwhile; default 5 s

	// What waits for a person, of each server at most; what comes beyond is refused.
	MaxWaiting      int // exchanges; default 64
	MaxWaitingBytes int // of their frames; default 256 MiB

	// What a person is spared; a negative value spares nothing.
	DenyMemory   time.Duration // how long a call that was denied is denied again, unasked; default 1 min
	AskPerMinute int           // beyond so many questions within a minute nobody is asked for a minute; default 30

	// Limits counts for the limits of rules. Sessions share one; nil is a Meter of
	// the session's own.
	Limits Limits
	// Asked and Granted are shared with other processes of the agent's session: when a
	// person was asked, and what was allowed until the session ends. nil is for this one alone.
	Asked, Granted Ledger
	// Upstream tells the server from others that may have its name: what starts it, or its
	// address. What was allowed holds there, and in Facts.Cwd.
	Upstream string

	// Facts are those of every call of the session. Elsewhere is also true once the client
	// declared roots.
	Facts policy.Facts

	// OnGrants is called when Grants has changed, perhaps from several
	// goroutines at once, with no lock held and after the call it is about.
	OnGrants func()
	// OnMuted is called when the session has asked n times within a minute and
	// wanted to again: until then every prompt is denied.
	OnMuted func(n int, until time.Time)

	// ObserveOnly enforces nothing: what the rules say is recorded, and every
	// exchange that can be judged and recorded is forwarded without asking
	// anybody. It holds for the whole session.
	ObserveOnly bool
}

// Session is the gate of one connection between a client and a server. Its
// methods are safe for concurrent use.
type Session struct {
	o Options // with the defaults filled in; the policy is elsewhere

	policy  atomic.Pointer[Policy]
	closed  atomic.Bool
	rooted  atomic.Bool // the client has declared roots that are not Cwd
	screens atomic.Bool // rules look at replies
	lists   atomic.Bool // rules look at lists, or hold them to what was approved
	finds   atomic.Bool // rules ask what calls carry
	pending pending
	listed  listed

	askers  sync.WaitGroup
	mu      sync.Mutex // guards what follows
	rules   chan struct{}
	waiting waiting
	memory  memory
	pace    pace             // of what the client asks for
	paces   map[string]*pace // of what servers ask by themselves
	granted granted
}

// atOnce is how many questions one session may put before a person at once: the
// others must not be buried under it.
const atOnce = 64

// New makes a session. Close ends it.
func New(o Options) (*Session, error) {
	if o.Policy == nil || o.Recorder == nil || o.Approver == nil || o.Concluder == nil ||
		o.Principals == nil || o.Inspector == nil || o.Labels == nil {
		return nil, errors.New("gate: every port is required")
	}
	first := o.Policy
	o.Policy = nil // or it would be kept when another takes its place
	s := &Session{o: o, rules: make(chan struct{})}
	s.o.AskTimeout = positiveOrDefault(o.AskTimeout, 45*time.Second)
	s.o.WaitEvery = positiveOrDefault(o.WaitEvery, 5*time.Second)
	s.o.MaxWaiting = positiveOrDefault(o.MaxWaiting, atOnce)
	s.o.MaxWaitingBytes = positiveOrDefault(o.MaxWaitingBytes, 256<<20)
	s.o.DenyMemory = cmp.Or(o.DenyMemory, time.Minute)
	s.pace = pace{limit: cmp.Or(o.AskPerMinute, 30), most: max(s.o.MaxWaiting, atOnce), shared: o.Asked}
	s.paces = make(map[string]*pace)
	s.granted.shared, s.granted.server = o.Granted, fmt.Sprintf("%q %q", o.Facts.Cwd, o.Upstream)
	if s.o.Limits == nil {
		s.o.Limits = &Meter{}
	}
	s.waiting.of, s.waiting.by = make(map[*Exchange]*question), make(map[string]load)
	s.policy.Store(&first)
	s.noteScreens(first)
	return s, nil
}

func positiveOrDefault[T int | time.Duration](n, otherwise T) T {
	if n <= 0 {
		return otherwise
	}
	return n
}

// SetPolicy changes the rules for everything judged from now on. Calls that
// wait for a person are judged again at once. Answers for the session end with
// the rules that asked for them. A nil policy denies everything.
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

// RulesChanged gives closed when other rules are in force than now: what they made of a message
// that somebody kept is old then. It is the same as long as they are.
func (s *Session) RulesChanged() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rules
}

// Relist says that lists pass in another way by now, though the rules are the same.
func (s *Session) Relist() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.supersedeRules()
}

// supersedeRules is called with mu held.
func (s *Session) supersedeRules() {
	close(s.rules)
	s.rules = make(chan struct{})
}

// NoteEvents records events that are no exchange: a start, a policy load, a frame
// that was refused before it could be judged.
func (s *Session) NoteEvents(events ...*event.Event) error {
	for _, ev := range events {
		if s.o.ObserveOnly && ev.Kind == event.Start {
			ev.Stage, ev.Code, ev.Reason = string(StageObserve), CodeNotEnforced, notEnforced
		}
	}
	return s.recordEvents(events)
}

// Withdraw takes back an exchange whose caller cancelled it. True means that it
// was waiting for a person and now will never be forwarded: its Refuse follows,
// with CodeWithdrawn. False means that it has been forwarded or refused, and if
// that was under way, Withdraw waited for it: a cancellation sent on now comes
// after the request. Call it without holding a lock that the Outlet needs.
func (s *Session) Withdraw(x *Exchange) bool {
	s.mu.Lock()
	q := s.waiting.of[x]
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

// Close refuses everything that waits for a person and everything that comes
// later, records what is pending, and returns when no goroutine of the session is
// left.
func (s *Session) Close() {
	s.closed.Store(true)
	s.mu.Lock()
	for _, q := range s.waiting.of {
		q.cancel(ErrClosed)
	}
	s.mu.Unlock()
	s.askers.Wait()
	_ = s.Flush() // a record that fails has nobody left to refuse
}
