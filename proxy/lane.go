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

// lane carries one direction: it reads the frames one side sends, finds out
// what they are, and hands them to the gate.
type lane struct {
	s     *session
	from  mcp.Direction // who sends
	in    *frame.Reader
	out   Sink // to the other side
	back  Sink // to the sender
	ended chan struct{}
	// scope keeps apart the ids of clients that a server cannot tell apart; ""
	// where there is one client.
	scope string

	group   []*gate.Exchange // frames of one read, in order
	replies bool             // the group is of replies
	burst   *burst
}

// burst is one read's worth of frames: what the gate lets through at once is
// written when all of it has been judged.
type burst struct{ open atomic.Bool }

func newLane(s *session, from mcp.Direction, in io.Reader, out, back Sink) *lane {
	return &lane{
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
func (l *lane) run(ctx context.Context) {
	defer close(l.ended)
	defer func() {
		if r := recover(); r != nil {
			l.s.fail(r)
		}
	}()
	l.begin()
	for {
		line, err := l.in.Next()
		if refusal, ok := errors.AsType[*frame.Refusal](err); ok {
			l.unreadable(l.in.Refused(), refusal)
		} else if err != nil {
			l.flush(ctx)
			return
		} else {
			l.take(ctx, line)
		}
		if !l.in.Buffered() {
			l.flush(ctx)
			l.begin()
		}
	}
}

func (l *lane) begin() {
	l.burst = new(burst)
	l.burst.open.Store(true)
}

// flush judges what is left of this read and writes what may go on. The record
// of plain replies comes last: whoever waits for them has them by then.
func (l *lane) flush(ctx context.Context) {
	l.judge(ctx)
	l.burst.open.Store(false)
	l.out.Flush()
	l.back.Flush()
	_ = l.s.o.Gate.Flush() // the gate refuses what comes after a failure
}

// take reads one line and puts its exchange into the group.
func (l *lane) take(ctx context.Context, line []byte) {
	spend(line)
	limits := l.s.o.Limits
	limits.AllowBatch = l.s.table.batches.Load()
	f, err := frame.Parse(line, limits)
	if refusal, ok := errors.AsType[*frame.Refusal](err); ok {
		l.unreadable(line, refusal)
		return
	} else if err != nil {
		panic(err)
	}
	l.admit(ctx, &f)
}

// largeFrame is the size from which a frame's memory is given back to the system:
// the runtime would keep it for minutes.
const largeFrame = 512 << 10

// spend notes a line whose memory is worth giving back.
func spend(line []byte) {
	if len(line) > largeFrame {
		memory.ReleaseSoon()
	}
}

// admit puts the exchange of a frame into the group.
func (l *lane) admit(ctx context.Context, f *frame.Frame) {
	switch f.Kind {
	case frame.Request:
		l.request(ctx, f)
	case frame.Notification:
		l.notification(ctx, f)
	case frame.Response:
		l.response(ctx, f)
	case frame.Batch:
		l.batch(ctx, f)
	}
}

// enqueue adds an exchange to the group; what came before it is judged first
// when it goes through the other door, so that order is kept.
func (l *lane) enqueue(ctx context.Context, x *gate.Exchange, reply bool) {
	if reply != l.replies {
		l.judge(ctx)
		l.replies = reply
	}
	l.group = append(l.group, x)
}

// judge hands the group to the gate.
func (l *lane) judge(ctx context.Context) {
	if len(l.group) == 0 {
		return
	}
	if l.replies {
		l.s.o.Gate.Observe(ctx, l.group...)
	} else {
		l.s.o.Gate.Do(ctx, l.group...)
	}
	clear(l.group)
	l.group = l.group[:0]
}

// send queues a line for the other side, and sends it at once if the read it
// belongs to is over.
func (l *lane) send(b *burst, line []byte) error { return l.put(b, l.out, line) }

// put queues a line for to, one of the lane's own sinks or another's.
func (l *lane) put(b *burst, to Sink, line []byte) error {
	err := to.Add(line)
	// The line is queued before the burst is looked at, and flush closes the
	// burst before it writes: one of the two sends it. It writes to the lane's
	// own sinks only.
	if !b.open.Load() || to != l.out && to != l.back {
		to.Flush()
	}
	return err
}

// answer sends a line of our own to the sender.
func (l *lane) answer(b *burst, line []byte) {
	_ = l.put(b, l.back, line) // the sender is gone: there is nobody left to answer
}

// key names a request by its id, or what it reports by its progress token.
func (l *lane) key(token []byte) string {
	if l.scope == "" {
		return frame.IDKey(token)
	}
	return l.scope + frame.IDKey(token)
}

// opposite is the direction of the replies to this lane's requests.
func (l *lane) opposite() mcp.Direction {
	if l.from == mcp.ClientToServer {
		return mcp.ServerToClient
	}
	return mcp.ClientToServer
}
