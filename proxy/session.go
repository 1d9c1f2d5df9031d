package proxy

import (
	"context"
	"runtime/debug"

	"github.com/clawai/clawai/internal/mcp"
	"github.com/clawai/clawai/internal/wire/frame"
)

// Session is what Run keeps of a client and a server, for a transport whose
// messages come on many streams: HTTP. ClientIn, ClientOut and Server of its
// Options do not count, and the gate is not closed by it.
type Session struct{ s session }

// NewSession makes a session with nothing in flight.
func NewSession(o Options) *Session {
	if o.Limits == (frame.Limits{}) {
		o.Limits = frame.DefaultLimits()
	}
	x := &Session{session{o: o, failed: make(chan error, 2)}}
	x.s.setLongest("")
	return x
}

// AllowsBatches reports whether arrays may cross: the version that was negotiated has
// them.
func (x *Session) AllowsBatches() bool { return x.s.table.batches.Load() }

// Stream is a part of a session's traffic in one direction: the messages of one
// request or one answer. One goroutine carries at a time.
type Stream struct{ rc *receiver }

// NewStream begins one. Its messages come from the side that from names; out leads
// to the other side, back to the sender. scope keeps the ids of requests apart
// whose clients the server does not tell apart, "" where it does: what belongs
// together has the same.
func (x *Session) NewStream(from mcp.Direction, scope string, out, back Sink) *Stream {
	return &Stream{&receiver{s: &x.s, from: from, scope: scope, out: out, back: back}}
}

// HandleLines takes messages across that have come together, or refuses them. A call that waits
// for a person crosses later, from another goroutine; ctx ends the waiting and lives as long
// as the session. A defect of ours is recorded, and the message goes nowhere.
func (st *Stream) HandleLines(ctx context.Context, lines ...[]byte) {
	st.rc.beginBurst()
	for _, line := range lines {
		st.runGuarded(func() { st.rc.handleLine(ctx, line) })
	}
	st.runGuarded(func() { st.rc.flushBurst(ctx) })
}

// HandleFrame takes f across, one message that was parsed with the limits of the
// session.
func (st *Stream) HandleFrame(ctx context.Context, f *frame.Frame) {
	if f.Kind == frame.Batch { // arrays may cross in some versions only
		st.HandleLines(ctx, f.Raw)
		return
	}
	st.handleBurst(ctx, func() { releaseLarge(f.Raw); st.rc.handleFrame(ctx, f) })
}

// RefuseLine deals with a line that a frame.Reader has refused: head is as much of it as was
// kept.
func (st *Stream) RefuseLine(ctx context.Context, head []byte, refusal *frame.Refusal) {
	st.handleBurst(ctx, func() { st.rc.handleUnreadable(head, refusal) })
}

func (st *Stream) handleBurst(ctx context.Context, handle func()) {
	st.rc.beginBurst()
	st.runGuarded(handle)
	st.runGuarded(func() { st.rc.flushBurst(ctx) })
}

// runGuarded keeps a defect in one message from the others.
func (st *Stream) runGuarded(do func()) {
	defer func() {
		if r := recover(); r != nil {
			st.rc.s.recordEvent(panicEvent(r, debug.Stack()))
			st.rc.passed = nil // where they stand nobody knows: they are not used again
		}
	}()
	do()
}

// WithdrawRequest takes back the request with this id token whose caller has hung up,
// which since MCP 2026-07-28 is how a request is cancelled. What has crossed is
// for the transport to cancel at the other side.
func (st *Stream) WithdrawRequest(id []byte) { st.rc.cancelCall(st.rc.scopedKey(id)) }

// ResponseSink gives where the answer to the request with this id token is awaited: back of
// its stream, or, of a caller that has returned from a form, back of the stream it
// returned on. nil when it is not in flight, or its caller is away.
func (st *Stream) ResponseSink(id []byte) Sink {
	return st.rc.s.table.responseSink(st.rc.from, st.rc.scopedKey(id))
}

// AwaitsAnswer says that the request with this id token has crossed, and that its answer has not
// come. One that has come may be at the gate: a person is looking at it.
func (st *Stream) AwaitsAnswer(id []byte) bool {
	return st.rc.s.table.awaitsAnswer(st.rc.from, st.rc.scopedKey(id))
}

// RequestScope gives the scope of the one request with this id token that has crossed from
// that side and has no answer; "" when there is none, or more than one. It is for
// messages about a request of a client that has no session, which come by
// themselves.
func (x *Session) RequestScope(from mcp.Direction, id []byte) string {
	return x.s.table.requestScope(from, frame.IDKey(id))
}

// FailRequest gives up on the other side's answer to the request with this id token, and
// is what its caller is told instead; nil when nobody waits for one.
func (st *Stream) FailRequest(id []byte, why string) (answer []byte) {
	to, _, here := st.claimAndRelease(id)
	if !here {
		return nil
	}
	return mcp.UnreachedAnswer(to.id, why)
}

// SettleRequest takes the request with this id token for answered. It is told which record its
// decision has, and whether anybody waits for the answer.
func (st *Stream) SettleRequest(id []byte) (record string, here bool) {
	_, record, here = st.claimAndRelease(id)
	return record, here
}

func (st *Stream) claimAndRelease(id []byte) (to caller, record string, here bool) {
	rc := st.rc
	req, _ := rc.s.table.claimRequest(rc.from, rc.scopedKey(id), &response{rc: rc})
	if req == nil {
		return caller{}, "", false
	}
	to, here = rc.s.table.releaseRequest(req)
	return to, req.record, here
}
