// Package hub presents several servers to one client as one server. It has a proxy session for each
// server. The package finds the server for each name that the client uses, and the request for each
// answer. The gate decides which messages are forwarded. It sees every message in the form that the
// server uses.
package hub

import (
	"context"
	"errors"
	"io"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/mcp"
	"github.com/clawai/clawai/internal/wire/frame"
	"github.com/clawai/clawai/proxy"
)

// Options are the parameters of Run. The first four fields are required.
type Options struct {
	ClientIn  io.Reader // Run closes it at the end if it is an io.Closer
	ClientOut io.Writer
	Gate      *gate.Session // the gate for all the servers; Run closes it
	Servers   []Server      // the servers, in the order in which their tools are listed
	// Updates delivers complete lists of servers. nil means that the servers never change.
	Updates <-chan []Server

	// ClientGone is closed when no program reads ClientOut any more. nil means that this cannot be
	// detected.
	ClientGone <-chan struct{}

	Version            string                  // version of clawai, as shown to the client
	Limits             frame.Limits            // limits of frames; zero means frame.DefaultLimits
	DenyAsError        bool                    // see proxy.Options
	LongestLine        func(client string) int // see proxy.Options
	PrefixDescriptions bool                    // put "[ID] " in front of the descriptions of tools
	// ListWait is how long a list waits for a server. If the server's list comes later, the client
	// then gets a list_changed notification.
	ListWait time.Duration
}

// Server is one server of a hub. The hub starts it on its first use.
type Server struct {
	ID     string // the server's name in rules; must satisfy upstream.CheckID
	Prefix string // prefix that the client sees before the names of the server's tools and other entries; satisfies upstream.CheckID; at most one server may have the prefix ""
	// Open starts the server. The hub calls it again when the server has ended and is needed again.
	Open   func() (proxy.Upstream, error)
	Offers func(tool string) bool // reports whether this client gets the tool; nil means every tool
	// Idle is how long the server may be unused before the hub stops it. 0 means that the hub never
	// stops it for this reason.
	Idle    time.Duration
	Timeout time.Duration // time limit for answers to initialize and lists; default 30 s
	// Kept returns the store for the lists that a client sees from this server. The store depends
	// on the server program that would be started now and on the client's description of itself.
	// The store outlives the session. nil means that the lists are not kept.
	Kept func(client []byte) Catalogue
	// Digest is the digest of the server's whole configuration. In an update, the same ID and
	// Digest mean the same server, which keeps running. The same ID with another Digest means
	// another server.
	Digest string
}

// Time limits of a session.
const (
	defaultTimeout = 30 * time.Second
	lastGrace      = 1500 * time.Millisecond // for requests in flight after the end of the client's input
)

// hub holds one client and its servers.
type hub struct {
	o       Options
	ctx     context.Context // lives as long as the session; its end stops every wait
	out     *proxy.Writer
	own     *own                      // answers requests that belong to no server
	servers atomic.Pointer[[]*server] // the slice is never modified; a new configuration replaces it
	tasks   sync.WaitGroup
	changes changes

	mu       sync.Mutex // guards the fields below
	client   client
	inFlight map[string]*call    // the client's requests to servers, by frame.IDKey
	theirs   map[string]*request // the servers' requests to the client, by frame.IDKey of the id that the hub gave them
	asked    int                 // number of the servers' requests so far
	handles  map[string]*server  // the server of each task id; nil if two servers used the id
	away     map[string]*call    // calls whose client got a question and must send the call again, by requestState
	listens  map[string]*listen  // the client's listens, by frame.IDKey of the request
}

// client is the client's description of itself. It comes from initialize or from the first request
// of version 2026-07-28.
type client struct {
	params  []byte // params of the client's initialize, or params that the hub made for a modern client; nil before the session begins
	meta    []byte // _meta of the hub's requests for a client of 2026-07-28; nil for a client of an earlier version
	version string // negotiated version
	level   []byte // log level as a JSON token; nil if the client has set none
}

// Run carries messages until the client closes one of its streams or ctx ends. Before Run returns,
// every server has ended and the gate is closed. Also, the requests in flight have been answered,
// or the client has stopped reading.
func Run(ctx context.Context, o Options) error {
	if o.Limits == (frame.Limits{}) {
		o.Limits = frame.DefaultLimits()
	}
	all, stop := context.WithCancel(context.WithoutCancel(ctx))
	h := &hub{
		o: o, ctx: all, out: proxy.NewWriter(o.ClientOut),
		inFlight: map[string]*call{}, theirs: map[string]*request{}, handles: map[string]*server{},
		away: map[string]*call{}, listens: map[string]*listen{},
	}
	h.changes = changes{hub: h, waiting: map[string]bool{}}
	h.own = newOwn(h)
	h.servers.Store(&[]*server{})
	h.replaceServers(o.Servers)
	h.tasks.Go(h.own.answerRequests)
	h.tasks.Go(h.followRules)
	h.tasks.Go(h.applyUpdates)
	ended := make(chan struct{})
	go func() { defer close(ended); h.readClient() }()

	select {
	case <-ended:
		h.drainRequests(ctx)
	case <-ctx.Done():
	case <-o.ClientGone:
	case <-h.out.BrokenSignal():
	}
	stop()
	h.closeServers(ctx)
	h.tasks.Wait()
	h.finishClient(ctx)
	if c, ok := o.ClientIn.(io.Closer); ok {
		_ = c.Close()
		<-ended
	}
	return nil
}

// readClient reads the client's messages until its input ends.
func (h *hub) readClient() {
	r := frame.NewReader(h.o.ClientIn, h.o.Limits.MaxBytes)
	for {
		line, err := r.ReadLine()
		if err == nil {
			h.routeLine(line)
			if !r.HasLine() {
				runtime.Gosched() // lets the server's goroutine run at once, without waiting for another thread to wake up
			}
		} else if refusal, ok := errors.AsType[*frame.Refusal](err); ok {
			h.own.useClientStream(func(c *proxy.Stream) { c.RefuseLine(h.ctx, r.RefusedHead(), refusal) })
		} else {
			return
		}
	}
}

// drainRequests is called when the client's input has ended. It waits until the open requests are
// answered, but at most lastGrace.
func (h *hub) drainRequests(ctx context.Context) {
	late, look := time.After(lastGrace), time.NewTicker(5*time.Millisecond)
	defer look.Stop()
	for h.isBusy() {
		select {
		case <-look.C:
		case <-late:
			return
		case <-ctx.Done():
			return
		case <-h.out.BrokenSignal():
			return
		}
	}
}

func (h *hub) isBusy() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.inFlight) > 0 || h.own.open.Load() > 0
}

// closeServers closes all the servers at the same time.
func (h *hub) closeServers(ctx context.Context) {
	var closing sync.WaitGroup
	for _, s := range h.currentServers() {
		closing.Go(func() { s.closeUpstream(ctx) })
	}
	closing.Wait()
}

// finishClient closes the gate and answers the open requests with an error. It records what the
// client did not read.
func (h *hub) finishClient(ctx context.Context) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		h.o.Gate.Close()
		h.mu.Lock()
		rest := h.inFlight
		h.inFlight = map[string]*call{}
		for _, c := range h.away {
			c.late.Stop()
		}
		h.mu.Unlock()
		for _, c := range rest {
			_ = h.out.Add(mcp.ServerEndedAnswer(c.id, "the session was closed"))
		}
		_ = h.out.DrainQueue()
	}()
	proxy.AwaitLast(ctx, done)
	if lost := h.out.DescribeLoss(); lost != nil {
		_ = h.o.Gate.NoteEvents(lost) // the error is ignored, because the session ends and no call follows
	}
}

// writeToClient sends the client a message that the hub made.
func (h *hub) writeToClient(line []byte) {
	out := h.out.AsyncSink()
	_ = out.Add(line) // an error means that the client is gone
	out.Flush()
}
