package hub

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/mcp"
	"github.com/clawai/clawai/internal/wire/frame"
	"github.com/clawai/clawai/proxy"
)

// server is one of the hub's, whether it runs or not. One goroutine starts it, stops it
// and speaks to it: one that does not read keeps nobody waiting but those who want it.
type server struct {
	Server
	h     *hub
	ctx   context.Context // of what it is waited for
	end   context.CancelFunc
	inbox chan job
	lists [kinds]list

	conn      *conn // nil while it does not run; run's alone
	failures  int   // in a row
	failed    error // the last time
	notBefore time.Time
	older     bool  // it did not answer server/discover
	kept      *conn // to what was kept of it; nil: nothing was, or nobody has asked
	asked     bool  // whether anything was kept

	instructions string // its own; guarded by the hub
	tasks        int    // that the hub knows; guarded by the hub

	mu     sync.Mutex // guards what follows
	up     proxy.Upstream
	closed bool // it must not be started any more

	leaving chan struct{} // closed when another configuration has it no more
	posts   sync.RWMutex  // guards what follows, and the inbox against its last reader
	left    bool
}

// job is something to do with a server. on is nil when it does not run; err then says why,
// if it was to be started.
type job struct {
	starts  bool
	run     func(on *conn, err error)
	recall  func() bool  // does it without the server, while that was not started; nil: nothing does
	carries *frame.Frame // what of the client's is lost with it; nil: nothing, or run tells
}

// maxJobs is how many may wait for a server that starts, or does not read.
const maxJobs = 1024

// How long a server that ended is left alone: doubling. One that ran for steady did not
// fail.
const (
	firstPause = time.Second
	longPause  = time.Minute
	steady     = 10 * time.Second
	drainGrace = 300 * time.Millisecond // for the rest of what an ended server wrote
)

var (
	errBusy = fmt.Errorf("%d messages wait for it already", maxJobs)
	errOver = errors.New("the session is over")
	errGone = errors.New("it is no longer in the configuration")
)

func newServer(h *hub, s Server) *server {
	if s.Timeout <= 0 {
		s.Timeout = defaultTimeout
	}
	one := &server{Server: s, h: h, inbox: make(chan job, maxJobs), leaving: make(chan struct{})}
	one.ctx, one.end = context.WithCancel(h.ctx)
	return one
}

// endReason gives why nobody waits for it any more.
func (s *server) endReason() error {
	if s.h.ctx.Err() != nil {
		return errOver
	}
	return errGone
}

// postJob has a job done, after those before it.
func (s *server) postJob(j job) {
	s.posts.RLock()
	err := errGone
	if !s.left {
		select {
		case s.inbox <- j:
			err = nil
		default:
			err = errBusy
		}
	}
	s.posts.RUnlock()
	if err != nil {
		s.rejectJob(j, err)
	}
}

// rejectJob has done with a job that the server does not get.
func (s *server) rejectJob(j job, err error) {
	if j.starts {
		j.run(nil, err)
	} else if j.carries != nil {
		s.recordDrop(j.carries, err)
	}
}

// recordDrop records what does not reach the server.
func (s *server) recordDrop(f *frame.Frame, why error) {
	_ = s.h.o.Gate.NoteEvents(&event.Event{
		Kind: event.Dropped, Stage: "frame", Code: "unavailable", Reason: why.Error(),
		Server: s.ID, Direction: mcp.ClientToServer.String(), Method: f.Method, ID: f.ID, Bytes: len(f.Raw),
	})
}

// runJobs does one job after the other until the session ends.
func (s *server) runJobs() {
	idle := time.NewTimer(time.Hour)
	defer idle.Stop()
	defer s.dropRecalled()
	for {
		if s.Idle > 0 {
			idle.Reset(s.Idle)
		}
		quiet, gone := s.conn.endedSignal()
		select {
		case j := <-s.inbox:
			s.doJobs(j)
		case <-quiet:
			s.disconnect()
		case <-gone:
			s.disconnect()
		case <-idle.C:
			s.stopIdle()
		case <-s.leaving:
			s.retireServer()
			return
		case <-s.h.ctx.Done():
			return
		}
	}
}

// What a server is told together, at most: about as much as one read of a pipe brings.
const (
	maxJobsTogether  = 256
	maxBytesTogether = 64 << 10
)

// doJobs does a job, and those that have come with it: what the server is to be told goes to the
// gate together.
func (s *server) doJobs(j job) {
	s.doOne(j)
	for n := 1; n < maxJobsTogether && len(s.inbox) > 0; n++ { // nobody else takes from it
		s.doOne(<-s.inbox)
	}
	s.conn.flushLines()
}

func (s *server) doOne(j job) {
	var err error
	if s.conn != nil && s.conn.isOver() {
		s.disconnect()
	}
	if s.conn == nil && j.recall != nil && j.recall() {
		return
	}
	if s.conn == nil && j.starts {
		if err = s.startServer(); err != nil {
			s.conn = nil
		}
	}
	if s.conn != nil || j.starts {
		j.run(s.conn, err)
	}
}

// startServer starts it and introduces the client to it.
func (s *server) startServer() error {
	select {
	case <-s.leaving:
		return errGone
	default:
	}
	if pause := time.Until(s.notBefore); pause > 0 {
		return fmt.Errorf("%w; it is tried again in %s", s.failed, pause.Truncate(100*time.Millisecond)+100*time.Millisecond)
	}
	s.dropRecalled()
	catalogue := s.openCatalogue() // of the program as it is before it is started
	up, err := s.openUpstream()
	if err != nil {
		return s.delayRestart(err)
	}
	s.conn = newConn(s, up)
	s.conn.catalogue = catalogue
	if err = s.conn.introduceClient(); err == nil {
		err = s.compareLists()
	}
	if err != nil {
		s.conn.endConnection(err.Error())
		_ = up.Close(s.h.ctx)
		return s.delayRestart(err)
	}
	return nil
}

func (s *server) openUpstream() (proxy.Upstream, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, errOver
	}
	up, err := s.Open()
	s.up = up
	return up, err
}

// delayRestart has it left alone for a while.
func (s *server) delayRestart(err error) error {
	pause := min(firstPause<<min(s.failures, 10), longPause)
	s.failures++
	s.failed = err
	s.notBefore = time.Now().Add(pause)
	return err
}

// disconnect gives up a connection that the server has ended.
func (s *server) disconnect() {
	c := s.conn
	s.conn = nil
	why := c.howItEnded()
	c.endConnection(why)
	if time.Since(c.since) < steady {
		_ = s.delayRestart(errors.New(why))
	} else {
		s.failures = 0
	}
	_ = c.up.Close(s.h.ctx)
}

// stopIdle stops it when it has nothing to do.
func (s *server) stopIdle() {
	if s.Idle <= 0 || s.conn == nil || s.conn.isBusy() {
		return
	}
	c := s.conn
	s.conn, s.failures = nil, 0
	_ = c.up.Close(s.h.ctx)
	c.endConnection("it was stopped")
}

// closeUpstream ends it for good, whatever its goroutine is at.
func (s *server) closeUpstream(ctx context.Context) {
	s.mu.Lock()
	s.closed = true
	up := s.up
	s.mu.Unlock()
	if up != nil {
		_ = up.Close(ctx)
	}
}

func waitFor(ch <-chan struct{}, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ch:
	case <-t.C:
	}
}
