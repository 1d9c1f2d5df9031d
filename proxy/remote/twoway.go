package remote

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/clawai/clawai/proxy/frame"
	"github.com/clawai/clawai/proxy/remote/sse"
)

// twoWay is the transport of 2024-11-05: one stream for everything the server
// says, whose first event names the address for everything the client says.
type twoWay struct {
	endpoint string
	// Guarded by Upstream.mu:
	lost  bool // the stream has ended, or the session on it has not begun
	tries int  // to come back, without an event since
}

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
// backwards compatibility). An error says that its stream wants a sign-in.
func (u *Upstream) speaksSSE(x *exchange, resp *http.Response) (bool, error) {
	if x.frame.Method != "initialize" || !MayBeOlder(resp.StatusCode) {
		return false, nil
	}
	in, err := u.enter(x)
	if failed, ok := errors.AsType[*notSignedIn](err); ok {
		return false, failed
	}
	if err != nil {
		return false, nil
	}
	u.heed(in)
	return true, nil
}

// MayBeOlder reports the status with which a server that speaks HTTP+SSE only
// answers what is posted to the address of its stream.
func MayBeOlder(status int) bool {
	return status == http.StatusBadRequest || status == http.StatusNotFound || status == http.StatusMethodNotAllowed
}

// inlet is the stream of that transport.
type inlet struct {
	*twoWay
	cancel context.CancelFunc // closes it
	events *sse.Reader
	header http.Header
}

// unwelcome is a stream that was not opened.
type unwelcome struct{ resp *http.Response }

func (r *unwelcome) Error() string { return Status(r.resp) }

// enter opens the stream for x, again where that wants other credentials: some
// servers ask for them nowhere else before they have them.
func (u *Upstream) enter(x *exchange) (*inlet, error) {
	for challenged := 0; ; challenged++ {
		in, err := u.enterOnce(x.ctx)
		refused, ok := errors.AsType[*unwelcome](err)
		if !ok || u.o.Credentials == nil || x.unasked || challenged == maxChallenges ||
			refused.resp.StatusCode != http.StatusUnauthorized && refused.resp.StatusCode != http.StatusForbidden {
			return in, err
		}
		again, failed := u.o.Credentials.Challenged(x.ctx, refused.resp)
		if failed != nil {
			return nil, &notSignedIn{failed}
		}
		if !again {
			return nil, err
		}
	}
}

// enterOnce opens the stream and reads the address from its first event.
func (u *Upstream) enterOnce(ctx context.Context) (*inlet, error) {
	in := &inlet{twoWay: &twoWay{lost: true}}
	var open context.Context
	open, in.cancel = context.WithCancel(u.ctx)
	err := in.within(ctx, func() error {
		resp, err := u.get(open, &place{})
		if err != nil {
			return err
		}
		context.AfterFunc(open, func() { _ = resp.Body.Close() })
		if !okay(resp) {
			return &unwelcome{resp}
		}
		in.events, in.header = sse.NewReader(resp.Body, u.maxEvent()), resp.Header
		in.endpoint, err = u.address(in.events)
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
	u.sse = in.twoWay
	return in, nil
}

// within reads the stream, but not for ever: whoever waits may give up, and one
// that is open and says nothing is no transport of 2024-11-05. It closes the stream
// when that fails.
func (in *inlet) within(ctx context.Context, read func() error) error {
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

// heed begins to hand on what comes.
func (u *Upstream) heed(in *inlet) {
	u.mu.Lock()
	in.lost = false
	u.mu.Unlock()
	u.run(func() {
		wait := u.hear(in)
		u.comeBack(in.twoWay, wait)
	})
}

// rejoin opens the stream again and repeats initialize on it.
func (u *Upstream) rejoin(x *exchange) (http.Header, []byte, error) {
	in, err := u.enter(x)
	if err != nil {
		return nil, nil, err
	}
	var result []byte
	err = in.within(x.ctx, func() error {
		resp, err := u.postOnce(x)
		if err != nil {
			return err
		}
		finish(resp.Body)
		if !u.accepted(resp) {
			return errors.New(Status(resp))
		}
		result, err = u.resultFor(x, in.next)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	u.heed(in)
	return in.header, result, nil
}

// next is the data of the next event.
func (in *inlet) next() ([]byte, error) {
	e, err := in.events.Next()
	if err != nil {
		return nil, err
	}
	return e.Data, nil
}

// adrift reports a session whose stream has ended, also while it is begun anew.
// u.mu is held.
func (u *Upstream) adrift() bool {
	return u.sse != nil && (u.sse.lost || u.session.renewing != nil)
}

// moored waits until the session has a stream to be answered on.
func (u *Upstream) moored(x *exchange) error {
	u.mu.Lock()
	adrift := u.adrift()
	u.mu.Unlock()
	if !adrift || x.frame.Kind == frame.Response || u.renew(x, u.adrift) { // nobody asks any more for a response
		return nil
	}
	return errors.New("the server ended its stream, and does not open another")
}

// comeBack begins the session anew when its stream has ended: what the server says
// outside of answers comes there. When that fails, the client's next message tries
// again.
func (u *Upstream) comeBack(at *twoWay, wait time.Duration) {
	u.mu.Lock()
	p := place{wait: wait, tries: at.tries}
	open := u.session.version != ""
	u.mu.Unlock()
	for open && p.tries < maxResumes && u.pause(u.ctx, &p) {
		u.mu.Lock()
		at.tries = p.tries
		u.mu.Unlock()
		if u.renew(nil, u.adrift) {
			return
		}
	}
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

// hear hands on everything the server says until it ends the stream, and gives the
// time that the server wants to pass before the next one.
func (u *Upstream) hear(in *inlet) (wait time.Duration) {
	defer in.cancel()
	for wait = u.o.Patience; ; {
		e, err := in.events.Next()
		if err != nil {
			u.failAll(in.twoWay, "the server ended its stream")
			u.lost("stream_lost", "the server ended its stream"+because(err))
			return wait
		}
		if e.Retry >= 0 {
			wait = u.wait(e.Retry)
		}
		if e.HasData && (e.Name == "" || e.Name == "message") {
			u.mu.Lock()
			in.tries = 0
			u.mu.Unlock()
			u.arrived(nil, in.header, e.Data)
		}
	}
}

// failAll answers every request in flight on a stream that has ended.
func (u *Upstream) failAll(at *twoWay, why string) {
	u.mu.Lock()
	at.lost = true
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
