package proxy

import (
	"bytes"
	"context"
	"strings"
	"time"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/mcp"
	"github.com/clawai/clawai/internal/wire/frame"
	"github.com/tidwall/gjson"
)

// unnamedWait is how long an answer that names no request may belong to a notification. Then
// the one call that waits has failed: clients give up after a minute, some after less.
const unnamedWait = 10 * time.Second

// maxUnnamed bounds the answers without an id that wait, and the notifications that may have
// an answer.
const maxUnnamed = 64

// unnamed is an answer under id null, or without an id. It is about a request that waits, or
// about a notification, which some servers answer. What comes later shows which.
type unnamed struct {
	rc      *receiver // of its own: what comes of it does not touch the one that reads
	line    []byte
	refusal *frame.Refusal
	after   uint64 // how much the server had been told before
	late    bool   // it has waited long enough
	timer   *time.Timer
}

// notice is a notification that the server may answer, or an answer to a request of its own,
// which has no method: it may say about that, too, that it cannot read it.
type notice struct {
	method, scope string
	at            uint64
}

// habit of a server with the notifications of one method.
type habit uint8

const (
	unknown habit = iota
	silent        // it does not answer them, as it should not
	answers       // it answers them under no id
)

// outcome of an answer that names no request.
type outcome struct {
	answer *unnamed
	id     []byte      // of the one request that it can be for; nil: there is not one
	failed []*response // for the calls that it fails in the server's place
}

// holdUnnamed keeps an answer that names no request until it is certain whose it is.
func (rc *receiver) holdUnnamed(ctx context.Context, line []byte, refusal *frame.Refusal) {
	u := &unnamed{line: bytes.Clone(line), refusal: refusal}
	u.rc = &receiver{s: rc.s, from: rc.from, scope: rc.scope, out: rc.out, back: rc.back}
	rc.recordDrop(&event.Event{Code: refusal.Code, Reason: "an answer that does not say which request it is for", Bytes: len(line)})
	rc.judgeGroup(ctx) // an answer of this very read may say whose it is
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

// expireWait ends the waiting for a better sign.
func (u *unnamed) expireWait(ctx context.Context) {
	t := &u.rc.s.table
	t.mu.Lock()
	u.late = true
	t.mu.Unlock()
	(&Stream{u.rc}).runGuarded(func() { u.rc.settleUnnamed(ctx) })
}

// settleUnnamed carries out what is certain by now.
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
		f, words, ok := frame.RepairLine(u.line, rc.frameLimits(), u.refusal, onlyID(o.id))
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

// claimFailedReply claims the request with this id, to be failed in the server's place.
func (t *table) claimFailedReply(rc *receiver, id []byte) []*response {
	resp := &response{rc: rc}
	if resp.request, _ = t.claimRequest(rc.oppositeDirection(), rc.scopedKey(id), resp); resp.request == nil {
		return nil
	}
	return []*response{resp}
}

// onlyID is the id of the one request that an answer can be for.
type onlyID []byte

var _ frame.Pending = onlyID(nil)

func (onlyID) Waiting([]byte) []byte { return nil }

func (id onlyID) Only() []byte { return id }

// addNotice keeps what is about to be written and is no request, unless it is a notification of
// those that the server is known not to answer.
func (t *table) addNotice(method, scope string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.messages++
	if t.habits[method] != silent && len(t.notices) < maxUnnamed {
		t.notices = append(t.notices, notice{method, scope, t.messages})
	}
}

// noteAnswered notes that a request has an answer of its own: what the server was told before
// it, it has not answered. t.mu is held.
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

// setHabit notes what the server does with notifications. Whether it can read an answer depends
// on that one.
func (t *table) setHabit(method string, h habit) {
	if method == "" {
		return
	}
	if t.habits == nil {
		t.habits = map[string]habit{}
	}
	if len(t.habits) < maxUnnamed {
		t.habits[method] = h
	}
}

// settleOldest decides about the oldest answer that names no request, because servers answer in order;
// false while it is not certain whose that is. docs/adr/0020 has the reasons.
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
	calls, given := t.findCandidates(from, scope, last.after)
	notes := t.findNotices(scope, last.after)
	doubts := len(notes) + given
	late, one := false, len(calls) == 1
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
	case one && doubts == 0:
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

// belongsTo reports that an answer is the notification's: its server answers those, the answer
// names it, or it says that a method is not known while it knows those of the calls. t.mu is held.
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

// methodFamily gives what methods that a server knows together begin with.
func methodFamily(method string) string {
	begin, _, _ := strings.Cut(method, "/")
	return begin
}

// findCandidates gives the requests that were sent before and wait, and counts those that their
// client has given up, which the server may answer too. t.mu is held.
func (t *table) findCandidates(from mcp.Direction, scope string, before uint64) (calls []*request, given int) {
	for key, req := range t.pendingRequests(from).requests {
		switch {
		case key != req.key || req.rc.scope != scope || req.sentAt > before:
		case req.state == sent:
			calls = append(calls, req)
		case req.state == cancelled:
			given++
		}
	}
	return calls, given
}

// findNotices gives the notifications that the server may answer. t.mu is held.
func (t *table) findNotices(scope string, before uint64) (notes []notice) {
	for _, n := range t.notices {
		if n.scope == scope && n.at <= before {
			notes = append(notes, n)
		}
	}
	return notes
}

func (t *table) dropUnnamed(u *unnamed) {
	for i, other := range t.unnamed {
		if other == u {
			u.timer.Stop()
			t.unnamed = append(t.unnamed[:i:i], t.unnamed[i+1:]...)
			t.holding.Store(int32(len(t.unnamed)))
			return
		}
	}
}

func (t *table) dropNotice(n notice) {
	for i, other := range t.notices {
		if other == n {
			t.notices = append(t.notices[:i:i], t.notices[i+1:]...)
			return
		}
	}
}

// sameArray reports requests of one array, which one error may be for.
func sameArray(calls []*request) bool {
	for _, req := range calls {
		if req.array == nil || req.array != calls[0].array {
			return false
		}
	}
	return true
}

// noteList notes a list that the server has given: it knows the methods of that family.
func (t *table) noteList(method string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.families == nil {
		t.families = map[string]bool{}
	}
	t.families[methodFamily(method)] = true
}

// forgetUnnamed ends the waiting, with the session.
func (t *table) forgetUnnamed() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, u := range t.unnamed {
		u.timer.Stop()
	}
	t.unnamed = nil
	t.holding.Store(0)
}
