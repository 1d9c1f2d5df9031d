package proxy

import (
	"context"
	"errors"
	"io"
	"sync/atomic"

	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/mcp"
	"github.com/clawai/clawai/internal/state/memory"
	"github.com/clawai/clawai/internal/wire/frame"
)

// receiver carries one direction: it reads the frames one side sends, finds out
// what they are, and hands them to the gate.
type receiver struct {
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
	passed    []*response      // replies of this read that have gone on
	frame     frame.Frame      // the one that is looked at
	repaired  bool             // it is not as it came

	// A burst is one read's worth of frames: what the gate lets through at once is
	// written when all of it has been judged.
	burst uint64        // the number of the last one
	open  atomic.Uint64 // the one whose frames are being judged; 0: none
	// spoken says that the burst has lines of ours for the sender. What others have
	// queued for it they send themselves.
	spoken atomic.Bool
}

func newReceiver(s *session, from mcp.Direction, in io.Reader, out, back Sink) *receiver {
	return &receiver{
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

// readStream reads until the stream ends.
func (rc *receiver) readStream(ctx context.Context) {
	defer close(rc.ended)
	defer func() {
		if r := recover(); r != nil {
			rc.s.failSession(r)
		}
	}()
	rc.beginBurst()
	for {
		line, err := rc.in.ReadLine()
		if err == nil {
			rc.handleLine(ctx, line)
		} else if refusal, ok := errors.AsType[*frame.Refusal](err); ok {
			rc.handleUnreadable(rc.in.RefusedHead(), refusal)
		} else {
			rc.flushBurst(ctx)
			return
		}
		if !rc.in.HasLine() {
			rc.flushBurst(ctx)
			rc.beginBurst()
		}
	}
}

func (rc *receiver) beginBurst() {
	rc.burst++
	rc.open.Store(rc.burst)
}

// flushBurst judges what is left of this read and writes what may go on. The record
// of plain replies comes last: whoever waits for them has them by then.
func (rc *receiver) flushBurst(ctx context.Context) {
	rc.judgeGroup(ctx)
	rc.open.Store(0)
	rc.out.Flush()
	if rc.spoken.Load() {
		rc.spoken.Store(false)
		rc.back.Flush()
	}
	if rc.s.o.Gate.Flush() == nil { // or the gate refuses what comes
		rc.reuseReplies()
	}
	clear(rc.passed)
	rc.passed, rc.frame = rc.passed[:0], frame.Frame{}
	if rc.from == mcp.ServerToClient && rc.s.table.holding.Load() > 0 {
		rc.settleUnnamed(ctx) // an answer of this read may have shown whose one without an id is
	}
}

// handleLine reads one line and puts its exchange into the group.
func (rc *receiver) handleLine(ctx context.Context, line []byte) {
	releaseLarge(line)
	if rc.isTooLong(line) {
		if !isArray(line) || !rc.takeApart(ctx, line) { // its answers may be short enough
			rc.refuseLong(line)
		}
		return
	}
	err := rc.frame.Parse(line, rc.frameLimits())
	if err == nil {
		rc.handleFrame(ctx, &rc.frame)
	} else if refusal, ok := errors.AsType[*frame.Refusal](err); !ok {
		panic(err)
	} else if !rc.repairAnswer(ctx, line, refusal) {
		rc.handleUnreadable(line, refusal)
	}
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
func (rc *receiver) handleFrame(ctx context.Context, f *frame.Frame) {
	switch f.Kind {
	case frame.Request:
		rc.handleRequest(ctx, f)
	case frame.Notification:
		rc.handleNotification(ctx, f)
	case frame.Response:
		rc.handleResponse(ctx, f)
	case frame.Batch:
		rc.handleBatch(ctx, f)
	}
}

// enqueueExchange adds an exchange to the group; what came before it is judged first
// when it goes through the other door, so that order is kept.
func (rc *receiver) enqueueExchange(ctx context.Context, x *gate.Exchange, reply bool) {
	if reply != rc.responses {
		rc.judgeGroup(ctx)
		rc.responses = reply
	}
	rc.group = append(rc.group, x)
}

// judgeGroup hands the group to the gate.
func (rc *receiver) judgeGroup(ctx context.Context) {
	if len(rc.group) == 0 {
		return
	}
	group := rc.group
	rc.group = group[:0] // whatever comes of it, nothing is judged twice
	if rc.responses {
		rc.s.o.Gate.Observe(ctx, group...)
	} else {
		rc.s.o.Gate.Do(ctx, group...)
		rc.s.table.reuseExchanges(group)
	}
	clear(group)
}

// sendLine queues a line for the other side, and sends it at once if the read it
// belongs to is over.
func (rc *receiver) sendLine(b uint64, line []byte) error { return rc.writeLine(b, rc.out, line) }

// writeLine queues a line for to, one of the receiver's own sinks or another's.
func (rc *receiver) writeLine(b uint64, to Sink, line []byte) error {
	if to == rc.back && rc.from == mcp.ServerToClient { // before the server can say a word about it
		rc.s.table.addNotice("", rc.scope)
	}
	err := to.Add(line)
	if to == rc.back {
		rc.spoken.Store(true)
	}
	// The line is queued before the burst is looked at, and flush closes the
	// burst before it writes: one of the two sends it. It writes to the receiver's
	// own sinks only.
	if rc.open.Load() != b || to != rc.out && to != rc.back {
		to.Flush()
	}
	return err
}

// answerSender sends a line of our own to the sender.
func (rc *receiver) answerSender(b uint64, line []byte) {
	_ = rc.writeLine(b, rc.back, line) // the sender is gone: there is nobody left to answer
}

// scopedKey names a request by its id, or what it reports by its progress token.
func (rc *receiver) scopedKey(token []byte) string {
	if rc.scope == "" {
		return frame.IDKey(token)
	}
	return rc.scope + frame.IDKey(token)
}

// oppositeDirection gives the direction of the replies to this receiver's requests.
func (rc *receiver) oppositeDirection() mcp.Direction {
	if rc.from == mcp.ClientToServer {
		return mcp.ServerToClient
	}
	return mcp.ClientToServer
}
