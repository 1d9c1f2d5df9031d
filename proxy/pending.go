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

// state is the state of a request. A request is in the table from the moment it is read until its
// answer is sent.
type state uint8

const (
	held      state = iota // not forwarded; a person may be deciding about it
	sent                   // forwarded; an answer may come
	answering              // its answer is at the gate
	cancelled              // forwarded and cancelled; a late answer is dropped
)

// table holds the proxy's state of a session. One mutex guards it, and the mutex is never held
// across a call into the gate or a system call.
type table struct {
	inputs mcp.Asked // input requests that were forwarded; Asked has its own mutex

	mu          sync.Mutex
	byDirection [2]pending // by the direction of the requests
	forms       forms      // the client and the forms that it was given

	unnamed  []*unnamed       // answers without a usable id that may be for a waiting request
	notices  []notice         // messages without an id to which the server may have sent an unnamed answer
	habits   map[string]habit // how the server treats notifications, by method
	families map[string]bool  // method families for which the server has returned a list
	messages uint64           // number of messages that went to the server

	// batches is true when version 2025-03-26 was negotiated. It is read for every frame.
	batches atomic.Bool

	holding atomic.Int32 // number of unnamed answers that wait

	withdrawing atomic.Int32 // number of goroutines that hold an exchange found in this table
}

// With more than shrinkAbove requests in flight, a request's frame is dropped when the request is
// forwarded, and the maps are copied when most requests have ended. A frame longer than keptFrame
// bytes is always dropped when its request is forwarded.
const (
	shrinkAbove = 1024
	keptFrame   = 64 << 10
)

// pending is one direction's requests.
type pending struct {
	requests   map[string]*request // by scopedKey; a request whose caller returned with a form is here under both ids
	peak       int                 // most requests at one time since the map was made
	tokens     map[string]int      // number of forwarded requests with a progress token, by scopedKey of the token
	newTokens  map[string][]byte   // progress tokens of callers that returned with a form, by the key in tokens; nil: the retry has none
	taskTokens ring                // tokens of requests whose result is a task; they outlive the request
	tasks      tasks               // tasks that calls became
	answered   ring                // ids answered recently
	cancelled  ring                // ids cancelled recently
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

// Limits for a server's unanswered requests, because each request is kept until the client answers
// it.
const (
	maxServerRequests     = 1024
	maxServerRequestBytes = 64 << 20 // total size of their frames; a request is refused once the total is above this limit
)

// reserveIDs reserves the ids of all the requests. It reserves none when an id is in use or the
// server has too many open requests. why is "" on success.
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

// isOverLimit reports whether count further requests are too many, or whether the kept frames are
// too long in total.
func (p *pending) isOverLimit(count int) bool {
	size := 0
	for _, req := range p.requests {
		size += req.size
	}
	return len(p.requests)+count > maxServerRequests || size > maxServerRequestBytes
}

// markSent notes that the request is about to be written. It returns false when the caller is
// away; then the request must not be written.
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

// Codes of answers that are not forwarded.
const (
	codeUnsolicited  = "unsolicited"
	codeSecondAnswer = "second_answer"
	codeLateAnswer   = "late_answer"
)

// claimRequest finds the request that resp answers, among the requests that the side `from` has
// sent, and marks it, so that a second answer is refused. If there is no such request, why is one
// of the codes above.
func (t *table) claimRequest(from mcp.Direction, key string, resp *response) (req *request, why string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := t.pendingRequests(from)
	req = p.requests[key]
	switch {
	case req == nil && p.answered.hasKey(key), req != nil && req.state == answering:
		return nil, codeSecondAnswer
	case req == nil || req.state == held || req.key != key: // the other side does not know such a request
		return nil, codeUnsolicited
	case req.state == cancelled:
		t.removeRequest(req)
		return nil, codeLateAnswer
	}
	t.noteAnswered(req)
	req.state, req.response = answering, resp
	return req, ""
}

// completeRequest notes that a response is about to be written, and returns the caller that gets
// it.
func (t *table) completeRequest(resp *response) (to caller) {
	t.mu.Lock()
	to, _ = resp.request.currentCaller()
	t.removeRequest(resp.request)
	t.addTasks(resp.request, resp.tasks)
	t.mu.Unlock()
	t.inputs.RememberInputs(resp.inputs)
	if resp.version != "" {
		t.batches.Store(resp.version == mcp.BatchVersion)
		t.setClient(resp.request.clientInfo, resp.version)
	}
	return to
}

// releaseRequest removes a request that the proxy has answered or that was withdrawn. It returns
// the caller to answer, and whether the caller is present.
func (t *table) releaseRequest(req *request) (to caller, here bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.removeRequest(req)
	return req.currentCaller()
}

// releaseHeld removes a request of a refused batch and reports whether its caller has withdrawn
// it.
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

// shrinkMaps copies the maps when many requests have ended, because a Go map never shrinks.
func (p *pending) shrinkMaps() {
	if p.peak <= shrinkAbove || len(p.requests) > p.peak/16 {
		return
	}
	p.requests, p.tokens, p.newTokens = copyMap(p.requests), copyMap(p.tokens), copyMap(p.newTokens)
	p.peak = len(p.requests)
	memory.ReleaseSoon()
}

func copyMap[V any](old map[string]V) map[string]V {
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

// withdrawRequest finds a request that its caller cancels. It returns the request's state, and
// the exchange under which the request or its answer waits at the gate.
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

// cancelRequest marks a forwarded request as cancelled. It returns false when no such request has
// been forwarded. The answer may never come, so the oldest cancelled requests are removed.
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

// wasAnswered reports whether the request with this id was answered recently.
func (t *table) wasAnswered(from mcp.Direction, key string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.pendingRequests(from).answered.hasKey(key)
}

// isOpen reports whether the request was forwarded and not cancelled.
func (t *table) isOpen(from mcp.Direction, key string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	req := t.pendingRequests(from).requests[key]
	return req != nil && (req.state == sent || req.state == answering)
}

// awaitsAnswer reports whether the request was forwarded and has no answer yet.
func (t *table) awaitsAnswer(from mcp.Direction, key string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	req := t.pendingRequests(from).requests[key]
	return req != nil && (req.state == sent || req.state == cancelled)
}

// onlyPending returns the id of the only request that waits for an answer, or "" when there are
// none or several.
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

// waitingID returns the id of the only forwarded request that has no answer and whose id matches
// token loosely (frame.LooseID). It returns nil when there are none or several.
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

// responseSink returns the sink on which the caller of a request waits for its answer.
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

// requestScope returns the scope of the open request with this id, or "" when no open request has
// this id or requests of several scopes have it.
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

// progressToken reports whether progress with this token belongs to a request in flight or to a
// task that a request became. to is the token that the caller uses now; nil if that is the same
// token.
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

// takeWaitingCallers removes the requests of one direction and returns the callers that still
// wait.
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
