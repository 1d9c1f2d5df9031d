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

// request is one request in flight. It is also the gate's Outlet for the request.
type request struct {
	rc    *receiver
	burst uint64
	x     *gate.Exchange // nil after forwarding; empty for an element of an array

	from          mcp.Direction
	size          int // length of the frame in bytes
	method        string
	caller        // the first caller; the other side knows the request by this caller's id
	message       mcp.Message
	clientInfo    mcp.Client     // for initialize: the client's description from the request
	calls         []policy.Call  // the calls that the rules judged, used for denials and for a task that the request may become
	work          []policy.Call  // for a message about a task: the calls that became the task
	record        string         // id of the decision's record; "" until the request is forwarded
	progressSteps int            // number of progress messages from the proxy so far
	further       bool           // the request asks for the second or a later page of a list
	array         *requestBatch  // the array that contains the request; nil if it came alone
	kept          bool           // the object is not reused, because other goroutines may still use it or its calls
	waiting       *gate.Exchange // the exchange of the request while it waits at the gate; nil after forwarding

	// The table's mutex guards the fields below.
	state      state
	withdrawn  bool      // the caller has cancelled the request and expects no answer
	task       bool      // the result is a task, so the progress token stays valid
	noTask     bool      // the request cannot become a task
	sentAt     uint64    // number of the request among the messages to the server
	response   *response // the answer at the gate, set in state answering
	form       *form     // the form that the caller got instead of its answer; nil if it got none
	formClosed bool      // the caller may get no form any more

	elicitation *elicitation // the question, if this is a request of the proxy (MCP 2025-06-18 client/elicitation)
}

// caller is the party that waits for an answer. It has the id and the progress token of the
// request, and the sink for the answer.
type caller struct {
	id          []byte
	key         string // scopedKey of the id
	token       []byte // progress token; nil if there is none
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

// newRequest reads a request. It returns a refusal if the request must not be forwarded.
func (rc *receiver) newRequest(f *frame.Frame) (*request, *frame.Refusal) {
	req := requests.Get().(*request)
	req.rc, req.burst, req.from, req.method, req.size = rc, rc.burst, rc.from, f.Method, len(f.Raw)
	if refusal := req.message.ReadFrame(f, rc.from, rc.s.o.Name); refusal != nil {
		return nil, refusal
	}
	if m := req.message.Method; m != nil {
		req.method = m.Name // a copy of the name, because f.Method would keep the frame in memory
	}
	req.further = req.message.Class == mcp.List && mcp.HasCursor(f.Params)
	req.caller = rc.newCaller(f, &req.message)
	return req, nil
}

// admitRequest finds the calls that the rules judge in a request. It returns a refusal if the
// request must not be forwarded.
func (req *request) admitRequest(f *frame.Frame) *frame.Refusal {
	rc, m := req.rc, &req.message
	calls := m.Calls
	if m.InputResponses != nil {
		answers, refusal := rc.s.table.inputs.AnswerCalls(f, m, rc.s.o.Name)
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

// handleRequest reserves the id of a request and adds the request to the group (receiver.group).
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
	x.Event.Traceparent = req.message.Traceparent
	if rc.from == mcp.ClientToServer {
		x.Event.Client = mcp.NameClient(f.Method, f.Params)
	} else {
		x.Unasked = req.saysMore(f)
	}
	req.waiting = x
	rc.enqueueExchange(ctx, x, false)
}

// Codes of requests that are refused because of other open requests.
const (
	codeDuplicateID = "duplicate_id"
	codeTooMany     = "too_many_requests"
)

// reserveRefusal returns the refusal for a result of reserveIDs. It returns nil if why is "".
func reserveRefusal(f *frame.Frame, why string) *frame.Refusal {
	switch why {
	case "":
		return nil
	case codeTooMany:
		return &frame.Refusal{Code: why, Reason: "too many requests of the server have no answer yet", ID: f.ID, Request: true}
	}
	return DuplicateID(f.ID)
}

// DuplicateID returns the refusal of a request whose id is in use. Such a request is refused
// because two answers with the same id could not be told apart.
func DuplicateID(id []byte) *frame.Refusal {
	return &frame.Refusal{Code: codeDuplicateID, Reason: "a request with this id is still in flight", ID: id, Request: true}
}

// Forward sends the request to the other side.
func (req *request) Forward(x *gate.Exchange) error {
	req.record, req.kept = x.Event.Record, x.WaitedForPerson() || req.from != mcp.ClientToServer
	rc, b, kept := req.rc, req.burst, req.kept
	if !rc.s.table.markSent(req) {
		return errCallerAway
	}
	err := rc.sendLine(b, x.Raw)
	if !kept { // req must not be used any more, because another request may already reuse it
		return err
	}
	if line := req.clientGone(err); line != nil {
		rc.answerSender(b, line)
	}
	return err
}

// dropFrame copies the parts of a judged request that its answer may need, so that the frame can be
// freed. It does nothing if the arguments are needed later. They are needed in three cases: for a
// request of MCP 2026-07-28; if rules judge answers; and for a call that may become a task, because
// the rules judge polls of the task by these arguments.
func (req *request) dropFrame() {
	if req.message.Modern || req.rc.s.o.Gate.Screens() || slices.ContainsFunc(req.calls, mcp.AsksForTask) {
		return
	}
	req.id, req.token = bytes.Clone(req.id), bytes.Clone(req.token)
	req.key, req.progressKey = strings.Clone(req.key), strings.Clone(req.progressKey)
	calls := make([]policy.Call, len(req.calls)) // the answer's record needs these calls; the gate has its own copy
	for i, named := range req.calls {
		named.Args, named.Extra = nil, nil
		calls[i] = mcp.CloneCall(named)
	}
	req.calls = calls // the old calls are part of the message
	req.method, req.message = strings.Clone(req.method), mcp.Message{Class: req.message.Class}
	req.noTask = true
}

// clientGone returns the error answer to a server's request that could not be written to the
// client. The parameter lost is the error of the write. The write fails when a person decides after
// the client's stream has ended. clientGone returns nil if this error is nil, if the server expects
// no answer, or if the request came from a client. A client notices by itself that its server is
// gone.
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

// Refuse answers the request with a denial. It sends nothing if the request was withdrawn or its
// caller is away.
func (req *request) Refuse(_ *gate.Exchange, v gate.Verdict) {
	if to, here := req.rc.s.table.releaseRequest(req); here && v.Code != gate.CodeWithdrawn {
		_ = req.rc.writeLine(req.burst, to.back, req.denialLine(to, req.calls, v, false))
	}
}

// Waiting sends the caller a progress message if the caller asked for progress.
func (req *request) Waiting(_ *gate.Exchange, elapsed time.Duration) {
	if to, line := req.progressLine(elapsed); line != nil {
		_ = req.rc.writeLine(req.burst, to.back, line)
	}
}

// progressLine returns the next progress message for the caller. It returns nil if the caller did
// not ask for progress.
func (req *request) progressLine(elapsed time.Duration) (to caller, line []byte) {
	to, here := req.rc.s.table.findCaller(req)
	if to.token == nil || !here {
		return to, nil
	}
	req.progressSteps++
	return to, mcp.ProgressNotification(to.token, req.progressSteps, fmt.Sprintf("waiting for the owner's approval (%d s)", elapsed/time.Second))
}

// answeredCalls returns the calls that an answer to the request is about.
func (req *request) answeredCalls() []policy.Call {
	if len(req.calls) == 0 {
		return req.work
	}
	return req.calls
}

// denialLine returns the denial that the caller gets instead of an answer. ran means that the call
// was executed and only the other side's answer is withheld.
func (req *request) denialLine(to caller, what []policy.Call, v gate.Verdict, ran bool) []byte {
	one := policy.Call{Method: req.method, Subject: policy.MethodSubject}
	if len(what) > 0 {
		one = what[0]
	}
	d := v.NewDenial(one)
	d.AsError, d.Ran = req.rc.s.o.DenyAsError, ran
	return req.rc.s.o.Gate.MaskDenial(d).AnswerFrame(mcp.Caller{ID: to.id, Method: req.method, Modern: req.message.Modern})
}
