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

// Credentials adds the owner's credentials to the requests to one server.
type Credentials interface {
	// Apply sets the request's credentials; without a token it sets nothing.
	Apply(ctx context.Context, r *http.Request) error
	// Challenged handles a 401 or 403 without reading its body, and reports whether the request
	// should be sent again. It may ask a person.
	Challenged(ctx context.Context, resp *http.Response) (again bool, err error)
	// Accepted is called with a request whose credentials the server has not refused.
	Accepted(r *http.Request)
}

// Options are the parameters of Dial. URL is required.
type Options struct {
	URL         *url.URL
	Header      http.Header // sent with every request, to this origin only
	Credentials Credentials // nil: none
	Limits      frame.Limits

	// Note is called with events for the owner's record that cause no message to the client, such
	// as a renewed session or a lost stream.
	Note func(code, text string)

	// SSE means that the server is known to speak the transport of 2024-11-05: its stream is
	// opened first, and another transport is tried if that fails.
	SSE bool

	Network egress.Network // how the server is reached

	// Transport carries the requests; default: a transport of Network with this package's limits.
	Transport http.RoundTripper

	// Patience is the pause before a cut stream is resumed, if the server does not state one;
	// default 1 s. The pause doubles with each attempt.
	Patience time.Duration
}

// Limits that do not depend on the server.
const (
	ackTimeout   = 10 * time.Second       // for messages that are only acknowledged, and for writing a message
	lateTimeout  = 100 * time.Millisecond // for writing a message while an earlier one is late
	cancelGrace  = 10 * time.Second       // for the server to end a cancelled request
	openTimeout  = 500 * time.Millisecond // for the header of the server's own stream
	drainTimeout = 200 * time.Millisecond // for the end of a body that is discarded
	closeTimeout = 600 * time.Millisecond // for the request that ends the session
	flushTimeout = 300 * time.Millisecond // for the queued lines before the end
	maxQueued    = 16                     // lines

	elsewhereFactor = 300 // multiplied by Patience: for an answer on another stream
	maxHeaderBytes  = 64 << 10
	maxRedirects    = 3
	maxSessionID    = 4 << 10
	maxEventID      = 4 << 10
	maxResumes      = 5               // consecutive attempts without an event
	steadyAfter     = 5 * time.Second // a stream that lasted at least this long was not a failed attempt
	maxRetryDelay   = 30 * time.Second
)

// Dial returns an upstream. It opens no connection before the first message.
func Dial(o Options) (*Upstream, error) {
	if err := CheckURL(o.URL); err != nil {
		return nil, err
	}
	if o.Limits == (frame.Limits{}) {
		o.Limits = frame.DefaultLimits()
	}
	o.Limits.AllowBatch = true // package proxy checks whether the version has arrays
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
