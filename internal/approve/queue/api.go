package queue

import (
	"context"
	"errors"
	"time"

	_ "modernc.org/sqlite" // the database

	"github.com/clawai/clawai/policy"
)

// ErrUnknown: no request or grant has that id.
var ErrUnknown = errors.New("nothing in the queue has this id")

// ErrAmbiguous: several do.
var ErrAmbiguous = errors.New("several in the queue begin like this; give more characters")

var errUnfinished = errors.New("the queue is not there yet")

// Settled tells the one who came second how the request ended.
type Settled struct{ Request Request }

func (e *Settled) Error() string { return "already settled" }

// Options of Open. The zero value is the product's default.
type Options struct {
	Clock func() time.Time // for what people read; nil means time.Now
}

// Queue is one folder's queue. It is safe for concurrent use.
type Queue struct{}

// Session says who asks.
type Session struct {
	ID      string
	Server  string
	Client  string
	Project string
	PID     int
}

// Proxy is one session's side of the queue.
type Proxy struct{}

// Ticket is one request that waits.
type Ticket struct{ id string }

// Grant is an answer for the session, as the gate holds it.
type Grant struct {
	ID      string
	Session string // filled in by Grants
	Server  string // the same
	Client  string // the same
	Project string // the same
	Rule    policy.Rule
	Calls   []policy.Call
	Since   time.Time
	Uses    int
}

// Attendance is somebody who looks at the queue.
type Attendance struct{}

// Open makes and checks the folder; the database is opened by what needs it.
func Open(string, Options) (*Queue, error) { return nil, errUnfinished }

// Close lets the database go.
func (q *Queue) Close() error { return nil }

// Attach makes this process the proxy of a session.
func (q *Queue) Attach(Session) (*Proxy, error) { return nil, errUnfinished }

// Put adds a pending request.
func (p *Proxy) Put(context.Context, Request) (*Ticket, error) { return nil, errUnfinished }

// SetGrants replaces the session's grants.
func (p *Proxy) SetGrants(context.Context, []Grant) error { return errUnfinished }

// Revoked gives ids of grants that somebody revoked.
func (p *Proxy) Revoked() <-chan string { return nil }

// Close expires what is pending.
func (p *Proxy) Close() error { return nil }

// ID names the request.
func (t *Ticket) ID() string { return t.id }

// Wait returns the answer, or *Settled when the request ended without one.
func (t *Ticket) Wait(context.Context) (Answer, error) { return Answer{}, errUnfinished }

// Settle ends the request, unless an answer was first: then that and false.
func (t *Ticket) Settle(context.Context, Status, Answer, string) (Answer, bool, error) {
	return Answer{}, false, errUnfinished
}

// Outcome says what became of an answered request.
func (t *Ticket) Outcome(context.Context, string) error { return errUnfinished }

// Attend says that somebody looks at the queue, until Close.
func (q *Queue) Attend(string) (*Attendance, error) { return nil, errUnfinished }

// Close ends the attendance.
func (a *Attendance) Close() error { return nil }

// Attended lists the kinds that are attended now.
func (q *Queue) Attended() ([]string, error) { return nil, errUnfinished }

// Watch ticks at once and when anything changed, until ctx ends.
func (q *Queue) Watch(context.Context) <-chan struct{} { return nil }

// Pending lists what waits, oldest first.
func (q *Queue) Pending(context.Context) ([]Request, error) { return nil, errUnfinished }

// History lists the last n that are settled, newest first.
func (q *Queue) History(context.Context, int) ([]Request, error) { return nil, errUnfinished }

// Get finds one by its id or a prefix of at least 8 characters.
func (q *Queue) Get(context.Context, string) (Request, error) { return Request{}, errUnfinished }

// Decide answers one; *Settled tells that somebody or something was first.
func (q *Queue) Decide(context.Context, string, Answer) (Request, error) {
	return Request{}, errUnfinished
}

// Await returns when the outcome is known.
func (q *Queue) Await(context.Context, string) (Request, error) { return Request{}, errUnfinished }

// Grants lists what is granted in every session.
func (q *Queue) Grants(context.Context) ([]Grant, error) { return nil, errUnfinished }

// Revoke ends a grant.
func (q *Queue) Revoke(context.Context, string) error { return errUnfinished }
