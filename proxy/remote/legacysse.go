package remote

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/clawai/clawai/internal/wire/frame"
	"github.com/clawai/clawai/internal/wire/sse"
)

// sseTransport is the HTTP+SSE transport of 2024-11-05. It has one stream for all messages of the
// server. The first event of the stream names the address for the client's messages.
type sseTransport struct {
	endpoint string // address for the client's messages
	// Upstream.mu guards the fields below.
	lost  bool // there is no usable stream: it has ended, or its session has not begun
	tries int  // attempts to reconnect since the last event
}

// postEndpoint returns the address for messages if the connection uses HTTP+SSE, and "" otherwise.
func (u *Upstream) postEndpoint() string {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.sse == nil {
		return ""
	}
	return u.sse.endpoint
}

// trySSE opens the HTTP+SSE transport if the answer to initialize is typical for a server with only
// this transport (MCP 2025-11-25 basic/transports, backwards compatibility). It returns an error if
// the stream needs a sign-in or names an address that must not be used.
func (u *Upstream) trySSE(rt *roundTrip, resp *http.Response) (bool, error) {
	if rt.frame.Method != "initialize" || !MayBeLegacySSE(resp.StatusCode) {
		return false, nil
	}
	return u.beginSSE(rt)
}

// beginSSE opens the HTTP+SSE transport. It returns false if the server does not speak it.
func (u *Upstream) beginSSE(rt *roundTrip) (bool, error) {
	in, err := u.openSSE(rt)
	if err != nil {
		return false, tellsWhy(err)
	}
	u.startReading(in)
	return true, nil
}

// startWithSSE opens the HTTP+SSE transport before the first POST, if the owner has configured this
// transport. A POST would not show that the server speaks this transport, because some servers
// refuse a POST to the stream's address with an unclear status.
func (u *Upstream) startWithSSE(rt *roundTrip) error {
	if !u.o.SSE || rt.frame.Method != "initialize" || u.postEndpoint() != "" {
		return nil
	}
	_, err := u.beginSSE(rt)
	return err
}

// tellsWhy returns err if it explains the missing connection. Otherwise it returns nil, because the
// answer to the POST then explains more.
func tellsWhy(err error) error {
	_, signIn := errors.AsType[*signInError](err)
	if _, endpoint := errors.AsType[*endpointError](err); signIn || endpoint {
		return err
	}
	return nil
}

// endpointError means that the stream's endpoint event has an address that must not be used.
type endpointError struct{ why string }

func (e *endpointError) Error() string {
	return "the server opened a stream of 2024-11-05, but " + e.why
}

// MayBeLegacySSE reports whether status is typical for a server with only HTTP+SSE that gets a POST
// to its stream's address.
func MayBeLegacySSE(status int) bool {
	return status == http.StatusBadRequest || status == http.StatusNotFound || status == http.StatusMethodNotAllowed
}

// sseStream is the stream of the HTTP+SSE transport.
type sseStream struct {
	*sseTransport
	cancel context.CancelFunc // closes the stream
	events *sse.Reader
	header http.Header
}

// openError means that the server did not open a stream.
type openError struct{ resp *http.Response }

func (r *openError) Error() string { return StatusText(r.resp) }

// openSSE opens the stream for rt. It tries again with other credentials if the server asks for
// them. Some servers ask only at this point.
func (u *Upstream) openSSE(rt *roundTrip) (*sseStream, error) {
	for challenged := 0; ; challenged++ {
		in, err := u.openSSEOnce(rt.ctx)
		refused, ok := errors.AsType[*openError](err)
		if !ok || u.o.Credentials == nil || rt.background || challenged == maxChallenges || !wantsCredentials(refused.resp) {
			return in, err
		}
		again, failed := u.o.Credentials.Challenged(rt.ctx, refused.resp)
		if failed != nil {
			return nil, &signInError{failed}
		}
		if !again {
			return nil, err
		}
	}
}

// openSSEOnce opens the stream and reads the address for messages from its first event.
func (u *Upstream) openSSEOnce(ctx context.Context) (*sseStream, error) {
	in := &sseStream{sseTransport: &sseTransport{lost: true}}
	var open context.Context
	open, in.cancel = context.WithCancel(u.ctx)
	err := in.withTimeout(ctx, func() error {
		resp, err := u.openStream(open, &position{})
		if err != nil {
			return err
		}
		context.AfterFunc(open, func() { _ = resp.Body.Close() })
		if !isOK(resp) {
			return &openError{resp}
		}
		in.events, in.header = sse.NewReader(resp.Body, u.maxEvent()), resp.Header
		in.endpoint, err = u.readEndpoint(in.events)
		return err
	})
	if err != nil {
		return nil, err
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.sse != nil {
		in.tries = u.sse.tries
	}
	u.sse = in.sseTransport
	return in, nil
}

// withTimeout runs the function read until ctx ends, but at most for ackTimeout. The limit is for
// servers that open a stream and then send nothing, because they do not speak the transport of
// version 2024-11-05. If read fails, withTimeout closes the stream.
func (in *sseStream) withTimeout(ctx context.Context, read func() error) error {
	ctx, cancel := context.WithTimeout(ctx, ackTimeout)
	defer cancel()
	stop := context.AfterFunc(ctx, in.cancel)
	err := read()
	if !stop() && err == nil {
		err = ctx.Err()
	}
	if err != nil {
		in.cancel()
	}
	return err
}

// startReading starts the task that passes on the stream's messages.
func (u *Upstream) startReading(in *sseStream) {
	u.mu.Lock()
	in.lost = false
	u.mu.Unlock()
	u.startTask(func() {
		wait := u.readSSE(in)
		u.reconnectStream(in.sseTransport, wait)
	})
}

// reopenSSE opens the stream again and repeats initialize on it.
func (u *Upstream) reopenSSE(rt *roundTrip) (http.Header, []byte, error) {
	in, err := u.openSSE(rt)
	if err != nil {
		return nil, nil, err
	}
	var result []byte
	err = in.withTimeout(rt.ctx, func() error {
		resp, err := u.postOnce(rt)
		if err != nil {
			return err
		}
		drainBody(resp.Body)
		if !u.isAccepted(resp) {
			return errors.New(StatusText(resp))
		}
		result, err = u.resultFor(rt, in.readEvent)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	u.startReading(in)
	return in.header, result, nil
}

// readEvent returns the data of the next event.
func (in *sseStream) readEvent() ([]byte, error) {
	e, err := in.events.ReadEvent()
	if err != nil {
		return nil, err
	}
	return e.Data, nil
}

// streamLost reports whether the session's stream has ended or the session is being renewed. The
// caller holds u.mu.
func (u *Upstream) streamLost() bool {
	return u.sse != nil && (u.sse.lost || u.session.renewing != nil)
}

// ensureStream waits until the session has a stream, on which the answer to rt can come.
func (u *Upstream) ensureStream(rt *roundTrip) error {
	u.mu.Lock()
	lost := u.streamLost()
	u.mu.Unlock()
	if !lost || rt.frame.Kind == frame.Response || u.renewSession(rt, u.streamLost) { // a response needs no stream; if its stream has ended, the server does not wait for the response any more
		return nil
	}
	return errors.New("the server ended its stream, and does not open another")
}

// reconnectStream begins the session again after its stream has ended. It does so at once, because
// the server sends its own messages on the stream. If this fails, the client's next message tries
// again.
func (u *Upstream) reconnectStream(at *sseTransport, wait time.Duration) {
	u.mu.Lock()
	p := position{wait: wait, tries: at.tries}
	open := u.session.version != ""
	u.mu.Unlock()
	for open && p.tries < maxResumes && u.backOff(u.ctx, &p) {
		u.mu.Lock()
		at.tries = p.tries
		u.mu.Unlock()
		if u.renewSession(nil, u.streamLost) {
			return
		}
	}
}

// readEndpoint returns the address in the endpoint event. The address must have the server's
// origin, because messages to it carry the credentials.
func (u *Upstream) readEndpoint(events *sse.Reader) (string, error) {
	for {
		e, err := events.ReadEvent()
		if err != nil {
			return "", err
		}
		if !e.HasData {
			continue
		}
		if e.Name != "endpoint" {
			return "", errors.New("the stream does not begin with an endpoint")
		}
		at, err := url.Parse(strings.TrimSpace(string(e.Data)))
		if err != nil {
			return "", &endpointError{"its endpoint is not an address"}
		}
		at = u.o.URL.ResolveReference(at)
		if !SameOrigin(at, u.o.URL) || at.User != nil {
			return "", &endpointError{"its endpoint is at another origin (" + urlOrigin(at) + "), where the owner's credentials must not go"}
		}
		return at.String(), nil
	}
}

// readSSE passes on all messages of the server until the stream ends. It returns the pause that the
// server wants before the next stream.
func (u *Upstream) readSSE(in *sseStream) (wait time.Duration) {
	defer in.cancel()
	for wait = u.o.Patience; ; {
		e, err := in.events.ReadEvent()
		if err != nil {
			u.failAll(in.sseTransport, "the server ended its stream")
			u.reportFailure("stream_lost", "the server ended its stream"+causeSuffix(err))
			return wait
		}
		if e.Retry >= 0 {
			wait = u.retryDelay(e.Retry, u.o.Patience)
		}
		if e.HasData && (e.Name == "" || e.Name == "message") {
			u.mu.Lock()
			in.tries = 0
			u.mu.Unlock()
			u.receiveFrame(nil, in.header, e.Data)
		}
	}
}

// failAll answers every request in flight with an error, because the stream has ended.
func (u *Upstream) failAll(at *sseTransport, why string) {
	u.mu.Lock()
	at.lost = true
	var open []*roundTrip
	for _, rt := range u.inFlight {
		open = append(open, rt)
	}
	u.mu.Unlock()
	for _, rt := range open {
		u.failRequests(rt, why)
		rt.cancel()
	}
}

// awaitAnswer waits for the answer to rt, which comes on the stream.
func (u *Upstream) awaitAnswer(rt *roundTrip) {
	select {
	case <-rt.answered.ch:
	case <-rt.ctx.Done():
	}
}

// isAccepted reports whether an HTTP answer only accepts the message, because the real answer comes
// on the stream.
func (u *Upstream) isAccepted(resp *http.Response) bool {
	return u.postEndpoint() != "" && resp.StatusCode >= 200 && resp.StatusCode <= 299
}
