package reverse

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/clawai/clawai/internal/mcp"
	"github.com/clawai/clawai/internal/wire/frame"
	"github.com/clawai/clawai/proxy"
	"github.com/clawai/clawai/proxy/remote"
)

// serverSink is the handler as the pump sees the server: a sink for what may cross.
type serverSink requestHandler

var _ proxy.Sink = (*serverSink)(nil)

// Add sends the message to the server. The answer is carried back to whoever waits
// for it now: by the client's own request when that has nothing else to do,
// otherwise by a task.
func (f *serverSink) Add(line []byte) error {
	rh := (*requestHandler)(f)
	rh.waiter = rh.answerWaiter()
	done := make(chan struct{})
	ctx, cancel := rh.upstreamContext()
	rh.waiter.upstream.beginRelay(done, cancel)
	line = bytes.Clone(line)
	relay := func() { defer close(done); defer cancel(); rh.relayMessage(ctx, line) }
	begun := false
	if rh.waiter == rh.out {
		begun = rh.inline.offerTask(rh.s, rh.agent.in, relay)
	}
	if !begun && !rh.s.runTask(rh.agent.in, relay) {
		cancel()
		close(done)
		return http.ErrServerClosed
	}
	return nil
}

// upstreamContext gives how long the server may take: with what it only acknowledges, no
// longer than the client waits for that; with a call whose answer comes on the
// session's stream, as long as there is one. Some acknowledge a call when they are
// done with it.
func (rh *requestHandler) upstreamContext() (context.Context, context.CancelFunc) {
	switch {
	case rh.out.id == "":
		return context.WithTimeout(rh.agent.in.ctx, rh.s.o.Patience)
	case rh.answersOnStream():
		return context.WithCancel(rh.session.open)
	}
	return context.WithCancel(rh.agent.in.ctx)
}

// answerWaiter gives the HTTP request that waits for the answer: this one, or, when the
// caller has returned from a form, the one it returned with.
func (rh *requestHandler) answerWaiter() *responder {
	if rh.frame.Kind == frame.Request && !rh.answersOnStream() {
		if r, ok := rh.from.ResponseSink(rh.frame.ID).(*responder); ok {
			return r
		}
	}
	return rh.out
}

// answersOnStream reports a session of 2024-11-05, whose answers come on its own stream.
func (rh *requestHandler) answersOnStream() bool {
	return rh.session != nil && rh.session.stream != nil
}

// Flush does nothing: a message is on its way when Add returns.
func (f *serverSink) Flush() {}

// ownMessageSink is where our own messages to the server leave: the refusal of
// something it asked of the client. They have no answer.
type ownMessageSink requestHandler

var _ proxy.Sink = (*ownMessageSink)(nil)

// Add sends the message.
func (f *ownMessageSink) Add(line []byte) error {
	rh := (*requestHandler)(f)
	line = bytes.Clone(line)
	if !rh.s.runTask(rh.agent.in, func() {
		ctx, cancel := context.WithTimeout(rh.agent.in.ctx, rh.s.o.Patience)
		defer cancel()
		if resp, err := rh.sendWithRenewal(ctx, http.MethodPost, line, rh.outgoingHeader(true)); err == nil {
			_ = resp.Body.Close()
		}
	}) {
		return http.ErrServerClosed
	}
	return nil
}

// Flush does nothing.
func (f *ownMessageSink) Flush() {}

// relayMessage posts the message and carries the answer back.
func (rh *requestHandler) relayMessage(ctx context.Context, line []byte) {
	resp, err := rh.sendToServer(ctx, http.MethodPost, line)
	if err != nil {
		rh.answerUnreachable("the server cannot be reached: " + err.Error())
		return
	}
	defer func() { _ = resp.Body.Close() }()
	if rh.session != nil && rh.frame.Method == "initialize" && remote.IsSuccess(resp) {
		if id := remote.SessionID(resp.Header); id != "" {
			if err := rh.s.addSession(rh.route, id, rh.session); err != nil {
				rh.answerUnreachable(err.Error())
				return
			}
			rh.s.setSessionInfo(rh.session, id, "")
		}
	}
	if rh.session != nil && resp.StatusCode == http.StatusNotFound {
		rh.s.removeSession(rh.session)
	}
	rh.copyHeader(resp, rh.waiter)
	what, err := remote.AnswerType(resp)
	switch {
	case rh.answersOnStream() && remote.IsSuccess(resp): // some say 200, with a word or without
		rh.waiter.writeEmpty(http.StatusAccepted)
	case remote.IsAcceptance(resp) && (rh.waiter.id == "" || err != nil || isEmpty(resp)):
		if rh.waiter.id == "" {
			rh.waiter.writeEmpty(resp.StatusCode)
			return
		}
		if rh.session != nil && rh.s.hasListener(rh.session) { // some servers answer there, and some clients read it
			rh.waiter.writeEmpty(resp.StatusCode)
			return
		}
		rh.answerUnreachable("the server gave no answer (" + remote.StatusText(resp) + ")")
	case !remote.IsSuccess(resp):
		rh.relayError(resp)
	case err != nil:
		rh.answerUnreachable(err.Error())
	case what == "text/event-stream":
		rh.relayStream(resp)
	default:
		rh.relayJSON(resp)
	}
}

// isEmpty reports an answer without a body.
func isEmpty(resp *http.Response) bool {
	in := bufio.NewReader(resp.Body)
	_, err := in.Peek(1)
	resp.Body = struct {
		io.Reader
		io.Closer
	}{in, resp.Body}
	return err != nil
}

// sendToServer makes the client's request to the server.
func (rh *requestHandler) sendToServer(ctx context.Context, method string, line []byte) (*http.Response, error) {
	return rh.sendWithRenewal(ctx, method, line, rh.outgoingHeader(false))
}

// sendWithRenewal makes a request to the server, again when credentials were renewed. header
// becomes the request's.
func (rh *requestHandler) sendWithRenewal(ctx context.Context, method string, line []byte, header http.Header) (*http.Response, error) {
	const attempts = 3
	own := rh.r.Header.Get("Authorization") != ""
	maps.Copy(header, rh.backend.o.Header)
	header.Set("Accept-Encoding", "identity")
	if line != nil {
		header.Set("Content-Type", "application/json")
	}
	to := *rh.serverURL()
	to.Host = strings.TrimSuffix(to.Host, ":") // as http.NewRequest has it
	for n := 1; ; n++ {
		var body io.Reader
		if line != nil {
			body = bytes.NewReader(line)
		}
		r, err := http.NewRequestWithContext(ctx, method, "", body)
		if err != nil {
			return nil, err
		}
		r.URL, r.Host, r.Header = &to, to.Host, header
		if method == http.MethodGet {
			remote.UseOnce(r)
		}
		cred := rh.backend.o.Credentials
		if cred != nil && !own {
			if err := cred.Apply(ctx, r); err != nil {
				return nil, err
			}
		}
		resp, err := remote.DoRequest(rh.backend.http, r)
		if err != nil {
			return nil, err
		}
		if cred == nil || own {
			return resp, nil
		}
		if resp.StatusCode != http.StatusUnauthorized && resp.StatusCode != http.StatusForbidden {
			cred.Accepted(r)
			return resp, nil
		}
		if n == attempts {
			return resp, nil
		}
		again, err := cred.Challenged(ctx, resp)
		if err != nil || !again {
			rh.signInError = err
			return resp, nil
		}
		_ = resp.Body.Close()
	}
}

// neededHeaders are the headers of a server's that a client needs.
var neededHeaders = []string{
	"Mcp-Session-Id", "Mcp-Protocol-Version", "Www-Authenticate", "Retry-After", "X-Accel-Buffering", "Cache-Control",
}

// copyHeader gives the client what it needs of the server's header, and nothing that
// would draw on a terminal. A session has its id from the answer that began it,
// and no other answer changes it. A challenge is
// for whoever brought the credentials: it names an address the client has not
// dialled, so that its own sign-in cannot succeed (RFC 9728, section 3.3).
func (rh *requestHandler) copyHeader(resp *http.Response, out *responder) {
	h := make(http.Header, len(neededHeaders))
	for _, name := range neededHeaders {
		if values := resp.Header[name]; len(values) > 0 && !slices.ContainsFunc(values, isUnprintable) {
			h[name] = values
		}
	}
	if id := remote.SessionID(resp.Header); id == "" || rh.frame.Method != "initialize" && id != rh.r.Header.Get("Mcp-Session-Id") {
		h.Del("Mcp-Session-Id")
	}
	if rh.r.Header.Get("Authorization") == "" {
		h.Del("Www-Authenticate")
	}
	out.setHeader(h, rh.clientStatus(resp))
}

// clientStatus gives what the client is told. Behind a 202 or 204 no client looks for the answer that
// stands in the body. A 401 would make one that brought no
// credentials sign in here, where it cannot: what it has to know stands in the body.
func (rh *requestHandler) clientStatus(resp *http.Response) int {
	switch {
	case rh.frame.Kind == frame.Request && resp.StatusCode > 200 && resp.StatusCode < 300:
		return http.StatusOK
	case resp.StatusCode != http.StatusUnauthorized || rh.r.Header.Get("Authorization") != "":
		return resp.StatusCode
	case rh.frame.Kind == frame.Request:
		return http.StatusOK
	}
	return http.StatusBadGateway
}

func isUnprintable(value string) bool {
	return strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r > '~' })
}

// serverURL gives where the message goes.
func (rh *requestHandler) serverURL() *url.URL {
	if rh.session != nil && rh.session.endpoint != nil {
		return rh.session.endpoint
	}
	return rh.backend.o.URL
}

// clientStream gives the way of the server's messages to the client.
func (rh *requestHandler) clientStream(out proxy.Sink) *proxy.Stream {
	pump := rh.agent.pump
	if rh.session != nil {
		pump = rh.session.pump
	}
	return pump.NewStream(mcp.ServerToClient, rh.scope, out, (*ownMessageSink)(rh))
}
