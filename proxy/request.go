package proxy

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/mcp"
	"github.com/clawai/clawai/internal/wire/frame"
	"github.com/clawai/clawai/policy"
)

// request is one request in flight, and the gate's outlet for it.
type request struct {
	rc    *receiver
	burst uint64
	x     *gate.Exchange // nil when it has been forwarded; not filled in for an element of a batch

	from          mcp.Direction
	size          int // bytes of its frame
	method        string
	caller        // as the request has it, and the other side knows it
	message       mcp.Message
	clientInfo    mcp.Client    // of initialize: who introduces itself
	calls         []policy.Call // what the rules saw: for denials, and for a task that it may become
	work          []policy.Call // what it goes on with: of a task, the call that became it
	record        string        // of its decision, once it is forwarded
	progressSteps int           // progress messages of ours
	further       bool          // it asks for a page of a list behind another
	array         *requestBatch // that it came in; nil: in none
	kept          bool          // others may be looking at it, or at its calls: it is not used again
	waiting       *gate.Exchange

	// Guarded by the table:
	state      state
	withdrawn  bool      // its caller expects no answer
	task       bool      // the result is a task: the token lives on
	noTask     bool      // it cannot become one
	sentAt     uint64    // its place among what the server was told
	response   *response // while answering
	form       *form     // the caller was given one in place of its answer
	formClosed bool      // it gets none any more

	elicitation *elicitation // this is a request of ours (MCP 2025-06-18 client/elicitation)
}

// caller is whom to answer: the id and the progress token that it waits under,
// and where.
type caller struct {
	id          []byte
	key         string // scopedKey of the id
	token       []byte // nil without one
	progressKey string // scopedKey of the token
	back        Sink
}

func (rc *receiver) newCaller(f *frame.Frame, m *mcp.Message) caller {
	c := caller{id: f.ID, key: rc.scopedKey(f.ID), back: rc.back}
	if m.ProgressToken != nil {
		c.token, c.progressKey = m.ProgressToken, rc.scopedKey(m.ProgressToken)
	}
	return c
}

// newRequest reads a request; a refusal means that it must not cross.
func (rc *receiver) newRequest(f *frame.Frame) (*request, *frame.Refusal) {
	req := requests.Get().(*request)
	req.rc, req.burst, req.from, req.method, req.size = rc, rc.burst, rc.from, f.Method, len(f.Raw)
	if refusal := req.message.ReadFrame(f, rc.from, rc.s.o.Name); refusal != nil {
		return nil, refusal
	}
	if m := req.message.Method; m != nil {
		req.method = m.Name // the frame need not be kept for it
	}
	req.further = req.message.Class == mcp.List && mcp.HasCursor(f.Params)
	req.caller = rc.newCaller(f, &req.message)
	return req, nil
}

// admitRequest finds what the rules judge of a request; a refusal means that it must not cross.
func (req *request) admitRequest(f *frame.Frame) *frame.Refusal {
	rc, m := req.rc, &req.message
	calls := m.Calls
	if m.InputResponses != nil {
		answers, refusal := rc.s.table.inputResponses(f, m, rc.s.o.Name)
		if refusal != nil {
			return refusal
		}
		rc.s.o.Gate.NoteRoots(mcp.DeclaredRoots(nil, m.InputResponses))
		calls = append(calls[:len(calls):len(calls)], answers...)
	}
	req.x = exchanges.Get().(*gate.Exchange)
	req.calls = rc.attachTasks(req.x, rc.from, m, calls)
	if m.IsInitialize() {
		req.clientInfo = mcp.ClientOfInitialize(f.Params)
		rc.s.setLongest(req.clientInfo.Name)
	}
	return nil
}

// handleRequest reserves the id and puts the request into the group.
func (rc *receiver) handleRequest(ctx context.Context, f *frame.Frame) {
	req, refusal := rc.newRequest(f)
	if refusal == nil && rc.isRetry(&req.message) {
		rc.handleRetry(f, &req.message)
		return
	}
	if refusal == nil {
		refusal = req.admitRequest(f)
	}
	if refusal == nil {
		refusal = reserveRefusal(f, rc.s.table.reserveIDs(req))
	}
	if refusal != nil {
		rc.handleUnreadable(f.Raw, refusal)
		return
	}
	x := req.x
	x.Raw, x.Calls, x.Out, x.Caller = f.Raw, req.calls, req, req
	req.work = x.Work
	rc.describeFrame(&x.Event, f, req.calls)
	req.waiting = x
	rc.enqueueExchange(ctx, x, false)
}

// Why a request must wait for the answer to another.
const (
	codeDuplicateID = "duplicate_id"
	codeTooMany     = "too_many_requests"
)

// reserveRefusal refuses a frame of which no id was taken; nil where nothing is the matter.
func reserveRefusal(f *frame.Frame, why string) *frame.Refusal {
	switch why {
	case "":
		return nil
	case codeTooMany:
		return &frame.Refusal{Code: why, Reason: "too many requests of the server have no answer yet", ID: f.ID, Request: true}
	}
	return &frame.Refusal{Code: why, Reason: "a request with this id is still in flight", ID: f.ID, Request: true}
}

// Forward sends the request on.
func (req *request) Forward(x *gate.Exchange) error {
	req.record, req.kept = x.Event.Record, x.WaitedForPerson() || req.from != mcp.ClientToServer
	rc, b, kept := req.rc, req.burst, req.kept
	if !rc.s.table.markSent(req) {
		return errCallerAway
	}
	err := rc.sendLine(b, x.Raw)
	if !kept { // it may be another one by now
		return err
	}
	if line := req.clientGone(err); line != nil {
		rc.answerSender(b, line)
	}
	return err
}

// dropFrame lets go of the frame of a request that has been judged, and keeps what the
// answer may need. What may become a task keeps its arguments: whoever polls the task is
// judged by them; and so does every call where rules look at answers.
func (req *request) dropFrame() {
	if req.message.Modern || req.rc.s.o.Gate.Screens() || slices.ContainsFunc(req.calls, mcp.AsksForTask) {
		return
	}
	req.id, req.token = bytes.Clone(req.id), bytes.Clone(req.token)
	req.key, req.progressKey = strings.Clone(req.key), strings.Clone(req.progressKey)
	calls := make([]policy.Call, len(req.calls)) // whose answer it is; the gate has its own
	for i := range calls {
		named := req.calls[i]
		named.Args = nil
		calls[i] = cloneCall(&named)
	}
	req.calls = calls // they lay in the message
	req.method, req.message = strings.Clone(req.method), mcp.Message{Class: req.message.Class}
	req.noTask = true
}

// clientGone gives what a server is told whose client has gone: its question may have
// waited for a person for longer than the stream lasted that it came in. nil when
// nothing was lost, or nobody waits; a client learns by itself that its server is gone.
func (req *request) clientGone(lost error) []byte {
	if lost == nil || req.from != mcp.ServerToClient {
		return nil
	}
	to, here := req.rc.s.table.releaseRequest(req)
	if !here {
		return nil
	}
	return mcp.UnheardAnswer(to.id, lost.Error())
}

// Refuse answers the request; a withdrawn one expects no answer, and neither
// does a caller that is away.
func (req *request) Refuse(_ *gate.Exchange, v gate.Verdict) {
	if to, here := req.rc.s.table.releaseRequest(req); here && v.Code != gate.CodeWithdrawn {
		_ = req.rc.writeLine(req.burst, to.back, req.denialLine(to, req.calls, v))
	}
}

// Waiting tells the caller that its request is alive, if it asked to be told.
func (req *request) Waiting(_ *gate.Exchange, elapsed time.Duration) {
	if to, line := req.progressLine(elapsed); line != nil {
		_ = req.rc.writeLine(req.burst, to.back, line)
	}
}

// progressLine gives the next sign of life for the caller; nil when it wants none.
func (req *request) progressLine(elapsed time.Duration) (to caller, line []byte) {
	to, here := req.rc.s.table.findCaller(req)
	if to.token == nil || !here {
		return to, nil
	}
	req.progressSteps++
	return to, mcp.ProgressNotification(to.token, req.progressSteps, fmt.Sprintf("waiting for the owner's approval (%d s)", elapsed/time.Second))
}

// answeredCalls gives the calls that an answer to the request answers.
func (req *request) answeredCalls() []policy.Call {
	if len(req.calls) == 0 {
		return req.work
	}
	return req.calls
}

// denialLine gives what the caller gets instead of the other side's answer.
func (req *request) denialLine(to caller, what []policy.Call, v gate.Verdict) []byte {
	d := req.newDenial(what, v)
	return d.AnswerFrame(mcp.Caller{ID: to.id, Method: req.method, Modern: req.message.Modern})
}

// withheldLine gives what the caller gets instead of an answer that has come.
func (req *request) withheldLine(to caller, v gate.Verdict) []byte {
	d := req.newDenial(req.answeredCalls(), v)
	d.Ran = true
	return d.AnswerFrame(mcp.Caller{ID: to.id, Method: req.method, Modern: req.message.Modern})
}

func (req *request) newDenial(what []policy.Call, v gate.Verdict) mcp.Denial {
	d := mcp.Denial{
		Stage: string(v.Stage), Code: v.Code, Reason: v.Reason, Hint: v.Hint, Record: v.Record,
		AsError: req.rc.s.o.DenyAsError,
	}
	if len(what) > 0 {
		d.What = what[0]
	} else {
		d.What = policy.Call{Method: req.method, Subject: policy.MethodSubject}
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
	return d
}
