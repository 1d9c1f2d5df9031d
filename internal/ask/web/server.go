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

// Channel is the name in the queue and the record for answers given here.
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
	AddAnswerer func() (io.Closer, error) // called when the first page connects

	Views Views  // nil: the page has only the questions
	Start string // the path that the link leads to; "" for the questions

	Home     string                       // for ~; "" when unknown
	Own      []string                     // view.Options.Own
	ReadFile func(string) ([]byte, error) // view.Options.ReadFile; nil shows no changes
	By       string                       // the account of the person who answers
	Opened   func()                       // called each time a link is used; may be nil
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
	host      string // the only accepted value of Host
	login     login
	presence  presence
	assets    map[string]asset
	limits    limits
	grace     time.Duration // how long ago a request must have been sent before an answer counts
	heartbeat time.Duration // interval of messages on a silent stream
	look      time.Duration // interval of the checks for changes in the views
}

// New returns a server for l, which must listen on a loopback address. Serve closes l.
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

// NewLink returns the link that opens the page once. An earlier unused link stops working; an
// open page stays open until the new link is used.
func (s *Server) NewLink() string { return "http://" + s.host + "/#" + s.login.newToken() }

// limits are the time limits for parts of an exchange.
type limits struct {
	header, read, write time.Duration // for the request's header, the whole request, and the reply
	outcome             time.Duration // for an answer: the wait for the call's outcome
}

// Limits of one connection and one request.
const (
	idleTime  = 60 * time.Second
	maxHeader = 1 << 20 // larger than the cookies that other ports of this address may have left in the browser
	maxBody   = 8 << 10
	maxPages  = 4 // pages connected at the same time
)

// Serve answers until ctx ends, and returns after every page is disconnected. It returns nil if
// ctx ended it.
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
