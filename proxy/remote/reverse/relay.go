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

// serverSink is a requestHandler in its role as the sink for messages to the server.
type serverSink requestHandler

var _ proxy.Sink = (*serverSink)(nil)

// Add sends the message to the server. If the goroutine of the client's request has nothing else to
// do, it relays the answer (inlineTask). Otherwise a new task relays the answer.
func (f *serverSink) Add(line []byte) error {
	rh := (*requestHandler)(f)
	rh.waiter = rh.answerWaiter()
	done := make(chan struct{})
	ctx, cancel := rh.upstreamContext()
	rh.waiter.beginRelay(done, cancel)
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

// upstreamContext returns the context of the HTTP request to the server. For a message without an
// answer, the context ends after Patience, because the client's wait ends then too. For a call
// whose answer comes on the session's stream, the context ends with that stream. In this case it
// has no shorter limit, because some servers acknowledge a call only when the call is done.
func (rh *requestHandler) upstreamContext() (context.Context, context.CancelFunc) {
	switch {
	case rh.out.id == "":
		return context.WithTimeout(rh.agent.in.ctx, rh.s.o.Patience)
	case rh.answersOnStream():
		return context.WithCancel(rh.session.open)
	}
	return context.WithCancel(rh.agent.in.ctx)
}

// answerWaiter returns the response to the HTTP request that waits for the answer. This is usually
// the present request. But if the caller has answered a form with another request, that other
// request waits.
func (rh *requestHandler) answerWaiter() *responder {
	if rh.frame.Kind == frame.Request && !rh.answersOnStream() {
		if r, ok := rh.from.ResponseSink(rh.frame.ID).(*responder); ok {
			return r
		}
	}
	return rh.out
}

// answersOnStream reports whether the session's own stream carries the answers, as in 2024-11-05.
func (rh *requestHandler) answersOnStream() bool {
	return rh.session != nil && rh.session.stream != nil
}

// Flush does nothing, because Add has already begun to send the message.
func (f *serverSink) Flush() {}

// ownMessageSink is the sink for messages that clawai itself sends to the remote server: refusals
// of the server's requests to the client. These messages have no answer.
type ownMessageSink requestHandler

var _ proxy.Sink = (*ownMessageSink)(nil)

// Add sends the message in a separate task.
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

// Flush does nothing, because Add has already begun to send the message.
func (f *ownMessageSink) Flush() {}

// relayMessage posts the message to the server and relays the answer.
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
	case rh.answersOnStream() && remote.IsSuccess(resp): // some servers answer 200 here, with or without a body
		rh.waiter.writeEmpty(http.StatusAccepted)
	case remote.IsAcceptance(resp) && (rh.waiter.id == "" || err != nil || isEmpty(resp)):
		if rh.waiter.id == "" {
			rh.waiter.writeEmpty(resp.StatusCode)
			return
		}
		if rh.session != nil && rh.session.streams.Load() > 0 { // some servers answer on the session's stream, and some clients read the answer there
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

// isEmpty reports whether an answer has no body.
func isEmpty(resp *http.Response) bool {
	in := bufio.NewReader(resp.Body)
	_, err := in.Peek(1)
	resp.Body = struct {
		io.Reader
		io.Closer
	}{in, resp.Body}
	return err != nil
}

// sendToServer sends the client's request to the server.
func (rh *requestHandler) sendToServer(ctx context.Context, method string, line []byte) (*http.Response, error) {
	return rh.sendWithRenewal(ctx, method, line, rh.outgoingHeader(false))
}

// sendWithRenewal sends a request to the server. If the credentials can be renewed, it sends the
// request again with the new ones. It modifies header and uses it for the request.
func (rh *requestHandler) sendWithRenewal(ctx context.Context, method string, line []byte, header http.Header) (*http.Response, error) {
	const attempts = 3
	own := rh.r.Header.Get("Authorization") != ""
	maps.Copy(header, rh.backend.o.Header)
	header.Set("Accept-Encoding", "identity")
	if line != nil {
		header.Set("Content-Type", "application/json")
	}
	to := *rh.serverURL()
	to.Host = strings.TrimSuffix(to.Host, ":") // http.NewRequest also removes this colon
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

// neededHeaders are the headers in a server's answer that a client needs.
var neededHeaders = []string{
	"Mcp-Session-Id", "Mcp-Protocol-Version", "Www-Authenticate", "Retry-After", "X-Accel-Buffering", "Cache-Control",
}

// copyHeader passes the needed headers of the server's answer to the client. It skips values that
// could control a terminal. It passes a session id only with the answer to initialize. It passes a
// sign-in challenge only to a client that sent its own credentials. For other clients the challenge
// is useless: it names an address that the client has not connected to, so a sign-in would fail
// (RFC 9728, section 3.3).
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

// clientStatus returns the status for the client. For a request it replaces 202 and 204 by 200,
// because with 202 or 204 no client looks for an answer in the body. For a client without
// credentials it replaces 401 by 200 or 502. With 401 the client would try to sign in at this
// server, which is not possible. The body then explains the problem.
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

// serverURL returns the server's address for the message.
func (rh *requestHandler) serverURL() *url.URL {
	if rh.session != nil && rh.session.endpoint != nil {
		return rh.session.endpoint
	}
	return rh.backend.o.URL
}

// clientStream returns a stream for the server's messages to the client.
func (rh *requestHandler) clientStream(out proxy.Sink) *proxy.Stream {
	pump := rh.agent.pump
	if rh.session != nil {
		pump = rh.session.pump
	}
	return pump.NewStream(mcp.ServerToClient, rh.scope, out, (*ownMessageSink)(rh))
}
