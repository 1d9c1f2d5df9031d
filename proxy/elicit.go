package proxy

import (
	"context"
	"errors"
	"fmt"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/mcp"
	"github.com/clawai/clawai/internal/wire/frame"
)

var (
	errCallerAway = errors.New("its caller has not returned from the form it was given")
	errFormClosed = errors.New("the caller expects no form any more")
)

// Client is the caller's own form: of a request of 2026-07-28 what that says of
// it, of anything older what the client said when it introduced itself.
func (req *request) Client() gate.Client {
	if !req.message.Modern {
		return req.rc.legacyClient(req.x.Event.Digest)
	}
	f, err := frame.Parse(req.x.Raw, req.rc.s.o.Limits)
	if err != nil {
		return nil // an element of a batch, which has no frame of its own
	}
	if who := mcp.ClientOfRequest(req.method, f.Params); who.Form {
		return &resultElicitor{request: req, who: who, params: f.Params, digest: req.x.Event.Digest}
	}
	return nil
}

// Named is how the client of the call calls itself.
func (req *request) Named() (name, version string) {
	who := req.rc.s.table.clientInfo()
	if req.message.Modern {
		if f, err := frame.Parse(req.x.Raw, req.rc.s.o.Limits); err == nil {
			who = mcp.ClientOfRequest(req.method, f.Params)
		}
	}
	return who.Name, who.Version
}

// Back is closed when the caller can be answered; from now on it gets no form.
func (req *request) Back() <-chan struct{} {
	if away := req.rc.s.table.closeForm(req); away != nil {
		return away
	}
	return closedChannel()
}

// Client is the form of the client that a legacy server's answer is for.
func (resp *response) Client() gate.Client {
	if resp.request.message.Modern {
		return nil // it waits for the answer itself
	}
	return resp.rc.legacyClient(resp.x.Event.Digest)
}

// Named is how the client calls itself that waits for the answer.
func (resp *response) Named() (name, version string) {
	who := resp.rc.s.table.clientInfo()
	return who.Name, who.Version
}

// Back is closed: whoever waits for an answer is there.
func (resp *response) Back() <-chan struct{} { return closedChannel() }

func closedChannel() <-chan struct{} {
	ch := make(chan struct{})
	close(ch)
	return ch
}

// legacyClient gives the client that introduced itself, to be asked about the message
// of this digest, on the stream that goes to it.
func (rc *receiver) legacyClient(digest [32]byte) gate.Client {
	to := rc.back
	if rc.from == mcp.ServerToClient {
		to = rc.out
	}
	if who := rc.s.table.clientInfo(); who.Form {
		return &requestElicitor{rc: rc, to: to, who: who, digest: digest}
	}
	return nil
}

// requestElicitor is a client that is sent a request of ours (MCP 2025-06-18 and
// 2025-11-25 client/elicitation).
type requestElicitor struct {
	rc     *receiver
	to     Sink
	who    mcp.Client
	digest [32]byte
}

// Name is how the client calls itself.
func (e *requestElicitor) Name() (name, version string) { return e.who.Name, e.who.Version }

// Elicit asks, and takes the question back when ctx ends.
func (e *requestElicitor) Elicit(ctx context.Context, message string, schema []byte) (gate.Elicited, error) {
	s := e.rc.s
	a := newElicitation(e.digest)
	req := &request{rc: e.rc, from: mcp.ServerToClient, method: elicitMethod, state: sent, elicitation: a}
	s.table.addElicitation(req)
	err := context.Cause(ctx)
	if err == nil {
		err = s.noteQuestion(a, req.id)
	}
	if err == nil {
		err = sendNow(e.to, mcp.ElicitRequest(req.id, message, schema))
	}
	if err != nil {
		s.table.releaseRequest(req)
		return gate.Elicited{}, err
	}
	select {
	case got := <-a.result:
		return got.Elicited, got.err
	case <-ctx.Done():
		if s.table.cancelRequest(req.from, req.key) {
			_ = sendNow(e.to, mcp.CancelNotification(req.id, "the question is settled"))
		}
		return gate.Elicited{}, context.Cause(ctx)
	}
}

const elicitMethod = "elicitation/create"

// elicitation is a question of ours that a client is about to show.
type elicitation struct {
	digest [32]byte          // of the message it is about
	record string            // of the question
	result chan elicitResult // holds the one that comes
}

// elicitResult is what a client made of a form.
type elicitResult struct {
	gate.Elicited
	err error
}

func newElicitation(digest [32]byte) *elicitation {
	return &elicitation{digest: digest, result: make(chan elicitResult, 1)}
}

// noteQuestion records a question before it is sent; id is what its answer will name.
func (s *session) noteQuestion(a *elicitation, id []byte) error {
	ev := &event.Event{ID: id, Code: "sent", Digest: a.digest}
	err := s.noteElicitation(ev)
	a.record = ev.Record
	return err
}

func (s *session) noteElicitation(ev *event.Event) error {
	ev.Kind, ev.Method, ev.Server, ev.ServerGuess = event.Asked, elicitMethod, s.o.Name, s.o.Guess
	return s.o.Gate.NoteEvents(ev)
}

// deliverElicitResult records the answer to a question, which f holds, and hands it to who
// asked. An answer that cannot be recorded is none.
func (rc *receiver) deliverElicitResult(a *elicitation, f *frame.Frame, got mcp.Elicited, err error) {
	ev := &event.Event{
		ID: f.ID, Direction: rc.from.String(), Bytes: len(f.Raw), Code: got.Action, Digest: a.digest, Ref: a.record,
	}
	if err != nil {
		ev.Code, ev.Reason, ev.IsError = "unusable", err.Error(), true
	}
	if failed := rc.s.noteElicitation(ev); err == nil {
		err = failed
	}
	a.result <- elicitResult{gate.Elicited{Action: got.Action, Content: got.Content}, err}
}

// sendNow sends a line of our own at once.
func sendNow(to Sink, line []byte) error {
	err := to.Add(line)
	to.Flush()
	return err
}

// handleElicitResult takes the client's answer to a request of ours. It goes nowhere else.
func (rc *receiver) handleElicitResult(req *request, f *frame.Frame) {
	got, err := mcp.ReadElicited(f.Result)
	if f.Error != nil {
		err = errors.New("the client refused to ask")
	}
	rc.deliverElicitResult(req.elicitation, f, got, err)
	rc.s.table.releaseRequest(req)
}

// failElicitation is handleElicitResult for an answer that cannot be read.
func (rc *receiver) failElicitation(req *request, line []byte, refusal *frame.Refusal) {
	err := fmt.Errorf("the client's answer cannot be read: %w", refusal)
	rc.deliverElicitResult(req.elicitation, &frame.Frame{ID: req.id, Raw: line}, mcp.Elicited{}, err)
	rc.s.table.releaseRequest(req)
}
