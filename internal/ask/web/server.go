package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/clawai/clawai/internal/ask/queue"
	"github.com/clawai/clawai/internal/page"
)

// Channel is the channel's name in the queue and in the record.
const Channel = "web"

// Queue lists the methods of *queue.Queue that the page needs.
type Queue interface {
	Watch(ctx context.Context) <-chan struct{}
	Pending(ctx context.Context) ([]queue.Request, error)
	History(ctx context.Context, n int) ([]queue.Request, error)
	Get(ctx context.Context, id string) (queue.Request, error)
	Decide(ctx context.Context, id string, a queue.Answer) (queue.Request, error)
	Await(ctx context.Context, id string) (queue.Request, error)
	Grants(ctx context.Context) ([]queue.Grant, error)
	Revoke(ctx context.Context, grantID string) error
}

// Options configure a Server. Queue and AddAnswerer are required.
type Options struct {
	Queue       Queue
	AddAnswerer func() (io.Closer, error) // called when the first page connects; the queue then knows that a person watches

	Views Views  // makes the views; nil: the page has only questions
	Start string // the path that the link opens; "" for the questions

	Home     string                       // the owner's home folder, shown as ~; "" if unknown
	Own      []string                     // clawai's own folders, as in view.Options
	ReadFile func(string) ([]byte, error) // as in view.Options; nil shows no changes of files
	By       string                       // the account of the person who answers
	Opened   func()                       // called each time a browser uses a link; may be nil
}

// Listen opens a loopback address: 127.0.0.1, or ::1. Port 0 selects a free port.
func Listen(port int, v6 bool) (net.Listener, error) {
	network, host := "tcp4", "127.0.0.1"
	if v6 {
		network, host = "tcp6", "::1"
	}
	return net.Listen(network, net.JoinHostPort(host, strconv.Itoa(port)))
}

// Server serves the page. Create it with New.
type Server struct {
	o         Options
	listener  net.Listener
	host      string // the only value of the Host header that is accepted
	login     login
	presence  presence
	assets    map[string]asset
	limits    limits
	grace     time.Duration // an answer that comes sooner than this after its request was sent to the page is refused
	heartbeat time.Duration // time between two messages on a silent stream
	look      time.Duration // time between two checks for changes in the views
}

// New returns a server for l, which must listen on a loopback address. The method Serve closes l.
func New(o Options, l net.Listener) (*Server, error) {
	addr, ok := l.Addr().(*net.TCPAddr)
	if !ok || !addr.IP.IsLoopback() {
		return nil, fmt.Errorf("%v is not a loopback address", l.Addr())
	}
	if o.Queue == nil || o.AddAnswerer == nil {
		return nil, errors.New("a page without a queue")
	}
	if o.Start == "" {
		o.Start = "/"
	}
	if o.Opened == nil {
		o.Opened = func() {}
	}
	assets, err := loadAssets()
	if err != nil {
		return nil, err
	}
	return &Server{
		o: o, listener: l, host: addr.String(), assets: assets,
		presence: presence{addAnswerer: o.AddAnswerer},
		limits:   limits{header: 5 * time.Second, read: 10 * time.Second, write: 20 * time.Second, outcome: 2 * time.Second},
		grace:    300 * time.Millisecond, heartbeat: 15 * time.Second, look: time.Second,
	}, nil
}

// NewLink returns a link that opens the page once. An earlier link that was not used stops working.
// An open page stays open until the new link is used.
func (s *Server) NewLink() string { return "http://" + s.host + "/#" + s.login.newToken() }

// limits are the time limits of an HTTP exchange.
type limits struct {
	header, read, write time.Duration // limits for reading the header, for reading the request, and for writing the response
	outcome             time.Duration // how long an answer waits for the outcome of the call
}

// Limits of a connection and of a request.
const (
	idleTime  = 60 * time.Second
	maxHeader = 1 << 20 // larger than all cookies that servers on other ports can have left in the browser
	maxBody   = 8 << 10
	maxPages  = 4 // maximum number of connected pages
)

// Serve answers requests until ctx ends, and returns when all pages are disconnected. The end of
// ctx is no error.
func (s *Server) Serve(ctx context.Context) error {
	streams, endStreams := context.WithCancel(context.WithoutCancel(ctx))
	defer endStreams()
	hs := &http.Server{
		Handler:           s,
		ReadHeaderTimeout: s.limits.header, ReadTimeout: s.limits.read, WriteTimeout: s.limits.write, IdleTimeout: idleTime,
		MaxHeaderBytes: maxHeader,
		BaseContext:    func(net.Listener) context.Context { return streams },
	}
	hs.RegisterOnShutdown(endStreams)
	err := page.Serve(ctx, hs, s.listener)
	s.login.close()
	return err
}
