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

// A message of 2026-07-28 belongs to no session. A local server is one caller's all the same:
// its servers are started in the name of a client, and must not be shared with another. So
// what comes to one path, from one address, of a client that says the same of itself, is one
// caller's. Its clients number their requests as they like, each from 1, perhaps: at the local
// server a request has an id, and its progress a token, that no other of the caller's has had.

// caller is whose messages a local session carries that is no MCP session.
type caller struct {
	tools *remote.Tools // that it was shown
	asked atomic.Int64  // requests so far
}

// request is one of a caller's, as its client has it.
type request struct {
	id, token []byte // no token: nil
	method    string
	logs      bool // it wants log messages
	unfit     bool // it does not say what its client can
}

const (
	metaPrefix     = "io.modelcontextprotocol/"
	subscriptionID = metaPrefix + "subscriptionId"
)

// postSessionless gives a message of 2026-07-28 to the local session of its caller, which it
// begins if there is none.
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
	l.awaitAnswers(x) // nobody has had its id
	if _, err := l.in.Write(append(line, '\n')); err != nil || rh.awaitResponseEnd(l) == over {
		rh.out.finishResponse(http.StatusServiceUnavailable)
		return
	}
	rh.out.hangUp()
	if l.withdrawRequest(id) { // hanging up cancels
		_, _ = l.in.Write(append(mcp.CancelNotification(id, "its client has hung up"), '\n'))
	}
}

// callerName gives the name of the message's caller, which no session id can be.
func (rh *requestHandler) callerName() string {
	peer, _, _ := net.SplitHostPort(rh.r.RemoteAddr)
	meta := jsonscan.ValueOf(rh.frame.Params).Member("_meta")
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q", peer, meta.Member(metaPrefix+"clientCapabilities"), meta.Member(metaPrefix+"clientInfo")))
	return "\x00" + string(sum[:])
}

// acquireCaller finds or begins the local session of a caller, to be given back with
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

// renumberRequest gives a request under an id that no other of the caller's has had.
func (c *caller) renumberRequest(f *frame.Frame) (x *exchange, id, line []byte) {
	id = strconv.AppendInt(nil, c.asked.Add(1), 10)
	meta := jsonscan.ValueOf(f.Params).Member("_meta")
	r := &request{
		id: f.ID, method: f.Method,
		logs:  meta.Member(metaPrefix+"logLevel") != "" && f.Method != "subscriptions/listen",
		unfit: meta.Member(metaPrefix+"clientCapabilities").Kind() != jsonscan.Object,
	}
	x = &exchange{pending: []string{frame.IDKey(id)}, request: r}
	edits := []frame.Edit{{Part: f.ID, Token: id}}
	token := meta.Member("progressToken")
	if k := token.Kind(); k == jsonscan.String || k == jsonscan.Number {
		r.token, x.tokens = token.Bytes(), x.pending
		edits = append(edits, frame.Edit{Part: r.token, Token: id})
	}
	return x, id, frame.SpliceAll(f.Raw, edits...)
}

// rewriteAnswer gives an answer as the client has asked for it, whose status is set.
func (c *caller) rewriteAnswer(x *exchange, m jsonscan.Value, line []byte) []byte {
	r := x.request
	if r.method == "tools/list" {
		c.tools.LearnTools(line)
	}
	x.out.setHeader(nil, r.answerStatus(string(m.Member("error").Member("code"))))
	edits := []frame.Edit{{Part: m.Member("id").Bytes(), Token: r.id}}
	if of := m.Member("result").Member("_meta").Member(subscriptionID); of != "" && r.method == "subscriptions/listen" {
		edits = append(edits, frame.Edit{Part: of.Bytes(), Token: r.id})
	}
	return frame.SpliceAll(line, edits...)
}

// answerStatus gives that of an answer, by the code of its error: some have one of HTTP's (MCP
// 2026-07-28 basic/transports/streamable-http; basic, _meta). Of the rest it is 200, a denial's
// too: another would make a client believe that it has to sign in, or to speak an earlier version.
func (r *request) answerStatus(code string) int {
	switch {
	case code == "-32601":
		return http.StatusNotFound
	case code == "-32022", code == "-32021", code == "-32602" && r.unfit:
		return http.StatusBadRequest
	}
	return http.StatusOK
}

// sendRelatedNotice sends what is no answer on the response to the request that it is about: of a log message
// that is the newest that wants any.
func (l *localSession) sendRelatedNotice(m jsonscan.Value, line []byte) {
	params := m.Member("params")
	var about *exchange
	var part, token []byte // whatever names the request, and what it is for the client
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
