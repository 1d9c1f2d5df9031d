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

// receiver carries one direction: it reads the frames of one side, classifies them and passes
// them to the gate.
type receiver struct {
	s     *session
	from  mcp.Direction // the sending side
	in    *frame.Reader
	out   Sink          // sink for frames to the other side
	back  Sink          // sink for frames to the sender
	ended chan struct{} // closed when readStream has returned
	// scope separates the ids of clients that a server cannot distinguish; "" where there is one
	// client.
	scope string

	group     []*gate.Exchange // exchanges of one read that have not been judged, in order
	responses bool             // true if the group holds responses, false if it holds requests and notifications
	passed    []*response      // responses of this read that were enqueued
	frame     frame.Frame      // the frame being handled
	repaired  bool             // the frame was repaired
	known     *frame.Skeletons // skeletons of the stream's lines; nil for a stream of few lines

	// A burst is the frames of one read. Frames that the gate lets through at once are written
	// after the whole burst has been judged.
	burst uint64        // number of the latest burst
	open  atomic.Uint64 // burst whose frames are being judged; 0: none
	// spoken is true when lines for the sender were queued during this burst. Other goroutines
	// flush their own lines.
	spoken atomic.Bool
}

func newReceiver(s *session, from mcp.Direction, in io.Reader, out, back Sink) *receiver {
	return &receiver{
		s: s, from: from, out: out, back: back,
		in:    frame.NewReader(in, s.o.Limits.MaxBytes),
		known: new(frame.Skeletons),
		ended: make(chan struct{}),
	}
}

// Sink is the output for frames of one direction. It is safe for concurrent use.
type Sink interface {
	// Add queues one frame without a line end; Flush sends the queued frames. An error means that
	// the frame is lost.
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

// flushBurst judges the rest of this read and writes the frames that the gate let through. Plain
// responses are recorded after they are written, so their callers do not wait for the record.
func (rc *receiver) flushBurst(ctx context.Context) {
	rc.judgeGroup(ctx)
	rc.open.Store(0)
	rc.out.Flush()
	if rc.spoken.Load() {
		rc.spoken.Store(false)
		rc.back.Flush()
	}
	if rc.s.o.Gate.Flush() == nil { // after a failure the gate refuses every later exchange
		rc.reuseReplies()
	}
	clear(rc.passed)
	rc.passed, rc.frame = rc.passed[:0], frame.Frame{}
	if rc.from == mcp.ServerToClient && rc.s.table.holding.Load() > 0 {
		rc.settleUnnamed(ctx) // an answer of this read may show which request an unnamed answer is for
	}
}

// handleLine reads one line and puts its exchange into the group.
func (rc *receiver) handleLine(ctx context.Context, line []byte) {
	releaseLarge(line)
	if rc.isTooLong(line) {
		if !isArray(line) || !rc.takeApart(ctx, line) { // an array that is too long may consist of answers that are each short enough
			rc.refuseLong(line)
		}
		return
	}
	err := rc.known.Parse(&rc.frame, line, rc.frameLimits())
	if err == nil {
		rc.handleFrame(ctx, &rc.frame)
	} else if refusal, ok := errors.AsType[*frame.Refusal](err); !ok {
		panic(err)
	} else if !rc.repairAnswer(ctx, line, refusal) {
		rc.handleUnreadable(line, refusal)
	}
}

// largeFrame is the size in bytes above which a frame's memory is given back to the system: the
// runtime would keep it for minutes.
const largeFrame = 512 << 10

// releaseLarge asks for a release of memory soon if the line is large.
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

// enqueueExchange adds an exchange to the group. A group holds only responses or only other frames.
// So when the kind changes, the present group is judged first, which keeps the order of the frames.
func (rc *receiver) enqueueExchange(ctx context.Context, x *gate.Exchange, reply bool) {
	if reply != rc.responses {
		rc.judgeGroup(ctx)
		rc.responses = reply
	}
	rc.group = append(rc.group, x)
}

// judgeGroup passes the group to the gate.
func (rc *receiver) judgeGroup(ctx context.Context) {
	if len(rc.group) == 0 {
		return
	}
	group := rc.group
	rc.group = group[:0] // nothing is judged twice, even after a panic
	if rc.responses {
		rc.s.o.Gate.Observe(ctx, group...)
	} else {
		rc.s.o.Gate.Do(ctx, group...)
		rc.s.table.reuseExchanges(group)
	}
	clear(group)
}

// sendLine queues a line for the other side, and sends it at once if its burst is over.
func (rc *receiver) sendLine(b uint64, line []byte) error { return rc.writeLine(b, rc.out, line) }

// writeLine queues a line of burst b on the sink `to`. That sink may belong to another receiver.
func (rc *receiver) writeLine(b uint64, to Sink, line []byte) error {
	if to == rc.back && rc.from == mcp.ServerToClient { // the notice is stored before the line is sent, because the server may react to the line at once
		rc.s.table.addNotice("", rc.scope)
	}
	err := to.Add(line)
	if to == rc.back {
		rc.spoken.Store(true)
	}
	// The line is queued before the burst is checked, and flushBurst ends the burst (sets open to
	// 0) before it writes. So this goroutine or flushBurst sends the line. flushBurst writes to the
	// receiver's own sinks only.
	if rc.open.Load() != b || to != rc.out && to != rc.back {
		to.Flush()
	}
	return err
}

// answerSender sends the sender a line that the proxy made.
func (rc *receiver) answerSender(b uint64, line []byte) {
	_ = rc.writeLine(b, rc.back, line) // on an error the sender is gone, and nobody can be answered
}

// scopedKey returns the map key of an id or a progress token: the scope and the frame.IDKey.
func (rc *receiver) scopedKey(token []byte) string {
	if rc.scope == "" {
		return frame.IDKey(token)
	}
	return rc.scope + frame.IDKey(token)
}

// oppositeDirection returns the direction of the responses to this receiver's requests.
func (rc *receiver) oppositeDirection() mcp.Direction {
	if rc.from == mcp.ClientToServer {
		return mcp.ServerToClient
	}
	return mcp.ClientToServer
}
