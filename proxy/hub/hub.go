// Package hub is several servers as one: a client on one side, and on the other a session
// of the pump for each server. It tells servers and their names apart, and who asked what;
// what may cross is the gate's to say, which sees every message as the server will.
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

// Options of Run. The first four are required.
type Options struct {
	ClientIn  io.Reader // closed at the end if it is an io.Closer
	ClientOut io.Writer
	Gate      *gate.Session // of all the servers; closed by Run
	Servers   []Server      // in the order in which their tools are listed
	// Updates brings other ones, all of them each time; nil: there are never others.
	Updates <-chan []Server

	// ClientGone is closed when nobody reads ClientOut any more; nil: it cannot be known.
	ClientGone <-chan struct{}

	Version            string                  // of clawai, for the client
	Limits             frame.Limits            // zero: frame.DefaultLimits
	DenyAsError        bool                    // as proxy.Options has it
	LongestLine        func(client string) int // likewise
	PrefixDescriptions bool                    // "[ID] " before what a server says of its tools
	// ListWait is how long a list waits for a server; what comes later is told of.
	ListWait time.Duration
}

// Server is one server of a hub. It is started when it is first needed.
type Server struct {
	ID     string // what rules call it; as upstream.CheckID wants it
	Prefix string // what its names begin with for the client; likewise, or of one server "": nothing
	// Open starts it. It is called again when the server has ended and is needed.
	Open   func() (proxy.Upstream, error)
	Offers func(tool string) bool // whether it has that tool for this client; nil: every one
	// Idle is how long it may have nothing to do before it is stopped; 0: for ever.
	Idle    time.Duration
	Timeout time.Duration // for it to answer initialize and lists; default 30 s
	// Kept is where what it lists to such a client is kept from one session to the next, as it
	// would be started now; nil: nowhere.
	Kept func(client []byte) Catalogue
	// Digest is of all that it is told and started by: an update with another one is another
	// server, and one with the same is the one that runs.
	Digest string
}

// Bounds of a session.
const (
	defaultTimeout = 30 * time.Second
	answerGrace    = 200 * time.Millisecond  // for the last answers to reach a client that does not read
	lastGrace      = 1500 * time.Millisecond // for what is in flight when the client's input has ended
)

// hub is one client with its servers.
type hub struct {
	o       Options
	ctx     context.Context // of everything that waits; it lives as long as the session
	out     *proxy.Writer
	own     *own
	servers atomic.Pointer[[]*server] // replaced as a whole
	tasks   sync.WaitGroup
	changes changes

	mu       sync.Mutex // guards what follows
	client   client
	inFlight map[string]*call    // the client's requests that are a server's to answer, by frame.IDKey
	theirs   map[string]*request // the servers' requests to the client, by frame.IDKey of what it knows them by
	asked    int                 // how many there were of those
	handles  map[string]*server  // of tasks: whose it is; nil when two servers gave it
	away     map[string]*call    // whose client has been asked something and has not come back, by requestState
	listens  map[string]*listen  // of the client's, by frame.IDKey of the request
}

// client is what is known of the client since it has introduced itself, or has asked for
// something in the way of 2026-07-28.
type client struct {
	params  []byte // of its initialize, or of what stands for that; nil before
	meta    []byte // of what is asked in its name since 2026-07-28; nil for one of an earlier version
	version string // that was settled on
	level   []byte // of logging, as a JSON token; nil: none was set
}

// Run carries messages until the client closes one of its streams or ctx ends. Before it
// returns every server is gone, what was in flight has been answered or the client does
// not read any more, and the gate is closed.
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
	h.changes.hub = h
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
	h.finishClient()
	if c, ok := o.ClientIn.(io.Closer); ok {
		_ = c.Close()
		<-ended
	}
	return nil
}

// readClient takes what the client says.
func (h *hub) readClient() {
	r := frame.NewReader(h.o.ClientIn, h.o.Limits.MaxBytes)
	for {
		line, err := r.ReadLine()
		if err == nil {
			h.routeLine(line)
			if !r.HasLine() {
				runtime.Gosched() // whose server it is runs at once, and not when another thread has woken
			}
		} else if refusal, ok := errors.AsType[*frame.Refusal](err); ok {
			h.own.useClientStream(func(c *proxy.Stream) { c.RefuseLine(h.ctx, r.RefusedHead(), refusal) })
		} else {
			return
		}
	}
}

// drainRequests waits for what the client has asked for before its input ended, but not for long.
func (h *hub) drainRequests(ctx context.Context) {
	late, look := time.NewTimer(lastGrace), time.NewTicker(5*time.Millisecond)
	defer late.Stop()
	defer look.Stop()
	for h.isBusy() {
		select {
		case <-look.C:
		case <-late.C:
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

// closeServers ends all of them at the same time.
func (h *hub) closeServers(ctx context.Context) {
	var closing sync.WaitGroup
	for _, s := range h.currentServers() {
		closing.Go(func() { s.closeUpstream(ctx) })
	}
	closing.Wait()
}

// finishClient tells the client that nothing more comes.
func (h *hub) finishClient() {
	done := make(chan struct{})
	go func() {
		defer close(done)
		h.changes.stopTimers()
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
	t := time.NewTimer(answerGrace)
	defer t.Stop()
	select {
	case <-done:
	case <-t.C:
	}
}

// writeToClient sends the client a line of ours.
func (h *hub) writeToClient(line []byte) {
	out := h.out.AsyncSink()
	_ = out.Add(line) // it is gone: nobody is left to tell
	out.Flush()
}
