package proxy

import (
	"context"
	"errors"
	"io"
	"sync/atomic"

	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/memory"
	"github.com/clawai/clawai/proxy/frame"
	"github.com/clawai/clawai/proxy/mcp"
)

// channel carries one direction: it reads the frames one side sends, finds out
// what they are, and hands them to the gate.
type channel struct {
	s     *session
	from  mcp.Direction // who sends
	in    *frame.Reader
	out   Sink // to the other side
	back  Sink // to the sender
	ended chan struct{}
	// scope keeps apart the ids of clients that a server cannot tell apart; ""
	// where there is one client.
	scope string

	group     []*gate.Exchange // frames of one read, in order
	responses bool             // the group is of replies
	burst     *burst
}

// burst is one read's worth of frames: what the gate lets through at once is
// written when all of it has been judged.
type burst struct{ open atomic.Bool }

func newChannel(s *session, from mcp.Direction, in io.Reader, out, back Sink) *channel {
	return &channel{
		s: s, from: from, out: out, back: back,
		in:    frame.NewReader(in, s.o.Limits.MaxBytes),
		ended: make(chan struct{}),
	}
}

// Sink is where frames of one direction leave. It is safe for concurrent use.
type Sink interface {
	// Add takes one frame, without a line end; Flush sends what was added. An
	// error means that the frame is lost.
	Add(line []byte) error
	Flush()
}

// run reads until the stream ends.
func (ch *channel) run(ctx context.Context) {
	defer close(ch.ended)
	defer func() {
		if r := recover(); r != nil {
			ch.s.fail(r)
		}
	}()
	ch.begin()
	for {
		line, err := ch.in.Next()
		if refusal, ok := errors.AsType[*frame.Refusal](err); ok {
			ch.unreadable(ch.in.Refused(), refusal)
		} else if err != nil {
			ch.flush(ctx)
			return
		} else {
			ch.handleLine(ctx, line)
		}
		if !ch.in.Buffered() {
			ch.flush(ctx)
			ch.begin()
		}
	}
}

func (ch *channel) begin() {
	ch.burst = new(burst)
	ch.burst.open.Store(true)
}

// flush judges what is left of this read and writes what may go on. The record
// of plain replies comes last: whoever waits for them has them by then.
func (ch *channel) flush(ctx context.Context) {
	ch.judge(ctx)
	ch.burst.open.Store(false)
	ch.out.Flush()
	ch.back.Flush()
	_ = ch.s.o.Gate.Flush() // the gate refuses what comes after a failure
}

// handleLine reads one line and puts its exchange into the group.
func (ch *channel) handleLine(ctx context.Context, line []byte) {
	releaseLarge(line)
	limits := ch.s.o.Limits
	limits.AllowBatch = ch.s.table.batches.Load()
	f, err := frame.Parse(line, limits)
	if refusal, ok := errors.AsType[*frame.Refusal](err); ok {
		ch.unreadable(line, refusal)
		return
	} else if err != nil {
		panic(err)
	}
	ch.handleFrame(ctx, &f)
}

// largeFrame is the size from which a frame's memory is given back to the system:
// the runtime would keep it for minutes.
const largeFrame = 512 << 10

// releaseLarge notes a line whose memory is worth giving back.
func releaseLarge(line []byte) {
	if len(line) > largeFrame {
		memory.ReleaseSoon()
	}
}

// handleFrame puts the exchange of a frame into the group.
func (ch *channel) handleFrame(ctx context.Context, f *frame.Frame) {
	switch f.Kind {
	case frame.Request:
		ch.handleRequest(ctx, f)
	case frame.Notification:
		ch.handleNotification(ctx, f)
	case frame.Response:
		ch.handleResponse(ctx, f)
	case frame.Batch:
		ch.handleBatch(ctx, f)
	}
}

// enqueue adds an exchange to the group; what came before it is judged first
// when it goes through the other door, so that order is kept.
func (ch *channel) enqueue(ctx context.Context, x *gate.Exchange, reply bool) {
	if reply != ch.responses {
		ch.judge(ctx)
		ch.responses = reply
	}
	ch.group = append(ch.group, x)
}

// judge hands the group to the gate.
func (ch *channel) judge(ctx context.Context) {
	if len(ch.group) == 0 {
		return
	}
	if ch.responses {
		ch.s.o.Gate.Observe(ctx, ch.group...)
	} else {
		ch.s.o.Gate.Do(ctx, ch.group...)
	}
	clear(ch.group)
	ch.group = ch.group[:0]
}

// send queues a line for the other side, and sends it at once if the read it
// belongs to is over.
func (ch *channel) send(b *burst, line []byte) error { return ch.write(b, ch.out, line) }

// write queues a line for to, one of the channel's own sinks or another's.
func (ch *channel) write(b *burst, to Sink, line []byte) error {
	err := to.Add(line)
	// The line is queued before the burst is looked at, and flush closes the
	// burst before it writes: one of the two sends it. It writes to the channel's
	// own sinks only.
	if !b.open.Load() || to != ch.out && to != ch.back {
		to.Flush()
	}
	return err
}

// respond sends a line of our own to the sender.
func (ch *channel) respond(b *burst, line []byte) {
	_ = ch.write(b, ch.back, line) // the sender is gone: there is nobody left to answer
}

// scopedKey names a request by its id, or what it reports by its progress token.
func (ch *channel) scopedKey(token []byte) string {
	if ch.scope == "" {
		return frame.IDKey(token)
	}
	return ch.scope + frame.IDKey(token)
}

// opposite is the direction of the replies to this channel's requests.
func (ch *channel) opposite() mcp.Direction {
	if ch.from == mcp.ClientToServer {
		return mcp.ServerToClient
	}
	return mcp.ClientToServer
}
