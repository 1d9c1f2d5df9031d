package proxy

import (
	"context"
	"fmt"
	"time"

	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/proxy/frame"
	"github.com/clawai/clawai/proxy/mcp"
)

// call is one request in flight, and the gate's outlet for it.
type call struct {
	lane  *lane
	burst *burst
	x     gate.Exchange // unused for an element of a batch

	from    mcp.Direction
	method  string
	caller  // as the request has it, and the other side knows it
	class   mcp.Class
	modern  bool
	first   mcp.Client   // of initialize: who introduces itself
	judged  *policy.Call // what the rules saw, for denials
	steps   int          // progress messages of ours
	waiting *gate.Exchange

	// Guarded by the table:
	state     state
	withdrawn bool   // its caller expects no answer
	task      bool   // the result is a task: the token lives on
	reply     *reply // while answering
	form      *form  // the caller was given one in place of its answer
	settled   bool   // it gets none any more

	asked *asking // this is a request of ours (MCP 2025-06-18 client/elicitation)
}

// caller is whom to answer: the id and the progress token that it waits under,
// and where.
type caller struct {
	id     []byte
	key    string // lane.key of the id
	token  []byte // nil without one
	report string // lane.key of the token
	back   Sink
}

func (l *lane) caller(f *frame.Frame, m *mcp.Message) caller {
	c := caller{id: f.ID, key: l.key(f.ID), back: l.back}
	if m.ProgressToken != nil {
		c.token, c.report = m.ProgressToken, l.key(m.ProgressToken)
	}
	return c
}

// newCall makes the call of a request; a refusal means that it must not cross.
func (l *lane) newCall(f *frame.Frame, m *mcp.Message) (*call, []policy.Call, *frame.Refusal) {
	calls := m.Calls
	if m.InputResponses != nil {
		answers, refusal := l.s.table.answers(f, m, l.s.o.Name)
		if refusal != nil {
			return nil, nil, refusal
		}
		calls = append(calls[:len(calls):len(calls)], answers...)
	}
	c := &call{
		lane: l, burst: l.burst, from: l.from, method: f.Method, caller: l.caller(f, m),
		class: m.Class, modern: m.Modern,
	}
	calls = l.goesOn(&c.x, l.from, m, calls)
	if len(calls) > 0 {
		c.judged = &calls[0]
	}
	if m.Initialize() {
		c.first = mcp.Introduced(f.Params)
	}
	return c, calls, nil
}

// request reserves the id and puts the request into the group.
func (l *lane) request(ctx context.Context, f *frame.Frame) {
	m, refusal := mcp.Read(f, l.from, l.s.o.Name)
	if refusal == nil && l.returns(&m) {
		l.resume(f, &m)
		return
	}
	var c *call
	var calls []policy.Call
	if refusal == nil {
		c, calls, refusal = l.newCall(f, &m)
	}
	if refusal == nil && !l.s.table.reserve(c) {
		refusal = duplicate(f)
	}
	if refusal != nil {
		l.unreadable(f.Raw, refusal)
		return
	}
	c.x.Raw, c.x.Calls, c.x.Out, c.x.Caller = f.Raw, calls, c, c
	l.describe(&c.x.Event, f, calls)
	c.waiting = &c.x
	l.enqueue(ctx, &c.x, false)
}

func duplicate(f *frame.Frame) *frame.Refusal {
	return &frame.Refusal{Code: "duplicate_id", Reason: "a request with this id is still in flight", ID: f.ID, Request: true}
}

// Forward sends the request on.
func (c *call) Forward(x *gate.Exchange) error {
	if !c.lane.s.table.forwarded(c) {
		return errAway
	}
	err := c.lane.send(c.burst, x.Raw)
	if line := c.unheard(err); line != nil {
		c.lane.answer(c.burst, line)
	}
	return err
}

// unheard is what a server is told whose client has gone: its question may have
// waited for a person for longer than the stream lasted that it came in. nil when
// nothing was lost, or nobody waits; a client learns by itself that its server is gone.
func (c *call) unheard(lost error) []byte {
	if lost == nil || c.from != mcp.ServerToClient {
		return nil
	}
	to, here := c.lane.s.table.release(c)
	if !here {
		return nil
	}
	return mcp.Unheard(to.id, lost.Error())
}

// Refuse answers the request; a withdrawn one expects no answer, and neither
// does a caller that is away.
func (c *call) Refuse(_ *gate.Exchange, v gate.Verdict) {
	if to, here := c.lane.s.table.release(c); here && v.Code != gate.CodeWithdrawn {
		_ = c.lane.put(c.burst, to.back, c.denied(to, c.judged, v))
	}
}

// Waiting tells the caller that its request is alive, if it asked to be told.
func (c *call) Waiting(_ *gate.Exchange, elapsed time.Duration) {
	if to, line := c.alive(elapsed); line != nil {
		_ = c.lane.put(c.burst, to.back, line)
	}
}

// alive is the next sign of life for the caller; nil when it wants none.
func (c *call) alive(elapsed time.Duration) (to caller, line []byte) {
	to, here := c.lane.s.table.caller(c)
	if to.token == nil || !here {
		return to, nil
	}
	c.steps++
	return to, mcp.Progress(to.token, c.steps, fmt.Sprintf("waiting for the owner's approval (%d s)", elapsed/time.Second))
}

// denied is what the caller gets instead of the other side's answer.
func (c *call) denied(to caller, what *policy.Call, v gate.Verdict) []byte {
	d := mcp.Denial{
		Stage: string(v.Stage), Code: v.Code, Reason: v.Reason, Record: v.Record,
		AsError: c.lane.s.o.DenyAsError,
	}
	if what != nil {
		d.What = *what
	} else {
		d.What = policy.Call{Method: c.method, Subject: policy.MethodSubject}
	}
	if v.Rule != nil {
		d.Description = v.Rule.Description
	}
	switch v.Code {
	case gate.CodeDeniedByRule:
		d.Reason = "" // the rule's own words say it
	case gate.CodeNotAnswered, gate.CodeNobodyToAsk, gate.CodeTooMany, gate.CodeMuted:
		d.Unanswered = true
	}
	return d.Answer(mcp.Caller{ID: to.id, Method: c.method, Modern: c.modern})
}
