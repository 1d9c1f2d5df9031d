package queue

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"
)

// Proxy adds the requests of one session to the queue and receives their answers. It is safe for
// concurrent use.
type Proxy struct {
	q *Queue
	s Session

	mu       sync.Mutex
	presence *presence // the file that marks the session as alive; nil while there is none
	closed   bool
	used     bool                  // the database has had an entry of this session
	waiting  map[string]*Ticket    // tickets of the pending requests, by id
	unsaved  map[string]resolution // ends of requests that could not be stored yet, by id
	granted  bool
	polling  bool // pollLoop runs

	polls   sync.WaitGroup
	stop    chan struct{}
	revoked chan string
	// Only pollLoop uses the fields below.
	reported   map[string]bool // revoked grants that were sent to the channel
	lastChange int64           // number of the last change that was read
	opened     int             // store.opened at the time of lastChange
}

// Attach makes this process the proxy of a session until Close. If the process dies, the next
// reader of the queue ends the requests of the session. Attach does not open the database.
func (q *Queue) Attach(s Session) (*Proxy, error) {
	if !isSession(s.ID) {
		return nil, fmt.Errorf("the queue: %q cannot name a session", s.ID)
	}
	if s.PID == 0 {
		s.PID = os.Getpid()
	}
	p := &Proxy{q: q, s: s, waiting: map[string]*Ticket{}, unsaved: map[string]resolution{}, reported: map[string]bool{},
		stop: make(chan struct{}), revoked: make(chan string, 64)}
	if err := p.claimSession(); err != nil {
		return nil, err
	}
	return p, nil
}

// maxRequest is the maximum size in bytes of the calls of one request. A person does not read more
// before answering.
const maxRequest = 16 << 20

// Put adds a pending request. It fills empty fields from the session. The caller must resolve the
// Ticket or close the Proxy.
func (p *Proxy) Put(ctx context.Context, r Request) (*Ticket, error) {
	if len(r.Calls) == 0 {
		return nil, errors.New("the queue: a request without a call")
	}
	if requestSize(&r) > maxRequest {
		return nil, ErrTooLarge
	}
	r.Session, r.Status, r.Created = p.s.ID, Pending, p.q.o.Clock()
	r.Decided, r.Answer, r.Outcome = time.Time{}, Answer{}, ""
	r.Server, r.Client, r.Project = cmp.Or(r.Server, p.s.Server), cmp.Or(r.Client, p.s.Client), cmp.Or(r.Project, p.s.Project)
	for {
		t, err := p.insertRequest(ctx, r)
		if !errors.Is(err, errLost) {
			return t, err
		}
	}
}

// newID returns a random UUID (RFC 9562, version 4).
func newID() string {
	var b [16]byte
	rand.Read(b[:]) // never fails (crypto/rand, since Go 1.24)
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// requestSize returns the approximate size of the calls.
func requestSize(r *Request) (n int) {
	for _, c := range r.Calls {
		n += len(c.Args) + len(c.Extra)
		for _, name := range c.Names {
			n += len(name)
		}
	}
	return n
}

// insertRequest stores r under a new id. It returns errLost if the id of another request begins
// with the same characters.
func (p *Proxy) insertRequest(ctx context.Context, r Request) (*Ticket, error) {
	r.ID = newID()
	v, err := rowValues(&r)
	if err != nil {
		return nil, err
	}
	v = append(v, p.s.PID, max(0, int64(r.Deadline.Sub(r.Created).Seconds())), r.ID[:shortest], r.ID[:shortest])
	t, err := p.newTicket(r.ID)
	if err != nil {
		return nil, err
	}
	err = p.q.writeChange(ctx, func(ctx context.Context, tx tx) error {
		n, err := tx.exec(ctx, `INSERT INTO requests (`+columns+`, pid, timeout_seconds, changed)
			SELECT `+marks+`, ?, ?, `+thisChange+`
			WHERE NOT EXISTS (SELECT 1 FROM requests WHERE id BETWEEN ? AND ? || 'g')`, v...)
		if err == nil && n == 0 {
			return errLost
		}
		if err != nil {
			return err
		}
		if err := p.keepScrubbed(ctx, tx, &r); err != nil {
			return err
		}
		return errors.Join(p.q.keepPreview(ctx, tx, &r), p.q.keepReserved(ctx, tx, &r))
	})
	if err != nil {
		p.forgetTicket(t)
		return nil, err
	}
	t.stored.Store(true)
	return t, nil
}

// newTicket makes a ticket. This happens before the request is visible to others, so that no answer
// is missed.
func (p *Proxy) newTicket(id string) (*Ticket, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, ErrClosed
	}
	if err := p.claimSession(); err != nil {
		return nil, err
	}
	t := &Ticket{p: p, id: id, done: make(chan struct{})}
	p.waiting[id] = t
	p.used = true
	p.startPolling()
	return t, nil
}

func (p *Proxy) forgetTicket(t *Ticket) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.waiting, t.id)
	delete(p.unsaved, t.id)
}

// Close expires all pending requests and ends the session.
func (p *Proxy) Close() error {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return nil
	}
	p.closed = true
	close(p.stop)
	used := p.used
	left := p.waiting
	p.waiting = nil
	p.mu.Unlock()
	p.polls.Wait()

	var err error
	if used {
		err = p.q.expireSession(context.Background(), p.s.ID)
	}
	for _, t := range left {
		t.finishWait(Answer{}, ErrClosed)
	}
	if p.presence != nil {
		err = errors.Join(err, p.presence.releaseFile())
	}
	close(p.revoked)
	p.q.notifyAll()
	return err
}
