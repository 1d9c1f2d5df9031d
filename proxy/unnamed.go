package proxy

import (
	"bytes"
	"context"
	"strings"
	"time"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/proxy/frame"
	"github.com/clawai/clawai/proxy/mcp"
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

// told is a notification that the server may answer.
type told struct {
	method, scope string
	at            uint64
}

// habit is what a server does with notifications of one method.
type habit uint8

const (
	unknown habit = iota
	silent        // it does not answer them, as it should not
	answers       // it answers them under no id
)

// outcome is what becomes of an answer without an id, and of the calls that it fails.
type outcome struct {
	answer *unnamed
	id     []byte      // of the request that it can only be for; nil: of none
	failed []*response // for the calls that it fails in the server's place
}

// holdUnnamed takes in an answer that names no request.
func (rc *receiver) holdUnnamed(ctx context.Context, line []byte, refusal *frame.Refusal) {
	u := &unnamed{line: bytes.Clone(line), refusal: refusal}
	u.rc = &receiver{s: rc.s, from: rc.from, scope: rc.scope, out: rc.out, back: rc.back}
	rc.dropped(&event.Event{Code: refusal.Code, Reason: "an answer that does not say which request it is for", Bytes: len(line)})
	rc.judge(ctx) // an answer of this very read may say whose it is
	t := &rc.s.table
	t.mu.Lock()
	if len(t.unnamed) < maxUnnamed {
		u.after = t.tellings
		u.timer = time.AfterFunc(unnamedWait, func() { u.expire(ctx) })
		t.unnamed = append(t.unnamed, u)
		t.holding.Store(int32(len(t.unnamed)))
	}
	t.mu.Unlock()
	rc.settleUnnamed(ctx)
}

// expire decides without waiting for more.
func (u *unnamed) expire(ctx context.Context) {
	t := &u.rc.s.table
	t.mu.Lock()
	u.late = true
	t.mu.Unlock()
	u.rc.settleUnnamed(ctx)
}

// settleUnnamed carries out what is certain by now.
func (rc *receiver) settleUnnamed(ctx context.Context) {
	for {
		o, ok := rc.s.table.settle(rc.opposite(), rc.scope)
		if !ok {
			return
		}
		o.answer.carryOut(ctx, o)
	}
}

func (u *unnamed) carryOut(ctx context.Context, o outcome) {
	rc := u.rc
	rc.begin()
	if o.id != nil {
		f, words, ok := frame.Repair(u.line, rc.limits(), u.refusal, onlyID(o.id))
		if ok {
			rc.forwardRepaired(ctx, u.line, &f, words)
		} else {
			o.failed = rc.s.table.fail(rc, o.id)
		}
	}
	for _, resp := range o.failed {
		resp.burst = rc.burst
		resp.reject(&frame.Frame{ID: resp.request.id, Raw: u.line}, &frame.Refusal{
			Code: u.refusal.Code, Reason: "it does not say which request it is for, and no other has come",
		})
	}
	rc.flush(ctx)
}

// fail claims the request with this id, to be failed in the server's place.
func (t *table) fail(rc *receiver, id []byte) []*response {
	resp := &response{rc: rc}
	if resp.request, _ = t.claim(rc.opposite(), rc.scopedKey(id), resp); resp.request == nil {
		return nil
	}
	return []*response{resp}
}

// onlyID is the id of the one request that an answer can be for.
type onlyID []byte

var _ frame.Pending = onlyID(nil)

func (onlyID) Waiting([]byte) []byte { return nil }

func (id onlyID) Only() []byte { return id }

// noteTold notes that a notification is about to be written.
func (t *table) noteTold(method, scope string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.tellings++
	if t.habits[method] != silent && len(t.told) < maxUnnamed {
		t.told = append(t.told, told{method, scope, t.tellings})
	}
}

// noteAnswered notes that a request has an answer of its own: what the server was told before
// it, it has not answered. t.mu is held.
func (t *table) noteAnswered(req *request) {
	if len(t.told) == 0 || len(t.unnamed) > 0 || req.from != mcp.ClientToServer {
		return
	}
	kept := t.told[:0]
	for _, n := range t.told {
		if n.at > req.sentAt || n.scope != req.rc.scope {
			kept = append(kept, n)
		} else if t.habits[n.method] == unknown {
			t.setHabit(n.method, silent)
		}
	}
	t.told = kept
}

func (t *table) setHabit(method string, h habit) {
	if t.habits == nil {
		t.habits = map[string]habit{}
	}
	if len(t.habits) < maxUnnamed {
		t.habits[method] = h
	}
}

// settle finds an answer without an id of which it is certain by now what it is about; false
// where there is none. What is older is looked at first: servers answer in order.
func (t *table) settle(from mcp.Direction, scope string) (o outcome, found bool) {
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
	calls, given := t.mayBeAnswered(from, scope, last.after)
	notes := t.mayBeTold(scope, last.after)
	doubts := len(notes) + given
	late, one := false, len(calls) == 1
	for _, u := range held {
		late = late || u.late
	}
	switch {
	case len(calls) == 0, len(notes) > 0 && t.isOf(first, notes[0], calls):
		t.dropUnnamed(first)
		if len(notes) > 0 {
			t.setHabit(notes[0].method, answers)
			t.dropTold(notes[0])
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
			t.dropTold(n)
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

// isOf reports an answer that is the notification's and no call's: its server answers those,
// it says so, or it does not know a method while those of the calls are known. t.mu is held.
func (t *table) isOf(u *unnamed, n told, calls []*request) bool {
	if n.at > u.after {
		return false
	}
	failed := gjson.GetManyBytes(u.line, "error.message", "error.code")
	if t.habits[n.method] == answers || strings.Contains(failed[0].Str, n.method) {
		return true
	}
	const noMethod = -32601
	known := failed[1].Int() == noMethod
	for _, req := range calls {
		known = known && t.families[family(req.method)]
	}
	return known
}

// family is what methods that a server knows together begin with.
func family(method string) string {
	begin, _, _ := strings.Cut(method, "/")
	return begin
}

// mayBeAnswered are the requests that were sent before and wait, and how many others were
// given up: what is about those needs no hearer. t.mu is held.
func (t *table) mayBeAnswered(from mcp.Direction, scope string, before uint64) (calls []*request, given int) {
	for key, req := range t.pending(from).requests {
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

// mayBeTold are the notifications that may have an answer. t.mu is held.
func (t *table) mayBeTold(scope string, before uint64) (notes []told) {
	for _, n := range t.told {
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

func (t *table) dropTold(n told) {
	for i, other := range t.told {
		if other == n {
			t.told = append(t.told[:i:i], t.told[i+1:]...)
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
	t.families[family(method)] = true
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
