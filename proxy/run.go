package proxy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/mcp"
	"github.com/clawai/clawai/internal/wire/frame"
)

// Upstream is the server's side of a session. Read and Write are used by one
// goroutine each at a time.
type Upstream interface {
	io.ReadWriter
	// Done is closed when the server has ended by itself. What it wrote may
	// still be there to be read.
	Done() <-chan struct{}
	// Close makes the server end and returns when it is gone; a Read under way
	// then ends. It may take some seconds, and has little more than one when ctx
	// has ended. It may be called more than once.
	Close(ctx context.Context) error
	// Status says how the server ended, for people: "exit code 3".
	Status() string
}

// Options of Run. The first four are required.
type Options struct {
	ClientIn  io.Reader // what the client writes; closed at the end if it is an io.Closer
	ClientOut io.Writer
	Server    Upstream
	Gate      *gate.Session // closed by Run

	// ClientGone is closed when nobody reads ClientOut any more, where that can be
	// known before something is written; nil: it cannot.
	ClientGone <-chan struct{}

	Name   string       // the server's name as the client's configuration calls it; "" when unknown
	Guess  string       // a name for the record only
	Limits frame.Limits // zero: frame.DefaultLimits
	// LongestLine is how long a line may be that the client of this name reads, "" before it
	// has one; 0 is any length. A longer answer becomes one failed call. nil: any length.
	LongestLine func(client string) int
	// DenyAsError answers a denied tools/call with a JSON-RPC error instead of
	// a tool result.
	DenyAsError bool
}

// ErrServerEnded is why Run returned when the server ended before anybody asked
// it to.
var ErrServerEnded = errors.New("the server ended")

// How long the rest of what an ended server wrote may take, and how long the
// last answers may take to reach a client that does not read.
const (
	drainGrace  = 300 * time.Millisecond
	answerGrace = 200 * time.Millisecond
)

// session is one client and one server with everything in flight between them.
type session struct {
	o         Options
	table     table
	receivers [2]*receiver // by direction
	failed    chan error
	lists     atomic.Pointer[[]string] // mcp.ListsTold of the server; nil before it is known
	longest   atomic.Int64             // line that the client takes; 0: any
}

// Run carries frames until the client closes one of its streams or ctx ends (nil), the
// server ends (ErrServerEnded) or something in here fails (any other error).
// Before it returns the server is gone, every request in flight has been
// answered or its client does not read any more, and the gate is closed. Run
// does not wait for a read from a ClientIn that cannot be closed: that one ends
// with the process.
func Run(ctx context.Context, o Options) error {
	if o.Limits == (frame.Limits{}) {
		o.Limits = frame.DefaultLimits()
	}
	s := &session{o: o, failed: make(chan error, 2)}
	s.setLongest("")
	toServer, toClient := NewWriter(o.Server), NewWriter(o.ClientOut)
	asking, stopAsking := context.WithCancel(context.WithoutCancel(ctx))
	defer stopAsking()
	s.receivers[directionIndex(mcp.ClientToServer)] = newReceiver(s, mcp.ClientToServer, o.ClientIn, toServer, toClient.AsyncSink())
	s.receivers[directionIndex(mcp.ServerToClient)] = newReceiver(s, mcp.ServerToClient, o.Server, toClient, toServer.AsyncSink())
	client, server := s.receivers[0], s.receivers[1]
	go client.readStream(asking)
	go server.readStream(asking)
	go s.announceListChanges(asking, o.Gate.RulesChanged(), toClient, toServer)

	var cause error
	select {
	case <-ctx.Done():
	case <-client.ended:
	case <-o.ClientGone:
	case <-toClient.BrokenSignal():
	case <-server.ended:
		cause = ErrServerEnded
	case <-o.Server.Done():
		cause = ErrServerEnded
		waitFor(server.ended, drainGrace)
	case cause = <-s.failed:
	}
	return s.endSession(ctx, cause, stopAsking, toClient)
}

// endSession ends everything in the order that loses least: questions, server,
// requests in flight, gate.
func (s *session) endSession(ctx context.Context, cause error, stopAsking func(), toClient *Writer) error {
	client, server := s.receivers[0], s.receivers[1]
	stopAsking()
	s.table.forgetUnnamed()
	err := s.o.Server.Close(ctx)
	waitFor(server.ended, drainGrace)
	select {
	case failure := <-s.failed:
		cause = failure
	default:
	}
	last := make(chan struct{})
	go func() {
		defer close(last)
		s.o.Gate.Close()
		s.failPending(cause)
		_ = toClient.DrainQueue()
	}()
	waitFor(last, answerGrace)
	if c, ok := s.o.ClientIn.(io.Closer); ok {
		_ = c.Close()
		<-client.ended
	}
	if cause == nil && err != nil {
		return fmt.Errorf("end the server: %w", err)
	}
	return cause
}

// failPending gives every request of the client that has no answer yet an error,
// so that nobody waits for a server that is gone.
func (s *session) failPending(cause error) {
	reason := "the session was closed"
	if errors.Is(cause, ErrServerEnded) {
		reason = s.o.Server.Status()
	} else if cause != nil {
		reason = "clawai failed; tell the owner"
	}
	for _, to := range s.table.takeWaitingCallers(mcp.ClientToServer) {
		_ = to.back.Add(mcp.ServerEndedAnswer(to.id, reason))
		to.back.Flush()
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

// failSession ends the session because of a defect of ours.
func (s *session) failSession(cause any) {
	s.recordEvent(panicEvent(cause, debug.Stack()))
	select {
	case s.failed <- fmt.Errorf("panic: %v", cause):
	default:
	}
}
