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

// server is one server of the hub, running or not. Only one goroutine starts it, stops it and
// writes to it. So a server that does not read blocks only the callers of that server.
type server struct {
	Server
	h     *hub
	ctx   context.Context // its end stops every wait for the server
	end   context.CancelFunc
	inbox chan job
	lists [kinds]list

	conn      *conn     // nil while the server does not run; only runJobs uses it
	failures  int       // number of consecutive failures
	failed    error     // the last failure
	notBefore time.Time // the server is not started again before this time
	older     bool      // the server did not answer server/discover, so it speaks an earlier version
	kept      *conn     // connection to the player of kept answers; nil before recallConn runs and when nothing was kept
	asked     bool      // recallConn has run, or must not run any more because the server has been started

	instructions string // the server's instructions; the hub's mutex guards it
	tasks        int    // number of the server's tasks that the hub knows; the hub's mutex guards it

	mu     sync.Mutex // guards the fields below
	up     proxy.Upstream
	closed bool // the server must not be started again

	leaving chan struct{} // closed when a new configuration does not contain the server
	posts   sync.RWMutex  // guards the field left; when left is true, no job may be added to inbox
	left    bool
}

// job is work for the goroutine of a server. run gets the connection. If the server cannot be
// started, run gets nil and the reason. If starts is false, the job is dropped while the server
// does not run.
type job struct {
	starts  bool
	run     func(on *conn, err error)
	recall  func() bool  // tries to do the job with kept answers while the server does not run, and reports whether it could; nil for a job that always needs the server
	carries *frame.Frame // client message that is recorded as dropped if the job is rejected; nil if there is none, or if run reports the error
}

// maxJobs is how many jobs may wait for a server that is starting or does not read.
const maxJobs = 1024

// Pauses before a failed server is started again. Each pause is twice the last one. If a server ran
// for some time (steady) before it ended, this does not count as a failure.
const (
	firstPause = time.Second
	longPause  = time.Minute
	steady     = 10 * time.Second
	drainGrace = 300 * time.Millisecond // for the rest of the output of an ended server
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

// endReason returns why the wait for the server has ended.
func (s *server) endReason() error {
	if s.h.ctx.Err() != nil {
		return errOver
	}
	return errGone
}

// postJob queues a job after the earlier jobs.
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

// rejectJob ends a job that the server will not get.
func (s *server) rejectJob(j job, err error) {
	if j.starts {
		j.run(nil, err)
	} else if j.carries != nil {
		s.recordDrop(j.carries, err)
	}
}

// recordDrop records a client message that does not reach the server.
func (s *server) recordDrop(f *frame.Frame, why error) {
	_ = s.h.o.Gate.NoteEvents(&event.Event{
		Kind: event.Dropped, Stage: "frame", Code: "unavailable", Reason: why.Error(),
		Server: s.ID, Direction: mcp.ClientToServer.String(), Method: f.Method, ID: f.ID, Bytes: len(f.Raw),
	})
}

// runJobs runs the jobs in order until the session ends or the server is removed from the
// configuration.
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

// Limits of the messages that the gate gets together. They are about as much as one read of a pipe.
const (
	maxJobsTogether  = 256
	maxBytesTogether = 64 << 10
)

// doJobs runs a job and then the jobs that already wait. The gate gets the messages of these jobs
// together.
func (s *server) doJobs(j job) {
	s.doOne(j)
	for n := 1; n < maxJobsTogether && len(s.inbox) > 0; n++ { // safe, because no other goroutine receives from inbox
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

// startServer starts the server and begins a session with it.
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
	catalogue := s.openCatalogue() // opened before the start, because the store depends on the program that will be started
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

// delayRestart notes a failure and sets the pause before the next start.
func (s *server) delayRestart(err error) error {
	pause := min(firstPause<<min(s.failures, 10), longPause)
	s.failures++
	s.failed = err
	s.notBefore = time.Now().Add(pause)
	return err
}

// disconnect closes the connection to a server that has ended.
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

// stopIdle stops the server if it has no work.
func (s *server) stopIdle() {
	if s.Idle <= 0 || s.conn == nil || s.conn.subscribed || s.conn.hasOutstanding() {
		return
	}
	c := s.conn
	s.conn, s.failures = nil, 0
	_ = c.up.Close(s.h.ctx)
	c.endConnection("it was stopped")
}

// closeUpstream ends the server for good. It does not wait for the server's goroutine.
func (s *server) closeUpstream(ctx context.Context) {
	s.mu.Lock()
	s.closed = true
	up := s.up
	s.mu.Unlock()
	if up != nil {
		_ = up.Close(ctx)
	}
}
