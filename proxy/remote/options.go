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

	"github.com/clawai/clawai/internal/state/egress"
	"github.com/clawai/clawai/internal/wire/frame"
)

// Credentials adds the owner's credentials to requests to one server.
type Credentials interface {
	// Apply sets the credentials of a request. It sets nothing if there is no token.
	Apply(ctx context.Context, r *http.Request) error
	// Challenged handles an answer with 401 or 403. It does not read the body. It reports whether
	// the request should be sent again. It may ask a person.
	Challenged(ctx context.Context, resp *http.Response) (again bool, err error)
	// Accepted is called with a request after the server has accepted its credentials.
	Accepted(r *http.Request)
}

// Options are the parameters of Dial. URL is required.
type Options struct {
	URL         *url.URL
	Header      http.Header // sent with every request, but only to the server's origin
	Credentials Credentials // nil means no credentials
	Limits      frame.Limits

	// Note is called with an event for the owner's record if no message tells the client about the
	// event. Such an event is a renewed session or a lost stream.
	Note func(code, text string)

	// SSE means that the server is configured to speak the transport of 2024-11-05. Its stream is
	// opened first. If that fails, another transport is tried.
	SSE bool

	Network egress.Network // the network through which requests go

	// Transport carries the requests. The default is a transport of Network with this package's
	// limits.
	Transport http.RoundTripper

	// Patience is the pause before a cut stream is resumed, if the server does not state a pause;
	// default 1 s. The pause doubles with each attempt.
	Patience time.Duration
}

// Limits that are the same for every server.
const (
	ackTimeout   = 10 * time.Second       // for the acknowledgement of a message without an answer, and for writing a message
	lateTimeout  = 100 * time.Millisecond // for writing a message while an earlier message is late
	cancelGrace  = 10 * time.Second       // for the server to end a cancelled request itself
	openTimeout  = 500 * time.Millisecond // for the header of the server's own stream
	drainTimeout = 200 * time.Millisecond // for the end of a body that is discarded
	closeTimeout = 600 * time.Millisecond // for the DELETE request that ends the session
	flushTimeout = 300 * time.Millisecond // for sending the queued lines before the end
	maxQueued    = 16                     // lines in the queue

	elsewhereFactor = 300 // × Patience: for an answer that comes on another stream
	maxHeaderBytes  = 64 << 10
	maxRedirects    = 3
	maxSessionID    = 4 << 10
	maxEventID      = 4 << 10
	maxResumes      = 5               // consecutive attempts to resume without an event
	steadyAfter     = 5 * time.Second // a stream that lasted this long does not count as a failed attempt
	maxRetryDelay   = 30 * time.Second
)

// Dial returns an upstream for a server. It opens the connection only with the first message.
func Dial(o Options) (*Upstream, error) {
	if err := CheckURL(o.URL); err != nil {
		return nil, err
	}
	if o.Limits == (frame.Limits{}) {
		o.Limits = frame.DefaultLimits()
	}
	o.Limits.AllowBatch = true // package proxy checks whether the version allows arrays
	o.Patience = cmp.Or(o.Patience, time.Second)
	if o.Note == nil {
		o.Note = func(string, string) {}
	}
	u := &Upstream{
		o: o, http: NewClient(o), inFlight: make(map[string]*roundTrip), queue: make(chan queueItem, maxQueued),
	}
	u.ctx, u.cancel = context.WithCancel(context.Background())
	u.out, u.in = io.Pipe()
	u.startTask(u.dispatchLines)
	return u, nil
}

// CheckURL returns an error if u cannot be the address of an MCP server.
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
