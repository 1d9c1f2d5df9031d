package proxy

import (
	"context"
	"runtime/debug"

	"github.com/clawai/clawai/internal/mcp"
	"github.com/clawai/clawai/internal/wire/frame"
)

// Session is the state of one client and one server, for a transport with many streams (HTTP). It
// ignores ClientIn, ClientOut and Server of its Options. It does not close the gate.
type Session struct{ s *session }

// NewSession returns a session with no messages in flight.
func NewSession(o Options) *Session { return &Session{newSession(o)} }

// AllowsBatches reports whether the negotiated version has batches (arrays of messages).
func (x *Session) AllowsBatches() bool { return x.s.table.batches.Load() }

// Stream is a part of a session's messages in one direction, such as the messages of one request or
// one answer. Only one goroutine at a time may use a Stream.
type Stream struct{ rc *receiver }

// NewStream returns a new stream. The parameter from is the side that sends its messages. The sink
// out leads to the other side, and the sink back leads to the sender. The parameter scope separates
// the request ids of clients that the server cannot tell apart. All streams of such a client have
// the same scope. If the server can tell its clients apart, scope is "".
func (x *Session) NewStream(from mcp.Direction, scope string, out, back Sink) *Stream {
	return &Stream{&receiver{s: x.s, from: from, scope: scope, out: out, back: back}}
}

// HandleLines forwards or refuses messages that were read together. A call that waits for a person
// is forwarded later by another goroutine. The end of ctx ends that wait, so ctx must live as long
// as the session. After a panic in the proxy, the panic is recorded and its message is dropped.
func (st *Stream) HandleLines(ctx context.Context, lines ...[]byte) {
	st.rc.beginBurst()
	for _, line := range lines {
		st.runGuarded(func() { st.rc.handleLine(ctx, line) })
	}
	st.runGuarded(func() { st.rc.flushBurst(ctx) })
}

// HandleFrame forwards or refuses one message. f was parsed with the limits of the session.
func (st *Stream) HandleFrame(ctx context.Context, f *frame.Frame) {
	if f.Kind == frame.Batch { // handleLine checks whether the version allows arrays
		st.HandleLines(ctx, f.Raw)
		return
	}
	st.handleBurst(ctx, func() { releaseLarge(f.Raw); st.rc.handleFrame(ctx, f) })
}

// RefuseLine handles a line that a frame.Reader has refused. head is the beginning of the line.
func (st *Stream) RefuseLine(ctx context.Context, head []byte, refusal *frame.Refusal) {
	st.handleBurst(ctx, func() { st.rc.handleUnreadable(head, refusal) })
}

func (st *Stream) handleBurst(ctx context.Context, handle func()) {
	st.rc.beginBurst()
	st.runGuarded(handle)
	st.runGuarded(func() { st.rc.flushBurst(ctx) })
}

// runGuarded runs the function do and recovers from a panic in it, so that other messages are still
// handled.
func (st *Stream) runGuarded(do func()) {
	defer func() {
		if r := recover(); r != nil {
			st.rc.s.recordEvent(panicEvent(r, debug.Stack()))
			st.rc.passed = nil // these responses are not reused, because their state is unknown
		}
	}()
	do()
}

// WithdrawRequest withdraws the request with this id token, because its caller has closed the
// stream of the request. This is how a caller cancels a request since MCP 2026-07-28. If the
// request has already gone to the other side, the transport must cancel it there.
func (st *Stream) WithdrawRequest(id []byte) { st.rc.cancelCall(st.rc.scopedKey(id)) }

// ResponseSink returns the sink through which the caller of a request gets the answer. id is the id
// token of the request. The sink is the back sink of the request's stream. If the caller has sent a
// retry after a form, it is the back sink of the retry's stream. The result is nil if the request
// is not in flight or its caller is away.
func (st *Stream) ResponseSink(id []byte) Sink {
	return st.rc.s.table.responseSink(st.rc.from, st.rc.scopedKey(id))
}

// AwaitsAnswer reports whether the request with this id token was forwarded and no answer has come.
// It returns false if an answer has come but is still at the gate, for example because a person
// looks at it.
func (st *Stream) AwaitsAnswer(id []byte) bool {
	return st.rc.s.table.awaitsAnswer(st.rc.from, st.rc.scopedKey(id))
}

// RequestScope returns the scope of the request with this id token. The parameter from is the side
// that sent the request. The request must have been forwarded and must still wait for its answer.
// RequestScope returns "" if there is no such request, or if requests of different scopes have this
// id. A transport needs the scope because messages about a request of a client without a session
// come on a separate stream.
func (x *Session) RequestScope(from mcp.Direction, id []byte) string {
	return x.s.table.requestScope(from, frame.IDKey(id))
}

// FailRequest ends the wait for the other side's answer to the request with this id token. It
// returns an error answer for the caller, or nil if no caller waits.
func (st *Stream) FailRequest(id []byte, why string) (answer []byte) {
	to, _, here := st.claimAndRelease(id)
	if !here {
		return nil
	}
	return mcp.UnreachedAnswer(to.id, why)
}

// SettleRequest marks the request with this id token as answered. It returns the id of the
// decision's record, and whether a caller waits for the answer.
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
