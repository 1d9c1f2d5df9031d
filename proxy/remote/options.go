package remote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/clawai/clawai/internal/wire/frame"
)

// Credentials put the owner's authority on the requests to one server.
type Credentials interface {
	// Apply sets what the request needs; without a token it sets nothing.
	Apply(ctx context.Context, r *http.Request) error
	// Challenged takes in a 401 or 403, whose body it does not read, and says
	// whether the request is worth sending again. It may ask a person.
	Challenged(ctx context.Context, resp *http.Response) (again bool, err error)
	// Accepted takes in a request that the server has not refused for its credentials.
	Accepted(r *http.Request)
}

// Options of Dial. URL is required.
type Options struct {
	URL         *url.URL
	Header      http.Header // sent with every request, to this origin only
	Credentials Credentials // nil: none
	Limits      frame.Limits

	// Note is told what the owner may want to read in the record and the client
	// has no message for: a session that was begun anew, a stream that was lost.
	Note func(code, text string)

	// SSE says that the server is known to speak the transport of 2024-11-05: its stream is
	// opened first, and another transport tried where there is none.
	SSE bool

	// Transport carries the requests; default: one with the bounds of this room.
	Transport http.RoundTripper

	// Patience is how long a stream that was cut waits before it is taken up
	// again, when the server does not say; default 1 s, doubling.
	Patience time.Duration
}

// Bounds that do not depend on the server.
const (
	dialTimeout  = 10 * time.Second
	ackTimeout   = 10 * time.Second       // for messages that are only acknowledged, and for one to be written
	lateTimeout  = 100 * time.Millisecond // for one to be written, behind one that took too long
	cancelGrace  = 10 * time.Second       // for a server to end a request that was cancelled
	openTimeout  = 500 * time.Millisecond // for the header of the server's own stream
	drainTimeout = 200 * time.Millisecond // for the end of a body that nobody waits for
	closeTimeout = 600 * time.Millisecond
	flushTimeout = 300 * time.Millisecond
	maxQueued    = 16

	elsewhereFactor = 300 // × Patience, for an answer on another stream than its own
	maxHeaderBytes  = 64 << 10
	maxRedirects    = 3
	maxSessionID    = 4 << 10
	maxEventID      = 4 << 10
	maxResumes      = 5               // in a row without an event
	steadyAfter     = 5 * time.Second // a stream that lasted this long was no failed attempt
	maxRetryDelay   = 30 * time.Second
)

// Dial makes an upstream; it opens no connection before the first message.
func Dial(o Options) (*Upstream, error) {
	if err := CheckURL(o.URL); err != nil {
		return nil, err
	}
	if o.Limits == (frame.Limits{}) {
		o.Limits = frame.DefaultLimits()
	}
	o.Limits.AllowBatch = true // the pump has judged which may cross
	o.Patience = cmp.Or(o.Patience, time.Second)
	if o.Note == nil {
		o.Note = func(string, string) {}
	}
	u := &Upstream{
		o: o, http: NewClient(o), inFlight: make(map[string]*roundTrip), done: make(chan struct{}), queue: make(chan queued, maxQueued),
	}
	u.ctx, u.cancel = context.WithCancel(context.Background())
	u.out, u.in = io.Pipe()
	u.startTask(u.dispatchLines)
	return u, nil
}

// CheckURL says why no MCP server can be at u.
func CheckURL(u *url.URL) error {
	switch {
	case u == nil || u.Host == "":
		return errors.New("the address needs a host, as in https://host/mcp")
	case u.Scheme != "http" && u.Scheme != "https":
		return fmt.Errorf("the address begins with http:// or https://, not %q", u.Scheme)
	case u.User != nil:
		return errors.New("the address must not hold a name or a password; put them into a header file")
	case u.Fragment != "":
		return errors.New("the address must not hold a #fragment")
	}
	return nil
}
