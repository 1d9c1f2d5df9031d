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

// unnamedWait is how long the proxy waits to learn whether an answer without an id is for a call or
// for a notification. Later messages may show this. After the wait the waiting calls fail, unless
// it is still unclear which of them was answered. The wait is short because clients give up after a
// minute or less.
const unnamedWait = 10 * time.Second

// maxUnnamed is the maximum number of waiting answers without an id, and of remembered
// notifications.
const maxUnnamed = 64

// unnamed is an answer with the id null or without an id. It may be for a waiting request or for a
// notification, because some servers answer notifications. Later messages show which one it is.
type unnamed struct {
	rc      *receiver // a separate receiver, because the answer is settled on other goroutines than the reading one
	line    []byte
	refusal *frame.Refusal // why the line was refused
	after   uint64         // number of messages to the server before this answer came
	late    bool           // unnamedWait has passed
	timer   *time.Timer
}

// notice is a notification to the server, or a response to the server's own request (then method is
// ""). A server may answer such a message with an error, for example when it cannot parse the
// message.
type notice struct {
	method, scope string
	at            uint64 // number of this message among the messages to the server
}

// habit tells how a server treats notifications of one method.
type habit uint8

const (
	unknown habit = iota
	silent        // the server does not answer them, which is correct
	answers       // the server answers them, but without an id
)

// outcome is the decision about one answer without an id.
type outcome struct {
	answer *unnamed
	id     []byte      // id of the only request that the answer can be for; nil if there is none
	failed []*response // responses to the calls that the proxy fails because of this answer
}

// holdUnnamed keeps an answer without an id until its request is certain.
func (rc *receiver) holdUnnamed(ctx context.Context, line []byte, refusal *frame.Refusal) {
	u := &unnamed{line: bytes.Clone(line), refusal: refusal}
	u.rc = &receiver{s: rc.s, from: rc.from, scope: rc.scope, out: rc.out, back: rc.back}
	rc.recordDrop(&event.Event{Code: refusal.Code, Reason: "an answer that does not say which request it is for", Bytes: len(line)})
	rc.judgeGroup(ctx) // the group is judged first, because an answer in the same read may show the request of this answer
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

// expireWait marks the answer as late. Then it settles the answers whose requests are certain.
func (u *unnamed) expireWait(ctx context.Context) {
	t := &u.rc.s.table
	t.mu.Lock()
	u.late = true
	t.mu.Unlock()
	(&Stream{u.rc}).runGuarded(func() { u.rc.settleUnnamed(ctx) })
}

// settleUnnamed carries out all decisions about answers without an id that are certain by now.
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

// claimFailedReply claims the request with this id, so that the proxy can fail the request in the
// server's place.
func (t *table) claimFailedReply(rc *receiver, id []byte) []*response {
	resp := &response{rc: rc}
	if resp.request, _ = t.claimRequest(rc.oppositeDirection(), rc.scopedKey(id), resp); resp.request == nil {
		return nil
	}
	return []*response{resp}
}

// addNotice stores a notification or a response that is about to be written. It does not store a
// notification if earlier messages have shown that the server does not answer notifications of this
// method.
func (t *table) addNotice(method, scope string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.messages++
	if t.habits[method] != silent && len(t.notices) < maxUnnamed {
		t.notices = append(t.notices, notice{method, scope, t.messages})
	}
}

// noteAnswered notes that a request got an answer with its id. A server answers in order. So it
// will not answer the notices from before this request, and they are removed. The caller holds
// t.mu.
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

// setHabit stores how the server treats notifications of a method. It stores nothing for a response
// (method ""), because an answer to one response tells nothing about the next.
func (t *table) setHabit(method string, h habit) {
	if method == "" {
		return
	}
	if len(t.habits) < maxUnnamed {
		t.habits[method] = h
	}
}

// settleOldest decides about the oldest answer without an id, because servers answer in order. It
// returns false while the request of this answer is not certain. docs/adr/0020 has the reasons.
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

// belongsTo reports whether the answer u is for the notification n. This is so in three cases: the
// server is known to answer notifications of this method; u names the method; or u reports an
// unknown method although the server knows the methods of all the waiting calls. The caller holds
// t.mu.
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

// methodFamily returns the part of a method before "/". If a server has one method of a family,
// clawai assumes that it knows all methods of the family.
func methodFamily(method string) string {
	begin, _, _ := strings.Cut(method, "/")
	return begin
}

// findCandidates returns the waiting requests among the first `before` messages to the server. It
// also counts the cancelled requests among these messages (cancelledCount), because the server may
// answer those too. The caller holds t.mu.
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

// findNotices returns the notices among the first `before` messages to the server. The caller holds
// t.mu.
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

// sameArray reports whether all the requests came in one array. Then one error may be the answer to
// all of them.
func sameArray(calls []*request) bool {
	for _, req := range calls {
		if req.array == nil || req.array != calls[0].array {
			return false
		}
	}
	return true
}

// noteList notes that the server has returned a list, so that it knows the methods of this family.
func (t *table) noteList(method string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.families[methodFamily(method)] = true
}

// forgetUnnamed removes all answers without an id, because the session ends.
func (t *table) forgetUnnamed() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, u := range t.unnamed {
		u.timer.Stop()
	}
	t.unnamed = nil
	t.holding.Store(0)
}
