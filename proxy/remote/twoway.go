package remote

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/clawai/clawai/proxy/remote/sse"
)

// twoWay is the transport of 2024-11-05: one stream for everything the server
// says, whose first event names the address for everything the client says.
type twoWay struct{ endpoint string }

// endpoint is where messages are posted to when the server speaks HTTP+SSE.
func (u *Upstream) endpoint() string {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.sse == nil {
		return ""
	}
	return u.sse.endpoint
}

// speaksSSE opens that transport when the answer to initialize is one that a
// server which knows nothing newer gives (MCP 2025-11-25 basic/transports,
// backwards compatibility).
func (u *Upstream) speaksSSE(x *exchange, resp *http.Response) bool {
	if x.frame.Method != "initialize" {
		return false
	}
	switch resp.StatusCode {
	case http.StatusBadRequest, http.StatusNotFound, http.StatusMethodNotAllowed:
	default:
		return false
	}
	return u.openTwoWay(x.ctx) == nil
}

// openTwoWay opens the stream and reads the address from its first event.
func (u *Upstream) openTwoWay(ctx context.Context) error {
	resp, err := u.get(u.ctx, &place{})
	if err != nil {
		return err
	}
	if !okay(resp) {
		finish(resp.Body)
		return errors.New(Status(resp))
	}
	// Whoever waits for the address may give up; and a stream that is open and
	// says nothing is no transport of 2024-11-05.
	ctx, cancel := context.WithTimeout(ctx, ackTimeout)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { _ = resp.Body.Close() })
	events := sse.NewReader(resp.Body, u.maxEvent())
	at, err := u.address(events)
	if !stop() && err == nil {
		err = ctx.Err()
	}
	if err != nil {
		finish(resp.Body)
		return err
	}
	u.mu.Lock()
	u.sse = &twoWay{endpoint: at}
	u.mu.Unlock()
	u.run(func() {
		defer finish(resp.Body)
		defer context.AfterFunc(u.ctx, func() { _ = resp.Body.Close() })()
		u.hear(events, resp.Header)
	})
	return nil
}

// address is what the endpoint event says, which must be at the same origin: the
// credentials go there.
func (u *Upstream) address(events *sse.Reader) (string, error) {
	for {
		e, err := events.Next()
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
			return "", errors.New("the endpoint is no address")
		}
		at = u.o.URL.ResolveReference(at)
		if !sameOrigin(at, u.o.URL) || at.User != nil {
			return "", errors.New("the endpoint is at another origin")
		}
		return at.String(), nil
	}
}

// hear hands on everything the server says.
func (u *Upstream) hear(events *sse.Reader, h http.Header) {
	for {
		e, err := events.Next()
		if err != nil {
			u.lost("stream_lost", "the server ended its stream"+because(err))
			u.failAll("the server ended its stream")
			return
		}
		if e.HasData && (e.Name == "" || e.Name == "message") {
			u.arrived(nil, h, e.Data)
		}
	}
}

// failAll answers every request in flight.
func (u *Upstream) failAll(why string) {
	u.mu.Lock()
	var open []*exchange
	for _, x := range u.inFlight {
		open = append(open, x)
	}
	u.mu.Unlock()
	for _, x := range open {
		u.fail(x, why)
		x.cancel()
	}
}

// awaitTwoWay waits for an answer that comes on the stream.
func (u *Upstream) awaitTwoWay(x *exchange) {
	select {
	case <-x.told.ch:
	case <-x.ctx.Done():
	}
}

// accepted reports a reply that only says that the answer comes on the stream.
func (u *Upstream) accepted(resp *http.Response) bool {
	return u.endpoint() != "" && resp.StatusCode >= 200 && resp.StatusCode <= 299
}
