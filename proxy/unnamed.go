package proxy

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/mcp"
	"github.com/clawai/clawai/internal/wire/frame"
	"github.com/tidwall/gjson"
)

// unnamedWait is how long the proxy waits for messages that show whether an answer without an id is
// for a call or for a notification. After this time the waiting calls fail, unless it is still
// unclear which of them has been answered. Clients give up after a minute or less.
const unnamedWait = 10 * time.Second

// maxUnnamed is the largest number of waiting answers without an id, and of remembered
// notifications.
const maxUnnamed = 64

// unnamed is an answer with id null or without an id. It is for a waiting request, or for a
// notification, which some servers answer. Later messages show which of them.
type unnamed struct {
	rc      *receiver // a receiver of its own, because settling runs on other goroutines than the one that reads
	line    []byte
	refusal *frame.Refusal // why the line was refused
	after   uint64         // number of messages that were sent to the server before this answer came
	late    bool           // unnamedWait is over
	timer   *time.Timer
}

// notice is a notification to the server, or a response to the server's own request (method is "").
// A server may answer such a message with an error, for example when it cannot parse the message.
type notice struct {
	method, scope string
	at            uint64 // number of the message among the messages to the server
}

// habit is how a server treats notifications of one method.
type habit uint8

const (
	unknown habit = iota
	silent        // the server does not answer them, which is correct
	answers       // the server answers them without an id
)

// outcome is the decision about an answer without an id.
type outcome struct {
	answer *unnamed
	id     []byte      // id of the only request that the answer can be for; nil: none
	failed []*response // responses to the calls that the proxy fails
}

// holdUnnamed keeps an answer without an id until its request is certain.
func (rc *receiver) holdUnnamed(ctx context.Context, line []byte, refusal *frame.Refusal) {
	u := &unnamed{line: bytes.Clone(line), refusal: refusal}
	u.rc = &receiver{s: rc.s, from: rc.from, scope: rc.scope, out: rc.out, back: rc.back}
	rc.recordDrop(&event.Event{Code: refusal.Code, Reason: "an answer that does not say which request it is for", Bytes: len(line)})
	rc.judgeGroup(ctx) // an answer of the same read may show which request this answer is for
	t := &rc.s.table
	t.mu.Lock()
	if len(t.unnamed) < maxUnnamed {
		u.after = t.messages
		u.timer = time.AfterFunc(unnamedWait, func() { u.expireWait(ctx) })
		t.unnamed = append(t.unnamed, u)
		t.holding.Store(int32(len(t.unnamed)))
	}
	t.mu.Unlock()
	rc.settleUnnamed(ctx)
}

// expireWait marks the answer as late and settles what can be settled.
func (u *unnamed) expireWait(ctx context.Context) {
	t := &u.rc.s.table
	t.mu.Lock()
	u.late = true
	t.mu.Unlock()
	(&Stream{u.rc}).runGuarded(func() { u.rc.settleUnnamed(ctx) })
}

// settleUnnamed carries out the decisions that are certain by now.
func (rc *receiver) settleUnnamed(ctx context.Context) {
	for {
		o, ok := rc.s.table.settleOldest(rc.oppositeDirection(), rc.scope)
		if !ok {
			return
		}
		o.answer.carryOut(ctx, o)
	}
}

func (u *unnamed) carryOut(ctx context.Context, o outcome) {
	rc := u.rc
	rc.beginBurst()
	if o.id != nil {
		f, words, ok := frame.RepairLine(u.line, rc.frameLimits(), u.refusal, frame.Pending{Only: o.id})
		if ok {
			rc.forwardRepaired(ctx, u.line, &f, words)
		} else {
			o.failed = rc.s.table.claimFailedReply(rc, o.id)
		}
	}
	for _, resp := range o.failed {
		resp.burst = rc.burst
		resp.rejectReply(&frame.Frame{ID: resp.request.id, Raw: u.line}, &frame.Refusal{
			Code: u.refusal.Code, Reason: "it does not say which request it is for, and no other has come",
		})
	}
	rc.flushBurst(ctx)
}

// claimFailedReply claims the request with this id, so that the proxy can fail it in the server's
// place.
func (t *table) claimFailedReply(rc *receiver, id []byte) []*response {
	resp := &response{rc: rc}
	if resp.request, _ = t.claimRequest(rc.oppositeDirection(), rc.scopedKey(id), resp); resp.request == nil {
		return nil
	}
	return []*response{resp}
}

// addNotice notes a notification or a response that is about to be written. It does not keep a
// notification of a method that the server is known not to answer.
func (t *table) addNotice(method, scope string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.messages++
	if t.habits[method] != silent && len(t.notices) < maxUnnamed {
		t.notices = append(t.notices, notice{method, scope, t.messages})
	}
}

// noteAnswered notes that a request got an answer with its id. A server answers in order, so it
// will not answer the notices that were sent before the request. t.mu is held.
func (t *table) noteAnswered(req *request) {
	if len(t.notices) == 0 || len(t.unnamed) > 0 || req.from != mcp.ClientToServer {
		return
	}
	kept := t.notices[:0]
	for _, n := range t.notices {
		if n.at > req.sentAt || n.scope != req.rc.scope {
			kept = append(kept, n)
		} else if t.habits[n.method] == unknown {
			t.setHabit(n.method, silent)
		}
	}
	t.notices = kept
}

// setHabit notes how the server treats notifications of a method. A response (method "") has no
// habit: whether the server answers one says nothing about the next.
func (t *table) setHabit(method string, h habit) {
	if method == "" {
		return
	}
	if len(t.habits) < maxUnnamed {
		t.habits[method] = h
	}
}

// settleOldest decides about the oldest answer without an id, because servers answer in order. It
// returns false while the answer's request is not certain. docs/adr/0020 has the reasons.
func (t *table) settleOldest(from mcp.Direction, scope string) (o outcome, found bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var held []*unnamed
	for _, u := range t.unnamed {
		if u.rc.scope == scope {
			held = append(held, u)
		}
	}
	if len(held) == 0 {
		return outcome{}, false
	}
	first, last := held[0], held[len(held)-1]
	calls, cancelledCount := t.findCandidates(from, scope, last.after)
	notes := t.findNotices(scope, last.after)
	doubts := len(notes) + cancelledCount
	late, single := false, len(calls) == 1
	for _, u := range held {
		late = late || u.late
	}
	switch {
	case len(calls) == 0, len(notes) > 0 && t.belongsTo(first, notes[0], calls):
		t.dropUnnamed(first)
		if len(notes) > 0 {
			t.setHabit(notes[0].method, answers)
			t.dropNotice(notes[0])
		}
		return outcome{answer: first}, true
	case single && doubts == 0:
		t.dropUnnamed(first)
		return outcome{answer: first, id: calls[0].id}, true
	case len(held) >= len(calls)+doubts, late && (len(held) >= len(calls) || sameArray(calls)):
		for _, u := range held {
			t.dropUnnamed(u)
		}
		for _, n := range notes {
			t.dropNotice(n)
		}
		for _, req := range calls {
			req.state, req.response = answering, &response{rc: first.rc, request: req}
			o.failed = append(o.failed, req.response)
		}
		o.answer = first
		return o, true
	}
	return outcome{}, false
}

// belongsTo reports whether the answer u is for the notification n: the server is known to answer
// notifications of this method, u names the method, or u reports an unknown method although the
// server knows the methods of all the waiting calls. t.mu is held.
func (t *table) belongsTo(u *unnamed, n notice, calls []*request) bool {
	if n.at > u.after {
		return false
	}
	failed := gjson.GetManyBytes(u.line, "error.message", "error.code")
	if t.habits[n.method] == answers || n.method != "" && strings.Contains(failed[0].Str, n.method) {
		return true
	}
	const noMethod = -32601
	known := failed[1].Int() == noMethod
	for _, req := range calls {
		known = known && t.families[methodFamily(req.method)]
	}
	return known
}

// methodFamily returns the part of a method before "/". A server that knows one method of a family
// knows all of them.
func methodFamily(method string) string {
	begin, _, _ := strings.Cut(method, "/")
	return begin
}

// findCandidates returns the waiting requests among the first `before` messages to the server.
// cancelledCount is the number of the cancelled ones, which the server may answer too. t.mu is
// held.
func (t *table) findCandidates(from mcp.Direction, scope string, before uint64) (calls []*request, cancelledCount int) {
	for key, req := range t.pendingRequests(from).requests {
		switch {
		case key != req.key || req.rc.scope != scope || req.sentAt > before:
		case req.state == sent:
			calls = append(calls, req)
		case req.state == cancelled:
			cancelledCount++
		}
	}
	return calls, cancelledCount
}

// findNotices returns the notices among the first `before` messages to the server. t.mu is held.
func (t *table) findNotices(scope string, before uint64) (notes []notice) {
	for _, n := range t.notices {
		if n.scope == scope && n.at <= before {
			notes = append(notes, n)
		}
	}
	return notes
}

func (t *table) dropUnnamed(u *unnamed) {
	u.timer.Stop()
	t.unnamed = slices.DeleteFunc(t.unnamed, func(other *unnamed) bool { return other == u })
	t.holding.Store(int32(len(t.unnamed)))
}

func (t *table) dropNotice(n notice) {
	t.notices = slices.DeleteFunc(t.notices, func(other notice) bool { return other == n })
}

// sameArray reports whether all the requests came in one array; then one error may be for all.
func sameArray(calls []*request) bool {
	for _, req := range calls {
		if req.array == nil || req.array != calls[0].array {
			return false
		}
	}
	return true
}

// noteList notes that the server has returned a list, so it knows the methods of that family.
func (t *table) noteList(method string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.families[methodFamily(method)] = true
}

// forgetUnnamed stops all the waits at the end of the session.
func (t *table) forgetUnnamed() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, u := range t.unnamed {
		u.timer.Stop()
	}
	t.unnamed = nil
	t.holding.Store(0)
}
