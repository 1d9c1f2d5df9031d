package stdio

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"
)

// The steps of MCP 2025-11-25 basic/lifecycle, "Shutdown": input closed, then
// asked, then made to end. A server has the time of its own that the SDKs' clients
// give it; they signal us after two seconds, and kill us two seconds after that, so
// that the whole of it stays below four, and below two once we are signalled.
const (
	graceEOF   = 2 * time.Second
	graceShort = 300 * time.Millisecond // in its place: for who signals us, and for what a server that has ended leaves behind
	graceTerm  = 900 * time.Millisecond
	graceKill  = 200 * time.Millisecond
	graceRead  = 300 * time.Millisecond // for whoever reads, to take what the server said last
)

// Child is a running server. Read and Write may each be used by one goroutine
// at a time, beside each other and beside Close.
type Child struct {
	cmd     *exec.Cmd
	in      *pipeEnd // our writing end of its stdin
	out     *pipeEnd // our reading end of its stdout
	group   group
	done    chan struct{} // closed when the direct child has ended
	reaped  chan struct{} // closed when the goroutine that started it has
	drained chan struct{} // closed when all that the server has said was read
	last    sync.Once     // of closing drained
	once    sync.Once
	forced  bool // we had to signal it; settled when Close has returned
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

// CloseWrite ends the server's stdin, and nothing else.
func (c *Child) CloseWrite() { c.in.closeEnd() }

// Done is closed when the process itself has ended; what it started may live
// until Close.
func (c *Child) Done() <-chan struct{} { return c.done }

// Close ends the server and everything in its process group, and returns when
// they are gone: at once, or after little more than the graces. Once ctx has ended
// whoever asked for it does not wait for long.
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
	})
	return nil
}

// waitRead waits until what the server has said is read: its last answers may stand in
// the pipe yet.
func (c *Child) waitRead() {
	late := time.NewTimer(graceRead)
	defer late.Stop()
	select {
	case <-c.drained:
	case <-late.C:
	}
}

// waitExit waits until the child has ended by itself.
func (c *Child) waitExit(ctx context.Context) bool {
	late, short := time.NewTimer(graceEOF), time.NewTimer(graceShort)
	defer late.Stop()
	defer short.Stop()
	select {
	case <-c.reaped:
		return true
	case <-short.C:
	}
	select {
	case <-c.reaped:
		return true
	case <-late.C:
	case <-ctx.Done():
	}
	return false
}

// waitGone waits until the child and its group have ended, at most for d.
func (c *Child) waitGone(d time.Duration) bool {
	began := time.Now()
	late := time.NewTimer(d)
	defer late.Stop()
	select {
	case <-c.reaped:
		return c.waitGroupGone(d - time.Since(began))
	case <-late.C:
		return false
	}
}

// waitGroupGone waits until nobody is left in the group, at most for d. Nobody reports
// the end of a grandchild: it has to be looked for.
func (c *Child) waitGroupGone(d time.Duration) bool {
	late, look := time.NewTimer(d), time.NewTicker(5*time.Millisecond)
	defer late.Stop()
	defer look.Stop()
	for c.group.isAlive() {
		select {
		case <-look.C:
		case <-late.C:
			return false
		}
	}
	return true
}

// Pid is the process id of the server.
func (c *Child) Pid() int { return c.cmd.Process.Pid }

// ExitCode gives the child's, or 128 and its signal, as shells say it; -1 while
// it runs.
func (c *Child) ExitCode() int {
	select {
	case <-c.done:
		return exitCode(c.cmd.ProcessState)
	default:
		return -1
	}
}

// WasForced reports, after Close, that the server did not end with its input and
// had to be signalled: its exit code is then our doing.
func (c *Child) WasForced() bool { return c.forced }

// Status says how the server ended, for people.
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

// makePipes gives the command a pipe for each of stdin and stdout and returns
// our ends.
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

// closeChildEnds closes our copies of the child's ends: as long as one is open
// its end cannot be seen.
func (c *Child) closeChildEnds() {
	for _, end := range []any{c.cmd.Stdin, c.cmd.Stdout} {
		_ = end.(*os.File).Close()
	}
}

var _ io.ReadWriter = (*Child)(nil)
