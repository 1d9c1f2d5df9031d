package reverse

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/clawai/clawai/internal/mcp"
	"github.com/clawai/clawai/internal/wire/frame"
	"github.com/clawai/clawai/internal/wire/jsonscan"
	"github.com/clawai/clawai/proxy/remote"
)

// postLocal gives a message, or a batch, to a session of a local server.
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
			if !told { // the client knows of no session
				rh.s.removeSession(rh.session)
			}
		}()
	}
	if unreadable == nil && rh.frame.Kind == frame.Batch && l.agreedVersion() != "2025-03-26" {
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
		rh.out.finishResponse(http.StatusNotFound)
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
		rh.out.finishResponse(http.StatusNotFound)
	}
	told = l.agreedVersion() != "" && rh.out.hasAnswered() // also when it has hung up by now
}

// findLocal finds the session of the message, or begins one; begins says which.
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

// reopenLocal begins a session under the id that it had before this process began: many clients
// do not begin anew when they are told that it is gone.
func (rh *requestHandler) reopenLocal(id string) bool {
	s := rh.s
	s.adopting.Lock() // a stream and a call that come together are of one session
	defer s.adopting.Unlock()
	if rh.session = s.acquireSession(rh.route, id); rh.session != nil {
		return true
	}
	if s.o.Invocations != nil || rh.r.Method == http.MethodDelete || !isSessionID(id) || s.knowsSession(rh.route.server, id) {
		return false
	}
	begins := make(chan struct{})
	defer close(begins)
	sess, err := s.newLocal(rh.agent, rh.route, id, nil, begins, rh.backend.local)
	if err != nil {
		return false
	}
	rh.session = sess
	ctx, cancel := context.WithTimeout(rh.r.Context(), s.o.Patience)
	defer cancel()
	if sess.local.reopenSession(ctx, cmp.Or(rh.r.Header.Get("Mcp-Protocol-Version"), unstatedVersion)) {
		return true
	}
	s.removeSession(sess)
	return false
}

// unstatedVersion is that of a client that says none (MCP 2025-11-25 basic/transports).
const unstatedVersion = "2025-03-26"

// isSessionID reports an id as this room makes them.
func isSessionID(id string) bool {
	return len(id) == len(rand.Text()) && strings.Trim(id, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") == ""
}

func (rh *requestHandler) acquireLocal(id string) bool {
	rh.session = rh.s.acquireSession(rh.route, id)
	switch {
	case rh.session == nil && !rh.reopenLocal(id):
		rh.s.releaseSession(rh.session)
		rh.session = nil
	case rh.session.local.begins != nil: // perhaps another request begins it
		select {
		case <-rh.session.local.begins:
		case <-rh.r.Context().Done():
		}
	}
	if rh.session == nil {
		rh.noteDropped("no_session", "there is no such session", rh.frame.ID)
		rh.refuseRequest(http.StatusNotFound, "there is no such session; initialize anew")
	}
	return rh.session != nil
}

// refuseSessionless is the answer to what only a session could answer.
func (rh *requestHandler) refuseSessionless() {
	rh.noteDropped("no_session", "the message belongs to no session", rh.frame.ID)
	h := rh.w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Connection", "close")
	rh.w.WriteHeader(http.StatusBadRequest)
	id := "null"
	if rh.frame.Kind == frame.Request {
		id = string(rh.frame.ID)
	}
	_, _ = io.WriteString(rh.w, `{"jsonrpc":"2.0","id":`+id+`,"error":{"code":-32600,"message":"This belongs to no session: begin one with initialize, and name it in Mcp-Session-Id."}}`)
}

// refuseUnread answers what could be read in more than one way, and belongs to no session
// whose server would refuse it.
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

// refuseDuplicate answers a request whose id has no answer yet: of two answers nobody
// could say which is whose.
func (rh *requestHandler) refuseDuplicate() {
	r := &frame.Refusal{Code: "duplicate_id", Reason: "a request with this id is still in flight", ID: rh.frame.ID, Request: true}
	if answer := mcp.RefusalAnswer(r, rh.noteDropped(r.Code, r.Reason, r.ID)); answer != nil {
		_ = rh.out.Add(answer)
	}
	rh.out.finishResponse(http.StatusBadRequest)
}

// newExchange gives what the message is answered with.
func (rh *requestHandler) newExchange(unreadable error) (x *exchange) {
	x = &exchange{}
	if unreadable != nil {
		if refusal, ok := errors.AsType[*frame.Refusal](unreadable); ok && refusal.Request && len(refusal.ID) > 0 {
			x.pending = append(x.pending, frame.IDKey(refusal.ID))
		}
		return x
	}
	for f := range rh.eachMessage {
		if f.Kind != frame.Request {
			continue
		}
		x.pending = append(x.pending, frame.IDKey(f.ID))
		x.begins = x.begins || f.Method == "initialize"
		token := jsonscan.ValueOf(f.Params).Member("_meta").Member("progressToken")
		if k := token.Kind(); k == jsonscan.String || k == jsonscan.Number {
			x.tokens = append(x.tokens, frame.IDKey(token.Bytes()))
		}
	}
	return x
}

// eachMessage are those of the body.
func (rh *requestHandler) eachMessage(yield func(*frame.Frame) bool) {
	if rh.frame.Kind != frame.Batch {
		yield(&rh.frame)
		return
	}
	for i := range rh.frame.Elements {
		if !yield(&rh.frame.Elements[i]) {
			return
		}
	}
}

// withdrawLocal ends the waiting for what the message cancels.
func (rh *requestHandler) withdrawLocal() {
	for f := range rh.eachMessage {
		if f.Kind != frame.Notification {
			continue
		}
		if m, refusal := mcp.Read(f, mcp.ClientToServer, rh.route.server); refusal == nil && m.Cancels != nil {
			rh.session.local.withdrawRequest(m.Cancels)
		}
	}
}

// getLocal opens a stream for what answers no request. It has no event ids: what it
// carries is in no other.
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

// respondLocal begins the response to what is asked of a local server, which nobody on the
// way is to hold back.
func (rh *requestHandler) respondLocal(id string) {
	rh.w.Header().Set("X-Accel-Buffering", "no")
	rh.out = newResponder(rh.w, id)
	rh.out.patience = rh.s.o.Patience
}

// keepAlive is how often a stream says that it is still there: clients and proxies end one
// that says nothing for some minutes.
var keepAlive = 30 * time.Second

// ending is why nothing more is to come on a response.
type ending int

const (
	complete ending = iota
	hungUp          // the client has
	over            // the server has ended
)

// awaitResponseEnd waits for the end of a response.
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

// deleteLocal ends a session, and answers when all that it had started is gone.
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
