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

// Upstream is the server's side of a session. At most one goroutine at a time calls Read, and at
// most one calls Write.
type Upstream interface {
	io.ReadWriter
	// Done returns a channel that is closed when the server has ended without a call of Close. Read
	// may still return output of the server after that.
	Done() <-chan struct{}
	// Close stops the server and returns when the server has ended. Then a pending Read ends too.
	// Close may take some seconds, but little more than one second if ctx has ended. It may be
	// called more than once.
	Close(ctx context.Context) error
	// Status returns a text for people about how the server ended, such as "exit code 3".
	Status() string
}

// Options are the parameters of Run. The first four fields are required.
type Options struct {
	ClientIn  io.Reader // the client's messages; Run closes it at the end if it is an io.Closer
	ClientOut io.Writer
	Server    Upstream
	Gate      *gate.Session // Run closes it

	// ClientGone is closed when no program reads ClientOut any more. nil means that only a write
	// can detect this.
	ClientGone <-chan struct{}

	Name   string       // the server's name in the client's configuration; "" if unknown
	Guess  string       // a guess of the server's name; only for the record
	Limits frame.Limits // limits of frames; zero means frame.DefaultLimits
	// LongestLine returns the length in bytes of the longest line that a client reads, by the
	// client's name. 0 means any length. client is "" until the client has sent initialize. If an
	// answer is longer, the call fails. A nil LongestLine allows any length.
	LongestLine func(client string) int
	// DenyAsError means that a denied tools/call is answered with a JSON-RPC error and not with a
	// tool result.
	DenyAsError bool
}

// ErrServerEnded means that the server ended by itself.
var ErrServerEnded = errors.New("the server ended")

// drainGrace is the time that a Read waits for more output of an ended server. answerPatience is the
// time to handle the output that was read and to write the last answers to a client that reads
// slowly, and answerGrace is the time after a signal.
const (
	drainGrace     = 300 * time.Millisecond
	answerPatience = 10 * time.Second
	answerGrace    = 200 * time.Millisecond
)

// session is one client and one server, with the messages in flight between them.
type session struct {
	o         Options
	table     table
	receivers [2]*receiver // the receivers, by the direction of their frames
	failed    chan error
	lists     atomic.Pointer[[]string] // kinds of lists for which the server announces changes (mcp.ListsTold); nil until initialize is answered
	longest   atomic.Int64             // length of the longest line that the client reads; 0 means any length
}

func newSession(o Options) *session {
	if o.Limits == (frame.Limits{}) {
		o.Limits = frame.DefaultLimits()
	}
	s := &session{o: o, failed: make(chan error, 2)}
	s.table.forms.awaitingRetry = map[string]*request{}
	s.table.habits, s.table.families = map[string]habit{}, map[string]bool{}
	for i := range s.table.byDirection {
		p := &s.table.byDirection[i]
		p.requests, p.tokens, p.newTokens, p.tasks.byID = map[string]*request{}, map[string]int{}, map[string][]byte{}, map[string]*taskOrigin{}
	}
	s.setLongest("")
	return s
}

// Run carries frames until the session ends. It returns nil when the client closes one of its
// streams or ctx ends. It returns ErrServerEnded when the server ends, and any other error when the
// proxy fails. When Run returns, the server has ended and the gate is closed. Also, every request
// in flight has been answered, or its client has stopped reading. A read from a ClientIn that
// cannot be closed may still be blocked. Such a read ends with the process.
func Run(ctx context.Context, o Options) error {
	s := newSession(o)
	output := serverOutput{Reader: o.Server}
	toServer, toClient := NewWriter(o.Server), NewWriter(o.ClientOut)
	asking, stopAsking := context.WithCancel(context.WithoutCancel(ctx))
	defer stopAsking()
	s.receivers[directionIndex(mcp.ClientToServer)] = newReceiver(s, mcp.ClientToServer, o.ClientIn, toServer, toClient.AsyncSink())
	s.receivers[directionIndex(mcp.ServerToClient)] = newReceiver(s, mcp.ServerToClient, &output, toClient, toServer.AsyncSink())
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
		output.waitHandled(ctx, server.ended)
	case cause = <-s.failed:
	}
	return s.endSession(ctx, cause, stopAsking, toClient)
}

// serverOutput reads the server's output. It knows whether a Read waits for more of it.
type serverOutput struct {
	io.Reader
	waits atomic.Bool
}

func (o *serverOutput) Read(p []byte) (int, error) {
	o.waits.Store(true)
	defer o.waits.Store(false)
	return o.Reader.Read(p)
}

// waitHandled waits until the output of an ended server is handled: then handled is closed. A
// child of the server may live longer and hold the output open, so waitHandled returns when a Read
// has waited for drainGrace. A slow disk under the record delays what was read, so waitHandled may
// take up to answerPatience. It returns when ctx ends.
func (o *serverOutput) waitHandled(ctx context.Context, handled <-chan struct{}) {
	const step = 10 * time.Millisecond
	late, look := time.After(answerPatience), time.NewTicker(step)
	defer look.Stop()
	for waited := time.Duration(0); waited < drainGrace; waited += step {
		select {
		case <-handled:
			return
		case <-ctx.Done():
			return
		case <-late:
			return
		case <-look.C:
			if !o.waits.Load() {
				waited = 0
			}
		}
	}
}

// endSession ends the parts of the session in an order that loses few messages: questions, server,
// requests in flight, gate.
func (s *session) endSession(ctx context.Context, cause error, stopAsking func(), toClient *Writer) error {
	client, server := s.receivers[0], s.receivers[1]
	stopAsking()
	s.table.forgetUnnamed()
	err := s.o.Server.Close(ctx)
	WaitFor(server.ended, drainGrace)
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
	AwaitLast(ctx, last)
	if lost := toClient.DescribeLoss(); lost != nil {
		s.recordEvent(lost)
	}
	if c, ok := s.o.ClientIn.(io.Closer); ok {
		_ = c.Close()
		<-client.ended
	}
	if cause == nil && err != nil {
		return fmt.Errorf("end the server: %w", err)
	}
	return cause
}

// failPending answers every open request of the client with an error, because no other answer will
// come.
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

// WaitFor waits until ch is closed, at most for d.
func WaitFor(ch <-chan struct{}, d time.Duration) {
	select {
	case <-ch:
	case <-time.After(d):
	}
}

// AwaitLast waits until last is closed. The caller closes last when the last answers are written. So
// a client that reads slowly still gets them. AwaitLast waits at most answerPatience, because a client
// may not read at all. After the end of ctx it waits only answerGrace, because a client that has sent
// a signal to this process kills it soon.
func AwaitLast(ctx context.Context, last <-chan struct{}) {
	select {
	case <-last:
	case <-ctx.Done():
		WaitFor(last, answerGrace)
	case <-time.After(answerPatience):
	}
}

// failSession ends the session after a panic in the proxy.
func (s *session) failSession(cause any) {
	s.recordEvent(panicEvent(cause, debug.Stack()))
	select {
	case s.failed <- fmt.Errorf("panic: %v", cause):
	default:
	}
}
