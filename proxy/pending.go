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

// state tells how far a request has come. A request is in the table from the time when it is read
// until its answer is sent.
type state uint8

const (
	held      state = iota // not forwarded; a person may be deciding about it
	sent                   // forwarded; an answer may come
	answering              // an answer has come and is at the gate
	cancelled              // forwarded and then cancelled; a late answer is dropped
)

// table holds the state of a session in the proxy. One mutex guards it. No goroutine holds the
// mutex while it calls the gate or the operating system.
type table struct {
	inputs mcp.Asked // input requests that were forwarded; it has its own mutex

	mu          sync.Mutex
	byDirection [2]pending // requests in flight, by the direction in which they go
	forms       forms      // the client's description and the forms that clients got

	unnamed  []*unnamed       // answers without a usable id that may belong to a waiting request
	notices  []notice         // messages without an id that the server may have answered without an id
	habits   map[string]habit // how the server treats notifications, by method
	families map[string]bool  // method families of which the server has returned a list
	messages uint64           // number of messages to the server so far

	// batches is true if version 2025-03-26 was negotiated. It is atomic because it is read for
	// every frame.
	batches atomic.Bool

	holding atomic.Int32 // length of unnamed

	withdrawing atomic.Int32 // number of goroutines that are withdrawing a request and may use its exchange
}

// If more than shrinkAbove requests are in flight, a request's frame is dropped when the request is
// forwarded. Also, the maps are copied when most of these requests have ended. A frame of more than
// keptFrame bytes is always dropped when its request is forwarded.
const (
	shrinkAbove = 1024
	keptFrame   = 64 << 10
)

// pending holds the requests of one direction.
type pending struct {
	requests   map[string]*request // requests by scopedKey of the id; if the caller has sent a retry, the request is in the map under both ids
	peak       int                 // maximum number of requests since the map was made
	tokens     map[string]int      // number of forwarded requests for each progress token, by scopedKey of the token
	newTokens  map[string][]byte   // progress tokens of retries, by the scopedKey of the first token; nil if the retry has none
	taskTokens ring                // tokens of requests that became tasks; they stay valid after the request
	tasks      tasks               // the tasks that calls of this direction became
	answered   ring                // ids that were answered recently
	cancelled  ring                // ids that were cancelled recently
}

func (t *table) pendingRequests(from mcp.Direction) *pending {
	return &t.byDirection[directionIndex(from)]
}

func directionIndex(from mcp.Direction) int { return int(from - mcp.ClientToServer) }

// Limits for a server's unanswered requests. They exist because each request is kept until the
// client answers it.
const (
	maxServerRequests     = 1024
	maxServerRequestBytes = 64 << 20 // total bytes of the frames of these requests; above this total, further requests are refused
)

// reserveIDs reserves the ids of all the requests, or none of them. It returns "" if it succeeds,
// codeTooMany if the server has too many open requests, and codeDuplicateID if an id is in use.
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

// isOverLimit reports whether `count` more requests would be too many, or whether the kept frames
// are too long.
func (p *pending) isOverLimit(count int) bool {
	size := 0
	for _, req := range p.requests {
		size += req.size
	}
	return len(p.requests)+count > maxServerRequests || size > maxServerRequestBytes
}

// markSent notes that the request is about to be written. It returns false if the caller is away.
// Then the request must not be written.
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

// claimRequest finds the request that resp answers. The parameter from is the side that sent the
// request. claimRequest marks the request, so that a second answer is refused. If there is no such
// request, claimRequest returns one of the codes above.
func (t *table) claimRequest(from mcp.Direction, key string, resp *response) (req *request, why string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := t.pendingRequests(from)
	req = p.requests[key]
	switch {
	case req == nil && p.answered.hasKey(key), req != nil && req.state == answering:
		return nil, codeSecondAnswer
	case req == nil || req.state == held || req.key != key: // the other side does not know a request with this id
		return nil, codeUnsolicited
	case req.state == cancelled:
		t.removeRequest(req)
		return nil, codeLateAnswer
	}
	t.noteAnswered(req)
	req.state, req.response = answering, resp
	return req, ""
}

// completeRequest notes that a response is about to be written. It returns the caller that gets the
// response.
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

// releaseRequest removes a request because the proxy has answered it or its caller has withdrawn
// it. It returns the caller that gets an answer, and false if this caller is away.
func (t *table) releaseRequest(req *request) (to caller, here bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.removeRequest(req)
	return req.currentCaller()
}

// releaseHeld removes a request of a refused array. It reports whether the caller has withdrawn the
// request.
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

// shrinkMaps copies the maps after many requests have ended, because a Go map never shrinks.
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

// keepToken keeps the progress token of a call valid after the answer.
func (t *table) keepToken(req *request) {
	t.mu.Lock()
	req.task = true
	t.mu.Unlock()
}

// withdrawRequest finds a request that its caller cancels. It returns the state of the request, and
// the exchange in which the request or its answer waits at the gate.
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

// cancelRequest marks a forwarded request as cancelled. It returns false if no such request was
// forwarded. An answer may never come, so only the latest cancelled requests stay in the table.
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

// wasAnswered reports whether a request with this id was answered recently.
func (t *table) wasAnswered(from mcp.Direction, key string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.pendingRequests(from).answered.hasKey(key)
}

// isOpen reports whether a request was forwarded, was not cancelled, and its answer has not been
// forwarded yet.
func (t *table) isOpen(from mcp.Direction, key string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	req := t.pendingRequests(from).requests[key]
	return req != nil && (req.state == sent || req.state == answering)
}

// awaitsAnswer reports whether a request was forwarded and no answer has come.
func (t *table) awaitsAnswer(from mcp.Direction, key string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	req := t.pendingRequests(from).requests[key]
	return req != nil && (req.state == sent || req.state == cancelled)
}

// onlyPending returns the id of the only request that waits for an answer. It returns "" if no
// request waits or several do.
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

// waitingID searches the forwarded requests without an answer for ids that have the same
// frame.LooseID as token. It returns the id if there is exactly one, and nil otherwise.
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

// responseSink returns the sink through which the caller of a request gets its answer, or nil.
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

// requestScope returns the scope of the open request with this id. It returns "" if no open request
// has this id, or if requests of different scopes have it.
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
// task. The result `to` is the token that the caller uses now. It is nil if the caller still uses
// the given token.
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

// takeWaitingCallers removes the requests of one direction. It returns the callers that still wait
// for an answer.
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
