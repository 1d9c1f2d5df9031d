package reverse

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/mcp"
	"github.com/clawai/clawai/internal/wire/frame"
	"github.com/clawai/clawai/proxy"
	"github.com/clawai/clawai/proxy/remote"
)

// requestHandler serves one HTTP request of a client.
type requestHandler struct {
	s           *Server
	w           http.ResponseWriter
	r           *http.Request
	route       route
	backend     *backend
	messagePath string // for a server of 2024-11-05: the part of the path after /~, which is the server's address for messages; otherwise ""

	agent       *agentSession
	session     *mcpSession // nil if the message belongs to no session
	scope       string      // scope of the message in the proxy session; "" for a message of an MCP session
	frame       frame.Frame
	resumes     bool   // the request resumes a cut stream
	lastEventID string // id of the last event that the client got before the cut

	forwarded http.Header      // the client's headers that go to the server unchanged
	withheld  []string         // names of dropped headers that the server might need
	confirmed remote.Confirmed // the result of comparing the headers with the message
	out       *responder
	waiter    *responder    // the responder that gets the server's answer; set when the message goes to the server
	from      *proxy.Stream // stream of the client's messages
	inline    inlineTask

	signInError error // why the sign-in failed; nil if it did not
}

var errBatch = errors.New("an array of messages, which only a session of 2025-03-26 may send")

// handlePost handles a POST with one message or a batch.
func (rh *requestHandler) handlePost() {
	done, ok := rh.acquireAgent()
	if !ok {
		return
	}
	defer done()
	line, ok := rh.readMessage()
	if !ok {
		return
	}
	limits := rh.s.o.Limits
	limits.AllowBatch = true
	f, err := frame.Parse(line, limits)
	if err == nil {
		rh.frame = f
		if rh.confirmed = remote.ConfirmHeaders(rh.r.Header, &f, &rh.agent.tools); rh.confirmed.Differs != "" {
			rh.refuseHeader(rh.confirmed.Differs, "does not say what the body says")
			return
		}
	}
	if rh.backend.local != nil {
		rh.postLocal(line, err)
		return
	}
	if !rh.findSession() {
		return
	}
	pump := rh.agent.pump
	rh.out = newResponder(rh.w, "")
	defer rh.out.hangUp()
	back := proxy.Sink(rh.out)
	if rh.session != nil {
		pump, rh.out.replays = rh.session.pump, &rh.session.replays
		if rh.session.stream != nil {
			back = rh.session.stream
		}
	}
	if err == nil && rh.frame.Kind == frame.Batch && !pump.AllowsBatches() {
		err = errBatch
	}
	rh.out.id = rh.answerID(err)
	rh.from = pump.NewStream(mcp.ClientToServer, rh.scope, (*serverSink)(rh), back)
	rh.inline.open = rh.out.id != "" && !rh.answersOnStream()
	if err == nil {
		rh.from.HandleFrame(rh.agent.in.ctx, &rh.frame)
	} else {
		rh.from.HandleLines(rh.agent.in.ctx, line)
	}
	if task := rh.inline.takeTask(); task != nil {
		unwatch := context.AfterFunc(rh.r.Context(), rh.clientGone)
		task()
		unwatch()
	}
	rh.awaitAnswer(err)
}

// answerID returns the key of the answer that ends the HTTP request. It is the id of the request,
// "[" for a batch with requests, or "" if there will be no answer.
func (rh *requestHandler) answerID(unreadable error) string {
	switch {
	case unreadable != nil:
		var refusal *frame.Refusal
		if errors.As(unreadable, &refusal) && refusal.Request && len(refusal.ID) > 0 {
			return frame.IDKey(refusal.ID)
		}
		return ""
	case rh.frame.Kind == frame.Request:
		return frame.IDKey(rh.frame.ID)
	case rh.frame.Kind == frame.Batch && slices.ContainsFunc(rh.frame.Elements, func(e frame.Frame) bool { return e.Kind == frame.Request }):
		return "["
	}
	return ""
}

// awaitAnswer waits until the message has been handled and then ends the HTTP request.
func (rh *requestHandler) awaitAnswer(unreadable error) {
	switch {
	case rh.out.id != "" && rh.answersOnStream():
		rh.acknowledgeMessage() // the answer comes on the session's stream
	case rh.out.id != "":
		select {
		case <-rh.out.ended:
			rh.awaitStreamEnd()
		case <-rh.r.Context().Done():
			rh.clientGone()
		case <-rh.agent.in.ctx.Done():
			rh.awaitEnd()
		}
	case unreadable != nil:
		rh.refuseMessage(http.StatusBadRequest, nil, -32700, "The message cannot be read, or can be read in more than one way; it was not passed on.")
	default:
		rh.acknowledgeMessage()
	}
}

// closePatience is how long a request still waits for its answer when the proxy ends.
const closePatience = 500 * time.Millisecond

// awaitEnd waits for the answer to a call whose session ends, because its invocation or the proxy
// ends. The end cancels the call at the server and the question to a person. If no answer comes in
// time, awaitEnd sends the client an answer that tells that clawai has ended.
func (rh *requestHandler) awaitEnd() {
	patience := rh.s.o.Patience
	if rh.s.ctx.Err() != nil {
		patience = min(patience, closePatience)
	}
	select {
	case <-rh.out.ended:
	case <-rh.r.Context().Done():
	case <-time.After(patience):
		rh.answerEnded()
	}
}

// answerEnded answers the client when no answer has come in time. Without this answer the client
// would get an empty response, which explains nothing.
func (rh *requestHandler) answerEnded() {
	if rh.frame.Kind == frame.Request {
		rh.from.FailRequest(rh.frame.ID, endedWords)
	}
	rh.out.answerLast(http.StatusOK, rh.endedAnswer())
}

const endedWords = "clawai has ended, and what became of the call is not known"

// endedAnswer returns the answer to a message whose session has ended.
func (rh *requestHandler) endedAnswer() []byte {
	id := rh.frame.ID
	if rh.frame.Kind != frame.Request {
		id = []byte("null")
	}
	return mcp.UnreachedAnswer(id, endedWords)
}

// awaitStreamEnd waits until the server has ended its stream after the answer.
func (rh *requestHandler) awaitStreamEnd() {
	select {
	case <-rh.out.relayDone():
	case <-rh.r.Context().Done():
		rh.clientGone()
	case <-rh.agent.in.ctx.Done():
	}
}

// clientGone handles a client that hung up, which means that it closed its HTTP request. The
// request to the server is aborted too. In 2026-07-28, hanging up cancels the call. In earlier
// versions a call that waits for a person continues to wait, and the client can resume the stream
// to get its answer.
func (rh *requestHandler) clientGone() {
	if rh.confirmed.Modern {
		rh.from.WithdrawRequest(rh.frame.ID)
	}
	rh.out.hangUp() // later messages to this response get an error, because the client would not see them
	rh.out.abortCall()
}

// acknowledgeMessage answers the HTTP request of a message that has no JSON-RPC answer. It uses the
// server's status if this comes within Patience, and 202 otherwise.
func (rh *requestHandler) acknowledgeMessage() {
	select {
	case <-rh.out.relayDone():
	case <-time.After(rh.s.o.Patience):
	case <-rh.r.Context().Done():
	case <-rh.agent.in.ctx.Done():
	}
	rh.out.writeEmpty(http.StatusAccepted)
}

// readMessage reads the body of the request within the limits. It accepts only the one form of body
// that every server parses in the same way (CVE-2026-33252).
func (rh *requestHandler) readMessage() ([]byte, bool) {
	h := rh.r.Header
	if what, err := remote.ContentType(h); err != nil || what != "application/json" {
		rh.refuseRequest(http.StatusUnsupportedMediaType, "a message is application/json in UTF-8, without an encoding")
		return nil, false
	}
	ctl := http.NewResponseController(rh.w)
	_ = ctl.SetReadDeadline(time.Now().Add(rh.s.o.Patience))
	body, err := remote.ReadAll(http.MaxBytesReader(rh.w, rh.r.Body, int64(rh.s.o.Limits.MaxBytes)), rh.r.ContentLength)
	if err != nil {
		var long *http.MaxBytesError
		if errors.As(err, &long) {
			rh.noteDropped(frame.CodeTooLong, "the message is too long", nil)
			rh.refuseRequest(http.StatusRequestEntityTooLarge, "the message is too long")
		}
		return nil, false
	}
	_ = ctl.SetReadDeadline(time.Time{})
	return remote.OneLine(body), true
}

func (rh *requestHandler) refuseRequest(status int, why string) { writeRefusal(rh.w, status, why) }

// writeRefusal answers with a status and a reason. It also ends the connection, because the next
// bytes on it may belong to the refused message.
func writeRefusal(w http.ResponseWriter, status int, why string) {
	w.Header().Set("Connection", "close")
	http.Error(w, why, status)
}

// refuseHeader refuses a request because a header is missing or contradicts the body (MCP
// 2026-07-28 basic/transports/streamable-http).
func (rh *requestHandler) refuseHeader(name, why string) {
	why = "the header " + name + " " + why
	rh.noteDropped("header_mismatch", why, rh.frame.ID)
	rh.refuseMessage(http.StatusBadRequest, rh.frame.ID, rh.confirmed.Code, "T"+why[1:]+".")
}

// refuseMessage answers a message with a JSON-RPC error and ends the connection like writeRefusal.
// A nil id becomes the id null.
func (rh *requestHandler) refuseMessage(status int, id []byte, code int, text string) {
	if id == nil {
		id = []byte("null")
	}
	rh.w.Header().Set("Content-Type", "application/json")
	rh.w.Header().Set("Connection", "close")
	rh.w.WriteHeader(status)
	_, _ = rh.w.Write(mcp.ErrorLine(id, fmt.Appendf(nil, `{"code":%d,"message":"%s"}`, code, text)))
}

// noteDropped records a message that is dropped before it reaches the proxy session.
func (rh *requestHandler) noteDropped(code, reason string, id []byte) (record string) {
	ev := &event.Event{
		Kind: event.Dropped, Stage: "frame", Code: code, Reason: reason, ID: id, Server: rh.route.server,
		Direction: mcp.ClientToServer.String(), Method: rh.frame.Method, Bytes: len(rh.frame.Raw),
	}
	if rh.backend.local != nil { // rules do not use the server's name in the path: only the local server knows the names that they use
		ev.Server, ev.ServerGuess = "", ev.Server
	}
	_ = rh.agent.gate.Session.NoteEvents(ev)
	return ev.Record
}

// acquireAgent finds or creates the agent session of the path. The caller releases it with the
// function done.
func (rh *requestHandler) acquireAgent() (done func(), ok bool) {
	a, leave, err := rh.s.acquireAgent(rh.route)
	if errors.Is(err, errNoInvocation) {
		rh.refuseInvocation()
		return nil, false
	}
	if err != nil {
		rh.refuseRequest(http.StatusServiceUnavailable, "clawai cannot take more sessions now; try again later")
		return nil, false
	}
	rh.agent = a
	end := rh.endWith(a.in)
	done = func() { end(); rh.s.releaseSession(rh.session); leave() }
	if name := rh.filterHeaders(); name != "" {
		rh.noteDropped("header_twice", "the header "+name+" is there twice", nil)
		rh.refuseRequest(http.StatusBadRequest, "the header "+strings.ToValidUTF8(name, "?")+" is there twice")
		done()
		return nil, false
	}
	if rh.backend.local == nil {
		rh.noteWithheld()
	}
	return done, true
}

// endWith makes the request end with the agent's session. A stream then ends at once. A client that
// does not read its answer is cut off after Patience.
func (rh *requestHandler) endWith(in *lifetime) (done func()) {
	var ends []func()
	if rh.r.Method != http.MethodPost {
		ctx, cancel := context.WithCancel(rh.r.Context())
		stop := context.AfterFunc(in.ctx, cancel)
		rh.r = rh.r.WithContext(ctx)
		ends = append(ends, func() { stop(); cancel() })
	}
	if in != &rh.s.lifetime {
		ctl := http.NewResponseController(rh.w)
		stop := context.AfterFunc(in.ctx, func() { _ = ctl.SetWriteDeadline(time.Now().Add(rh.s.o.Patience)) })
		ends = append(ends, func() {
			if !stop() {
				_ = ctl.SetWriteDeadline(time.Time{})
			}
		})
	}
	return func() {
		for _, end := range ends {
			end()
		}
	}
}

// findSession finds the session that the message belongs to.
func (rh *requestHandler) findSession() bool {
	id := rh.r.Header.Get("Mcp-Session-Id")
	switch {
	case rh.messagePath != "":
		rh.session = rh.s.acquireSession(rh.route, rh.messageURL().String())
		if rh.session == nil {
			rh.refuseRequest(http.StatusNotFound, "there is no such session; connect again")
		}
		return rh.session != nil
	case rh.confirmed.Modern, id == "" && rh.frame.Method != "initialize":
		if rh.scope = rh.relatedScope(); rh.scope == "" {
			rh.scope = rh.s.newScope()
		}
	case rh.frame.Method == "initialize":
		// The client sent a session id with initialize. The server decides the meaning of this id.
		if rh.session = rh.s.acquireSession(rh.route, id); rh.session == nil {
			rh.session = rh.s.newSession(rh.agent, rh.route.server)
		}
	default:
		return rh.findRemote(id)
	}
	return true
}

// relatedScope returns the scope of a message without a session: a response or a cancellation gets
// the scope of its request. Such requests exist because a server without sessions may also send
// requests to its client.
func (rh *requestHandler) relatedScope() (scope string) {
	switch {
	case rh.confirmed.Modern:
	case rh.frame.Kind == frame.Response:
		return rh.agent.pump.RequestScope(mcp.ServerToClient, rh.frame.ID)
	case rh.frame.Kind == frame.Notification:
		m, refusal := mcp.Read(&rh.frame, mcp.ClientToServer, rh.route.server)
		if refusal == nil && m.Cancels != nil {
			return rh.agent.pump.RequestScope(mcp.ClientToServer, m.Cancels)
		}
	}
	return ""
}

// handleDelete ends a session. If the request has no session id, the server answers it.
func (rh *requestHandler) handleDelete() {
	done, ok := rh.acquireAgent()
	if !ok {
		return
	}
	defer done()
	if rh.backend.local != nil {
		rh.deleteLocal()
		return
	}
	id := rh.r.Header.Get("Mcp-Session-Id")
	if rh.session = rh.s.acquireSession(rh.route, id); rh.session == nil && id != "" {
		rh.refuseRequest(http.StatusNotFound, "there is no such session")
		return
	}
	resp, err := rh.sendToServer(rh.r.Context(), http.MethodDelete, nil)
	if err != nil {
		rh.refuseRequest(http.StatusBadGateway, "the server cannot be reached")
		return
	}
	_ = resp.Body.Close()
	if rh.session != nil && (resp.StatusCode < 300 || resp.StatusCode == http.StatusNotFound) {
		rh.s.removeSession(rh.session)
	}
	rh.w.WriteHeader(rh.clientStatus(resp))
}
