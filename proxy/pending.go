package proxy

import (
	"maps"
	"sync"
	"sync/atomic"

	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/mcp"
	"github.com/clawai/clawai/internal/state/memory"
	"github.com/clawai/clawai/internal/wire/frame"
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
	mu          sync.Mutex
	byDirection [2]pending // by the direction of the requests
	inputs      mcp.Asked  // the input requests that were let through
	forms       forms      // the client as somebody to ask

	unnamed  []*unnamed       // answers that name no request, and may be for one that waits
	notices  []notice         // notifications that one may be for
	habits   map[string]habit // of the server, by method of a notification
	families map[string]bool  // of methods of which the server has given a list
	messages uint64           // requests and notifications that went to the server

	// batches: version 2025-03-26 was negotiated. Read for every frame.
	batches atomic.Bool

	holding atomic.Int32 // how many answers that name no request wait

	withdrawing atomic.Int32 // how many look at an exchange that they found in here
}

// shrinkAbove is how many requests in flight are worth giving their memory back, and
// keptFrame how long the frame of one may be, in bytes, that is not.
const (
	shrinkAbove = 1024
	keptFrame   = 64 << 10
)

// pending is one direction's requests.
type pending struct {
	requests   map[string]*request // by frame.IDKey; one that returned with a form, by both its ids
	peak       int                 // requests at a time, since the map was made
	tokens     map[string]int      // progress tokens of forwarded requests, by frame.IDKey
	newTokens  map[string][]byte   // what a token became when its caller returned with a form; nil: it has none
	taskTokens ring                // tokens that outlive their request: its result is a task
	tasks      tasks               // what its calls go on as
	answered   ring                // ids answered not long ago
	cancelled  ring                // ids cancelled not long ago
}

func (t *table) pendingRequests(from mcp.Direction) *pending {
	return &t.byDirection[directionIndex(from)]
}

func directionIndex(from mcp.Direction) int {
	if from == mcp.ServerToClient {
		return 1
	}
	return 0
}

// What a server may have asked the client without an answer: it is kept for as long as the
// client says nothing.
const (
	maxServerRequests     = 1024
	maxServerRequestBytes = 64 << 20 // of their frames, beyond the first
)

// reserveIDs takes the ids of all the calls, or of none when one of them is taken, or the server
// has asked too much. why is "" when they are taken.
func (t *table) reserveIDs(cs ...*request) (why string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(cs) > 0 && cs[0].from == mcp.ServerToClient && t.pendingRequests(cs[0].from).isOverLimit(len(cs)) {
		return codeTooMany
	}
	for i, req := range cs {
		p := t.pendingRequests(req.from)
		if p.requests[req.key] != nil || req.from == mcp.ServerToClient && t.forms.isIssuedToken(req.key) {
			for _, req := range cs[:i] {
				delete(p.requests, req.key)
			}
			return codeDuplicateID
		}
		p.addRequest(req.key, req)
	}
	return ""
}

// isOverLimit says that so many more are too many, or what is kept is too long.
func (p *pending) isOverLimit(more int) bool {
	size := 0
	for _, req := range p.requests {
		size += req.size
	}
	return len(p.requests)+more > maxServerRequests || size > maxServerRequestBytes
}

// markSent notes that the request is about to be written; false when its caller
// is away, and it must not be.
func (t *table) markSent(req *request) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	to, here := req.currentCaller()
	if !here {
		return false
	}
	req.state = sent
	t.messages++
	req.sentAt = t.messages
	p := t.pendingRequests(req.from)
	if (len(p.requests) > shrinkAbove || len(req.x.Raw) > keptFrame) && p.requests[req.key] == req {
		delete(p.requests, req.key)
		req.dropFrame()
		p.requests[req.key] = req
	}
	req.x, req.waiting = nil, nil
	if req.progressKey != "" {
		p.tokens[req.progressKey]++
		p.renameToken(req, to)
	}
	return true
}

// Why an answer may not go on.
const (
	codeUnsolicited  = "unsolicited"
	codeSecondAnswer = "second_answer"
	codeLateAnswer   = "late_answer"
)

// claimRequest finds the request of the side from that resp answers, and keeps a second
// answer away from it. why says what is wrong with an answer to no such request.
func (t *table) claimRequest(from mcp.Direction, key string, resp *response) (req *request, why string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := t.pendingRequests(from)
	req = p.requests[key]
	switch {
	case req == nil && p.answered.hasKey(key), req != nil && req.state == answering:
		return nil, codeSecondAnswer
	case req == nil || req.state == held || req.key != key: // of these the other side knows nothing
		return nil, codeUnsolicited
	case req.state == cancelled:
		t.removeRequest(req)
		return nil, codeLateAnswer
	}
	t.noteAnswered(req)
	req.state, req.response = answering, resp
	return req, ""
}

// completeRequest notes that a reply is about to be written, and tells to whom.
func (t *table) completeRequest(resp *response) (to caller) {
	t.mu.Lock()
	to, _ = resp.request.currentCaller()
	t.removeRequest(resp.request)
	t.addTasks(resp.request, resp.tasks)
	t.inputs.RememberInputs(resp.inputs)
	t.mu.Unlock()
	if resp.version != "" {
		t.batches.Store(resp.version == "2025-03-26")
		t.setClient(resp.request.clientInfo, resp.version)
	}
	return to
}

// releaseRequest forgets a request that was answered by us, or withdrawn. It tells whom
// to answer, and whether anybody is there.
func (t *table) releaseRequest(req *request) (to caller, here bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.removeRequest(req)
	return req.currentCaller()
}

// releaseHeld forgets a request of a refused batch and reports whether its
// caller has withdrawn it.
func (t *table) releaseHeld(req *request) (withdrawn bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.removeRequest(req)
	return req.withdrawn
}

func (t *table) removeRequest(req *request) {
	p := t.pendingRequests(req.from)
	if p.requests[req.key] != req {
		return
	}
	delete(p.requests, req.key)
	p.shrinkMaps()
	if req.form != nil {
		t.forms.removeForm(p, req)
	}
	if req.state == held {
		return
	}
	p.answered.addKey(req.key)
	if req.progressKey == "" {
		return
	}
	if p.tokens[req.progressKey]--; p.tokens[req.progressKey] == 0 {
		delete(p.tokens, req.progressKey)
		if !req.task {
			delete(p.newTokens, req.progressKey)
		}
	}
	if req.task {
		p.taskTokens.addKey(req.progressKey)
	}
}

// shrinkMaps makes the tables anew when many requests have ended: a map never gives back what it
// has grown to.
func (p *pending) shrinkMaps() {
	if p.peak <= shrinkAbove || len(p.requests) > p.peak/16 {
		return
	}
	p.requests, p.tokens, p.newTokens = copyMap(p.requests), copyMap(p.tokens), copyMap(p.newTokens)
	p.peak = len(p.requests)
	memory.ReleaseSoon()
}

func copyMap[V any](old map[string]V) map[string]V {
	if old == nil {
		return nil
	}
	fresh := make(map[string]V, len(old))
	maps.Copy(fresh, old)
	return fresh
}

// keepToken keeps a call's progress token valid beyond its answer.
func (t *table) keepToken(req *request) {
	t.mu.Lock()
	req.task = true
	t.mu.Unlock()
}

// withdrawRequest finds a request its caller cancels, where it stands, and the
// exchange under which it or its answer waits at the gate.
func (t *table) withdrawRequest(from mcp.Direction, key string) (req *request, waiting *gate.Exchange, st state) {
	t.mu.Lock()
	defer t.mu.Unlock()
	req = t.pendingRequests(from).requests[key]
	if req == nil || req.elicitation != nil || req.isStale(key) {
		return nil, nil, held
	}
	switch req.state {
	case held:
		req.withdrawn = true
		return req, req.waiting, req.state
	case answering:
		return req, &req.response.x, req.state
	case sent, cancelled:
	}
	return req, nil, req.state
}

// cancelRequest notes that the other side is being told to stop; false when no such
// request has been forwarded. Its answer may or may not come, so that the
// oldest cancelled ids are given up in time.
func (t *table) cancelRequest(from mcp.Direction, key string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := t.pendingRequests(from)
	req := p.requests[key]
	if req == nil || req.state != sent {
		return req != nil && req.state == cancelled
	}
	req.state = cancelled
	if old := p.requests[string(p.cancelled.oldestKey())]; old != nil && old.state == cancelled {
		t.removeRequest(old)
	}
	p.cancelled.addKey(key)
	return true
}

// wasAnswered reports an id whose answer went out not long ago.
func (t *table) wasAnswered(from mcp.Direction, key string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.pendingRequests(from).answered.hasKey(key)
}

// isOpen reports a request that was forwarded and not cancelled.
func (t *table) isOpen(from mcp.Direction, key string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	req := t.pendingRequests(from).requests[key]
	return req != nil && (req.state == sent || req.state == answering)
}

// awaitsAnswer reports a request that was forwarded and whose answer has not come.
func (t *table) awaitsAnswer(from mcp.Direction, key string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	req := t.pendingRequests(from).requests[key]
	return req != nil && (req.state == sent || req.state == cancelled)
}

// onlyPending gives the id of the one request that waits for an answer; "" when there are
// more, or none.
func (t *table) onlyPending(from mcp.Direction, scope string) (id string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for key, req := range t.pendingRequests(from).requests {
		switch {
		case req.state != sent || key != req.key || req.rc.scope != scope:
		case id != "":
			return ""
		default:
			id = string(req.id)
		}
	}
	return id
}

// waitingID gives the id of the one request that has crossed, has no answer, and may have this id
// to the other side; nil without one.
func (t *table) waitingID(from mcp.Direction, scope string, token []byte) (id []byte) {
	loose := frame.LooseID(token)
	if loose == "" {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for key, req := range t.pendingRequests(from).requests {
		if req.state != sent || req.key != key || req.rc.scope != scope || frame.LooseID(req.id) != loose {
			continue
		}
		if id != nil {
			return nil
		}
		id = req.id
	}
	return id
}

// responseSink gives where the caller of a request waits for its answer.
func (t *table) responseSink(from mcp.Direction, key string) Sink {
	t.mu.Lock()
	defer t.mu.Unlock()
	req := t.pendingRequests(from).requests[key]
	if req == nil || req.elicitation != nil {
		return nil
	}
	to, _ := req.currentCaller()
	return to.back
}

// requestScope gives that of the one open request with this id.
func (t *table) requestScope(from mcp.Direction, id string) (scope string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, req := range t.pendingRequests(from).requests {
		switch {
		case req.state != sent || frame.IDKey(req.id) != id:
		case scope != "" && scope != req.rc.scope:
			return ""
		default:
			scope = req.rc.scope
		}
	}
	return scope
}

// progressToken reports whether progress with this token belongs to a request in flight,
// or to the task that one became, and what its caller calls it now if that is
// something else.
func (t *table) progressToken(from mcp.Direction, token string) (to []byte, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := t.pendingRequests(from)
	if p.tokens[token] == 0 && !p.taskTokens.hasKey(token) {
		return nil, false
	}
	to, renewed := p.newTokens[token]
	return to, !renewed || to != nil
}

// takeWaitingCallers empties one direction and returns the callers that still wait.
func (t *table) takeWaitingCallers(from mcp.Direction) (callers []caller) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := t.pendingRequests(from)
	for key, req := range p.requests {
		to, here := req.currentCaller()
		if here && key == to.key && req.state != cancelled && !req.withdrawn {
			callers = append(callers, to)
		}
	}
	clear(p.requests)
	return callers
}
