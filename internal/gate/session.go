package gate

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/clawai/clawai/internal/audit"
)

// Options of New. The three ports are required: "no approver" is a named
// Approver that denies, never nil.
type Options struct {
	Policy   Policy
	Recorder Recorder
	Approver Approver

	Server     string        // the server's name, for events that carry none
	AskTimeout time.Duration // how long a call waits for a person; default 45 s, below what clients wait
	WaitEvery  time.Duration // how often Outlet.Waiting is called meanwhile; default 5 s

	// ObserveOnly enforces nothing: what the rules say is recorded, and every
	// exchange that can be judged and recorded is forwarded without asking
	// anybody. It holds for the whole session.
	ObserveOnly bool
}

// Session is the gate of one connection between a client and a server. Its
// methods are safe for concurrent use.
type Session struct {
	recorder   Recorder
	approver   Approver
	server     string
	askTimeout time.Duration
	waitEvery  time.Duration
	observing  bool

	policy atomic.Pointer[Policy]
	closed atomic.Bool
	owed   owed

	askers  sync.WaitGroup
	mu      sync.Mutex    // guards what follows
	last    chan struct{} // closed when the newest question has left the person free
	pending map[*Exchange]*question
	grants  map[grant]struct{}
}

// New makes a session. Close ends it.
func New(o Options) (*Session, error) {
	if o.Policy == nil || o.Recorder == nil || o.Approver == nil {
		return nil, errors.New("gate: a policy, a recorder and an approver are required")
	}
	s := &Session{
		recorder:   o.Recorder,
		approver:   o.Approver,
		server:     o.Server,
		askTimeout: o.AskTimeout,
		waitEvery:  o.WaitEvery,
		observing:  o.ObserveOnly,
		last:       make(chan struct{}),
		pending:    make(map[*Exchange]*question),
	}
	if s.askTimeout <= 0 {
		s.askTimeout = 45 * time.Second
	}
	if s.waitEvery <= 0 {
		s.waitEvery = 5 * time.Second
	}
	close(s.last)
	s.SetPolicy(o.Policy)
	return s, nil
}

// SetPolicy changes the rules for everything judged from now on, calls that
// wait for a person included. Answers for the session end with the rules that
// asked for them. A nil policy denies everything.
func (s *Session) SetPolicy(p Policy) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.policy.Store(&p)
	s.grants = nil
}

// Note records events that are no exchange: a start, a policy load, a frame
// that was refused before it could be judged.
func (s *Session) Note(events ...*audit.Event) error {
	for _, ev := range events {
		if ev.Server == "" {
			ev.Server = s.server
		}
		if s.observing && ev.Kind == audit.Start {
			ev.Stage, ev.Code, ev.Reason = string(StageObserve), CodeNotEnforced, notEnforced
		}
	}
	return s.record(events)
}

// Withdraw takes back an exchange whose caller cancelled it. True means that it
// was waiting for a person and now will never be forwarded: its Refuse follows,
// with CodeWithdrawn. False means that it has been forwarded or refused, and if
// that was under way, Withdraw waited for it: a cancellation sent on now comes
// after the request. Call it without holding a lock that the Outlet needs.
func (s *Session) Withdraw(x *Exchange) bool {
	s.mu.Lock()
	q := s.pending[x]
	if q != nil && q.state == waiting {
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
// later, records what is owed, and returns when no goroutine of the session is
// left.
func (s *Session) Close() {
	s.closed.Store(true)
	s.mu.Lock()
	for _, q := range s.pending {
		q.cancel(ErrClosed)
	}
	s.mu.Unlock()
	s.askers.Wait()
	_ = s.Settle() // a record that fails has nobody left to refuse
}
