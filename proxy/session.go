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

// Batches reports whether arrays may cross: the version that was negotiated has
// them.
func (x *Session) Batches() bool { return x.s.table.batches.Load() }

// Stream is a part of a session's traffic in one direction: the messages of one
// request or one answer. One goroutine carries at a time.
type Stream struct{ rc *receiver }

// Stream begins one. Its messages come from the side that from names; out leads
// to the other side, back to the sender. scope keeps the ids of requests apart
// whose clients the server does not tell apart, "" where it does: what belongs
// together has the same.
func (x *Session) Stream(from mcp.Direction, scope string, out, back Sink) *Stream {
	return &Stream{&receiver{s: &x.s, from: from, scope: scope, out: out, back: back}}
}

// Handle takes messages across that have come together, or refuses them. A call that waits
// for a person crosses later, from another goroutine; ctx ends the waiting and lives as long
// as the session. A defect of ours is recorded, and the message goes nowhere.
func (st *Stream) Handle(ctx context.Context, lines ...[]byte) {
	st.rc.begin()
	for _, line := range lines {
		st.guarded(func() { st.rc.handleLine(ctx, line) })
	}
	st.guarded(func() { st.rc.flush(ctx) })
}

// HandleFrame takes f across, one message that was parsed with the limits of the
// session.
func (st *Stream) HandleFrame(ctx context.Context, f *frame.Frame) {
	if f.Kind == frame.Batch { // arrays may cross in some versions only
		st.Handle(ctx, f.Raw)
		return
	}
	st.handle(ctx, func() { releaseLarge(f.Raw); st.rc.handleFrame(ctx, f) })
}

// Refuse deals with a line that a frame.Reader has refused: head is as much of it as was
// kept.
func (st *Stream) Refuse(ctx context.Context, head []byte, refusal *frame.Refusal) {
	st.handle(ctx, func() { st.rc.unreadable(head, refusal) })
}

func (st *Stream) handle(ctx context.Context, handle func()) {
	st.rc.begin()
	st.guarded(handle)
	st.guarded(func() { st.rc.flush(ctx) })
}

// guarded keeps a defect in one message from the others.
func (st *Stream) guarded(do func()) {
	defer func() {
		if r := recover(); r != nil {
			st.rc.s.note(panicked(r, debug.Stack()))
			st.rc.passed = nil // where they stand nobody knows: they are not used again
		}
	}()
	do()
}

// Withdraw takes back the request with this id token whose caller has hung up,
// which since MCP 2026-07-28 is how a request is cancelled. What has crossed is
// for the transport to cancel at the other side.
func (st *Stream) Withdraw(id []byte) { st.rc.cancel(st.rc.scopedKey(id)) }

// ResponseSink is where the answer to the request with this id token is awaited: back of
// its stream, or, of a caller that has returned from a form, back of the stream it
// returned on. nil when it is not in flight, or its caller is away.
func (st *Stream) ResponseSink(id []byte) Sink {
	return st.rc.s.table.responseSink(st.rc.from, st.rc.scopedKey(id))
}

// Awaits says that the request with this id token has crossed, and that its answer has not
// come. One that has come may be at the gate: a person is looking at it.
func (st *Stream) Awaits(id []byte) bool {
	return st.rc.s.table.awaits(st.rc.from, st.rc.scopedKey(id))
}

// Scope is the scope of the one request with this id token that has crossed from
// that side and has no answer; "" when there is none, or more than one. It is for
// messages about a request of a client that has no session, which come by
// themselves.
func (x *Session) Scope(from mcp.Direction, id []byte) string {
	return x.s.table.scope(from, frame.IDKey(id))
}

// Fail gives up on the other side's answer to the request with this id token, and
// is what its caller is told instead; nil when nobody waits for one.
func (st *Stream) Fail(id []byte, why string) (answer []byte) {
	to, _, here := st.settle(id)
	if !here {
		return nil
	}
	return mcp.Unreached(to.id, why)
}

// Settle takes the request with this id token for answered. It is told which record its
// decision has, and whether anybody waits for the answer.
func (st *Stream) Settle(id []byte) (record string, here bool) {
	_, record, here = st.settle(id)
	return record, here
}

func (st *Stream) settle(id []byte) (to caller, record string, here bool) {
	rc := st.rc
	req, _ := rc.s.table.claim(rc.from, rc.scopedKey(id), &response{rc: rc})
	if req == nil {
		return caller{}, "", false
	}
	to, here = rc.s.table.release(req)
	return to, req.record, here
}
