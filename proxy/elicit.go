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

// Client returns the client of this request, so that the gate can show it a form. It returns nil if
// the client has no forms. A request of MCP 2026-07-28 describes its client itself. In earlier
// versions the client's initialize request does this.
func (req *request) Client() gate.Client {
	if !req.message.Modern {
		return req.rc.legacyClient(req.x.Event.Digest)
	}
	f, err := frame.Parse(req.x.Raw, req.rc.s.o.Limits)
	if err != nil {
		return nil // the request came in an array, so it has no frame to parse
	}
	if who := mcp.ClientOfRequest(req.method, f.Params); who.Form {
		return &resultElicitor{request: req, who: who, params: f.Params, digest: req.x.Event.Digest}
	}
	return nil
}

// Named returns the client's own name and version.
func (req *request) Named() (name, version string) {
	who := req.rc.s.table.clientInfo()
	if req.message.Modern {
		if f, err := frame.Parse(req.x.Raw, req.rc.s.o.Limits); err == nil {
			who = mcp.ClientOfRequest(req.method, f.Params)
		}
	}
	return who.Name, who.Version
}

// Back returns a channel that is closed when the caller can be answered. After Back was called, the
// caller gets no form any more.
func (req *request) Back() <-chan struct{} {
	if away := req.rc.s.table.closeForm(req); away != nil {
		return away
	}
	return closedChannel()
}

// Client returns the client that gets this answer, so that the gate can show it a form. It returns
// nil if the client has no forms.
func (resp *response) Client() gate.Client {
	if resp.request.message.Modern {
		return nil // no form is possible, because the caller waits for this answer
	}
	return resp.rc.legacyClient(resp.x.Event.Digest)
}

// Named returns the client's own name and version.
func (resp *response) Named() (name, version string) {
	who := resp.rc.s.table.clientInfo()
	return who.Name, who.Version
}

// Back returns a closed channel, because the caller waits for its answer and is never away.
func (resp *response) Back() <-chan struct{} { return closedChannel() }

func closedChannel() <-chan struct{} {
	ch := make(chan struct{})
	close(ch)
	return ch
}

// legacyClient returns the client that sent initialize, so that the gate can ask this client about
// a message. It returns nil if the client has no forms. digest is the digest of the message.
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

// requestElicitor asks a client by an elicitation request that the proxy itself sends (MCP
// 2025-06-18 and 2025-11-25 client/elicitation).
type requestElicitor struct {
	rc     *receiver
	to     Sink
	who    mcp.Client
	digest [32]byte
}

// Name returns the client's own name and version.
func (e *requestElicitor) Name() (name, version string) { return e.who.Name, e.who.Version }

// Elicit asks the client and waits for the answer. It cancels the question when ctx ends.
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

// elicitation is a question of the proxy that a client shows as a form.
type elicitation struct {
	digest [32]byte          // digest of the message that is the subject of the question
	record string            // id of the question's record
	result chan elicitResult // channel for the answer; it has room for one
}

// elicitResult is a client's answer to a form.
type elicitResult struct {
	gate.Elicited
	err error
}

func newElicitation(digest [32]byte) *elicitation {
	return &elicitation{digest: digest, result: make(chan elicitResult, 1)}
}

// noteQuestion records a question before it is sent. The client's answer will have the given id.
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

// deliverElicitResult records the client's answer f and passes it to the goroutine that asked. If
// the answer cannot be recorded, that goroutine also gets an error.
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

// sendNow writes a line at once.
func sendNow(to Sink, line []byte) error {
	err := to.Add(line)
	to.Flush()
	return err
}

// handleElicitResult handles the client's answer to a request of the proxy. It forwards nothing.
func (rc *receiver) handleElicitResult(req *request, f *frame.Frame) {
	got, err := mcp.ReadElicited(f.Result)
	if f.Error != nil {
		err = errors.New("the client refused to ask")
	}
	rc.deliverElicitResult(req.elicitation, f, got, err)
	rc.s.table.releaseRequest(req)
}

// failElicitation is handleElicitResult for an answer that cannot be parsed.
func (rc *receiver) failElicitation(req *request, line []byte, refusal *frame.Refusal) {
	err := fmt.Errorf("the client's answer cannot be read: %w", refusal)
	rc.deliverElicitResult(req.elicitation, &frame.Frame{ID: req.id, Raw: line}, mcp.Elicited{}, err)
	rc.s.table.releaseRequest(req)
}
