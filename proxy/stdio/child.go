package stdio

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/clawai/clawai/internal/cage/confine"
)

// The waits between the steps of MCP 2025-11-25 basic/lifecycle, "Shutdown": close the input, ask
// the server to end, kill it. They are as long as in the clients of the SDKs. But such a client
// signals this process after two seconds and kills it two seconds later. So all the steps together
// take less than four seconds, and less than two after the signal.
const (
	graceEOF   = 2 * time.Second
	graceShort = 300 * time.Millisecond // instead of graceEOF after a signal, and for the processes that an ended server leaves
	graceTerm  = 900 * time.Millisecond
	graceKill  = 200 * time.Millisecond
	graceRead  = 300 * time.Millisecond // for reading the server's last output
)

// Child is a running server. One goroutine at a time may call Read, and one at a time may call
// Write. Read, Write and Close may run in parallel.
type Child struct {
	cmd     *exec.Cmd
	in      *pipeEnd // writing end of the server's stdin
	out     *pipeEnd // reading end of the server's stdout
	group   group
	done    chan struct{} // closed when the child process itself has ended
	reaped  chan struct{} // closed when runProcess has ended
	drained chan struct{} // closed when all output of the server was read
	last    sync.Once     // ensures that drained is closed only once
	once    sync.Once
	forced  bool            // the server ended only after a signal; set by Close
	report  *confine.Report // report about the server's cage; nil without a cage
	hosts   io.Closer       // a part of the server's cage that must be closed with the server, such as its way to hosts; nil if there is none
}

// Read reads from the stdout of the server.
func (c *Child) Read(p []byte) (int, error) {
	n, err := c.out.Read(p)
	if err != nil {
		c.last.Do(func() { close(c.drained) })
	}
	return n, err
}

// Write writes all of p to the stdin of the server.
func (c *Child) Write(p []byte) (int, error) { return c.in.Write(p) }

// CloseWrite closes only the stdin of the server.
func (c *Child) CloseWrite() { c.in.closeEnd() }

// Done returns a channel that is closed when the process of the server itself has ended. The
// server's own children may live until Close.
func (c *Child) Done() <-chan struct{} { return c.done }

// Close ends the server and its process group. It returns when they have ended. This takes at most
// a little longer than the grace times, and much less time if ctx has ended.
func (c *Child) Close(ctx context.Context) error {
	c.once.Do(func() {
		c.in.closeEnd()
		ended := c.waitExit(ctx)
		c.group.expelWatchdog()
		if !ended || !c.waitGroupGone(graceShort) {
			c.forced = c.ExitCode() < 0
			c.group.terminateGroup()
			if !c.waitGone(graceTerm) {
				c.group.killGroup()
				c.waitGone(graceKill)
			}
		}
		c.waitRead()
		c.out.closeEnd()
		c.group.releaseGroup()
		if c.hosts != nil {
			_ = c.hosts.Close()
		}
	})
	return nil
}

// waitRead waits until the output of the server is read, because its last answers may still be in
// the pipe.
func (c *Child) waitRead() {
	select {
	case <-c.drained:
	case <-time.After(graceRead):
	}
}

// waitExit waits until the child has ended by itself. It returns false if this takes too long.
func (c *Child) waitExit(ctx context.Context) bool {
	late := time.After(graceEOF)
	select {
	case <-c.reaped:
		return true
	case <-time.After(graceShort):
	}
	select {
	case <-c.reaped:
		return true
	case <-late:
	case <-ctx.Done():
	}
	return false
}

// waitGone waits until the child and its group have ended, at most for d. It returns false if they
// have not.
func (c *Child) waitGone(d time.Duration) bool {
	began := time.Now()
	select {
	case <-c.reaped:
		return c.waitGroupGone(d - time.Since(began))
	case <-time.After(d):
		return false
	}
}

// waitGroupGone waits until the group is empty, at most for d. It polls, because the system does
// not report the end of a grandchild.
func (c *Child) waitGroupGone(d time.Duration) bool {
	late, look := time.After(d), time.NewTicker(5*time.Millisecond)
	defer look.Stop()
	for c.group.isAlive() {
		select {
		case <-look.C:
		case <-late:
			return false
		}
	}
	return true
}

// Pid returns the process id of the server.
func (c *Child) Pid() int { return c.cmd.Process.Pid }

// Cage returns the report about the server's cage, or nil without a cage.
func (c *Child) Cage() *confine.Report { return c.report }

// ExitCode returns the exit code of the child, or 128 plus the number of its signal, as shells do.
// It returns -1 while the child runs.
func (c *Child) ExitCode() int {
	select {
	case <-c.done:
		return exitCode(c.cmd.ProcessState)
	default:
		return -1
	}
}

// WasForced reports whether the server had to be signalled, because it did not end when its input
// ended. Then its exit code is a result of the signal. WasForced is valid after Close.
func (c *Child) WasForced() bool { return c.forced }

// Status returns a text for people about how the server ended.
func (c *Child) Status() string {
	switch code := c.ExitCode(); {
	case code < 0:
		return "still running"
	case code > 128 && c.cmd.ProcessState.ExitCode() < 0:
		return fmt.Sprintf("killed by signal %d", code-128)
	default:
		return fmt.Sprintf("exit code %d", code)
	}
}

// makePipes makes a pipe for the command's stdin and one for its stdout. It returns this process's
// ends of the pipes.
func makePipes(cmd *exec.Cmd) (in, out *pipeEnd, err error) {
	stdin, in, err := newPipe(false)
	if err != nil {
		return nil, nil, err
	}
	stdout, out, err := newPipe(true)
	if err != nil {
		_ = stdin.Close()
		in.closeEnd()
		return nil, nil, err
	}
	cmd.Stdin, cmd.Stdout = stdin, stdout
	return in, out, nil
}

// closeChildEnds closes this process's copies of the child's pipe ends. It must do so because the
// end of a stream cannot be detected while a copy is open.
func (c *Child) closeChildEnds() {
	for _, end := range []any{c.cmd.Stdin, c.cmd.Stdout} {
		_ = end.(*os.File).Close()
	}
}

var _ io.ReadWriter = (*Child)(nil)
