package proxy

import (
	"maps"
	"sync"
	"sync/atomic"

	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/memory"
	"github.com/clawai/clawai/proxy/frame"
	"github.com/clawai/clawai/proxy/mcp"
)

// state is where a request stands. A request is in the table from the moment
// it is read until its answer is on the way back.
type state uint8

const (
	held      state = iota // not forwarded: perhaps a person is being asked
	sent                   // forwarded; an answer may come
	answering              // its answer is at the gate
	cancelled              // forwarded and cancelled: an answer is dropped
)

// table is everything the proxy remembers of a session. One mutex guards it,
// and it is never held across a call into the gate or a system call.
type table struct {
	mu    sync.Mutex
	sides [2]side   // by the direction of the requests
	asked mcp.Asked // the input requests that were let through
	forms forms     // the client as somebody to ask

	// batches: version 2025-03-26 was negotiated. Read for every frame.
	batches atomic.Bool
}

// crowd is how many requests in flight are worth giving their memory back.
const crowd = 1024

// side is one direction's requests.
type side struct {
	calls  map[string]*call  // by idKey; one that returned with a form, by both its ids
	most   int               // calls at a time, since calls was made
	tokens map[string]int    // progress tokens of forwarded requests, by idKey
	renew  map[string][]byte // what a token became when its caller returned with a form; nil: it has none
	lent   ring              // tokens that outlive their request: its result is a task
	tasks  tasks             // what its calls go on as
	past   ring              // ids answered not long ago
	late   ring              // ids cancelled not long ago
}

func (t *table) side(from mcp.Direction) *side { return &t.sides[index(from)] }

func index(from mcp.Direction) int {
	if from == mcp.ServerToClient {
		return 1
	}
	return 0
}

// reserve takes the ids of all the calls, or of none when one of them is taken.
func (t *table) reserve(cs ...*call) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i, c := range cs {
		s := t.side(c.from)
		if s.calls[c.key] != nil || c.from == mcp.ServerToClient && t.forms.ours(c.key) {
			for _, c := range cs[:i] {
				delete(s.calls, c.key)
			}
			return false
		}
		s.keep(c.key, c)
	}
	return true
}

// forwarded notes that the request is about to be written; false when its caller
// is away, and it must not be.
func (t *table) forwarded(c *call) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	to, here := c.to()
	if !here {
		return false
	}
	c.state = sent
	if c.report != "" {
		s := t.side(c.from)
		s.tokens[c.report]++
		s.renewed(c, to)
	}
	return true
}

// Why an answer may not go on.
const (
	unsolicited  = "unsolicited"
	secondAnswer = "second_answer"
	lateAnswer   = "late_answer"
)

// claim finds the request of side from that r answers, and keeps a second
// answer away from it. why says what is wrong with an answer to no such request.
func (t *table) claim(from mcp.Direction, key string, r *reply) (c *call, why string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.side(from)
	c = s.calls[key]
	switch {
	case c == nil && s.past.has(key), c != nil && c.state == answering:
		return nil, secondAnswer
	case c == nil || c.state == held || c.key != key: // of these the other side knows nothing
		return nil, unsolicited
	case c.state == cancelled:
		t.forget(c)
		return nil, lateAnswer
	}
	c.state, c.reply = answering, r
	return c, ""
}

// settle notes that a reply is about to be written.
func (t *table) settle(r *reply) {
	t.mu.Lock()
	t.forget(r.call)
	t.began(r.call, r.tasks)
	t.asked.Remember(r.inputs)
	t.mu.Unlock()
	if r.version != "" {
		t.batches.Store(r.version == "2025-03-26")
		t.introduce(r.call.first, r.version)
	}
}

// release forgets a request that was answered by us, or withdrawn. It tells whom
// to answer, and whether anybody is there.
func (t *table) release(c *call) (to caller, here bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.forget(c)
	return c.to()
}

// releaseHeld forgets a request of a refused batch and reports whether its
// caller has withdrawn it.
func (t *table) releaseHeld(c *call) (withdrawn bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.forget(c)
	return c.withdrawn
}

func (t *table) forget(c *call) {
	s := t.side(c.from)
	if s.calls[c.key] != c {
		return
	}
	delete(s.calls, c.key)
	s.shrink()
	if c.form != nil {
		t.forms.over(s, c)
	}
	if c.state == held {
		return
	}
	s.past.add(c.key)
	if c.report == "" {
		return
	}
	if s.tokens[c.report]--; s.tokens[c.report] == 0 {
		delete(s.tokens, c.report)
		if !c.task {
			delete(s.renew, c.report)
		}
	}
	if c.task {
		s.lent.add(c.report)
	}
}

// shrink makes the tables anew when a crowd has left: a map never gives back what it
// has grown to.
func (s *side) shrink() {
	if s.most <= crowd || len(s.calls) > s.most/16 {
		return
	}
	s.calls, s.tokens, s.renew = regrown(s.calls), regrown(s.tokens), regrown(s.renew)
	s.most = len(s.calls)
	memory.ReleaseSoon()
}

func regrown[V any](old map[string]V) map[string]V {
	if old == nil {
		return nil
	}
	fresh := make(map[string]V, len(old))
	maps.Copy(fresh, old)
	return fresh
}

// lend keeps a call's progress token valid beyond its answer.
func (t *table) lend(c *call) {
	t.mu.Lock()
	c.task = true
	t.mu.Unlock()
}

// withdraw finds a request its caller cancels, where it stands, and the
// exchange under which it or its answer waits at the gate.
func (t *table) withdraw(from mcp.Direction, key string) (c *call, waiting *gate.Exchange, st state) {
	t.mu.Lock()
	defer t.mu.Unlock()
	c = t.side(from).calls[key]
	if c == nil || c.asked != nil || c.stale(key) {
		return nil, nil, held
	}
	switch c.state {
	case held:
		c.withdrawn = true
		return c, c.waiting, c.state
	case answering:
		return c, &c.reply.x, c.state
	case sent, cancelled:
	}
	return c, nil, c.state
}

// cancel notes that the other side is being told to stop; false when no such
// request has been forwarded. Its answer may or may not come, so that the
// oldest cancelled ids are given up in time.
func (t *table) cancel(from mcp.Direction, key string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.side(from)
	c := s.calls[key]
	if c == nil || c.state != sent {
		return c != nil && c.state == cancelled
	}
	c.state = cancelled
	if old := s.calls[s.late.add(key)]; old != nil && old.state == cancelled {
		t.forget(old)
	}
	return true
}

// answered reports an id whose answer went out not long ago.
func (t *table) answered(from mcp.Direction, key string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.side(from).past.has(key)
}

// open reports a request that was forwarded and not cancelled.
func (t *table) open(from mcp.Direction, key string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.side(from).calls[key]
	return c != nil && (c.state == sent || c.state == answering)
}

// only is the id of the one request that waits for an answer; "" when there are
// more, or none.
func (t *table) only(from mcp.Direction, scope string) (id string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for key, c := range t.side(from).calls {
		switch {
		case c.state != sent || key != c.key || c.lane.scope != scope:
		case id != "":
			return ""
		default:
			id = string(c.id)
		}
	}
	return id
}

// waits is where the caller of a request waits for its answer.
func (t *table) waits(from mcp.Direction, key string) Sink {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.side(from).calls[key]
	if c == nil || c.asked != nil {
		return nil
	}
	to, _ := c.to()
	return to.back
}

// scope is that of the one open request with this id.
func (t *table) scope(from mcp.Direction, id string) (scope string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, c := range t.side(from).calls {
		switch {
		case c.state != sent || frame.IDKey(c.id) != id:
		case scope != "" && scope != c.lane.scope:
			return ""
		default:
			scope = c.lane.scope
		}
	}
	return scope
}

// reports says whether progress with this token belongs to a request in flight,
// or to the task that one became, and what its caller calls it now if that is
// something else.
func (t *table) reports(from mcp.Direction, token string) (to []byte, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.side(from)
	if s.tokens[token] == 0 && !s.lent.has(token) {
		return nil, false
	}
	to, renewed := s.renew[token]
	return to, !renewed || to != nil
}

// unanswered empties one direction and returns the callers that still wait.
func (t *table) unanswered(from mcp.Direction) (callers []caller) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.side(from)
	for key, c := range s.calls {
		to, here := c.to()
		if here && key == to.key && c.state != cancelled && !c.withdrawn {
			callers = append(callers, to)
		}
	}
	clear(s.calls)
	return callers
}
