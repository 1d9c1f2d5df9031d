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

// Waits between the steps of MCP 2025-11-25 basic/lifecycle, "Shutdown": close the input, ask the
// server to end, kill it. The server gets as much time as the SDKs' clients give. These clients
// signal this process after two seconds and kill it two seconds later, so all the steps together
// take less than four seconds, and less than two after the signal.
const (
	graceEOF   = 2 * time.Second
	graceShort = 300 * time.Millisecond // in place of graceEOF after a signal, and for the processes that an ended server leaves
	graceTerm  = 900 * time.Millisecond
	graceKill  = 200 * time.Millisecond
	graceRead  = 300 * time.Millisecond // for the reader to take the server's last output
)

// Child is a running server. Read and Write may each be used by one goroutine at a time, in
// parallel with each other and with Close.
type Child struct {
	cmd     *exec.Cmd
	in      *pipeEnd // writing end of its stdin
	out     *pipeEnd // reading end of its stdout
	group   group
	done    chan struct{} // closed when the direct child has ended
	reaped  chan struct{} // closed when runProcess has ended
	drained chan struct{} // closed when all the server's output was read
	last    sync.Once     // closes drained
	once    sync.Once
	forced  bool            // the server had to be signalled; valid after Close
	report  *confine.Report // report about the server's cage; nil without a cage
	hosts   io.Closer       // closed with the server's cage, for example its way out; nil for none
}

// Read reads from the server's stdout.
func (c *Child) Read(p []byte) (int, error) {
	n, err := c.out.Read(p)
	if err != nil {
		c.last.Do(func() { close(c.drained) })
	}
	return n, err
}

// Write writes all of p to the server's stdin.
func (c *Child) Write(p []byte) (int, error) { return c.in.Write(p) }

// CloseWrite closes only the server's stdin.
func (c *Child) CloseWrite() { c.in.closeEnd() }

// Done returns a channel that is closed when the process itself has ended. Its own children may
// live until Close.
func (c *Child) Done() <-chan struct{} { return c.done }

// Close ends the server and its process group, and returns when they are gone: at once, or after
// little more than the grace times. After ctx has ended it takes much less time.
func (c *Child) Close(ctx context.Context) error {
	c.once.Do(func() {
		c.in.closeEnd()
		if !c.waitExit(ctx) || !c.waitGroupGone(graceShort) {
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

// waitRead waits until the server's output is read, because its last answers may still be in the
// pipe.
func (c *Child) waitRead() {
	select {
	case <-c.drained:
	case <-time.After(graceRead):
	}
}

// waitExit waits until the child has ended by itself.
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

// waitGone waits until the child and its group have ended, at most for d.
func (c *Child) waitGone(d time.Duration) bool {
	began := time.Now()
	select {
	case <-c.reaped:
		return c.waitGroupGone(d - time.Since(began))
	case <-time.After(d):
		return false
	}
}

// waitGroupGone waits until the group is empty, at most for d. The system does not report the end
// of a grandchild, so the function polls.
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

// Cage returns the report about the server's cage; nil without a cage.
func (c *Child) Cage() *confine.Report { return c.report }

// ExitCode returns the child's exit code, or 128 plus its signal, as in shells; -1 while it runs.
func (c *Child) ExitCode() int {
	select {
	case <-c.done:
		return exitCode(c.cmd.ProcessState)
	default:
		return -1
	}
}

// WasForced reports, after Close, whether the server did not end with its input and had to be
// signalled. Then its exit code is a result of the signal.
func (c *Child) WasForced() bool { return c.forced }

// Status returns how the server ended, as text for people.
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

// makePipes gives the command a pipe for stdin and one for stdout, and returns this process's
// ends.
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

// closeChildEnds closes this process's copies of the child's pipe ends. While a copy is open, the
// end of the stream cannot be detected.
func (c *Child) closeChildEnds() {
	for _, end := range []any{c.cmd.Stdin, c.cmd.Stdout} {
		_ = end.(*os.File).Close()
	}
}

var _ io.ReadWriter = (*Child)(nil)
