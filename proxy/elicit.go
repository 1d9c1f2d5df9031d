package proxy

import (
	"context"
	"errors"
	"fmt"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/proxy/frame"
	"github.com/clawai/clawai/proxy/mcp"
)

var (
	errAway    = errors.New("its caller has not returned from the form it was given")
	errSettled = errors.New("the caller expects no form any more")
)

// Client is the caller's own form: of a request of 2026-07-28 what that says of
// it, of anything older what the client said when it introduced itself.
func (c *call) Client() gate.Client {
	if !c.modern {
		return c.lane.introduced(c.x.Event.Digest)
	}
	f, err := frame.Parse(c.x.Raw, c.lane.s.o.Limits)
	if err != nil {
		return nil // an element of a batch, which has no frame of its own
	}
	if who := mcp.Carried(c.method, f.Params); who.Form {
		return &visitor{call: c, who: who, params: f.Params, digest: c.x.Event.Digest}
	}
	return nil
}

// Named is how the client of the call calls itself.
func (c *call) Named() (name, version string) {
	who := c.lane.s.table.client()
	if c.modern {
		if f, err := frame.Parse(c.x.Raw, c.lane.s.o.Limits); err == nil {
			who = mcp.Carried(c.method, f.Params)
		}
	}
	return who.Name, who.Version
}

// Back is closed when the caller can be answered; from now on it gets no form.
func (c *call) Back() <-chan struct{} {
	if away := c.lane.s.table.settled(c); away != nil {
		return away
	}
	return closed()
}

// Client is the form of the client that a legacy server's answer is for.
func (r *reply) Client() gate.Client {
	if r.call.modern {
		return nil // it waits for the answer itself
	}
	return r.lane.introduced(r.x.Event.Digest)
}

// Named is how the client calls itself that waits for the answer.
func (r *reply) Named() (name, version string) {
	who := r.lane.s.table.client()
	return who.Name, who.Version
}

// Back is closed: whoever waits for an answer is there.
func (r *reply) Back() <-chan struct{} { return closed() }

func closed() <-chan struct{} {
	ch := make(chan struct{})
	close(ch)
	return ch
}

// introduced is the client that introduced itself, to be asked about the message
// of this digest, on the stream that goes to it.
func (l *lane) introduced(digest [32]byte) gate.Client {
	to := l.back
	if l.from == mcp.ServerToClient {
		to = l.out
	}
	if who := l.s.table.client(); who.Form {
		return &resident{lane: l, to: to, who: who, digest: digest}
	}
	return nil
}

// resident is a client that is sent a request of ours (MCP 2025-06-18 and
// 2025-11-25 client/elicitation).
type resident struct {
	lane   *lane
	to     Sink
	who    mcp.Client
	digest [32]byte
}

// Name is how the client calls itself.
func (r *resident) Name() (name, version string) { return r.who.Name, r.who.Version }

// Elicit asks, and takes the question back when ctx ends.
func (r *resident) Elicit(ctx context.Context, message string, schema []byte) (gate.Elicited, error) {
	s := r.lane.s
	a := newAsking(r.digest)
	c := &call{lane: r.lane, from: mcp.ServerToClient, method: elicitMethod, state: sent, asked: a}
	s.table.ask(c)
	err := context.Cause(ctx)
	if err == nil {
		err = s.asks(a, c.id)
	}
	if err == nil {
		err = tell(r.to, mcp.ElicitRequest(c.id, message, schema))
	}
	if err != nil {
		s.table.release(c)
		return gate.Elicited{}, err
	}
	select {
	case got := <-a.answer:
		return got.Elicited, got.err
	case <-ctx.Done():
		if s.table.cancel(c.from, c.key) {
			_ = tell(r.to, mcp.Cancelled(c.id, "the question is settled"))
		}
		return gate.Elicited{}, context.Cause(ctx)
	}
}

const elicitMethod = "elicitation/create"

// asking is a question of ours that a client is about to show.
type asking struct {
	digest [32]byte    // of the message it is about
	record string      // of the question
	answer chan answer // holds the one that comes
}

// answer is what a client made of a form.
type answer struct {
	gate.Elicited
	err error
}

func newAsking(digest [32]byte) *asking {
	return &asking{digest: digest, answer: make(chan answer, 1)}
}

// asks records a question before it is sent; id is what its answer will name.
func (s *session) asks(a *asking, id []byte) error {
	ev := &event.Event{ID: id, Code: "sent", Digest: a.digest}
	err := s.noteAsked(ev)
	a.record = ev.Record
	return err
}

func (s *session) noteAsked(ev *event.Event) error {
	ev.Kind, ev.Method, ev.Server, ev.ServerGuess = event.Asked, elicitMethod, s.o.Name, s.o.Guess
	return s.o.Gate.Note(ev)
}

// brings records the answer to a question, which f holds, and hands it to who
// asked. An answer that cannot be recorded is none.
func (l *lane) brings(a *asking, f *frame.Frame, got mcp.Elicited, err error) {
	ev := &event.Event{
		ID: f.ID, Direction: l.from.String(), Bytes: len(f.Raw), Code: got.Action, Digest: a.digest, Ref: a.record,
	}
	if err != nil {
		ev.Code, ev.Reason, ev.IsError = "unusable", err.Error(), true
	}
	if failed := l.s.noteAsked(ev); err == nil {
		err = failed
	}
	a.answer <- answer{gate.Elicited{Action: got.Action, Content: got.Content}, err}
}

// tell sends a line of our own at once.
func tell(to Sink, line []byte) error {
	err := to.Add(line)
	to.Flush()
	return err
}

// elicited takes the client's answer to a request of ours. It goes nowhere else.
func (l *lane) elicited(c *call, f *frame.Frame) {
	got, err := mcp.ReadElicited(f.Result)
	if f.Error != nil {
		err = errors.New("the client refused to ask")
	}
	l.brings(c.asked, f, got, err)
	l.s.table.release(c)
}

// unelicited is elicited for an answer that cannot be read.
func (l *lane) unelicited(c *call, line []byte, refusal *frame.Refusal) {
	err := fmt.Errorf("the client's answer cannot be read: %w", refusal)
	l.brings(c.asked, &frame.Frame{ID: c.id, Raw: line}, mcp.Elicited{}, err)
	l.s.table.release(c)
}
