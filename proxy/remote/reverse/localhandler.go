package reverse

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/clawai/clawai/internal/mcp"
	"github.com/clawai/clawai/internal/wire/frame"
	"github.com/clawai/clawai/proxy"
	"github.com/clawai/clawai/proxy/remote"
)

// postLocal sends a message or a batch to a session of a local server.
func (rh *requestHandler) postLocal(line []byte, unreadable error) {
	if rh.confirmed.Modern {
		rh.postSessionless()
		return
	}
	if refusal, ok := errors.AsType[*frame.Refusal](unreadable); ok && rh.r.Header.Get("Mcp-Session-Id") == "" {
		rh.refuseUnread(line, refusal)
		return
	}
	begins, ok := rh.findLocal()
	if !ok {
		return
	}
	l, told := rh.session.local, false
	if begins {
		defer func() {
			if !told { // the client does not know the session id, so the session is useless
				rh.s.removeSession(rh.session)
			}
		}()
	}
	if unreadable == nil && rh.frame.Kind == frame.Batch && l.agreedVersion() != mcp.BatchVersion {
		unreadable = errBatch
	}
	x := rh.newExchange(unreadable)
	rh.respondLocal("")
	defer rh.out.hangUp()
	x.out = rh.out
	if len(x.pending) == 1 && rh.frame.Kind != frame.Batch {
		rh.out.id = x.pending[0]
	}
	if len(x.pending) > 0 && !l.awaitAnswers(x) {
		rh.refuseDuplicate()
		return
	}
	if _, err := l.in.Write(append(line, '\n')); err != nil {
		rh.out.answerLast(http.StatusNotFound, rh.endedAnswer())
		return
	}
	if unreadable == nil {
		rh.withdrawLocal()
	}
	if len(x.pending) == 0 {
		rh.awaitAnswer(unreadable)
		return
	}
	switch rh.awaitResponseEnd(l) {
	case hungUp:
		l.removeStream(rh.out)
	case over:
		rh.out.answerLast(http.StatusNotFound, rh.endedAnswer())
	}
	told = l.agreedVersion() != "" && rh.out.hasAnswered() // true even if the client got the answer and then hung up
}

// findLocal finds the session of the message or creates one. The first result is true if it created
// one.
func (rh *requestHandler) findLocal() (begins, ok bool) {
	id, said := rh.r.Header.Get("Mcp-Session-Id"), rh.r.Header.Get("Mcp-Protocol-Version")
	switch {
	case id == "" && rh.frame.Method != "initialize":
		rh.refuseSessionless()
	case said != "" && !remote.IsLegacy(said):
		rh.noteDropped("version_unknown", "the header Mcp-Protocol-Version names a version that is not spoken here", rh.frame.ID)
		rh.refuseRequest(http.StatusBadRequest, "the header Mcp-Protocol-Version names a version that is not spoken here")
	case id != "":
		return false, rh.acquireLocal(id)
	default:
		id = rand.Text()
		sess, err := rh.s.newLocal(rh.agent, rh.route, id, nil, nil, rh.backend.local)
		if err != nil {
			rh.refuseRequest(http.StatusServiceUnavailable, "clawai cannot take more sessions now; try again later")
			return false, false
		}
		rh.session = sess
		rh.w.Header().Set("Mcp-Session-Id", id)
		return true, true
	}
	return false, false
}

// reopenLocal begins a session with an id from before this process began.
func (rh *requestHandler) reopenLocal(id string) *mcpSession {
	s := rh.s
	if rh.r.Method == http.MethodDelete || !isSessionID(id) {
		return nil
	}
	begins := make(chan struct{})
	defer close(begins)
	sess, err := s.newLocal(rh.agent, rh.route, id, nil, begins, rh.backend.local)
	if err != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(rh.r.Context(), s.o.Patience)
	defer cancel()
	if sess.local.reopenSession(ctx, cmp.Or(rh.r.Header.Get("Mcp-Protocol-Version"), unstatedVersion)) {
		return sess
	}
	s.removeSession(sess)
	return nil
}

// unstatedVersion is the version that a client speaks if it states none (MCP 2025-11-25
// basic/transports).
const unstatedVersion = mcp.BatchVersion

// isSessionID reports whether an id looks like a session id of this package.
func isSessionID(id string) bool {
	return len(id) == len(rand.Text()) && strings.Trim(id, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") == ""
}

func (rh *requestHandler) acquireLocal(id string) bool {
	if !rh.resumeSession(id, func() *mcpSession { return rh.reopenLocal(id) }) {
		rh.noteDropped("no_session", "there is no such session", rh.frame.ID)
		rh.refuseRequest(http.StatusNotFound, noSession)
		return false
	}
	if begins := rh.session.local.begins; begins != nil { // another request may still be reopening the session
		select {
		case <-begins:
		case <-rh.r.Context().Done():
		}
	}
	return true
}

// refuseSessionless refuses a message that needs a session and has none.
func (rh *requestHandler) refuseSessionless() {
	rh.noteDropped("no_session", "the message belongs to no session", rh.frame.ID)
	var id []byte
	if rh.frame.Kind == frame.Request {
		id = rh.frame.ID
	}
	rh.refuseMessage(http.StatusBadRequest, id, -32600, "This belongs to no session: begin one with initialize, and name it in Mcp-Session-Id.")
}

// refuseUnread refuses an ambiguous message without a session. In a session the local server itself
// refuses such a message.
func (rh *requestHandler) refuseUnread(line []byte, r *frame.Refusal) {
	rh.frame.Raw = line
	answer := mcp.RefusalAnswer(r, rh.noteDropped(r.Code, r.Reason, r.ID))
	rh.respondLocal("")
	defer rh.out.hangUp()
	if answer == nil {
		rh.awaitAnswer(r)
		return
	}
	rh.out.id = frame.IDKey(r.ID)
	_ = rh.out.Add(answer)
}

// refuseDuplicate refuses a request because its id is in use.
func (rh *requestHandler) refuseDuplicate() {
	r := proxy.DuplicateID(rh.frame.ID)
	if answer := mcp.RefusalAnswer(r, rh.noteDropped(r.Code, r.Reason, r.ID)); answer != nil {
		_ = rh.out.Add(answer)
	}
	rh.out.finishResponse(http.StatusBadRequest)
}

// newExchange returns an exchange for the requests in the message.
func (rh *requestHandler) newExchange(unreadable error) (x *exchange) {
	x = &exchange{}
	if unreadable != nil {
		if refusal, ok := errors.AsType[*frame.Refusal](unreadable); ok && refusal.Request && len(refusal.ID) > 0 {
			x.pending = append(x.pending, frame.IDKey(refusal.ID))
		}
		return x
	}
	for f := range rh.frame.Messages {
		if f.Kind != frame.Request {
			continue
		}
		x.pending = append(x.pending, frame.IDKey(f.ID))
		x.begins = x.begins || f.Method == "initialize"
		if token := mcp.ProgressToken(f.Params); token != "" {
			x.tokens = append(x.tokens, frame.IDKey(token.Bytes()))
		}
	}
	return x
}

// withdrawLocal ends the wait for the requests that this message cancels.
func (rh *requestHandler) withdrawLocal() {
	for f := range rh.frame.Messages {
		if f.Kind != frame.Notification {
			continue
		}
		if m, refusal := mcp.Read(f, mcp.ClientToServer, rh.route.server); refusal == nil && m.Cancels != nil {
			rh.session.local.withdrawRequest(m.Cancels)
		}
	}
}

// getLocal opens a stream for messages other than answers. Its events have no ids, because events
// are never sent again.
func (rh *requestHandler) getLocal() {
	id := rh.r.Header.Get("Mcp-Session-Id")
	if id == "" {
		rh.refuseRequest(http.StatusBadRequest, "a stream belongs to a session; begin one with initialize")
		return
	}
	if !rh.acquireLocal(id) {
		return
	}
	l := rh.session.local
	rh.respondLocal("")
	defer rh.out.hangUp()
	l.addStream(rh.out)
	defer l.removeStream(rh.out)
	rh.out.openStream()
	rh.awaitResponseEnd(l)
}

// respondLocal begins the response of a local server. It tells reverse proxies not to buffer the
// response.
func (rh *requestHandler) respondLocal(id string) {
	rh.w.Header().Set("X-Accel-Buffering", "no")
	rh.out = newResponder(rh.w, id)
	rh.out.patience = rh.s.o.Patience
}

// keepAlive is the interval between comments on a stream. Without comments, clients and proxies
// close a stream that is silent for some minutes.
var keepAlive = 30 * time.Second

// ending tells why a response has ended.
type ending int

const (
	complete ending = iota
	hungUp          // the client has hung up
	over            // the server has ended
)

// awaitResponseEnd waits until the response has ended and returns the reason.
func (rh *requestHandler) awaitResponseEnd(l *localSession) ending {
	alive := time.NewTicker(keepAlive)
	defer alive.Stop()
	for {
		select {
		case <-rh.out.ended:
			return complete
		case <-rh.r.Context().Done():
			return hungUp
		case <-l.over:
			return over
		case <-alive.C:
			rh.out.stayAlive()
		}
	}
}

// deleteLocal ends a session. It answers after everything that the session started has ended.
func (rh *requestHandler) deleteLocal() {
	if !rh.acquireLocal(rh.r.Header.Get("Mcp-Session-Id")) {
		return
	}
	rh.s.removeSession(rh.session)
	select {
	case <-rh.session.local.over:
		rh.w.WriteHeader(http.StatusNoContent)
	case <-rh.r.Context().Done():
	}
}
