package reverse

import (
	"bytes"
	"context"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/clawai/clawai/proxy"
	"github.com/clawai/clawai/proxy/frame"
	"github.com/clawai/clawai/proxy/mcp"
	"github.com/clawai/clawai/proxy/remote"
)

// forward is the visit as the pump sees the server: a sink for what may cross.
type forward visit

var _ proxy.Sink = (*forward)(nil)

// Add sends the message to the server. The answer is carried back to whoever waits
// for it now: by the client's own request when that has nothing else to do,
// otherwise by a task.
func (f *forward) Add(line []byte) error {
	v := (*visit)(f)
	v.reader = v.waits()
	done := make(chan struct{})
	ctx, cancel := v.errandTime()
	v.reader.errand.begin(done, cancel)
	line = bytes.Clone(line)
	carry := func() { defer close(done); defer cancel(); v.carry(ctx, line) }
	begun := false
	if v.reader == v.out {
		begun = v.turn.offer(v.s, carry)
	}
	if !begun && !v.s.run(carry) {
		cancel()
		close(done)
		return http.ErrServerClosed
	}
	return nil
}

// errandTime is how long the server may take: with what it only acknowledges, no
// longer than the client waits for that; with a call whose answer comes on the
// session's stream, as long as there is one. Some acknowledge a call when they are
// done with it.
func (v *visit) errandTime() (context.Context, context.CancelFunc) {
	switch {
	case v.out.id == "":
		return context.WithTimeout(v.s.ctx, v.s.o.Patience)
	case v.elsewhere():
		return context.WithCancel(v.talk.open)
	}
	return context.WithCancel(v.s.ctx)
}

// waits is the HTTP request that waits for the answer: this one, or, when the
// caller has returned from a form, the one it returned with.
func (v *visit) waits() *responder {
	if v.frame.Kind == frame.Request && !v.elsewhere() {
		if r, ok := v.from.ResponseSink(v.frame.ID).(*responder); ok {
			return r
		}
	}
	return v.out
}

// elsewhere reports a session of 2024-11-05, whose answers come on its own stream.
func (v *visit) elsewhere() bool { return v.talk != nil && v.talk.stream != nil }

// Flush does nothing: a message is on its way when Add returns.
func (f *forward) Flush() {}

// told is the visit as the way of our own words to the server: the refusal of
// something it asked of the client. They have no answer.
type told visit

var _ proxy.Sink = (*told)(nil)

// Add sends the message.
func (f *told) Add(line []byte) error {
	v := (*visit)(f)
	line = bytes.Clone(line)
	if !v.s.run(func() {
		ctx, cancel := context.WithTimeout(v.s.ctx, v.s.o.Patience)
		defer cancel()
		if resp, err := v.ask(ctx, http.MethodPost, line, v.outgoing(true)); err == nil {
			_ = resp.Body.Close()
		}
	}) {
		return http.ErrServerClosed
	}
	return nil
}

// Flush does nothing.
func (f *told) Flush() {}

// carry posts the message and carries the answer back.
func (v *visit) carry(ctx context.Context, line []byte) {
	resp, err := v.send(ctx, http.MethodPost, line)
	if err != nil {
		v.unreached("the server cannot be reached: " + err.Error())
		return
	}
	defer func() { _ = resp.Body.Close() }()
	if v.talk != nil && v.frame.Method == "initialize" && resp.StatusCode == http.StatusOK {
		if id := remote.SessionID(resp.Header); id != "" {
			if err := v.s.keep(v.at, id, v.talk); err != nil {
				v.unreached(err.Error())
				return
			}
			v.s.opened(v.talk, id, "")
		}
	}
	if v.talk != nil && resp.StatusCode == http.StatusNotFound {
		v.s.forget(v.talk)
	}
	v.header(resp, v.reader)
	what, err := remote.ContentType(resp.Header)
	switch {
	case v.elsewhere() && resp.StatusCode >= 200 && resp.StatusCode <= 299: // some say 200, with a word or without
		v.reader.empty(http.StatusAccepted)
	case resp.StatusCode == http.StatusAccepted || resp.StatusCode == http.StatusNoContent:
		if v.reader.id == "" {
			v.reader.empty(resp.StatusCode)
			return
		}
		v.unreached("the server gave no answer (" + remote.Status(resp) + ")")
	case resp.StatusCode != http.StatusOK:
		v.declined(resp)
	case err != nil:
		v.unreached(err.Error())
	case what == "text/event-stream":
		v.follow(resp)
	default:
		v.answered(resp)
	}
}

// send makes the client's request to the server.
func (v *visit) send(ctx context.Context, method string, line []byte) (*http.Response, error) {
	return v.ask(ctx, method, line, v.outgoing(false))
}

// ask makes a request to the server, again when credentials were renewed. header
// becomes the request's.
func (v *visit) ask(ctx context.Context, method string, line []byte, header http.Header) (*http.Response, error) {
	const attempts = 3
	own := v.r.Header.Get("Authorization") != ""
	maps.Copy(header, v.back.o.Header)
	header.Set("Accept-Encoding", "identity")
	if line != nil {
		header.Set("Content-Type", "application/json")
	}
	to := *v.address()
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
		cred := v.back.o.Credentials
		if cred != nil && !own {
			if err := cred.Apply(ctx, r); err != nil {
				return nil, err
			}
		}
		resp, err := remote.Do(v.back.http, r)
		if err != nil {
			return nil, err
		}
		if cred == nil || own || n == attempts ||
			resp.StatusCode != http.StatusUnauthorized && resp.StatusCode != http.StatusForbidden {
			return resp, nil
		}
		again, err := cred.Challenged(ctx, resp)
		if err != nil || !again {
			v.unsigned = err
			return resp, nil
		}
		_ = resp.Body.Close()
	}
}

// needed are the headers of a server's that a client needs.
var needed = []string{
	"Mcp-Session-Id", "Mcp-Protocol-Version", "Www-Authenticate", "Retry-After", "X-Accel-Buffering", "Cache-Control",
}

// header gives the client what it needs of the server's header, and nothing that
// would draw on a terminal. A session has its id from the answer that began it,
// and no other answer changes it. A challenge is
// for whoever brought the credentials: it names an address the client has not
// dialled, so that its own sign-in cannot succeed (RFC 9728, section 3.3).
func (v *visit) header(resp *http.Response, out *responder) {
	h := make(http.Header, len(needed))
	for _, name := range needed {
		if values := resp.Header[name]; len(values) > 0 && !slices.ContainsFunc(values, unshown) {
			h[name] = values
		}
	}
	if id := remote.SessionID(resp.Header); id == "" || v.frame.Method != "initialize" && id != v.r.Header.Get("Mcp-Session-Id") {
		h.Del("Mcp-Session-Id")
	}
	if v.r.Header.Get("Authorization") == "" {
		h.Del("Www-Authenticate")
	}
	out.header(h, v.status(resp))
}

// status is what the client is told. A 401 would make one that brought no
// credentials sign in here, where it cannot: what it has to know stands in the body.
func (v *visit) status(resp *http.Response) int {
	switch {
	case resp.StatusCode != http.StatusUnauthorized || v.r.Header.Get("Authorization") != "":
		return resp.StatusCode
	case v.frame.Kind == frame.Request:
		return http.StatusOK
	}
	return http.StatusBadGateway
}

func unshown(value string) bool {
	return strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r > '~' })
}

// address is where the message goes.
func (v *visit) address() *url.URL {
	if v.talk != nil && v.talk.endpoint != nil {
		return v.talk.endpoint
	}
	return v.back.o.URL
}

// to is the way of the server's messages to the client.
func (v *visit) to(out proxy.Sink) *proxy.Stream {
	pump := v.agent.pump
	if v.talk != nil {
		pump = v.talk.pump
	}
	return pump.Stream(mcp.ServerToClient, v.scope, out, (*told)(v))
}
