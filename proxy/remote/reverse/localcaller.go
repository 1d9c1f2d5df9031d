package reverse

import (
	"crypto/sha256"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync/atomic"

	"github.com/clawai/clawai/internal/mcp"
	"github.com/clawai/clawai/internal/wire/frame"
	"github.com/clawai/clawai/internal/wire/jsonscan"
	"github.com/clawai/clawai/proxy/remote"
)

// A message of 2026-07-28 belongs to no session. But a local server (a hub) starts its own servers
// for one client, and other clients must not share them. So the messages to one path from one
// address with the same client description belong to one caller. Each caller has its own local
// session. One caller may be several programs, and they choose their request ids independently,
// perhaps each from 1. Therefore each request gets a new id and progress token that are unique in
// the caller's local session.

// caller is the owner of a local session that belongs to no MCP session.
type caller struct {
	tools *remote.Tools // the tools in the lists that the clients of this caller got
	asked atomic.Int64  // number of the caller's requests so far
}

// request is a request of a caller. It keeps the client's own id and token.
type request struct {
	id, token []byte // the client's own id and token; token is nil if there is none
	method    string
	logs      bool // the client wants log messages
	unfit     bool // the request lacks the client's capabilities
}

const subscriptionID = mcp.MetaPrefix + "subscriptionId"

// postSessionless sends a message of 2026-07-28 to the local session of its caller. It begins this
// local session if there is none.
func (rh *requestHandler) postSessionless() {
	if rh.frame.Kind != frame.Request {
		rh.noteDropped("no_session", "a client without a session hangs up to cancel, and has nothing else to notify of", nil)
		rh.w.WriteHeader(http.StatusAccepted)
		return
	}
	if rh.confirmed.RequireHeaders(rh.r.Header, &rh.frame, &rh.agent.tools); rh.confirmed.Missing != "" {
		rh.refuseHeader(rh.confirmed.Missing, "is missing")
		return
	}
	var err error
	if rh.session, err = rh.s.acquireCaller(rh.agent, rh.route, rh.callerName(), rh.backend.local); err != nil {
		rh.refuseRequest(http.StatusServiceUnavailable, "clawai cannot take more sessions now; try again later")
		return
	}
	l := rh.session.local
	x, id, line := l.caller.renumberRequest(&rh.frame)
	if len(line) > rh.s.o.Limits.MaxBytes {
		rh.noteDropped(frame.CodeTooLong, "the message is too long", rh.frame.ID)
		rh.refuseRequest(http.StatusRequestEntityTooLarge, "the message is too long")
		return
	}
	rh.respondLocal(frame.IDKey(rh.frame.ID))
	defer rh.out.hangUp()
	x.out = rh.out
	l.awaitAnswers(x) // cannot fail, because the id is new
	if _, err := l.in.Write(append(line, '\n')); err != nil || rh.awaitResponseEnd(l) == over {
		rh.out.answerLast(http.StatusServiceUnavailable, rh.endedAnswer())
		return
	}
	rh.out.hangUp()
	if l.withdrawRequest(id) { // hanging up cancels the request in this version
		_, _ = l.in.Write(append(mcp.CancelNotification(id, "its client has hung up"), '\n'))
	}
}

// callerName returns the name of the caller of this message. The form of the name differs from
// every session id.
func (rh *requestHandler) callerName() string {
	peer, _, _ := net.SplitHostPort(rh.r.RemoteAddr)
	meta := jsonscan.ValueOf(rh.frame.Params).Member("_meta")
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q", peer, meta.Member(mcp.MetaPrefix+"clientCapabilities"), meta.Member(mcp.MetaPrefix+"clientInfo")))
	return "\x00" + string(sum[:])
}

// acquireCaller finds or begins the local session of a caller. The user releases it with
// releaseSession.
func (s *Server) acquireCaller(a *agentSession, at route, name string, run Local) (*mcpSession, error) {
	if sess := s.acquireSession(at, name); sess != nil {
		return sess, nil
	}
	s.callers.Lock()
	defer s.callers.Unlock()
	if sess := s.acquireSession(at, name); sess != nil {
		return sess, nil
	}
	return s.newLocal(a, at, name, &caller{tools: &a.tools}, nil, run)
}

// renumberRequest returns the request with a new id that is unique for the caller.
func (c *caller) renumberRequest(f *frame.Frame) (x *exchange, id, line []byte) {
	id = strconv.AppendInt(nil, c.asked.Add(1), 10)
	meta := jsonscan.ValueOf(f.Params).Member("_meta")
	r := &request{
		id: f.ID, method: f.Method,
		logs:  meta.Member(mcp.MetaPrefix+"logLevel") != "" && f.Method != "subscriptions/listen",
		unfit: meta.Member(mcp.MetaPrefix+"clientCapabilities").Kind() != jsonscan.Object,
	}
	x = &exchange{pending: []string{frame.IDKey(id)}, request: r}
	edits := []frame.Edit{{Part: f.ID, Token: id}}
	if token := mcp.ProgressToken(f.Params); token != "" {
		r.token, x.tokens = token.Bytes(), x.pending
		edits = append(edits, frame.Edit{Part: r.token, Token: id})
	}
	return x, id, frame.SpliceAll(f.Raw, edits...)
}

// rewriteAnswer returns an answer with the client's own id. It also sets the HTTP status of the
// answer.
func (c *caller) rewriteAnswer(x *exchange, m jsonscan.Value, line []byte) []byte {
	r := x.request
	if r.method == "tools/list" {
		c.tools.LearnTools(line)
	}
	x.out.setHeader(nil, r.answerStatus(string(m.Member("error").Member("code"))))
	edits := []frame.Edit{{Part: m.Member("id").Bytes(), Token: r.id}}
	if subscription := m.Member("result").Member("_meta").Member(subscriptionID); subscription != "" && r.method == "subscriptions/listen" {
		edits = append(edits, frame.Edit{Part: subscription.Bytes(), Token: r.id})
	}
	return frame.SpliceAll(line, edits...)
}

// answerStatus returns the HTTP status for an answer. Some error codes have their own status (MCP
// 2026-07-28 basic/transports/streamable-http; basic, _meta). Every other answer gets 200, even a
// denial, because with another status a client would sign in or change to an earlier version.
func (r *request) answerStatus(code string) int {
	switch {
	case code == "-32601":
		return http.StatusNotFound
	case code == "-32022", code == "-32021", code == "-32602" && r.unfit:
		return http.StatusBadRequest
	}
	return http.StatusOK
}

// sendRelatedNotice sends a message that is not an answer. The client gets the message in the HTTP
// response to the request that the message is about. A log message goes to the newest request that
// wants log messages.
func (l *localSession) sendRelatedNotice(m jsonscan.Value, line []byte) {
	params := m.Member("params")
	var about *exchange
	var part, token []byte // part is the token in the notice, and token is the client's own token that replaces it
	l.mu.Lock()
	switch m.Member("method").Text() {
	case "notifications/progress":
		part = params.Member("progressToken").Bytes()
		if about = l.tokens[frame.IDKey(part)]; about != nil {
			token = about.request.token
		}
	case "notifications/message":
		for _, x := range slices.Backward(l.posts) {
			if about == nil && x.request.logs {
				about = x
			}
		}
	default:
		part = params.Member("_meta").Member(subscriptionID).Bytes()
		if about = l.awaited[frame.IDKey(part)]; about != nil {
			token = about.request.id
		}
	}
	l.mu.Unlock()
	said := line
	if token != nil {
		said = frame.SplicePart(line, part, token)
	}
	if about == nil || about.out.Add(said) != nil {
		l.recordUnheard(m, line, "no request of its client's is about it")
	}
}
